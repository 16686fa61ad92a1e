"""`git mem context`: one block of memory for a model."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import click

from gitmem.cli.options import json_option, open_here
from gitmem.cli.terminal import say, write, write_json
from gitmem.context.layer_limits import PRESETS, Layer
from gitmem.context.request import MAX_AGE, build, here, place, request_of, staged_of, value_of
from gitmem.environment import cache_folder, now

MOST = 1 << 20  # bytes of a prompt from standard input


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
        from gitmem.context.condensing import merger

        request = replace(request, merge=merger(repo, config, merge, now(), os.environ))
    made = build(repo, config, request, now(), at, environ=os.environ, cache=cache_folder())
    for note in made.notes:
        say(f"git mem: {note}")
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


def _plain(text: str) -> str:
    from gitmem.cli.terminal import escape

    return escape(text, keep="")
