"""Tokens that say themselves whose they are: the reader of `tokens.txt`, which explains its notation. Decides nothing.

What a row finds still passes the placeholder test of `gate/detectors/secrets/placeholders.py`.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from gitmem.gate.detectors.secrets.rule_tables import rows


class Token(NamedTuple):
    """A vendor's tokens: their `beginnings`, separated by spaces, and the `rest`, a pattern with short forms."""

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
