"""Wrap lines to the width of a terminal, with continuation lines indented to the text that they continue.

Lines break at spaces and, in Japanese and Chinese, between letters. A wide letter counts as two columns, a colour code
as none. A word that is wider than the terminal is not broken, so that a path or an address can be copied.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator

COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")
# What stands before the text of a line: a label and at least two spaces ("index     "), or a sign ("  + ", "- [ ] ").
LABEL = re.compile(r"\s*(?:\S+(?: \S+){0,2}\s{2,}|[-+~>x*!] (?:\[.\] )?)")
MAX_LABEL_COLUMNS = 24  # columns of a label; continuation lines are not indented by a wider one
CONTINUED_INDENT = 2  # columns by which a continuation line is indented more than its line, where that has no label
# Letters of Japanese and Chinese, between which a line may break. Korean puts spaces between words.
UNSPACED = "\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
CLOSING = "\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff1f\uff01\uff09\u300d\u300f\u3011\u3009\u300b\u2019\u201d\u30fb\u30fc"
PIECE = re.compile(rf" *(?:[{UNSPACED}]|[^{UNSPACED} ]+)?(?:\x1b\[[0-9;]*m|[{CLOSING}),.:;?!\]}}])* *", re.DOTALL)
MIN_WIDTH = 40  # columns; in a narrower terminal lines are not wrapped


def letter_columns(letter: str) -> int:
    """The columns that a letter takes in a terminal: 0, 1 or 2 (Unicode's East Asian Width)."""
    if unicodedata.combining(letter):
        return 0
    if unicodedata.east_asian_width(letter) in "WF":
        return 2
    return 1


def columns_of(text: str) -> int:
    """The columns that a text takes in a terminal; colour codes take none."""
    plain = COLOUR_CODE.sub("", text)
    if plain.isascii():
        return len(plain)
    return sum(map(letter_columns, plain))


def terminal_width() -> int:
    """The columns of the terminal on standard output; 0 without a terminal, or if it is narrower than MIN_WIDTH."""
    try:
        if not sys.stdout.isatty():
            return 0
        width = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0
    return width if width >= MIN_WIDTH else 0


def wrap_text(text: str, width: int) -> str:
    """`text` with each line wrapped to `width` columns, and a line break at its end; unchanged if `width` is 0."""
    if not width:
        return text
    return "".join("\n".join(_wrapped_line(line, width)) + "\n" for line in text.splitlines())


def _wrapped_line(line: str, width: int) -> Iterator[str]:
    """The lines into which one line is wrapped."""
    if columns_of(line) <= width:
        yield line
        return
    indent = " " * _hanging_indent(COLOUR_CODE.sub("", line), width)
    current, columns = "", 0
    for piece in PIECE.findall(line):
        piece_columns = columns_of(piece.rstrip(" "))
        if current.strip(" ") and columns + piece_columns > width:
            yield current.rstrip(" ")
            current, columns = indent, len(indent)
            piece = piece.lstrip(" ")
        current += piece
        columns += columns_of(piece)
    yield current.rstrip(" ")


def _hanging_indent(line: str, width: int) -> int:
    """The column at which continuation lines of `line` begin: after its label, else a little right of its indent; never
    more than a third of the width."""
    label = LABEL.match(line)
    if label and 0 < (columns := columns_of(label[0])) <= min(MAX_LABEL_COLUMNS, width // 3):
        return columns
    indent = len(line) - len(line.lstrip(" "))
    if indent < CONTINUED_INDENT * 2:
        indent += CONTINUED_INDENT
    return min(indent, width // 3)
