"""Decide which statements of a conversation are still current, and which a later statement replaced or ended.

Statements are compared in the order of the conversation, by the rules of `memory/rivals.py`. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.fact import Fact, fact_id
from gitmem.memory.rivals import PlacedFact, judge, share_enough_words, surely_supersedes

if TYPE_CHECKING:
    from gitmem.sessions.selection import Selected

FIRST_NEW_LINE = 1_000_000  # line number of statements that are not written yet, after all lines of a file
LAST_DAY = "9999-12-31"


def unwritten_row(item: Selected, number: int) -> PlacedFact:
    """A selected statement that has no log line yet, as a row to compare with those of memory. Sorted by day and line,
    it comes after all written rows of its day, or after all rows if its turn has no time. `number`: its position among
    the new statements."""
    day = item.turn.at.date().isoformat() if item.turn.at else LAST_DAY
    return PlacedFact("", Fact(item.text, fact_id(item.text), FIRST_NEW_LINE + number, "", (("type", item.type),)), day)


def was_replaced(ids: AbstractSet[str], rows: Sequence[PlacedFact], *, by_person: bool) -> bool:
    """Whether a later row surely replaced or ended the newest row that has one of these fact ids; False if no row has
    one.

    `rows`: statements, the oldest first. `by_person`: a person repeats the statement. Then a possible replacement
    counts too: an extra line costs little, and a log that ends with an outdated statement is wrong.
    """
    newest = max((index for index, row in enumerate(rows) if row.fact.id in ids), default=None)
    if newest is None:
        return False
    later = [row for row in rows[newest + 1 :] if row.fact.id not in ids]
    return any(_is_replaced(rows[newest], row, perhaps=by_person) for row in later)


def current_statements(selected: Sequence[Selected]) -> list[Selected]:
    """The statements, in order, without those that a later one repeats (with the same fact id) or surely replaced or
    ended. Where that is only possible, both stay."""
    rows = [unwritten_row(item, number) for number, item in enumerate(selected)]
    later_ids = [{row.fact.id for row in rows[number + 1 :]} for number in range(len(rows))]
    return [
        item
        for number, item in enumerate(selected)
        if rows[number].fact.id not in later_ids[number]
        and not any(_is_replaced(rows[number], row, perhaps=False) for row in rows[number + 1 :])
    ]


def _is_replaced(old: PlacedFact, new: PlacedFact, *, perhaps: bool) -> bool:
    """Whether the later statement `new` surely replaced or ended `old`. With `perhaps` a possible replacement is
    enough."""
    if not share_enough_words(old.fact.text, new.fact.text):
        return False
    if not perhaps:
        return surely_supersedes(old, new, as_if_derived=True)
    return judge(old, new, as_if_derived=True).asks or _differ_in_one_word(old.fact.text, new.fact.text)


def _differ_in_one_word(claim: str, other_claim: str) -> bool:
    """Whether two claims differ in exactly one word in the same place: "use tabs" and "use spaces"."""
    first, second = (without_deciding_words(text).casefold().split() for text in (claim, other_claim))
    return len(first) == len(second) > 1 and sum(a != b for a, b in zip(first, second, strict=True)) == 1
