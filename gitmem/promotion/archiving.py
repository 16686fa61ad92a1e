"""Moves facts of MEMORY.md that a person chose to `memory/archive/`, in one commit and without a promotion.

A fact may be archived when its last day has passed or when MEMORY.md is longer than its budget. Nothing is deleted, and
a pinned fact never moves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import date

from gitmem.errors import Changed
from gitmem.git.transaction import CommitDraft, Reading
from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.fact import Fact
from gitmem.memory.rivals import MEMORY
from gitmem.plural import counted
from gitmem.provenance import trailers

EXPIRED, TOO_MUCH = "its last day has passed", "MEMORY.md is longer than its budget"


@dataclass(frozen=True, slots=True)
class ArchivableFact:
    """A fact of MEMORY.md that may be archived. `reason`: EXPIRED or TOO_MUCH."""

    fact: Fact
    reason: str


def archivable_facts(data: bytes, today: date, budget: int) -> list[ArchivableFact]:
    """The facts that may be archived: first the ended ones, then the least important ones that must leave until
    MEMORY.md has `budget` lines. `data`: the bytes of MEMORY.md."""
    memory, expired = archiving.remove_expired(facts.parse(data), today)
    _, surplus = archiving.fit_to_budget(memory, today, budget)
    return [
        *(ArchivableFact(item.fact, EXPIRED) for item in expired),
        *(ArchivableFact(item.fact, TOO_MUCH) for item in surplus),
    ]


def archive_plan(
    chosen: Collection[str], today: date, budget: int
) -> Callable[[Reading], CommitDraft[tuple[ArchiveEntry, ...]]]:
    """A plan for `transaction.commit` that moves the archivable facts with the ids `chosen` to the archive. `budget`:
    the lines that MEMORY.md may have. A fact with the same text, and so the same id, stays where it is pinned, has not
    ended or stands under another heading.

    The plan raises Changed when `chosen` is empty or one of its ids may not be archived any more, GitMemError when
    MEMORY.md or an archive has uncommitted edits.
    """

    def plan(reading: Reading) -> CommitDraft[tuple[ArchiveEntry, ...]]:
        data = reading.committed(MEMORY)
        memory = facts.parse(data)
        leaving = {without_lines(item.fact) for item in archivable_facts(data, today, budget) if item.fact.id in chosen}
        if not chosen or {fact.id for fact in leaving} != set(chosen):
            raise Changed("memory changed since this was shown; nothing was written", "look at it as it is now")
        entries = [entry for entry in memory.entries if without_lines(entry.fact) in leaving]
        memory, moved = archiving.remove_for_archive(memory, entries, today)
        contents = archiving.with_archives({MEMORY: memory.data()}, moved, reading.committed_or_new)
        recorded = trailers.CommitRecord(
            rewrite=f"{len(moved)} archived by a person", reason="they ended, or no longer fit"
        )
        message = trailers.with_record(f"memory: archive {counted(len(moved), 'fact')}", recorded)
        return CommitDraft(contents, tuple(moved), message)

    return plan


def without_lines(fact: Fact) -> Fact:
    """The fact without its line numbers, which differ after other facts have been removed."""
    return fact._replace(line=0, end=0)
