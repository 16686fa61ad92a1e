"""`git mem context`: assemble one block of memory for a model."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import click

from gitmem.cli.options import at_option, json_option, open_here
from gitmem.cli.terminal import escape, page, say, write_json
from gitmem.config import Config
from gitmem.context.assembly import Context
from gitmem.context.context_request import ContextRequest
from gitmem.context.layer_limits import PRESETS, Layer
from gitmem.context.request import (
    MAX_AGE,
    build_context,
    parse_place,
    repository_path,
    request_of,
    staged_paths,
    value_of,
)
from gitmem.environment import cache_folder, now
from gitmem.git.opening import Repository
from gitmem.hosts.transcript import Transcript
from gitmem.sessions import receipts
from gitmem.sessions.state import session_name

MAX_PROMPT_BYTES = 1 << 20  # bytes of a prompt that are read from standard input


class ContextOptions(NamedTuple):
    """The prompt and options of one context, as `git mem context -h` has them."""

    prompt: tuple[str, ...]
    budget: int | None
    subjects: tuple[str, ...]
    staged: bool
    transcript: Path | None
    session: str
    entities: tuple[str, ...]
    include: tuple[str, ...]
    loaded: tuple[str, ...]
    no_layers: tuple[str, ...]
    no_paths: tuple[str, ...]
    no_agents: tuple[str, ...]
    at: str
    preset: str | None
    max_characters: int
    max_age: int
    merge: str | None
    dry_run: bool
    as_json: bool


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("--budget", type=int, default=None, help="Tokens of the whole (mem.contextBudget).")
@click.option("--for", "subjects", multiple=True, metavar="PATH", help="Rules for this path or name; `*` for all.")
@click.option("--staged", is_flag=True, help="Rules for the staged files beside --for.")
@click.option("--transcript", type=click.Path(path_type=Path), help="A session: its recent turns and their summary.")
@click.option("--session", default="", metavar="S", help="The session whose working values come along.")
@click.option(
    "--entity", "entities", multiple=True, metavar="KEY", help="Only working values below this key; repeatable."
)
@click.option("--include", multiple=True, metavar="PATH:A-B", help="These lines first; repeatable.")
@click.option("--loaded", multiple=True, metavar="PATH", help="An instruction file the host loads itself; repeatable.")
@click.option(
    "--exclude-layer",
    "no_layers",
    multiple=True,
    type=click.Choice([layer.value for layer in Layer]),
    help="Leave a layer out.",
)
@click.option("--exclude-path", "no_paths", multiple=True, metavar="GLOB", help="Leave files out; repeatable.")
@click.option("--exclude-agent", "no_agents", multiple=True, metavar="NAME", help="Leave an agent's logs out.")
@at_option("Memory as it was there or then.")
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Limits of a host: compact is 6,000 characters.")
@click.option("--max-characters", type=click.IntRange(0), default=0, help="Hard limit of the text.")
@click.option(
    "--max-age", type=click.IntRange(1), default=MAX_AGE, show_default=True, help="Seconds the result may be used."
)
@click.option("--merge", metavar="MODEL", help="Condense by topic with gguf:<path> or http:<url>#<model>; links stay.")
@click.option("--dry-run", is_flag=True, help="Only say what would be in it and what each part takes.")
@json_option
def command(**given: Any) -> None:
    """Assemble what a model should know for PROMPT.

    Prints one block of text within a budget of tokens.

    Pinned instructions and facts, the session's recent turns, rules for the files in hand, procedures the prompt asks
    for, MEMORY.md, notes, episodes and the last days' logs; the most relevant first, each quoted as data. Without --for
    the rules are those for the staged files. PROMPT `-` reads standard input.

    \b
    git mem context "how do we notify clients?" --budget 1200
    git mem context --staged --json
    """
    options = ContextOptions(**given)
    repo, config = open_here({"context_preset": options.preset})
    request = _request(options, repo, config)
    began = time.monotonic()
    context = build_context(repo, config, request, now(), options.at, environ=os.environ, cache=cache_folder())
    if request.transcript is not None and not options.dry_run:
        _receipt(repo, request.transcript, context, began)
    for note in context.notes:
        say(f"git mem: {note}")
    if options.as_json:
        value = value_of(context, options.max_age)
        if options.dry_run:
            value["text"] = ""
        write_json(value)
    else:
        _show(context, options.dry_run)


def _request(options: ContextOptions, repo: Repository, config: Config) -> ContextRequest:
    """The request that the options describe; a prompt of "-" is read from standard input. Raises UsageError if an
    --include is not PATH:LINE, GitMemError for a transcript that cannot be read, and what `open_merger` raises for a
    model that cannot be opened."""
    prompt = " ".join(options.prompt)
    if prompt == "-":
        prompt = sys.stdin.buffer.read(MAX_PROMPT_BYTES).decode("utf-8", "replace")
    request = request_of(
        config,
        prompt,
        budget=options.budget,
        subjects=tuple(repository_path(repo, subject) for subject in options.subjects),
        staged=staged_paths(repo) if options.staged or not options.subjects else (),
        transcript=options.transcript,
        session=options.session,
        entities=options.entities,
        include=tuple(parse_place(value) for value in options.include),
        loaded=options.loaded,
        without_layers=frozenset(options.no_layers),
        without_paths=options.no_paths,
        without_agents=options.no_agents,
        max_characters=max(1, options.max_characters - 1)
        if options.max_characters
        else 0,  # the last line's end is one
    )
    if options.merge:
        from gitmem.context.condensing import open_merger  # most contexts are not condensed by a model

        request = replace(request, merge=open_merger(repo, config, options.merge, now(), os.environ))
    return request


def _receipt(repo: Repository, transcript: Transcript, context: Context, began: float) -> None:
    """Record what the session was given, without its text. `began`: seconds of the monotonic clock."""
    tokens, parts = receipts.tokens_and_ids([(part.layer.value, part.content, part.tokens) for part in context.parts])
    took = round(1000 * (time.monotonic() - began))
    receipts.append(repo.common_dir, receipts.Receipt(now(), session_name(transcript), "context", took, tokens, parts))


def _show(context: Context, dry_run: bool) -> None:
    """Print the text of the context, or with `dry_run` a row for each of its parts. Limits that were reached and scopes
    that could not be read are printed to standard error."""
    for limit in context.limits:
        say(f"git mem: {limit}")
    for scope in context.scopes:
        if scope.error or scope.note:
            say(f"git mem: scope {scope.name}: {scope.error or scope.note}")
    if dry_run:
        out = []
        for part in context.parts:
            where = f"{part.path}:{part.start_line}" if part.path else part.label
            out.append(f"{part.relevance:.2f}  {part.tokens:>5}  {part.layer.value:<9}  {escape(where, keep='')}\n")
        page("".join(out) + f"{context.tokens} tokens of {context.budget}\n")
    elif context.text:
        page(context.text + "\n")
    elif not any(why.startswith("over") for _, why in context.dropped):
        say('git mem: memory has nothing for this yet; write some: git mem add "what happened"')
