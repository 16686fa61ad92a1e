"""Finds lines that alone would not be promoted, but surely replace or end a fact of memory or a line that is promoted.

"The standup is now at 10:30" says nothing that outlasts its day, unless memory holds "The standup is at 09:30". The
judgement is that of `git mem settle` (`memory/rivals`). Pure. Part of the `rules` model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.memory.fact import Fact, fact_id
from gitmem.memory.rivals import MEMORY, KnownFacts, PlacedFact, surely_supersedes, with_days
from gitmem.promotion.proposal import Log
from gitmem.promotion.retractions import ScoredLine

MAX_COMPARED_LINES = 500  # newest lines of a run that are compared
Place = tuple[str, int, str]  # path of a log, first line and text of a candidate, of which a line may have several


def amending_lines(logs: Sequence[Log], scored: Sequence[Sequence[ScoredLine]], existing: Sequence[Fact]) -> set[Place]:
    """The places of the new lines that are not worth proposing alone, but surely replace or end a fact of `existing` or
    an earlier new line that is proposed. Retracted lines, questions and lines with a cue against them are left out. Of
    the other lines the newest MAX_COMPARED_LINES are compared, but not with archived and expired facts, nor with a fact
    if a person settled that pair.

    `logs`: in the order of days. `scored`: the scored lines of each log, in the order of `logs`.
    """
    if not logs:
        return set()
    in_memory = {fact.id for fact in existing}
    lines = list(_new_lines(logs, scored))
    proposed = [placed for item, placed in lines if item.keep and placed.fact.id not in in_memory]
    known_facts = KnownFacts([*with_days(MEMORY, existing), *proposed], logs[-1].day)
    weak = [
        (item, placed) for item, placed in lines
        if not (item.keep or item.retracted or item.result.against or item.line.text.rstrip().endswith(("?", "？")))
    ]  # fmt: skip
    return {
        (placed.path, item.line.number, item.line.text)
        for item, placed in weak[-MAX_COMPARED_LINES:]
        if _amends(item, placed, known_facts)
    }


def _new_lines(logs: Sequence[Log], scored: Sequence[Sequence[ScoredLine]]) -> Iterator[tuple[ScoredLine, PlacedFact]]:
    """(line, the fact that it would be) of each new line, in order."""
    for log, items in zip(logs, scored, strict=True):
        for item in items:
            line = item.line
            if log.new.isdisjoint(range(line.number, line.end + 1)):
                continue
            text = line.with_topic(" ".join(line.text.split()))
            fact = Fact(text, fact_id(text), line.number, meta=(("type", item.result.kind or "fact"),))
            yield item, PlacedFact(log.path, fact, log.day.isoformat())


def _amends(item: ScoredLine, new: PlacedFact, known_facts: KnownFacts) -> bool:
    """Whether a line surely replaces or ends one of the known facts and lines, which is not later than it. Pairs that a
    person settled are left out. `new`: the fact that the line would be."""
    new_ids = (new.fact.id, fact_id(item.line.whole))
    for old in known_facts.nearest(new.fact):
        is_later = old.day > new.day or (old.path == new.path and old.fact.line >= new.fact.line)
        is_settled = any(frozenset((old.fact.id, ident)) in known_facts.settled for ident in new_ids)
        if is_later or is_settled:
            continue
        if surely_supersedes(old, new, as_if_derived=old.path != MEMORY):
            return True
    return False
