"""How high Markdown of a comment is at GitHub, in pixels: an upper estimate from the widths of its letters. Pure.

The numbers are those of GitHub's own style sheet: letters of 14 pixels (code .85 of it), lines of 21, 16 below a
paragraph or a list, in a column of WIDTH. tests/review measures the same Markdown in a browser against it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

WIDTH = 740  # pixels of a comment's text at GitHub in a window of 1280, less what scroll bars take
INDENT = 28  # pixels before a list's item
LINE = 21
GAP = 16  # below a paragraph or a list
ITEM = 4  # between two items
HEADING = 22  # of one line of a heading of the third level, without the gap below
NARROW, WIDE = 8.0, 15.0  # pixels of a letter, bold included
HEADING_SCALE = 1.25  # of its letters
CODE_PADDING = 10  # pixels beside one piece of code
VERY_WIDE = {"\ufdfa": 8, "\ufdfb": 6, "\ufdfd": 14}  # times the width of a wide letter

_ADDRESS = re.compile(r"\]\([^()\s]*\)")
_CODE = re.compile(r"(`+)(.+?)\1")


def of_blocks(lines: Iterable[str]) -> int:
    """Pixels of lines of Markdown: headings, paragraphs of one line, items of a list, blank ones between them."""
    height = 0
    in_list = False
    for line in lines:
        if line.startswith("- "):
            height += of_row(line[2:]) + (0 if in_list else GAP)
            in_list = True
        elif line.startswith("### "):
            height += HEADING * _rows(line[4:], WIDTH / HEADING_SCALE) + GAP
        elif line:
            height += LINE * _rows(line, WIDTH) + GAP
        in_list = in_list and (not line or line.startswith("- "))
    return height


def of_row(row: str) -> int:
    """Pixels of one item of a list."""
    return LINE * _rows(row, WIDTH - INDENT) + ITEM


def of_fold(summary: str) -> int:
    """Pixels of a fold that is closed."""
    return of_blocks([summary])


def _rows(markdown: str, width: float) -> int:
    """Lines that a paragraph takes: words are put on a line as long as they fit, a longer one is broken."""
    rows, used = 1, 0.0
    for part in _parts(_ADDRESS.sub("", markdown)):
        for wide in part:
            if used + wide > width and used:
                rows, used = rows + 1, 0.0
            used += wide
            while used > width:
                rows, used = rows + 1, used - width
    return rows


def _parts(text: str) -> Iterator[list[float]]:
    """The widths of what a browser does not break: words, and each letter of a script without spaces."""
    padding = CODE_PADDING * len(_CODE.findall(text))
    yield [float(padding)] if padding else []
    for word in re.split(r"(?<= )", text):
        run = 0.0
        widths = []
        for letter in word:
            if unicodedata.east_asian_width(letter) in "WF":
                if run:
                    widths += [run]
                widths.append(_width(letter))
                run = 0.0
            else:
                run += _width(letter)
        yield [*widths, run] if run else widths


def _width(letter: str) -> float:
    if letter in VERY_WIDE:
        return WIDE * VERY_WIDE[letter]
    if letter < "\u0590":
        return NARROW
    if 0x12000 <= ord(letter) < 0x12550:  # cuneiform
        return 4 * WIDE
    return WIDE
