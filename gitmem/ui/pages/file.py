"""The page of one memory file, now or then: its lines with their numbers, those marked that a link speaks of."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from starlette.responses import Response

from gitmem.memory.show import read
from gitmem.ui.pages.fact import Line
from gitmem.ui.view import View

MAX_LINES = 400  # lines of a file on one page at most
MAX_PAGE_BYTES = 60_000  # about, of a page's lines as HTML; one line is shown whatever its size
MARKUP_BYTES_PER_LINE = 190  # bytes that a line has beside its text: its number, the link to its statement
LINES_ABOVE_LINK = 20  # lines above the one that a link speaks of


def page(view: View) -> Response:
    """The file `path` from line `from` on, else from a little above line `first`; `first` to `last` are marked.

    Raises MissingFile for what is no memory file.
    """
    path = view.fields.get("path", "")
    first, last = number(view, "first"), number(view, "last")
    shown = read(view.repo, view.config, path, view.snapshot.commit, view.forgotten)
    begin = number(view, "from") or (first - LINES_ABOVE_LINK if _end(shown.lines, 1) < first else 1)
    begin = max(1, min(begin, len(shown.lines)))
    end = _end(shown.lines, begin)
    lines = [
        Line(at, text, first <= at <= max(first, last)) for at, text in enumerate(shown.lines[begin - 1 : end], begin)
    ]
    here = [row for row in view.facts.rows if row.path == path] if view.static else view.statements(path)
    facts = {row.fact.line: row.fact.id for row in here}
    return view.render(
        "file.html", path=path, lines=lines, total=len(shown.lines), begin=begin, end=end, blob=shown.blob,
        facts=facts, before=max(1, begin - MAX_LINES),
    )  # fmt: skip


def _end(lines: Sequence[str], begin: int) -> int:
    """The last line of a page that begins at line `begin`."""
    size = 0
    for at, text in enumerate(lines[begin - 1 : begin - 1 + MAX_LINES], begin):
        size += len(escape(text).encode("utf-8", "surrogatepass")) + MARKUP_BYTES_PER_LINE
        if size > MAX_PAGE_BYTES and at > begin:
            return at - 1
    return min(len(lines), begin + MAX_LINES - 1)


def number(view: View, name: str) -> int:
    """A whole number of the address, 0 where it has none."""
    text = view.fields.get(name, "")
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return 0
