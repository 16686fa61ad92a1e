"""A path that stood and is gone: the value that both readings of history give (`history`, `known_departures`)."""

from __future__ import annotations

from gitmem.light_typing import NamedTuple

STEPS = 4  # renames that are followed, one after the other


class Departure(NamedTuple):
    """A path that stood: the commit that took it away last, and its place now, "" where it has none."""

    path: str
    commit: str
    renamed_to: str = ""
