"""Facts of MEMORY.md that surely say the same, and one fact in the place of two. Pure: bytes of a memory in and out.

Only what is said twice in the same words counts: of likeness and of `relation` alone, merges of real memories were
wrong more often than right (docs/promotion.md, "Measurements"). The module never merges what is pinned or about
health, numbered steps, rows of a table, and statements below which others stand: a person is asked about these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date

from gitmem.memory import facts
from gitmem.memory.deciding_words import claim
from gitmem.memory.fact import Fact, Meta, normalise
from gitmem.memory.facts import SAME_AS, Entry, Memory, Moved, importance, marker_of, pinned
from gitmem.memory.rivals import by_person, settled
from gitmem.memory.sections import naming_steps
from gitmem.memory.similarity import terms
from gitmem.memory.statements import Form
from gitmem.text.english import STOP_WORDS

TELLING_TERMS = 4  # terms, stop words apart, that a text must have: a short line is said twice of two things
AGREE = ("until", "origin")  # keys of a comment that both facts must have alike
_MARKS = re.compile(r"\*\*|__|`")
_ARTICLES = re.compile(r"\b(?:the|an?)\s+", re.I)
_END = re.compile(r"[\s.。!！]+$")


@dataclass(frozen=True, slots=True)
class Merge:
    """One fact that says the same as another: `kept` stays in MEMORY.md, `gone` goes to the archive."""

    kept: Fact
    gone: Fact


def wording(fact: Fact) -> str:
    """The words of a fact, for comparison alone: no emphasis, no mark at the end, the first letter small. A fact that
    cites a log is compared without articles and without the words that say that it was decided."""
    text = normalise(_MARKS.sub("", fact.text))
    if not by_person(fact):
        text = _ARTICLES.sub("", claim(text))
    text = _END.sub("", text)
    return text[:1].casefold() + text[1:]


def merge_repetitions(
    memory: Memory, today: date, limit: int, may_merge: Callable[[Fact, Fact], bool]
) -> tuple[Memory, list[Merge], list[Moved]]:
    """The memory with one fact for each that is surely said twice, at most `limit` taken out; what was merged; what
    must be filed with `facts.archive`. `may_merge`: whether two facts are looked at. The fact that stays has the
    sources of both."""
    merges: list[Merge] = []
    moved: list[Moved] = []
    first = list(memory.facts)  # as they stood before the first merge, in the order of `memory.entries`
    while len(merges) < limit and (pair := next(_repeated(memory, may_merge), None)) is not None:
        kept, gone = (memory.entries[at] for at in pair)
        merges.append(Merge(first[pair[0]], first[pair[1]]))
        del first[pair[1]]
        moved.append(facts.superseded(gone.fact, kept.fact.id, today, SAME_AS))
        memory = facts.with_comment(memory, kept, _joined(kept.fact, gone.fact))
        memory = facts.remove(memory, memory.entries[pair[1]])
    return memory, merges, moved


def _repeated(memory: Memory, may_merge: Callable[[Fact, Fact], bool]) -> Iterator[tuple[int, int]]:
    """Positions in `memory.entries` of (the fact that stays, the one that says the same)."""
    seen: dict[tuple[object, ...], int] = {}
    for at, entry in enumerate(memory.entries):
        if not _may_merge(memory, entry):
            continue
        key = (entry.form, _about(entry.fact), wording(entry.fact), *(entry.fact.get(name) for name in AGREE))
        first = seen.setdefault(key, at)
        if first == at:
            continue
        one, other = memory.entries[first].fact, entry.fact
        kinds = {fact.get("type") for fact in (one, other)} - {""}
        if not may_merge(one, other) or len(kinds) > 1 or settled(one, other) or (pinned(one) and pinned(other)):
            continue
        if _stays(other, one):
            kept, gone = (at, first)
        else:
            kept, gone = (first, at)
        if not pinned(memory.entries[gone].fact):
            yield kept, gone


def _stays(fact: Fact, than: Fact) -> bool:
    """Whether of two facts that say the same this one stays: the pinned one, else the one that cites its source."""
    return (pinned(fact), bool(fact.get("src"))) > (pinned(than), bool(than.get("src")))


def _about(fact: Fact) -> tuple[str, ...]:
    """What a fact stands under. Headings that name no thing count only for a fact that a person wrote: two lists of one
    page may have the same line."""
    if by_person(fact):
        trail = fact.trail
    else:
        trail = naming_steps(fact.trail)
    return tuple(step.casefold() for step in trail)


def _may_merge(memory: Memory, entry: Entry) -> bool:
    """Whether a fact may be one of two that say the same."""
    if entry.form not in (Form.ITEM, Form.PARAGRAPH) or memory.below(entry):
        return False
    if entry.form is Form.ITEM and marker_of(memory, entry).strip()[0].isdigit():
        return False
    if len(terms(entry.fact.text) - STOP_WORDS) < TELLING_TERMS:
        return False
    from gitmem.memory.relation import about_health

    return not about_health(entry.fact.text)


def _joined(kept: Fact, gone: Fact) -> Meta:
    """The comment of the fact that stays: its own keys, the sources of both, the higher importance, the earlier day."""
    meta = dict.fromkeys((*kept.meta, *(pair for pair in gone.meta if pair[0] == "src")))
    if gone.get("importance") and importance(gone) > importance(kept):
        meta = dict.fromkeys(
            (*(pair for pair in meta if pair[0] != "importance"), ("importance", gone.get("importance")))
        )
    days = [fact.get("from") for fact in (kept, gone) if fact.get("from")]
    if len(days) == 2 and min(days) != kept.get("from"):
        meta = dict.fromkeys((*(pair for pair in meta if pair[0] != "from"), ("from", min(days))))
    return tuple(meta)
