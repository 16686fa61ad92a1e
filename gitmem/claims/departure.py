"""A departure: a path that a commit removed or renamed. `history` and `known_departures` find them."""

from __future__ import annotations

from typing import NamedTuple

MAX_RENAMES = 4  # successive renames of one path that are followed


class Departure(NamedTuple):
    """A path that history removed or renamed. `commit`: the last commit that did so. `renamed_to`: its path now, "" if
    it was deleted."""

    path: str
    commit: str
    renamed_to: str = ""
