"""Lines for a terminal, wrapped to its width: continuation lines stand below the text that they continue.

Wraps at spaces and, in Japanese and Chinese, between letters. A wide letter counts as two columns, a colour code as
none. A word that is wider than the terminal stays whole: a path or an address must stay one word to copy.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Iterator

COLOUR_CODE = re.compile(r"\x1b\[[0-9;]*m")
# A label and at least two spaces ("index     "), or a sign ("  + ", "- [ ] ", "  12  "): what follows is the text.
LABEL = re.compile(r"\s*(?:\S+(?: \S+){0,2}\s{2,}|[-+~>x*!] (?:\[.\] )?)")
MAX_LABEL_COLUMNS = 24  # a wider label leaves too little room beside it: its text continues at the indent
CONTINUED_INDENT = 2  # more columns than the line's own indent, where the line has no label
# Letters of Japanese and Chinese, between which a line may be broken: Korean has spaces between its words.
UNSPACED = "\u2e80-\u2fdf\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
CLOSING = "\u3001\u3002\uff0c\uff0e\uff1a\uff1b\uff1f\uff01\uff09\u300d\u300f\u3011\u3009\u300b\u2019\u201d\u30fb\u30fc"
PIECE = re.compile(rf" *(?:[{UNSPACED}]|[^{UNSPACED} ]+)?(?:\x1b\[[0-9;]*m|[{CLOSING}),.:;?!\]}}])* *", re.DOTALL)
MIN_WIDTH = 40  # columns; a narrower terminal wraps by itself


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
    """The columns of the terminal on standard output; 0 where it is no terminal, or a very narrow one."""
    try:
        width = 0
        if sys.stdout.isatty():
            width = os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 0
    if width >= MIN_WIDTH:
        return width
    return 0


def wrapped(text: str, width: int) -> str:
    """`text` with each of its lines wrapped to `width` columns; as it is where `width` is 0."""
    if not width:
        return text
    return "".join("\n".join(_wrapped_line(line, width)) + "\n" for line in text.splitlines())


def _wrapped_line(line: str, width: int) -> Iterator[str]:
    if columns_of(line) <= width:
        yield line
        return
    indent = " " * _hanging_indent(COLOUR_CODE.sub("", line), width)
    current, columns = "", 0
    for piece in PIECE.findall(line):
        more = columns_of(piece.rstrip(" "))
        if current.strip(" ") and columns + more > width:
            yield current.rstrip(" ")
            current, columns = indent, len(indent)
            piece = piece.lstrip(" ")
        current += piece
        columns += columns_of(piece)
    yield current.rstrip(" ")


def _hanging_indent(line: str, width: int) -> int:
    """The column at which the continuation of a line stands."""
    label = LABEL.match(line)
    if label and 0 < (columns := columns_of(label[0])) <= min(MAX_LABEL_COLUMNS, width // 3):
        return columns
    own = len(line) - len(line.lstrip(" "))
    return min(own if own >= CONTINUED_INDENT * 2 else own + CONTINUED_INDENT, width // 3)
