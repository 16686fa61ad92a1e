"""Reads the tables of rules beside this module: UTF-8, one row a line, fields separated by one tab.

Decides nothing about what a row means: `vendors.py`, `shapes.py`, `service_names.py` and `password_pairs.py` each
read one table of rules, every module here its patterns of `patterns.txt`, lists of `words.txt` and labels of
`labels.txt`.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from gitmem.lazy_patterns import lazy


def lines(name: str) -> list[tuple[int, str]]:
    """(number from 1, line) of a table, without comments (`#`) and empty lines.

    Raises OSError or ValueError (UnicodeDecodeError) when the file cannot be read: a detector without its table
    fails, and a failed detector blocks.
    """
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line and line[0] != "#"]


def rows(name: str, width: int, keys: int = 1) -> list[list[str]]:
    """The rows of a table, `width` fields each, none of them empty, in the order of the file.

    `keys`: how many fields, from the first on, name a row. Raises ValueError with the file and the line for a row of
    another width, an empty field, space around a field or a name that the table has already, and for a table without
    rows; and as `lines` does.
    """
    read: list[list[str]] = []
    names: set[tuple[str, ...]] = set()
    for number, line in lines(name):
        fields = line.split("\t")
        if len(fields) != width or any([not field or field != field.strip() for field in fields]):
            raise ValueError(f"{name}:{number}: not a row of {width} fields")
        row_name = tuple(fields[:keys])
        if row_name in names:
            raise ValueError(f"{name}:{number}: the rule '{fields[0]}' is there already")
        names.add(row_name)
        read.append(fields)
    if not read:
        raise ValueError(f"{name}: no rows")
    return read


@cache
def _word_lists() -> dict[str, tuple[str, ...]]:
    return {name: tuple(words.split(", ")) for name, words in rows("words.txt", 2)}


def word_list(name: str) -> tuple[str, ...]:
    """The words of one list of `words.txt`, in its order. Raises KeyError for a list that is not there, and as
    `rows` does."""
    return _word_lists()[name]


def label_pattern(label: str) -> str:
    """The pattern of every word for a `password` or a `secret` in `labels.txt`, on text in lower case; raises as
    `rows` does."""
    return "|".join([pattern for name, _, pattern in rows("labels.txt", 3, keys=2) if name == label])


class _Patterns:
    """The rows of `patterns.txt` as attributes: the first use of one compiles it and keeps it. A name without a row
    raises AttributeError; else raises as `rows` does."""

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in _expressions():
            raise AttributeError(f"patterns.txt: no row '{name}'")
        pattern = re.compile(_NAMED_ROW.sub(lambda row: _expressions()[row[1]], _expressions()[name]))
        setattr(self, name, pattern)
        return pattern


_NAMED_ROW = lazy("<<([a-z0-9_]+)>>")
patterns = _Patterns()


@cache
def _expressions() -> dict[str, str]:
    """The name and the regular expression of each row of `patterns.txt`; raises as `rows` does."""
    return {name: expression for name, expression in rows("patterns.txt", 2)}
