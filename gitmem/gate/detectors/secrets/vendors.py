"""Reads `tokens.txt`, the tokens with a beginning that names their vendor; the table explains its notation."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gitmem.gate.detectors.secrets.rule_tables import rows


class Token(NamedTuple):
    """One row of `tokens.txt`. `beginnings`: separated by spaces. `rest`: the pattern of the remaining characters,
    with short forms."""

    rule: str
    vendor: str
    beginnings: str
    rest: str


@cache
def tokens() -> tuple[Token, ...]:
    """The rows of `tokens.txt` in its order, read once a process.

    Raises OSError or ValueError where the table cannot be read or has a malformed row.
    """
    return tuple([Token(*row) for row in rows("tokens.txt", len(Token._fields))])
