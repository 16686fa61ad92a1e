"""The page of one memory file in the snapshot: its numbered lines, with the lines marked that a link points to."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from starlette.responses import Response

from gitmem.memory.show import read
from gitmem.provenance.present_facts import PresentFact
from gitmem.ui.pages.fact import Line
from gitmem.ui.view import View

MAX_LINES = 400  # on one page
MAX_PAGE_BYTES = 60_000  # of a page's lines as HTML, about; a single line may be larger
MARKUP_BYTES_PER_LINE = 190  # of a line's number and its link
LINES_ABOVE_LINK = 20  # shown above the line that a link points to


def page(view: View) -> Response:
    """The file `path` from line `from` on, else from LINES_ABOVE_LINK above line `first`; the lines `first` to `last`
    are marked. Raises MissingFile when `path` is not a memory file."""
    path = view.fields.get("path", "")
    first, last = view.number("first"), view.number("last")
    content = read(view.repo, view.config, path, view.snapshot.commit, view.forgotten)
    begin = view.number("from")
    if not begin and _end(content.lines, 1) < first:
        begin = first - LINES_ABOVE_LINK
    begin = max(1, min(begin, len(content.lines)))
    end = _end(content.lines, begin)
    lines = [
        Line(number, text, first <= number <= max(first, last))
        for number, text in enumerate(content.lines[begin - 1 : end], begin)
    ]
    rows: Sequence[PresentFact] = [row for row in view.facts.rows if row.path == path]
    if not view.static:
        rows = view.statements(path)
    facts = {row.fact.line: row.fact.id for row in rows}
    return view.render(
        "file.html", path=path, lines=lines, total=len(content.lines), begin=begin, end=end, blob=content.blob,
        facts=facts, before=max(1, begin - MAX_LINES),
    )  # fmt: skip


def _end(lines: Sequence[str], begin: int) -> int:
    """The last line (1-based) of a page that begins at line `begin`: MAX_LINES lines, fewer if they have more than
    MAX_PAGE_BYTES as HTML; at least one."""
    size = 0
    for number, text in enumerate(lines[begin - 1 : begin - 1 + MAX_LINES], begin):
        size += len(escape(text).encode("utf-8", "surrogatepass")) + MARKUP_BYTES_PER_LINE
        if size > MAX_PAGE_BYTES and number > begin:
            return number - 1
    return min(len(lines), begin + MAX_LINES - 1)
