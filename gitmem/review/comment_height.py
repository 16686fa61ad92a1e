"""Estimates from above, in pixels, how high GitHub shows a comment, by the widths of its letters. Pure.

The numbers come from GitHub's style sheet: a font of 14 pixels (code 0.85 of it), lines of 21 pixels and 16 pixels
below a paragraph or a list, in a column of WIDTH. A test in tests/review measures the same Markdown in a browser.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator

# All in pixels, except the scales.
WIDTH = 740  # of a comment's text at GitHub in a window of 1280, without scroll bars
INDENT = 28  # before a list item
LINE = 21  # height of a line
GAP = 16  # below a paragraph or a list
ITEM_GAP = 4  # between two list items
HEADING_LINE = 22  # height of a line in a heading of the third level
NARROW, WIDE = 8.0, 15.0  # width of a letter, bold included
HEADING_SCALE = 1.25  # letters of a heading, relative to those of a paragraph
CODE_PADDING = 10  # around one piece of code
VERY_WIDE = {"\ufdfa": 8, "\ufdfb": 6, "\ufdfd": 14}  # widths in wide letters

_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_CODE = re.compile(r"(`+)(.+?)\1")


def blocks_height(lines: Iterable[str]) -> int:
    """An estimate from above of the height in pixels of lines of Markdown. Each line is blank, a heading that begins
    with `### `, a list item that begins with `- `, or else a whole paragraph."""
    height = 0
    in_list = False
    for line in lines:
        if line.startswith("- "):
            height += row_height(line[2:])
            if not in_list:
                height += GAP
            in_list = True
        elif line.startswith("### "):
            height += HEADING_LINE * _line_count(line[4:], WIDTH / HEADING_SCALE) + GAP
            in_list = False
        elif line:
            height += LINE * _line_count(line, WIDTH) + GAP
            in_list = False
    return height


def row_height(row: str) -> int:
    """The height in pixels of one list item, given without its mark `- `."""
    return LINE * _line_count(row, WIDTH - INDENT) + ITEM_GAP


def _line_count(markdown: str, width: float) -> int:
    """The number of lines of a paragraph in a column of `width` pixels. A word that is wider than a line is broken."""
    lines, used = 1, 0.0
    for part in _unbreakable_widths(_LINK_TARGET.sub("", markdown)):
        if used + part > width and used:
            lines, used = lines + 1, 0.0
        used += part
        while used > width:
            lines, used = lines + 1, used - width
    return lines


def _unbreakable_widths(text: str) -> Iterator[float]:
    """The width of each part that a browser keeps on one line: a word, or a letter of a script without spaces. The
    padding of all pieces of code comes first."""
    yield float(CODE_PADDING * len(_CODE.findall(text)))
    for word in re.split(r"(?<= )", text):
        run = 0.0
        for letter in word:
            if unicodedata.east_asian_width(letter) in "WF":
                yield from (run, _width(letter))
                run = 0.0
            else:
                run += _width(letter)
        yield run


def _width(letter: str) -> float:
    """The width of a letter in pixels."""
    if letter in VERY_WIDE:
        return WIDE * VERY_WIDE[letter]
    if letter < "\u0590":
        return NARROW
    if 0x12000 <= ord(letter) < 0x12550:  # cuneiform
        return 4 * WIDE
    return WIDE
