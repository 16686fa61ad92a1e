"""Reads the tables of rules beside this module: UTF-8, one row a line, fields separated by one tab.

Each table explains its notation. A table that cannot be read raises OSError, one with a malformed row ValueError, so
that the detector fails, and a failed detector blocks. Decides nothing about what a row means.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gitmem.lazy_patterns import lazy


def lines(name: str) -> list[tuple[int, str]]:
    """(number from 1, line) of a table beside this module, or at an absolute path, without comments (`#`) and empty lines."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line and line[0] != "#"]


def rows(name: str, width: int, keys: int = 1) -> list[list[str]]:
    """The rows of a table, `width` fields each, none of them empty, in the order of the file.

    `keys`: how many fields, from the first on, name a row. Raises ValueError for a malformed table: a row of another
    width, with an empty field, space around a field or a name that the table has already, or no rows at all.
    """
    table: list[list[str]] = []
    names: set[tuple[str, ...]] = set()
    for number, line in lines(name):
        fields = line.split("\t")
        if len(fields) != width or any([not field or field != field.strip() for field in fields]):
            raise ValueError(f"{name}:{number}: not a row of {width} fields")
        row_name = tuple(fields[:keys])
        if row_name in names:
            raise ValueError(f"{name}:{number}: the rule '{fields[0]}' is there already")
        names.add(row_name)
        table.append(fields)
    if not table:
        raise ValueError(f"{name}: no rows")
    return table


@cache
def _word_lists() -> dict[str, tuple[str, ...]]:
    return {name: tuple(words.split(", ")) for name, words in rows("words.txt", 2)}


def word_list(name: str) -> tuple[str, ...]:
    """The words of one list of `words.txt`, in its order. Raises KeyError for a list that is not there."""
    return _word_lists()[name]


def label_pattern(label: str) -> str:
    """The pattern of all words for `label` in `labels.txt`, for text in lower case. `label`: "password" or "secret"."""
    return "|".join([pattern for name, _, pattern in rows("labels.txt", 3, keys=2) if name == label])


class _Patterns:
    """The rows of `patterns.txt` as attributes: the first use of one compiles it and keeps it. A name without a row
    raises AttributeError."""

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
    """The name and the regular expression of each row of `patterns.txt`."""
    return {name: expression for name, expression in rows("patterns.txt", 2)}


class Token(NamedTuple):
    """One row of `tokens.txt`. `beginnings`: separated by spaces. `rest`: the pattern of the remaining characters,
    with short forms."""

    rule: str
    vendor: str
    beginnings: str
    rest: str


@cache
def tokens() -> tuple[Token, ...]:
    """The rows of `tokens.txt` in its order, read once a process."""
    return tuple([Token(*row) for row in rows("tokens.txt", len(Token._fields))])


_LOOKS = {"any": False, "random": True}


class Shape(NamedTuple):
    """One row of `shapes.txt`.

    `what`: the secret in words. `is_random`: whether a value has to look random to be one. `in_runs`: literals that
    stand in unbroken runs only; `in_prose`: literals that may stand next to spaces. A text has to hold one of both; a
    row with neither is tried on any long run. `pattern`: in the notation of the table. `sample`: a text that the
    pattern finds, in the same notation.
    """

    rule: str
    what: str
    is_random: bool
    in_runs: tuple[str, ...]
    in_prose: tuple[str, ...]
    pattern: str
    sample: str

    @property
    def literals(self) -> tuple[str, ...]:
        return self.in_runs + self.in_prose


def _literals(field: str) -> tuple[str, ...]:
    return () if field == "-" else tuple(field.split(", "))


@cache
def shapes() -> tuple[Shape, ...]:
    """The rows of `shapes.txt` in its order, read once a process. Raises ValueError for a malformed table."""
    table: list[Shape] = []
    for rule, what, look, runs, prose, pattern, sample in rows("shapes.txt", len(Shape._fields)):
        shape = Shape(
            rule, what, _LOOKS.get(look, True), _literals(runs), _literals(prose), pattern, sample.replace("\\n", "\n")
        )
        searchable = all(shape.literals) and (runs + prose) == (runs + prose).lower() and "(?P<secret>" in pattern
        if not searchable or look not in _LOOKS:
            raise ValueError(f"shapes.txt: the literals or the pattern of '{rule}' cannot be found in a text")
        table.append(shape)
    return tuple(table)


@cache
def literals_in_prose() -> frozenset[str]:
    """The literals of `shapes.txt` that may stand in prose, next to spaces."""
    return frozenset([literal for shape in shapes() for literal in shape.in_prose])


@cache
def literals_in_runs() -> frozenset[str]:
    """The literals of `shapes.txt` that stand in unbroken runs only."""
    return frozenset([literal for shape in shapes() for literal in shape.in_runs])


_FILE = "service_names.txt"


class ServiceNames(NamedTuple):
    """`latin`: names of lower-case ASCII letters and digits. `cjk`: a pattern of the others, which stand without
    blanks around them."""

    latin: frozenset[str]
    cjk: str


@cache
def service_names() -> ServiceNames:
    """The names of `service_names.txt`, read once a process. Raises ValueError for a name that could never be found,
    and for a table without Latin or without CJK names."""
    latin: list[str] = []
    cjk: list[str] = []
    for number, line in lines(_FILE):
        for name in line.split():
            if not (name.isalnum() and (patterns.service_word.fullmatch(name) or not name.isascii())):
                raise ValueError(f"{_FILE}:{number}: '{name}' is no name of lower-case letters and digits")
            (latin if name.isascii() else cjk).append(name)
    if not latin or not cjk:
        raise ValueError(f"{_FILE}: no names")
    return ServiceNames(frozenset(latin), "|".join(cjk))


_SHORT_FORMS = {
    "<args>": r"\b(?:\\\n|[^\n|;]){0,200}?\s",
    "<user>": r"(?P<lead>[\"']?)[^\s:\"'$<]{1,60}:",
    "<string>": r"[\"'][^\"'\n]{0,80}[\"']\s{0,3},\s{0,3}",
    "<word>": r"(?:\"[^\"\n]{1,80}\"|'[^'\n]{1,80}'|[^\s\"']{1,80})\s{1,3}",
}


@cache
def commands(where: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The rows of `commands.txt` of one place (`options`, `anywhere`): each word in lower case, and the pattern from it
    to the end of a password. Read once a process. Raises ValueError for a row of another place or with capitals."""
    table: list[tuple[str, re.Pattern[str]]] = []
    for words, place, leads in rows("commands.txt", 3, keys=2):
        if place not in ("options", "anywhere") or words != words.lower():
            raise ValueError(f"commands.txt: the words or the place of '{words}' cannot be found in a text")
        for short, full in _SHORT_FORMS.items():
            leads = leads.replace(short, full)
        value = r"(?P<quote>[\"'`]?)(?P<value>[!-~]{3,128})"
        if place == where:
            for word in words.split(", "):
                table.append((word, lazy(rf"(?<!\w)(?i:{re.escape(word)})(?:{leads}){value}")))
    return tuple(table)
