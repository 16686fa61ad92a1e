"""Compares the facts of two snapshots: added, changed, removed, moved, reordered, expired. Pure.

A line diff shows an edited fact as a removed and an added line. This module pairs the two: by the id that the new fact
supersedes, by a source that both cite, and by similar text only when one of them cites no source.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from gitmem.daily_logs import records_events
from gitmem.json_values import json_keys
from gitmem.memory.fact import Fact, cited_spans, names_fact
from gitmem.memory.facts import SUPERSEDES, expired
from gitmem.memory.similarity import likeness, terms
from gitmem.paths import Kind, kind
from gitmem.sequences import longest_rising

# These thresholds decide whether one fact is the edited form of another. Duplicates are decided elsewhere (`same` of
# memory/similarity.py): they must agree in numbers, names and negations, which an edit may change.
MIN_LIKENESS = 0.5  # likeness of the words from which a removed and an added fact are one edited fact
MIN_SPELLING_RATIO = 0.7  # share of equal characters from which two short facts are (`Port 80.` and `Port 81.`)
MAX_SPELLED_CHARS = 300  # of a text that is compared by characters; of a longer text only the words count
MAX_SPELLED_CANDIDATES = 4  # candidates, the likest first, that are compared by characters
SURE_SCORE, SOURCE_SCORE = 3.0, 1.0  # an equal text or a named predecessor; a shared source (likeness, 0..1, is added)
MAX_FACTS_PER_WORD = 200  # a word in more facts of a file says nothing about which fact was edited

Source = tuple[str, int, int]  # path, first line, last line


class _Id(NamedTuple):
    """The id of a fact, as an index key that differs from every word and source."""

    id: str


class Op(StrEnum):
    """What happened to a fact between two commits. PROMOTED: it was added, and a promotion from a log recorded it.
    MOVED: to another file or heading. REORDERED: to another place below the same heading. EXPIRED: its last day
    passed, whether or not it was removed."""

    ADDED = "added"
    PROMOTED = "promoted"
    CHANGED = "changed"
    REMOVED = "removed"
    MOVED = "moved"
    REORDERED = "reordered"
    EXPIRED = "expired"


# The keys of a change in every JSON: the fact, its place and its former place.
PLACE_KEYS = (
    "op path line=new.line end_line=new.end trail=fact.trail text=new.text old_path=former_path? old_line=old.line"
    " old_text=old.text type?"
)


@json_keys(f"{PLACE_KEYS} sources commit? author? date")
@dataclass(frozen=True, slots=True)
class FactChange:
    """The change of one fact between two commits.

    `old`: the fact before, None when it was added. `new`: the fact after, None when it was removed. `old_path`: the
    path of `old`, "" when the fact was added or removed. `commit`, `author`, `date`: the commit that made the change;
    "" and None when authors were not looked up or no commit made it. `agent`: the agent or bot that made the commit, ""
    for a person. `by_machine`: an agent or bot made one of the commits that brought the fact.

    JSON: `line`, `end_line`, `text`: null for a fact that is gone. `trail`: what the fact is about. `old_path`,
    `old_line`, `old_text`: null for a new fact. `sources`: as its comment names them. `commit`, `author`, `date`:
    the commit that made the change.
    """

    op: Op
    path: str
    old: Fact | None = None
    new: Fact | None = None
    old_path: str = ""
    commit: str = ""
    author: str = ""
    date: datetime | None = None
    by_machine: bool = False
    agent: str = ""

    @property
    def who(self) -> str:
        """The name of the agent that made the change, else of the commit's author; "" when neither is known."""
        return self.agent or self.author.partition(" <")[0]

    @property
    def fact(self) -> Fact:
        fact = self.new or self.old
        assert fact is not None
        return fact

    @property
    def former_path(self) -> str:
        """The path of the fact before, "" if it was added."""
        if self.old is None:
            return ""
        return self.old_path or self.path

    @property
    def type(self) -> str:
        return self.fact.get("type")

    @property
    def sources(self) -> list[str]:
        """The sources that its comment names."""
        return [value for key, value in self.fact.meta if key == "src"]


def is_archiving(change: FactChange) -> bool:
    """Whether a change put a fact into the archive, where it was not before."""
    was_archived = change.old is not None and kind(change.old_path) is Kind.ARCHIVE
    return change.new is not None and kind(change.path) is Kind.ARCHIVE and not was_archived


def author_words(change: FactChange) -> str:
    """The words before the name of who made a change, as "promoted by". "" when the fact expired or was archived, and
    when nobody is known."""
    if change.op is Op.EXPIRED or is_archiving(change) or not change.who:
        return ""
    return OP_WORDS[change.op]


OP_WORDS = {
    Op.ADDED: "added by", Op.PROMOTED: "promoted by", Op.CHANGED: "edited by", Op.REMOVED: "taken out by",
    Op.MOVED: "moved by", Op.REORDERED: "moved by",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Placed:
    """A fact and the path of its file."""

    path: str
    fact: Fact


def compare_facts(
    old: Mapping[str, Sequence[Fact]],
    new: Mapping[str, Sequence[Fact]],
    today: date,
    renamed: Mapping[str, str] = {},
) -> list[FactChange]:
    """The changes between two sets of files (path -> facts), in order of path and line, without facts that only moved
    within their file (`moved_facts`).

    The caller may leave files that are equal on both sides out of both. A removed fact whose last day is before `today`
    is EXPIRED. `renamed`: path -> former path; an edited fact of a renamed file is paired with its old form.
    """
    removed, added = _removed_and_added(old, new)
    changes: list[FactChange] = []
    if removed and added:
        changes = [*_moves(removed, added, today), *_pairs(removed, added, renamed)]
    changes += [FactChange(Op.ADDED, placed.path, new=placed.fact) for placed in added]
    for placed in removed:
        op = Op.EXPIRED if expired(placed.fact, today) else Op.REMOVED
        changes.append(FactChange(op, placed.path, old=placed.fact))
    return sorted(changes, key=lambda change: (change.path, change.fact.line))


def _removed_and_added(
    old: Mapping[str, Sequence[Fact]], new: Mapping[str, Sequence[Fact]]
) -> tuple[list[_Placed], list[_Placed]]:
    """(facts only in `old`, facts only in `new`). Facts of one file are the same when text and comment are equal."""
    removed: list[_Placed] = []
    added: list[_Placed] = []
    for path in sorted({*old, *new}):
        old_facts, new_facts = old.get(path, ()), new.get(path, ())
        pairs = same_facts(old_facts, new_facts)
        matched = set(pairs.values())
        removed += [_Placed(path, fact) for number, fact in enumerate(old_facts) if number not in pairs]
        added += [_Placed(path, fact) for number, fact in enumerate(new_facts) if number not in matched]
    return removed, added


def same_facts(old: Sequence[Fact], new: Sequence[Fact], *, comments: bool = True) -> dict[int, int]:
    """Index in `old` -> index in `new` of each fact that both lists have.

    Two facts match when their texts are equal and, with `comments`, their comments too. Facts with equal trails are
    matched first, then the others in order.
    """
    pairs: dict[int, int] = {}
    matched: set[int] = set()
    for with_trail in (True, False):
        places: dict[object, list[int]] = defaultdict(list)
        for number, fact in enumerate(new):
            if number not in matched:
                places[fact.id, comments and fact.meta, with_trail and fact.trail].append(number)
        for number, fact in enumerate(old):
            equal = places.get((fact.id, comments and fact.meta, with_trail and fact.trail), [])
            if number not in pairs and equal:
                pairs[number] = equal.pop(0)
        matched = set(pairs.values())
    return pairs


def _moves(removed: list[_Placed], added: list[_Placed], today: date) -> Iterator[FactChange]:
    """The facts whose text is now in another file; the last step of the iterator removes them from both lists. A fact
    moves to a log only from another log. A fact that moved to the archive after its last day is EXPIRED."""
    by_id: dict[str, list[_Placed]] = defaultdict(list)
    for placed in removed:
        by_id[placed.fact.id].append(placed)
    moved: set[int] = set()
    for placed in added:
        same = [candidate for candidate in by_id.get(placed.fact.id, ()) if candidate.path != placed.path]
        same.sort(key=lambda candidate: candidate.fact.trail != placed.fact.trail)
        if records_events(placed.path):  # a fact of MEMORY.md does not move to a log: the log only repeats it
            same = [candidate for candidate in same if records_events(candidate.path)]
        if not same or any(candidate.path == placed.path for candidate in by_id[placed.fact.id]):
            continue
        former = same[0]
        by_id[placed.fact.id].remove(former)
        moved |= {id(former), id(placed)}
        op = Op.MOVED
        if expired(former.fact, today) and "archive/" in placed.path:
            op = Op.EXPIRED
        yield FactChange(op, placed.path, former.fact, placed.fact, former.path)
    removed[:] = [placed for placed in removed if id(placed) not in moved]
    added[:] = [placed for placed in added if id(placed) not in moved]


def _pairs(removed: list[_Placed], added: list[_Placed], renamed: Mapping[str, str] = {}) -> list[FactChange]:
    """The edited facts, paired within one file by descending score and removed from both lists."""
    candidates = _Candidates(removed, renamed)
    scored = [
        (-score, new.fact.trail != old.fact.trail, abs(old.fact.line - new.fact.line), number, new, old)
        for number, new in enumerate(added)
        for score, old in candidates.scored(new)
    ]
    changes = []
    paired: set[int] = set()
    for *_, new, old in sorted(scored, key=lambda row: row[:4]):
        if paired.isdisjoint((id(new), id(old))):
            paired |= {id(new), id(old)}
            changes.append(FactChange(Op.CHANGED, new.path, old.fact, new.fact, old.path))
    removed[:] = [placed for placed in removed if id(placed) not in paired]
    added[:] = [placed for placed in added if id(placed) not in paired]
    return changes


class _Candidates:
    """An index of the removed facts by path and id, source or word: finds those that an added fact may be the edited
    form of."""

    def __init__(self, removed: Sequence[_Placed], renamed: Mapping[str, str]) -> None:
        self.removed, self.renamed = list(removed), renamed
        self.words = [terms(placed.fact.text) for placed in self.removed]
        self.sources = [_sources(placed.fact) for placed in self.removed]
        self.numbers: dict[tuple[str, object], list[int]] = defaultdict(list)  # (path, word or source or id)
        for number, placed in enumerate(self.removed):
            for key in (*self.words[number], *self.sources[number], _Id(placed.fact.id)):
                self.numbers[placed.path, key].append(number)

    def scored(self, added: _Placed) -> list[tuple[float, _Placed]]:
        """(score, removed fact) for each fact that `added` may be the edited form of.

        An equal text or a named predecessor scores highest, then a shared source, whatever the words. Words count only
        when one of the two facts has no source: facts with different sources are never paired.
        """
        fact = added.fact
        words, sources = terms(fact.text), _sources(fact)
        numbers = self._candidates(added, words, sources)
        likeness_of = {number: likeness(words, self.words[number]) for number in numbers}
        likest = sorted(likeness_of, key=lambda number: -likeness_of[number])[:MAX_SPELLED_CANDIDATES]
        scores: list[tuple[float, _Placed]] = []
        for number in numbers:
            old, old_sources, score = self.removed[number], self.sources[number], likeness_of[number]
            if old.fact.id == fact.id or names_fact(fact.meta, (SUPERSEDES,), old.fact.id):
                scores.append((SURE_SCORE, old))
            elif sources & old_sources:
                scores.append((SOURCE_SCORE + score, old))
            elif sources and old_sources:
                continue
            elif score >= MIN_LIKENESS or (number in likest and _is_spelled_alike(fact.text, old.fact.text)):
                scores.append((max(score, MIN_LIKENESS), old))
        return scores

    def _candidates(self, added: _Placed, words: Iterable[str], sources: Iterable[Source]) -> list[int]:
        """The indices of the removed facts in the same file (at its former path, if it was renamed) that share an id, a
        source or a word with `added`, or that `added` supersedes. A word of more than MAX_FACTS_PER_WORD facts does not
        count."""
        shared: set[int] = set()
        path = self.renamed.get(added.path, added.path)
        for word in words:
            numbers = self.numbers.get((path, word), ())
            if len(numbers) <= MAX_FACTS_PER_WORD:
                shared.update(numbers)
        for key in (*sources, _Id(added.fact.id)):
            shared.update(self.numbers.get((path, key), ()))
        if added.fact.get("supersedes"):
            for number, old in enumerate(self.removed):
                if old.path == path and names_fact(added.fact.meta, (SUPERSEDES,), old.fact.id):
                    shared.add(number)
        return sorted(shared)


def moved_facts(path: str, old: Sequence[Fact], new: Sequence[Fact]) -> list[FactChange]:
    """The unchanged facts of one file that moved within it, in order of line.

    MOVED: below another heading. REORDERED: in another order below the same heading; only the smallest set of facts
    that explains the new order is returned.
    """
    old_index = {after: before for before, after in same_facts(old, new).items()}
    pairs = [(old[old_index[number]], fact) for number, fact in enumerate(new) if number in old_index]
    changes = [FactChange(Op.MOVED, path, was, now, path) for was, now in pairs if was.heading != now.heading]
    staying = [(was, now) for was, now in pairs if was.heading == now.heading]
    in_order = set(longest_rising([was.line for was, _ in staying]))
    for number, (was, now) in enumerate(staying):
        if number not in in_order:
            changes.append(FactChange(Op.REORDERED, path, was, now, path))
    return sorted(changes, key=lambda change: change.fact.line)


def _is_spelled_alike(a: str, b: str) -> bool:
    """Whether two texts have at least MIN_SPELLING_RATIO of their characters in common; False if either is longer than
    MAX_SPELLED_CHARS."""
    if max(len(a), len(b)) > MAX_SPELLED_CHARS:
        return False
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.quick_ratio() >= MIN_SPELLING_RATIO and matcher.ratio() >= MIN_SPELLING_RATIO


def pair_edited(path: str, removed: Sequence[Fact], added: Sequence[Fact]) -> list[FactChange]:
    """The edited facts of one file, each pairing one of the `removed` facts with one of the `added` ones."""
    return _pairs([_Placed(path, fact) for fact in removed], [_Placed(path, fact) for fact in added])


def _sources(fact: Fact) -> frozenset[Source]:
    """The lines that a fact cites, without their blob: an abbreviated oid names the same source."""
    return frozenset((span.path, span.start_line, span.end_line) for span in cited_spans(fact.meta))
