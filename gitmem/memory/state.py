"""Whether a statement holds: the one answer that everything asks which gives memory to a model. Pure.

A statement has ended where its own line says so (`until`), was replaced where another statement of the same file names
it (`supersedes=ID`).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from enum import StrEnum

from gitmem.memory.fact import fact_id
from gitmem.memory.statements import Statement


class State(StrEnum):
    """Whether a statement holds, and why it does not."""

    HOLDS = "holds"
    ENDED = "ended"
    REPLACED = "replaced"


def states(found: Sequence[Statement], today: date) -> list[State]:
    """The state of each statement of a file on a day."""
    replaced = {value for each in found for key, value in each.meta if key == "supersedes"}
    return [_state(each, today, replaced) for each in found]


def _state(statement: Statement, today: date, replaced: set[str]) -> State:
    if has_ended(statement.get("until"), today):
        return State.ENDED
    return State.REPLACED if replaced and fact_id(statement.text) in replaced else State.HOLDS


def has_ended(until: str, today: date) -> bool:
    """Whether the day of `until` is over; no day never is."""
    try:
        return date.fromisoformat(until[:10]) < today
    except ValueError:
        return False
