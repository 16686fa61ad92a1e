"""Finds the parts of a Markdown text that a page shows as code: closed fenced blocks and code spans. Text in them hides
nothing and begins no role.

Only text counts that is code in every reading. When a fence can be read in two ways (inside HTML, or with a line that
leaves the list or the quotation of the fence), no block and no span of the text counts. A code span does not count if
it contains the end of a table cell, comes after HTML or a backslash, or after a single backtick, up to the next empty
line. CommonMark 0.31, sections 4.5, 4.6 and 6.1; `fences` decides which lines open and close a block.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

from gitmem.fences import closes_fence, opening_fence
from gitmem.lazy_patterns import lazy

Stretch = tuple[int, int]

_CONTAINER = lazy(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+[ \t>]*)*")
_MARKER = lazy(r"[^ \t>]")  # of a list: what stands below it is indented as far
_HTML = lazy(r"<(?:(script|pre|style|textarea)(?![\w-])|(!--)|(\?)|(!\[cdata\[)|(![a-z])|/?[a-z])", re.I)
_COMMENT_ENDS = lazy(r"-->")
# What ends the HTML that goes on over empty lines, in the order of `_HTML`.
_UNTIL = (lazy(r"</(?:script|pre|style|textarea)>", re.I), _COMMENT_ENDS, lazy(r"\?>"), lazy(r"\]\]>"), lazy(r">"))
_EMPTY = lazy(r"[ \t>]*\Z")  # where any other HTML ends
_DEEP = lazy(r" {0,3}\t| {4}")  # what is indented so closes no block
_RUN = lazy(r"(\\?)(`+)")


def fenced(text: str) -> list[Stretch]:
    """The contents of the closed fenced blocks of a text, as half-open ranges in order; [] for a text with a fence that
    can be read in two ways."""
    return shown_code(text).blocks


class ShownCode:
    """The parts of a text that a page shows as code. `blocks`: the contents of closed fenced blocks, as half-open
    ranges in order. A text with a fence that can be read in two ways shows no code."""

    def __init__(self, text: str) -> None:
        self.blocks: list[Stretch] = []
        self._spans: list[Stretch] = []
        if "`" in text or "~~~" in text:
            self._read(text)

    def has(self, place: int) -> bool:
        """Whether the offset `place` is in a fenced block or in a code span."""
        return self.is_fenced(place) or _holds(self._spans, place)

    def is_fenced(self, place: int) -> bool:
        """Whether the offset `place` is in a closed fenced block."""
        return _holds(self.blocks, place)

    def _read(self, text: str) -> None:
        """Find the blocks and spans line by line. A text that cannot be read this way has none: all that was found is
        dropped."""
        fence, inside, begun, place = "", "", 0, 0
        html: re.Pattern[str] | None = None  # what ends the HTML that a line is in
        plain = True  # whether the backticks of a paragraph can be read a line at a time
        for line in text.split("\n"):
            start, place = place, place + len(line) + 1
            head = len(_CONTAINER.match(line)[0])  # type: ignore[index]
            if fence:
                closed = closes_fence(line[len(inside) :], fence)
                if not _stays(line, inside) or (closed and _DEEP.match(line, len(inside))):
                    self._give_up()
                    return
                if closed:
                    self.blocks.append((begun, start))
                    fence = ""
                continue
            opened = opening_fence(line[head:].rstrip("\r"))
            if opened and html is not None:
                self._give_up()
                return
            if opened:
                fence, inside, begun = opened, _MARKER.sub(" ", line[:head]), start + len(line)
                plain, html = True, None
                continue
            if _EMPTY.match(line.rstrip("\r")):
                plain = True
            elif plain and html is None:
                plain = self._read_spans(line, start)
            html = _html_after(html, line, head)

    def _give_up(self) -> None:
        self.blocks, self._spans = [], []

    def _read_spans(self, line: str, start: int) -> bool:
        """Add the code spans of a line that begins at offset `start`. Returns whether the next line of the paragraph
        can be read independently of it."""
        read_end = index = 0
        runs = list(_RUN.finditer(line))
        while index < len(runs):
            first = runs[index]
            last = next((later for later in range(index + 1, len(runs)) if runs[later][2] == first[2]), None)
            if last is None or first[1] or "<" in line[read_end : first.start()]:
                return False
            end, read_end, index = runs[last].start(2), runs[last].end(), last + 1
            if "|" in line[first.end() : end]:  # the end of a cell, in a table
                return False
            self._spans.append((start + first.start(2), start + read_end))
        return "<" not in line[read_end:]


def _stays(line: str, inside: str) -> bool:
    """Whether a line of a fenced block stays in the list and the quotation that the block begins in (`inside`)."""
    return line.startswith(inside) or (not line.strip() and ">" not in inside) or line.rstrip() == inside.rstrip()


def _html_after(html: re.Pattern[str] | None, line: str, head: int) -> re.Pattern[str] | None:
    """The pattern that ends the HTML that is open after a line, None for none. `html`: the same before the line.
    `head`: the offset behind the list and quotation marks of the line."""
    line = line.rstrip("\r")
    place = 0
    if html is None:
        begun, comment = _HTML.match(line, head), line.rfind("<!--")
        if begun:
            html, place = _EMPTY, begun.end()
            if begun.lastindex:
                html = _UNTIL[begun.lastindex - 1]
        elif comment >= 0:
            html, place = _COMMENT_ENDS, comment + 4
        else:
            return None
    if html is _EMPTY:
        ended = html.match(line)
    else:
        ended = html.search(line, place)
    if ended:
        return None
    return html


def _holds(stretches: list[Stretch], place: int) -> bool:
    """Whether a place is in one of the half-open stretches, which are in order and apart."""
    index = bisect_right(stretches, (place, len(stretches) and stretches[-1][1])) - 1
    return index >= 0 and stretches[index][0] <= place < stretches[index][1]


@lru_cache(maxsize=4)
def shown_code(text: str) -> ShownCode:
    """The code that a text shows, cached for the last texts; linear in its length."""
    return ShownCode(text)
