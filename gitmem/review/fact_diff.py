"""What happened to facts between two snapshots: added, changed, removed, moved, expired. Pure.

Line diffs see a fact that was edited as one line gone and another come; here they are paired, by what the new one
says it supersedes, by the source both name, and only where one names none by how much of the text they share.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from difflib import SequenceMatcher
from enum import StrEnum
from typing import NamedTuple

from gitmem.memory.fact import Fact, parse_span
from gitmem.memory.facts import expired
from gitmem.memory.similarity import likeness, terms
from gitmem.paths import Kind, kind, passes

# Which fact was edited, not which two say the same: an edit changes the numbers, names and denials in which those must
# agree (`same` of memory/similarity.py).
SAME_FACT = 0.5  # likeness from which a fact that went and one that came in the same file are one that was edited
SAME_SPELLING = 0.7  # share of characters in order from which a short one is (`Port 80.` and `Port 81.`)
SHORT = 300  # characters of a text that is compared by them; in a longer one the words decide
SPELLED = 4  # nearest candidates whose characters are compared
SURE, SHARED_SOURCE = 3.0, 1.0  # scores of a pair; likeness, 0..1, tells apart what shares one source
COMMON_WORD = 200  # facts a word may stand in and still tell which fact was edited

Source = tuple[str, int, int]


class _Id(NamedTuple):
    """A fact's id as a key beside words and sources."""

    id: str


class Op(StrEnum):
    """What became of a fact between two commits."""

    ADDED = "added"
    PROMOTED = "promoted"
    CHANGED = "changed"
    REMOVED = "removed"
    MOVED = "moved"
    REORDERED = "reordered"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class FactChange:
    """One fact before (`old`, None when added) and after (`new`, None when it is gone), each with its path.

    `commit`, `author`, `date` are of the commit that did it, "" and None where nobody asked or did it; `agent`: the
    name of the agent or bot that made this commit, "" for a person; `by_machine`: an agent or a bot had a part in it.
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
        """The name of who did it: the agent's, else the author's; "" where nobody is known."""
        return self.agent or self.author.partition(" <")[0]

    @property
    def fact(self) -> Fact:
        fact = self.new or self.old
        assert fact is not None
        return fact

    def event_value(self) -> dict[str, str | int | list[str] | None]:
        """What happened to it as the JSON of docs/json.md has it everywhere: the fact, where it is and where it was."""
        return {
            "op": self.op.value,
            "path": self.path,
            "line": self.new.line if self.new else None,
            "end_line": self.new.end if self.new else None,
            "trail": list(self.fact.trail),
            "text": self.new.text if self.new else None,
            "old_path": (self.old_path or self.path) if self.old else None,
            "old_line": self.old.line if self.old else None,
            "old_text": self.old.text if self.old else None,
            "type": self.fact.get("type") or None,
        }


def archives(change: FactChange) -> bool:
    """Whether a change put a fact into the archive, where it was not before."""
    there = kind(change.path) is Kind.ARCHIVE
    return there and change.new is not None and (not change.old or kind(change.old_path) is not Kind.ARCHIVE)


def doer(change: FactChange) -> str:
    """What the person or agent of a change did, before their name: "promoted by". "" where a change is nobody's: the
    fact went to the archive, or its last day passed."""
    if change.op is Op.EXPIRED or archives(change) or not change.who:
        return ""
    return DONE[change.op]


DONE = {
    Op.ADDED: "added by", Op.PROMOTED: "promoted by", Op.CHANGED: "edited by", Op.REMOVED: "taken out by",
    Op.MOVED: "moved by", Op.REORDERED: "moved by", Op.EXPIRED: "",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _At:
    path: str
    fact: Fact


def compare(
    old: Mapping[str, Sequence[Fact]],
    new: Mapping[str, Sequence[Fact]],
    today: date,
    renamed: Mapping[str, str] = {},
) -> list[FactChange]:
    """The changes between two sets of files (path -> facts), in order of path and line.

    Files that are the same on both sides may be left out of both. `renamed` are files that have another name now (path
    -> former path): a fact that was edited in one is paired with what it was.
    """
    gone, come = _without_common(old, new)
    if gone and come:
        changes = [*_moves(gone, come, today), *_pairs(gone, come, renamed)]
    else:
        changes = []
    for at in come:
        changes.append(FactChange(Op.ADDED, at.path, new=at.fact))
    for at in gone:
        if expired(at.fact, today):
            op = Op.EXPIRED
        else:
            op = Op.REMOVED
        changes.append(FactChange(op, at.path, old=at.fact))
    return sorted(changes, key=lambda change: (change.path, change.fact.line))


def _without_common(
    old: Mapping[str, Sequence[Fact]], new: Mapping[str, Sequence[Fact]]
) -> tuple[list[_At], list[_At]]:
    """What is on one side only; the same text in the same file with the same comment is on both."""
    gone: list[_At] = []
    come: list[_At] = []
    for path in sorted({*old, *new}):
        before, after = old.get(path, ()), new.get(path, ())
        pairs = same_facts(before, after)
        gone += [_At(path, fact) for number, fact in enumerate(before) if number not in pairs]
        there = set(pairs.values())
        come += [_At(path, fact) for number, fact in enumerate(after) if number not in there]
    return gone, come


def same_facts(old: Sequence[Fact], new: Sequence[Fact], *, comments: bool = True) -> dict[int, int]:
    """The place of each fact of `old` that `new` has too -> its place there: with the same words (and, with `comments`,
    the same comment), those about the same thing first, the others in their order."""
    pairs: dict[int, int] = {}
    taken: set[int] = set()
    for with_trail in (True, False):
        places: dict[object, list[int]] = defaultdict(list)
        for number, fact in enumerate(new):
            if number not in taken:
                places[fact.id, comments and fact.meta, with_trail and fact.trail].append(number)
        for number, fact in enumerate(old):
            there = places.get((fact.id, comments and fact.meta, with_trail and fact.trail), [])
            if number not in pairs and there:
                pairs[number] = there.pop(0)
        taken = set(pairs.values())
    return pairs


def _moves(gone: list[_At], come: list[_At], today: date) -> Iterator[FactChange]:
    """The same text in another file; expired ones that went to the archive count as expired."""
    by_id: dict[str, list[_At]] = defaultdict(list)
    for at in gone:
        by_id[at.fact.id].append(at)
    moved: set[int] = set()
    for at in come:
        same = [other for other in by_id.get(at.fact.id, ()) if other.path != at.path]
        same.sort(key=lambda other: other.fact.trail != at.fact.trail)
        if passes(at.path):  # a log that says it once more is not where a fact of MEMORY.md went
            same = [other for other in same if passes(other.path)]
        if not same or any(other.path == at.path for other in by_id[at.fact.id]):
            continue
        before = same[0]
        by_id[at.fact.id].remove(before)
        moved |= {id(before), id(at)}
        if expired(before.fact, today) and "archive/" in at.path:
            op = Op.EXPIRED
        else:
            op = Op.MOVED
        yield FactChange(op, at.path, before.fact, at.fact, before.path)
    gone[:] = [at for at in gone if id(at) not in moved]
    come[:] = [at for at in come if id(at) not in moved]


def _pairs(gone: list[_At], come: list[_At], renamed: Mapping[str, str] = {}) -> list[FactChange]:
    """Edited facts: the best pair first, each fact in one pair at most, in one file. Both lists lose what is paired."""
    candidates = _Candidates(gone, renamed)
    scored = [
        (-score, at.fact.trail != other.fact.trail, abs(other.fact.line - at.fact.line), number, at, other)
        for number, at in enumerate(come)
        for score, other in candidates.scored(at)
    ]
    changes = []
    paired: set[int] = set()
    for *_, at, other in sorted(scored, key=lambda row: row[:4]):
        if paired.isdisjoint((id(at), id(other))):
            paired |= {id(at), id(other)}
            changes.append(FactChange(Op.CHANGED, at.path, other.fact, at.fact, other.path))
    gone[:] = [at for at in gone if id(at) not in paired]
    come[:] = [at for at in come if id(at) not in paired]
    return changes


class _Candidates:
    """The facts that went, to be found by what a fact that came may share with them: id, source, words."""

    def __init__(self, gone: Sequence[_At], renamed: Mapping[str, str]) -> None:
        self.gone, self.renamed = list(gone), renamed
        self.words = [terms(at.fact.text) for at in self.gone]
        self.sources = [_sources(at.fact) for at in self.gone]
        self.holding: dict[tuple[str, object], list[int]] = defaultdict(list)  # (path, word or source or id) -> places
        for number, at in enumerate(self.gone):
            for key in (*self.words[number], *self.sources[number], _Id(at.fact.id)):
                self.holding[at.path, key].append(number)

    def scored(self, at: _At) -> list[tuple[float, _At]]:
        """(score, fact that went) of every one that `at` may be the edited form of.

        The same text or a named predecessor first, then a shared source: whatever the words, it is what became of that
        source. Words decide only where one of the two has no source; two facts of different sources are two facts.
        """
        words, sources = terms(at.fact.text), _sources(at.fact)
        numbers = self._candidates(at, words, sources)
        alikes = {number: likeness(words, self.words[number]) for number in numbers}
        nearest = sorted(alikes, key=lambda number: -alikes[number])[:SPELLED]
        scores: list[tuple[float, _At]] = []
        for number in numbers:
            other, alike, theirs = self.gone[number], alikes[number], self.sources[number]
            if other.fact.id == at.fact.id or _names(at.fact, other.fact):
                scores.append((SURE, other))
            elif sources & theirs:
                scores.append((SHARED_SOURCE + alike, other))
            elif sources and theirs:
                continue
            elif alike >= SAME_FACT or (number in nearest and _spelled_alike(at.fact.text, other.fact.text)):
                scores.append((max(alike, SAME_FACT), other))
        return scores

    def _candidates(self, at: _At, words: Iterable[str], sources: Iterable[Source]) -> list[int]:
        near: set[int] = set()
        path = self.renamed.get(at.path, at.path)
        for word in words:
            places = self.holding.get((path, word), ())
            near.update(places if len(places) <= COMMON_WORD else ())
        for key in (*sources, _Id(at.fact.id)):
            near.update(self.holding.get((path, key), ()))
        if at.fact.get("supersedes"):
            near.update(n for n, other in enumerate(self.gone) if other.path == path and _names(at.fact, other.fact))
        return sorted(near)


def placements(path: str, old: Sequence[Fact], new: Sequence[Fact]) -> list[FactChange]:
    """The facts of one file that say the same and stand elsewhere in it: below another heading (MOVED), or in another
    order below the same one (REORDERED, as few as say it). In order of line."""
    there = {after: before for before, after in same_facts(old, new).items()}
    pairs = [(old[there[number]], fact) for number, fact in enumerate(new) if number in there]
    changes = [FactChange(Op.MOVED, path, was, now, path) for was, now in pairs if was.heading != now.heading]
    staying = [(was, now) for was, now in pairs if was.heading == now.heading]
    in_order = longest_rising([was.line for was, _ in staying])
    for number, (was, now) in enumerate(staying):
        if number not in in_order:
            changes.append(FactChange(Op.REORDERED, path, was, now, path))
    return sorted(changes, key=lambda change: change.fact.line)


def longest_rising(numbers: Sequence[int]) -> set[int]:
    """The places of a longest subsequence that rises: what kept its order (patience sorting, n log n)."""
    tails: list[int] = []
    places: list[int] = []  # of the last number of each pile
    former: list[int] = []
    for place, number in enumerate(numbers):
        pile = bisect_left(tails, number)
        former.append(places[pile - 1] if pile else -1)
        tails[pile : pile + 1] = [number]
        places[pile : pile + 1] = [place]
    kept = set()
    if places:
        at = places[-1]
    else:
        at = -1
    while at >= 0:
        kept.add(at)
        at = former[at]
    return kept


def _names(fact: Fact, predecessor: Fact) -> bool:
    """Whether a fact says that it supersedes the other."""
    idents = (value for key, value in fact.meta if key == "supersedes")
    return any(ident and predecessor.id.startswith(ident) for ident in idents)


def _spelled_alike(a: str, b: str) -> bool:
    if max(len(a), len(b)) > SHORT:
        return False
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.quick_ratio() >= SAME_SPELLING and matcher.ratio() >= SAME_SPELLING


def pair(path: str, gone: Sequence[Fact], come: Sequence[Fact]) -> list[FactChange]:
    """The facts of one file that were edited, out of those that went and those that came."""
    return _pairs([_At(path, fact) for fact in gone], [_At(path, fact) for fact in come])


def _sources(fact: Fact) -> frozenset[Source]:
    """The lines it cites as (path, first, last): a blob that is written shorter is the same source."""
    spans = (parse_span(value) for key, value in fact.meta if key == "src")
    return frozenset((span.path, span.start_line, span.end_line) for span in spans if span is not None)
