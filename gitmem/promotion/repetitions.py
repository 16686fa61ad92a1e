"""Merges facts of MEMORY.md that say the same in the same words. Pure.

Similar words are not enough: on real memories, merges by `likeness` or `relation` alone were wrong more often than
right (docs/promotion.md, "Consolidation"). The module never removes a pinned fact, and never merges facts about health,
numbered steps, rows of a table, or items with others below them; a person decides about these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.deciding_words import without_deciding_words
from gitmem.memory.fact import Fact, Meta, normalise
from gitmem.memory.facts import SAME_AS, Entry, Memory, by_person, importance, marker_of, pinned
from gitmem.memory.rivals import is_settled
from gitmem.memory.sections import subject_steps
from gitmem.memory.similarity import terms
from gitmem.memory.statements import Form
from gitmem.text.english import STOP_WORDS

MIN_TERMS = 4  # terms, without stop words, of a text to merge; shorter texts may be about two things
EQUAL_KEYS = ("until", "origin")  # keys of a comment whose values must be equal in both facts
# What two texts that say the same may differ in: emphasis, articles, final punctuation.
_MARKS = re.compile(r"\*\*|__|`")
_ARTICLES = re.compile(r"\b(?:the|an?)\s+", re.I)
_END = re.compile(r"[\s.。!！]+$")


@dataclass(frozen=True, slots=True)
class Merge:
    """Two facts that say the same: `kept` stays in MEMORY.md, `gone` goes to the archive."""

    kept: Fact
    gone: Fact


def wording(fact: Fact) -> str:
    """The text of a fact for a comparison: without emphasis and final punctuation, the first letter small. For a fact
    that cites a log also without articles and words such as "we decided"."""
    text = normalise(_MARKS.sub("", fact.text))
    if not by_person(fact):
        text = _ARTICLES.sub("", without_deciding_words(text))
    text = _END.sub("", text)
    return text[:1].casefold() + text[1:]


def merge_repetitions(
    memory: Memory, today: date, limit: int, may_merge: Callable[[Fact, Fact], bool]
) -> tuple[Memory, list[Merge], list[ArchiveEntry]]:
    """(memory after at most `limit` merges, the merges, the facts to add to the archive with `archiving.archive`).

    `may_merge`: whether two facts may be merged at all. Of two facts the pinned one is kept, else the one with a
    source, else the upper one. It gets the sources of both, the higher importance and the earlier day.
    """
    merges: list[Merge] = []
    moved: list[ArchiveEntry] = []
    originals = list(memory.facts)  # as they were before the first merge, in the order of `memory.entries`
    while len(merges) < limit and (pair := next(_repetitions(memory, may_merge), None)) is not None:
        kept_index, gone_index = pair
        kept, gone = memory.entries[kept_index], memory.entries[gone_index]
        merges.append(Merge(originals[kept_index], originals[gone_index]))
        del originals[gone_index]
        moved.append(archiving.superseded_entry(gone.fact, kept.fact.id, today, SAME_AS))
        memory = facts.with_comment(memory, kept, _joined_comment(kept.fact, gone.fact))
        memory = facts.remove(memory, memory.entries[gone_index])
    return memory, merges, moved


def _repetitions(memory: Memory, may_merge: Callable[[Fact, Fact], bool]) -> Iterator[tuple[int, int]]:
    """(index of the fact to keep, index of the fact that repeats it) in `memory.entries`."""
    indexes: dict[tuple[object, ...], int] = {}
    for index, entry in enumerate(memory.entries):
        if not _is_mergeable(memory, entry):
            continue
        equal = (entry.fact.get(key) for key in EQUAL_KEYS)
        first = indexes.setdefault((entry.form, _folded_trail(entry.fact), wording(entry.fact), *equal), index)
        if first == index:
            continue
        fact, other = memory.entries[first].fact, entry.fact
        types = {fact.get("type") for fact in (fact, other)} - {""}
        if not may_merge(fact, other) or len(types) > 1 or is_settled(fact, other) or (pinned(fact) and pinned(other)):
            continue
        if is_preferred(other, fact):
            yield index, first
        elif not pinned(other):
            yield first, index


def is_preferred(fact: Fact, other: Fact) -> bool:
    """Whether `fact` is the one to keep of two facts that say the same: it alone is pinned or, if both or neither is,
    it alone cites a source."""
    return (pinned(fact), bool(fact.get("src"))) > (pinned(other), bool(other.get("src")))


def _folded_trail(fact: Fact) -> tuple[str, ...]:
    """The trail of a fact, case-folded. For a fact that no person wrote, without headings that name no thing; a
    person's two lists on one page may have the same line."""
    trail = fact.trail
    if not by_person(fact):
        trail = subject_steps(trail)
    return tuple(step.casefold() for step in trail)


def _is_mergeable(memory: Memory, entry: Entry) -> bool:
    """Whether a fact may be merged: an item or a paragraph of MIN_TERMS terms or more, without items below it, not a
    numbered step and not about health."""
    if entry.form not in (Form.ITEM, Form.PARAGRAPH) or memory.below(entry):
        return False
    if entry.form is Form.ITEM and marker_of(memory, entry).strip()[0].isdigit():
        return False
    if len(terms(entry.fact.text) - STOP_WORDS) < MIN_TERMS:
        return False
    from gitmem.memory.relation import about_health

    return not about_health(entry.fact.text)


def _joined_comment(kept: Fact, gone: Fact) -> Meta:
    """The comment of the kept fact: its own keys, the sources of both, the higher importance, the earlier day."""
    meta = [*kept.meta, *(pair for pair in gone.meta if pair[0] == "src")]
    if gone.get("importance") and importance(gone) > importance(kept):
        meta = [*(pair for pair in meta if pair[0] != "importance"), ("importance", gone.get("importance"))]
    days = [fact.get("from") for fact in (kept, gone) if fact.get("from")]
    if len(days) == 2 and min(days) != kept.get("from"):
        meta = [*(pair for pair in meta if pair[0] != "from"), ("from", min(days))]
    return tuple(dict.fromkeys(meta))
