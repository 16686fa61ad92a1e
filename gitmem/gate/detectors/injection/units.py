"""Cuts a text into units.

A unit is a piece of text that is judged as one: a line, one or two sentences of a long line, a sentence broken over
several lines, or a row of very short lines. This module judges nothing and reads no word.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gitmem.lazy_patterns import lazy

LONGEST_UNIT = 360  # characters
_SENTENCE_END = lazy(r"(?<=[.!?])[\"')\]]{0,2}\s+|(?<=[。！？])|(?<=[다요라함음오까])\.\s*|\s[-–—]{1,2}\s")
_QUOTE_SIGN = lazy("[\"'`「『«《]")
_MARKS = " \t\r>#*|-"  # what opens a line and belongs to no sentence


class Unit(NamedTuple):
    """A piece of folded text that is judged as one. `start`, `end`: its offsets."""

    start: int
    end: int
    text: str


class Line(NamedTuple):
    """A line, or some very short lines in a row (`pieces`), at `start:end` of the text.

    `pieces`: (start, end) of each short line, () for a single line. `joined`: the offsets at which the lines before
    begin whose sentence this line continues, the first one first; () if it continues none.
    """

    start: int
    end: int
    joined: tuple[int, ...] = ()
    pieces: tuple[tuple[int, int], ...] = ()

    def says(self, folded: str) -> str:
        """The text of the line; the texts of its pieces with blanks between them."""
        if self.pieces:
            return " ".join(folded[a:b] for a, b in self.pieces)
        return folded[self.start : self.end]


def lines(folded: str) -> Iterator[Line]:
    """The lines of a text that have at least four characters, without list and quotation marks at their beginning. Four
    or more lines in a row of at most 14 characters also make lines with `pieces`, after the last one of them."""
    short: list[tuple[int, int]] = []
    broken: list[tuple[int, int]] = []  # the lines before, each going on with the sentence of the one before it
    next_start = 0
    for line in folded.split("\n"):
        start, body = next_start, line.lstrip(_MARKS)
        next_start += len(line) + 1
        first = start + len(line) - len(body)
        last = first + len(body.rstrip())
        size = last - first
        if size >= 4:
            if broken and not _goes_on(folded, broken[-1][1], first, folded[start:first]):
                broken = []
            while broken and not _together(broken, last):
                broken.pop(0)
            yield Line(first, last, tuple([begin for begin, _ in broken]))
            broken.append((first, last))
        else:
            broken = []
        if 0 < size <= 14:
            short.append((first, last))
        elif size or len(short) > 200:
            yield from _of_short_lines(short)
            short = []
    yield from _of_short_lines(short)


def _goes_on(folded: str, previous: int, first: int, marks: str) -> bool:
    """Whether the line whose text begins at offset `first` continues the sentence of the line that ends at `previous`.
    An item of a list does not. `marks`: the signs before the line's text."""
    return not marks.strip(_INDENT) and folded[previous - 1] not in ".!?。！？:|" and folded[first].isalpha()


def _together(broken: list[tuple[int, int]], last: int) -> bool:
    """Whether the lines `broken` and the line that ends at `last` are read as one: two lines, or more lines that are
    narrow."""
    return last - broken[0][0] <= (LONGEST_UNIT if len(broken) == 1 else _NARROW)


_INDENT = " \t\r>"
_NARROW = LONGEST_UNIT // 2  # characters of more than two lines that are read as one


def units_of(folded: str, line: Line) -> Iterator[Unit]:
    """The units of a line: the line itself, if it has at most LONGEST_UNIT characters; of several sentences also each
    one and each two in a row; and the line joined with the lines whose sentence it continues."""
    if line.pieces:
        yield Unit(line.start, line.end, line.says(folded))
        return
    yield from _of_line(folded, line.start, line.end)
    if line.joined:
        begin = line.joined[0]
        yield Unit(begin, line.end, folded[begin : line.end])


def _of_short_lines(places: list[tuple[int, int]]) -> Iterator[Line]:
    """A line for each 24 of these short lines in a row, overlapping by half: a sentence may be written one word a line.
    No line for fewer than four."""
    if len(places) >= 4:
        for i in range(0, len(places), 12):
            part = places[i : i + 24]
            yield Line(part[0][0], part[-1][1], pieces=tuple(part))


def _of_line(folded: str, start: int, end: int) -> Iterator[Unit]:
    """The units of a line: the line itself if it is short enough, each sentence, and each pair of neighbouring
    sentences. A sentence over LONGEST_UNIT becomes overlapping windows."""
    line = folded[start:end]
    if len(line) <= LONGEST_UNIT:
        yield Unit(start, end, line)
    if len(line) < 40:
        return
    cuts = [0]
    for match in _SENTENCE_END.finditer(line):
        if match.end() - cuts[-1] >= 12:
            cuts.append(match.end())
    if len(cuts) == 1 and len(line) <= LONGEST_UNIT:
        return
    cuts.append(len(line))
    pieces: list[tuple[int, int]] = []
    for a, b in pairwise(cuts):
        while b - a > LONGEST_UNIT:  # no sentence end for long: overlapping windows
            pieces.append((a, a + LONGEST_UNIT))
            a += LONGEST_UNIT * 3 // 4
        pieces.append((a, b))
    for i, (a, b) in enumerate(pieces):
        yield Unit(start + a, start + b, line[a:b])
        if i and b - pieces[i - 1][0] <= LONGEST_UNIT and len(pieces) > 2:
            yield Unit(start + pieces[i - 1][0], start + b, line[pieces[i - 1][0] : b])


def without_markup(unit: str) -> str:
    """The text of a unit of folded text as a rendered page shows it: without the markup that separates single words.

    The function removes emphasis, brackets, tags, footnotes, numbers attached to a word, and quotation marks or
    backticks around one or two words; a longer quotation stays, since it is talked about. It removes signs after each
    word, or after each two or three words, if there are four in a row, and signs that break a Japanese or Chinese
    sentence into pieces of a few characters. A link is replaced by its text, and the addresses of all links are put at
    the end.
    """
    if not unit.isascii() and _BROKEN.search(unit):
        unit = _BREAK.sub("", unit)
    if _MARKUP.search(unit) is None and not _is_separated(unit):
        return unit
    addresses = _LINK.findall(unit)
    unit = _LINK.sub(r"\1", unit)
    unit = _DECORATION.sub("", _TAG.sub("", unit) if "<" in unit else unit)
    if _QUOTE_SIGN.search(unit):
        unit = _QUOTED_WORD.sub(r"\1", unit)
    if _is_separated(unit):
        unit = _SEPARATOR.sub(" ", unit)
    if addresses:
        return " ".join([unit, *dict.fromkeys([address for _, address in addresses])])
    return unit


def _is_separated(unit: str) -> bool:
    return len(_SEPARATION.findall(unit)) >= 4 and _SEPARATED.search(unit) is not None


_MARKUP = lazy(r"[*`\"~{}\[\]<>_'\\「『«《]|[a-z]\d")
_LINK = lazy(r"\[([^\[\]\n]{1,200})\]\([ \t<]{0,4}([^()\s<>]{0,400})[^()\n]{0,200}\)")
_TAG = lazy(r"</?[a-z][^<>\n]{0,200}>")
_DECORATION = lazy(  # begins with its sign and looks back, so that a search passes over letters
    r"[*~{}\[\]<>_\\\d](?:(?<=\[)\^?\d{1,3}\]|(?<=[*~{}\[\]<>])[*~{}\[\]<>]*|(?<=(?<![^\W_])_)_*|(?<=_)_*(?![^\W_])"
    r"|(?<=(?<!\S)\\)\\*|(?<=[a-z]{2}\d)\d{0,2}(?![\w.]))"
)
_SEPARATION = lazy(r"[,;:/|.…–—-][ \t]")  # how each part of the next ends: counting these costs a twentieth of it
# Behind each word, or but for commas behind each two or three. Of the first word its last letter is enough to see that it
# is there: a search that began at each of its letters would read what follows as often.
_SEPARATED = lazy(
    r"[^\W\d_][ \t]?[,;:/|.…–—-]{1,3}[ \t]{1,3}(?:[^\W\d_]{1,24}[ \t]?[,;:/|.…–—-]{1,3}[ \t]{1,3}){3}"
    r"|[^\W\d_][ \t]?[;:/|.…–—-]{1,3}[ \t]{1,3}"
    r"(?:(?:[^\W\d_]{1,24}[ \t]){0,2}[^\W\d_]{1,24}[ \t]?[;:/|.…–—-]{1,3}[ \t]{1,3}){3}"
)
_BROKEN = lazy(  # its first character is the last of a piece, see `_SEPARATED`
    r"[ぁ-ヺー一-鿿][\s.,;:/|…–—_-]{1,4}(?:[ぁ-ヺー一-鿿]{1,4}[\s.,;:/|…–—_-]{1,4}){3}(?=[ぁ-ヺー一-鿿])"
)
_BREAK = lazy(r"(?<=[ぁ-ヺー一-鿿])[\s.,;:/|…–—_-]{1,4}(?=[ぁ-ヺー一-鿿])")
_SEPARATOR = lazy(r"[ \t]?[,;:/|.…–—-]{1,3}[ \t]{1,3}")
_QUOTED_WORD = lazy(
    r"[\"'`「『«《]+((?:[a-zа-яё0-9.,:;!?/_-]{1,24} ?){1,2}|[^\x00-\x7f]{1,6})[\"'`」』»》]+(?![a-zа-яё])"
)
