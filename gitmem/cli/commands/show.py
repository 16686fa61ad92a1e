"""`git mem show`: print lines of a memory file, as it is or as it was."""

from __future__ import annotations

from dataclasses import replace

import click

from gitmem.cli import completions
from gitmem.cli.hidden_secrets import say_hidden
from gitmem.cli.options import at_option, colour_option, commit_at, json_option, open_here
from gitmem.cli.places import parse_lines
from gitmem.cli.terminal import escape, page, paint, say, uses_colour, write_json
from gitmem.environment import now
from gitmem.gate.quoting import HIDDEN, without_secrets
from gitmem.git.unmerged import our_versions
from gitmem.memory.show import lines_of, read, statement_at
from gitmem.memory.snapshot import words_on_conflicts
from gitmem.provenance.forgotten_texts import forgotten_texts


@click.command()
@click.argument("place", metavar="PATH[:A-B]", shell_complete=completions.paths)
@at_option("The file as it was there or then.")
@colour_option
@json_option
def command(place: str, at: str, colour: str, as_json: bool) -> None:
    """Print lines A to B of the memory file PATH, numbered.

    One line prints the whole statement that it is part of. Only files of this repository's memory are shown; symbolic
    links are not followed. A line with a secret is hidden.

    \b
    git mem show MEMORY.md:10-20
    git mem show MEMORY.md:10
    git mem show memory/2026-02-05.md --at 2026-03-01
    """
    repo, config = open_here()
    path, first, last = parse_lines(repo, place)
    commit = commit_at(repo, at, now())
    memory_file = read(repo, config, path, commit, forgotten_texts(repo))
    memory_file = replace(memory_file, lines=tuple(without_secrets(memory_file.lines)))
    if not commit and path in our_versions(repo):
        say(f"note: {words_on_conflicts([path])}")
    if first and first == last:
        first, last = statement_at(memory_file, first)
    value = lines_of(memory_file, first, last)
    if HIDDEN in value.text:
        say_hidden()
    if as_json:
        write_json(value)
        return
    start, end = first or 1, min(last or len(memory_file.lines), len(memory_file.lines))
    lines = memory_file.lines[start - 1 : end]
    in_colour = uses_colour(colour)
    width = len(str(end))
    page(
        "".join(
            f"{paint(f'{number:>{width}}', 'line', in_colour)}  {escape(line, chr(9))}\n"
            for number, line in enumerate(lines, start)
        ),
        wrap=True,
    )
