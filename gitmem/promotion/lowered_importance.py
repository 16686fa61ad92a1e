"""Lowers the importance of facts that nobody was given, as the receipts of this clone show. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.memory import facts
from gitmem.memory.fact import Fact
from gitmem.memory.facts import Memory, by_person, importance, pinned
from gitmem.memory.rivals import PlacedFact

MIN_RECEIPT_DAYS = 90  # days between the first receipt and today, from which a fact counts as never given
MIN_RECEIPT_DATES = 20  # days with a receipt among these
MAX_RECEIPT_AGE_DAYS = 14  # days since the newest receipt: an unused computer has no evidence
LOWERED_IMPORTANCE = 0.3  # new importance of a fact that no receipt names
UNASKED_TYPES = ("rule", "policy", "constraint", "exception")  # not lowered: they matter without being asked for


@dataclass(frozen=True, slots=True)
class Receipts:
    """What the receipts of this clone say: which texts were given to agents and searches, and on how many days."""

    first: date  # day of the oldest receipt
    last: date  # day of the newest
    dates: int  # number of days with a receipt
    given: Collection[str]  # ids of the given texts


@dataclass(frozen=True, slots=True)
class LoweredFact:
    """A fact whose importance is lowered because no receipt names it. `before`: its importance before."""

    fact: Fact
    before: float


def lower_importance(
    memory: Memory, dated: Sequence[PlacedFact], receipts: Receipts | None, today: date, declined: Collection[str]
) -> tuple[Memory, list[LoweredFact], list[str]]:
    """(the memory in which facts that no receipt names have only the importance LOWERED_IMPORTANCE, these facts as they
    were, notes for a person). `dated`: the facts with their days; a fact without a day, or younger than the first
    receipt, stays as it is, and so does one that a person wrote. When the receipts cover too few days, no fact is
    lowered and a note says so. A fact at or below that importance stays as it is, and so does one whose id is in
    `declined`: its lowering was reverted."""
    if receipts is None or not _cover_enough_days(receipts, today):
        note = (
            f"importance is left alone: receipts of {MIN_RECEIPT_DAYS} days are needed, on {MIN_RECEIPT_DATES} of them"
        )
        return memory, [], [note]
    rows = {row.fact.id: row for row in dated}  # with the lines before this run
    lowered = []
    for index in range(len(memory.entries)):
        entry = memory.entries[index]
        fact = entry.fact
        if fact.id in declined or fact.id not in rows or importance(fact) <= LOWERED_IMPORTANCE:
            continue
        if _was_never_given(fact, rows[fact.id].day, receipts):
            meta = [pair for pair in fact.meta if pair[0] != "importance"] + [("importance", f"{LOWERED_IMPORTANCE:g}")]
            lowered.append(LoweredFact(rows[fact.id].fact, importance(fact)))
            memory = facts.with_comment(memory, entry, meta)
    return memory, lowered, []


def _cover_enough_days(receipts: Receipts, today: date) -> bool:
    """Whether the receipts show that a fact was never given: the first is MIN_RECEIPT_DAYS old or older,
    MIN_RECEIPT_DATES days have one, and the last is at most MAX_RECEIPT_AGE_DAYS old."""
    long = (today - receipts.first).days >= MIN_RECEIPT_DAYS and receipts.dates >= MIN_RECEIPT_DATES
    return long and (today - receipts.last).days <= MAX_RECEIPT_AGE_DAYS


def _was_never_given(fact: Fact, day: str, receipts: Receipts) -> bool:
    """Whether no receipt names the fact, although it is older than the first receipt. False for a fact without a day,
    one that a person wrote or pinned, one of UNASKED_TYPES, and one about health."""
    from gitmem.memory.relation import about_health

    if by_person(fact) or pinned(fact) or fact.get("type") in UNASKED_TYPES or not day:
        return False
    return day < receipts.first.isoformat() and fact.id not in receipts.given and not about_health(fact.text)
