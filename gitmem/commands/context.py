"""`git mem context`: one block of memory for a model."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import click

from gitmem.commands._edge import cache_folder, json_option, now, open_here
from gitmem.config import Config
from gitmem.context import Context, Request, as_value, assemble
from gitmem.errors import GitMemError, ModelUnavailable, UsageError
from gitmem.git import Repository
from gitmem.output import say, write, write_json
from gitmem.shares import PRESETS, Layer, Weights, shares

SUMMARY_TOKENS = 1_000  # of a summary before its layer's budget cuts it
MOST = 1 << 20  # bytes of a prompt from standard input
MAX_AGE = 3_600  # seconds a context may be used
PLACE = re.compile(r"^(.+?)(?::(\d+)(?:-(\d+))?)?$")


@click.command()
@click.argument("prompt", nargs=-1)
@click.option("--budget", type=int, default=None, help="Tokens of the whole (mem.contextBudget).")
@click.option("--for", "subjects", multiple=True, metavar="PATH", help="Rules for this path or name; `*` for all.")
@click.option("--staged", is_flag=True, help="Rules for the staged files beside --for.")
@click.option("--transcript", type=click.Path(path_type=Path), help="A session: its recent turns and their summary.")
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
@click.option("--at", "at", default="", metavar="REV|DATE", help="Memory as it was there or then.")
@click.option("--preset", type=click.Choice(list(PRESETS)), help="Limits of a host: compact is 6,000 characters.")
@click.option("--max-characters", type=click.IntRange(0), default=0, help="Hard limit of the text.")
@click.option(
    "--max-age", type=click.IntRange(1), default=MAX_AGE, show_default=True, help="Seconds the result may be used."
)
@click.option("--merge", metavar="MODEL", help="Condense by topic with gguf:<path> or http:<url>#<model>; links stay.")
@click.option("--dry-run", is_flag=True, help="Only say what would be in it and what each part takes.")
@json_option
def command(
    prompt: tuple[str, ...], budget: int | None, subjects: tuple[str, ...], staged: bool, transcript: Path | None,
    include: tuple[str, ...], loaded: tuple[str, ...], no_layers: tuple[str, ...], no_paths: tuple[str, ...],
    no_agents: tuple[str, ...], at: str, preset: str | None, max_characters: int, max_age: int, dry_run: bool,
    merge: str | None, as_json: bool,
) -> None:  # fmt: skip
    """Assemble what a model should know for PROMPT, within a budget of tokens.

    Pinned instructions and facts, the session's recent turns, rules for the files in hand, procedures the prompt asks
    for, MEMORY.md, notes, episodes and the last days' logs; the most relevant first, each quoted as data. Without --for
    the rules are those for the staged files. PROMPT `-` reads standard input.
    """
    repo, config = open_here({"context_preset": preset} if preset else None)
    words = " ".join(prompt)
    if words == "-":
        words = sys.stdin.buffer.read(MOST).decode("utf-8", "replace")
    request = request_of(
        config, words, budget=budget, subjects=tuple(here(repo, subject) for subject in subjects),
        staged=staged_of(repo) if staged or not subjects else (), transcript=transcript,
        include=tuple(place(value) for value in include), loaded=loaded, without_layers=frozenset(no_layers),
        without_paths=no_paths, without_agents=no_agents, characters=max_characters,
    )  # fmt: skip
    if merge:
        from gitmem.commands._merge import merger

        request = replace(request, merge=merger(repo, config, merge, now()))
    made = build(repo, config, request, now(), at)
    if as_json:
        write_json({**value_of(made, max_age), **({"text": ""} if dry_run else {})})
        return
    for limit in made.limits:
        if dry_run or not limit.startswith("budget:"):  # that not all of memory fits is how it should be
            say(f"git mem: {limit}")
    for scope in made.scopes:
        if scope.error or scope.note:
            say(f"git mem: scope {scope.name}: {scope.error or scope.note}")
    if dry_run:
        for part in made.parts:
            where = f"{part.path}:{part.start_line}" if part.path else ""
            write(f"{part.relevance:.2f}  {part.tokens:>5}  {part.layer.value:<9}  {_plain(where or part.label)}\n")
        write(f"{made.tokens} tokens of {made.budget}\n")
    elif made.text:
        write(made.text + "\n")
    else:
        say('git mem: memory has nothing for this yet; write some: git mem add "what happened"')


def here(repo: Repository, subject: str) -> str:
    """A path as the repository spells it, when it is one of a file in it; any other subject as it is."""
    if repo.root is None or subject == "*" or not (place := Path(subject)).exists():
        return subject
    try:
        return place.resolve().relative_to(repo.root.resolve()).as_posix()
    except ValueError:
        return subject


def staged_of(repo: Repository) -> tuple[str, ...]:
    """The staged paths; none where nothing can be staged."""
    return tuple(change.path for change in repo.staged_changes()) if repo.root is not None else ()


def value_of(made: Context, max_age: int = MAX_AGE) -> dict[str, object]:
    """The JSON of docs/json.md, "context"."""
    return {**as_value(made), "fresh_until": (made.assembled_at + timedelta(seconds=max_age)).isoformat()}


def _plain(text: str) -> str:
    from gitmem.output import escape

    return escape(text, keep="")


def place(value: str) -> tuple[str, int, int]:
    """`PATH:A-B` as (path, first, last); last 0 for the end of the file."""
    match = PLACE.match(value)
    if match is None:
        raise UsageError(f"'{value}' is no place", "--include PATH:A-B")
    first = int(match.group(2) or 1)
    last = int(match.group(3) or (first if match.group(2) else 0))
    return match.group(1), max(1, first), last


def request_of(
    config: Config, prompt: str, *, budget: int | None = None, transcript: Path | None = None, characters: int = 0,
    **more: object,
) -> Request:  # fmt: skip
    """A request with the settings in force. Raises GitMemError for a transcript that cannot be read."""
    found = None
    if transcript is not None:
        from gitmem.transcript import parse

        try:
            found = parse(transcript.read_bytes())
        except OSError as error:
            raise GitMemError(f"cannot read '{transcript}': {error.strerror}") from None
    weights = Weights(
        config.context_similarity, config.context_recency, config.context_importance, config.context_decay
    )
    preset = PRESETS.get(config.context_preset)
    return Request(
        prompt=prompt, budget=config.context_budget if budget is None else budget, shares=shares(config.context_layer),
        transcript=found, weights=weights,
        characters=characters or (preset.most if preset else 0), warn=preset.warn if preset else 0,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip


def build(repo: Repository, config: Config, request: Request, when: datetime, at: str = "") -> Context:
    """The context of all scopes: organisation, person, project, session. The past has no session."""
    from gitmem import scopes
    from gitmem.revision import resolve_at

    if request.transcript is not None and not request.summary:
        from gitmem import rolling, running

        talk = running.present(repo.common_dir, request.transcript)  # since the last reset of its session
        so_far = running.summary(repo.common_dir, request.transcript)
        summary = rolling.render(so_far, SUMMARY_TOKENS, request.prompt)
        request = replace(request, transcript=talk, summary=summary)
    beside, opened = scopes.beside(repo, config, os.environ, cache_folder(), when)
    try:
        commit = resolve_at(repo, at, when) if at else ""
        known = [*beside, scopes.project(repo, config, when, commit=commit)]
        session = scopes.session(repo, config, when)
        known += [session] if session.values and not at else []
        return assemble(known, _counted(request, config), when)
    finally:
        for other in opened:
            other.close()


def _counted(request: Request, config: Config) -> Request:
    """The request with the tokenizer in force; one that cannot be had is said, and the built-in one counts."""
    from gitmem.embedders.tokens import BUILT_IN, count_of

    try:
        return replace(request, count=count_of(config.tokenizer), tokenizer=config.tokenizer)
    except ModelUnavailable as error:
        if config.tokenizer == BUILT_IN:
            return request
        say(f"git mem: {error.message}; the built-in word pieces count")
        return _counted(request, config._replace(tokenizer=BUILT_IN))
