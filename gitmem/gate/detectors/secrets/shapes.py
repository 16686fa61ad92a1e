"""Secrets known by their shape: the reader of `shapes.txt`, which explains its notation. Decides nothing."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gitmem.gate.detectors.secrets.rule_tables import rows

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
    """The rows of `shapes.txt` in its order, read once a process.

    Raises OSError or ValueError where the table cannot be read or has a malformed row.
    """
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
    """The literals that may stand in prose, next to spaces."""
    return frozenset([literal for shape in shapes() for literal in shape.in_prose])


@cache
def literals_in_runs() -> frozenset[str]:
    """The literals that stand in unbroken runs only."""
    return frozenset([literal for shape in shapes() for literal in shape.in_runs])
