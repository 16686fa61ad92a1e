"""`git mem context`: assemble one block of memory for a model."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import click

from gitmem.cli.options import at_option, json_option, open_here
from gitmem.cli.terminal import escape, page, say, write_json
from gitmem.context.assembly import Context
from gitmem.context.layer_limits import PRESETS, Layer
from gitmem.context.request import MAX_AGE, ContextOptions, append_receipt, build_context, request_of_options, value_of
from gitmem.environment import cache_folder, now
from gitmem.sessions.state import session_name

MAX_PROMPT_BYTES = 1 << 20  # bytes of a prompt that are read from standard input


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
    "without_layers",
    multiple=True,
    type=click.Choice([layer.value for layer in Layer]),
    help="Leave a layer out.",
)
@click.option("--exclude-path", "without_paths", multiple=True, metavar="GLOB", help="Leave files out; repeatable.")
@click.option("--exclude-agent", "without_agents", multiple=True, metavar="NAME", help="Leave an agent's logs out.")
@at_option("Memory as it was there or then.")
@click.option(
    "--preset",
    type=click.Choice(list(PRESETS)),
    help=f"Limits of a host: compact is {PRESETS['compact'].max_characters:,} characters.",
)
@click.option("--max-characters", type=click.IntRange(0), default=0, help="Hard limit of the text.")
@click.option(
    "--max-age", type=click.IntRange(1), default=MAX_AGE, show_default=True, help="Seconds the result may be used."
)
@click.option("--merge", metavar="MODEL", help="Condense by topic with gguf:<path> or http:<url>#<model>; links stay.")
@click.option("--dry-run", is_flag=True, help="Only say what would be in it and what each part takes.")
@json_option
def command(
    prompt: tuple[str, ...],
    at: str,
    preset: str | None,
    max_characters: int,
    max_age: int,
    dry_run: bool,
    as_json: bool,
    **arguments: Any,
) -> None:
    """Assemble what a model should know for PROMPT.

    Prints one block of text within a budget of tokens.

    Pinned instructions and facts, the session's recent turns, rules for the files in hand, procedures the prompt asks
    for, MEMORY.md, notes, episodes and the last days' logs; the most relevant first, each quoted as data. Without --for
    the rules are those for the staged files. PROMPT `-` reads standard input.

    \b
    git mem context "how do we notify clients?" --budget 1200
    git mem context --staged --json
    """
    repo, config = open_here({"context_preset": preset})
    text = " ".join(prompt)
    if text == "-":
        text = sys.stdin.buffer.read(MAX_PROMPT_BYTES).decode("utf-8", "replace")
    if max_characters:
        max_characters = max(1, max_characters - 1)  # the last line's end is one
    options = ContextOptions(prompt=text, max_characters=max_characters, **arguments)
    request = request_of_options(repo, config, options, now(), os.environ)
    began = time.monotonic()
    context = build_context(repo, config, request, now(), at, environ=os.environ, cache=cache_folder())
    if request.transcript is not None and not dry_run:
        append_receipt(repo.common_dir, session_name(request.transcript), "context", context, now(), began)
    for note in context.notes:
        say(f"git mem: {note}")
    if as_json:
        value = value_of(context, max_age)
        if dry_run:
            value["text"] = ""
        write_json(value)
    else:
        _show(context, dry_run)


def _show(context: Context, dry_run: bool) -> None:
    """Print the text of the context, or with `dry_run` a row for each of its parts. Limits that were reached and scopes
    that could not be read are printed to standard error."""
    for limit in context.limits:
        say(f"git mem: {limit}")
    for scope in context.scopes:
        if scope.error or scope.note:
            say(f"git mem: scope {scope.name}: {scope.error or scope.note}")
    if dry_run:
        rows = []
        for part in context.parts:
            place = f"{part.path}:{part.start_line}" if part.path else part.label
            rows.append(f"{part.relevance:.2f}  {part.tokens:>5}  {part.layer.value:<9}  {escape(place, keep='')}\n")
        page("".join(rows) + f"{context.tokens} tokens of {context.budget}\n")
    elif context.text:
        page(context.text + "\n")
    elif not any(reason.startswith("over") for _, reason in context.dropped):
        say('git mem: memory has nothing for this yet; write some: git mem add "what happened"')
