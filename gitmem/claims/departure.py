"""A departure: a path that a commit removed or renamed. `history` and `known_departures` find them."""

from __future__ import annotations

from typing import NamedTuple

MAX_RENAMES = 4  # successive renames of one path that are followed


class Departure(NamedTuple):
    """A path that is gone. `commit`: the last commit that removed it. `renamed_to`: its path now, "" if deleted."""

    path: str
    commit: str
    renamed_to: str = ""
