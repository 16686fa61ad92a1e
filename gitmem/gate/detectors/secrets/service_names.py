"""Reads `service_names.txt`, the names of services whose keys have no beginning of their own. `assignments.py`
decides what a name and a value mean."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from gitmem.gate.detectors.secrets.rule_tables import lines

_FILE = "service_names.txt"
_LATIN = re.compile(r"[a-z0-9]{4,16}")


class ServiceNames(NamedTuple):
    """`latin`: names of lower-case ASCII letters and digits. `cjk`: a pattern of the others, which stand without
    blanks around them."""

    latin: frozenset[str]
    cjk: str


@cache
def service_names() -> ServiceNames:
    """The names of `service_names.txt`, read once a process.

    Raises OSError when the table cannot be read, and ValueError for a name that could never be found and for a table
    without names of either kind.
    """
    latin: list[str] = []
    cjk: list[str] = []
    for number, line in lines(_FILE):
        for name in line.split():
            if not (name.isalnum() and (_LATIN.fullmatch(name) or not name.isascii())):
                raise ValueError(f"{_FILE}:{number}: '{name}' is no name of lower-case letters and digits")
            (latin if name.isascii() else cjk).append(name)
    if not latin or not cjk:
        raise ValueError(f"{_FILE}: no names")
    return ServiceNames(frozenset(latin), "|".join(cjk))
