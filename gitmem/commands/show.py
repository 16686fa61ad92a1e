"""`git mem show`: lines of a memory file, now or then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitmem.commands._edge import colour_option, json_option, now, open_here
from gitmem.counted import counted
from gitmem.errors import UsageError
from gitmem.output import colour as coloured
from gitmem.output import escape, paint, write, write_json

if TYPE_CHECKING:
    from gitmem.show import Shown


@click.command()
@click.argument("place", metavar="PATH[:A-B]")
@click.option("--at", default="", metavar="REV|DATE", help="The file as it was there or then.")
@colour_option
@json_option
def command(place: str, at: str, colour: str, as_json: bool) -> None:
    """Print lines A to B of the memory file PATH, with their numbers.

    Only files of this repository's memory are shown; symbolic links are not followed.

    \b
    git mem show MEMORY.md:10-20
    git mem show memory/2026-02-05.md --at 2026-03-01
    """
    from gitmem.commands._place import lines as parse_place
    from gitmem.revision import resolve_at
    from gitmem.show import read

    repo, config = open_here()
    path, first, last = parse_place(repo, place)
    found = read(repo, config, path, resolve_at(repo, at, now()) if at else "")
    value = as_value(found, first, last)
    if as_json:
        write_json(value)
        return
    start, end = first or 1, min(last or len(found.lines), len(found.lines))
    shown = found.lines[start - 1 : end]
    on = coloured(colour)
    width = len(str(end))
    write(
        "".join(
            f"{paint(f'{number:>{width}}', 'line', on)}  {escape(line, chr(9))}\n"
            for number, line in enumerate(shown, start)
        )
    )


def as_value(found: Shown, first: int = 0, last: int = 0) -> dict[str, object]:
    """The JSON of docs/json.md, "show": lines `first` to `last`, 0 for the ends. Raises UsageError past the end."""
    start, end = first or 1, min(last or len(found.lines), len(found.lines))
    if start > max(1, len(found.lines)):
        raise UsageError(f"'{found.path}' has {counted(len(found.lines), 'line')}")
    text = "\n".join(found.lines[start - 1 : end])
    return {"path": found.path, "at": found.at, "blob": found.blob, "start_line": start, "end_line": end, "text": text}
