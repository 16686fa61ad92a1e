"""The warning that a fact of a change repeats or contradicts one that is there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from gitmem.memory.fact import Fact
from gitmem.memory.facts import fact_date
from gitmem.memory.relation import Said, relation
from gitmem.memory.similarity import likeness, matter, same, terms
from gitmem.paths import kind, passes
from gitmem.plural import counted
from gitmem.review.commit_diff import LASTING
from gitmem.review.fact_diff import FactChange
from gitmem.review.markup import Links, shown
from gitmem.review.page import Row, some
from gitmem.review.warnings.warning import Checked, Range, Remark, ReviewWarning

SIMILAR_SHOWN = 3  # of one fact that are named: the likest
POSTINGS = 1000  # facts that are looked up by the words of one: thousands that are alike have most of them in common
JUDGED = 5  # facts, the most alike of these, that are judged against one
NEAREST = 50  # facts with the most words in common that are compared with one: a change of thousands alike ends too


@dataclass(frozen=True, slots=True)
class Rival:
    """A fact of the change and the fact it repeats (or, `contradicts`, disagrees with)."""

    path: str
    line: int
    text: str
    other_path: str
    other_line: int
    other_text: str
    contradicts: bool


@dataclass(frozen=True, slots=True)
class RivalFacts(ReviewWarning):
    """The pairs, contradictions first; `compared`: how many facts of the change were looked at."""

    key: ClassVar[str] = "rivals"
    title: ClassVar[str] = "Contradicts or repeats"
    noun: ClassVar[str] = "pair of facts"
    plural: ClassVar[str] = "pairs of facts"
    compared: int = 0
    pairs: tuple[Rival, ...] = ()

    def points(self) -> int:
        return len(self.pairs)

    def checked(self) -> Iterator[Checked]:
        verbs = Counter("contradict" if pair.contradicts else "repeat" for pair in self.pairs)
        words = ", ".join(f"{count} {verb}{'s'[: count == 1]}" for verb, count in sorted(verbs.items())) or "none"
        yield Checked(not verbs, f"{counted(self.compared, 'fact')} beside the facts that are there", words)

    def rows(self, links: Links) -> Iterator[Row]:
        """Pairs of facts, equal ones in one row, long ones cut: the whole stands below, or where its link leads."""
        equal: dict[tuple[str, bool, str, int], list[Rival]] = defaultdict(list)
        for pair in self.pairs:
            equal[pair.text, pair.contradicts, pair.other_path, pair.other_line].append(pair)
        for pairs in equal.values():
            pair = pairs[0]
            verb = "**contradicts**" if pair.contradicts else "repeats"
            one, other = shown(pair.text)[0], shown(pair.other_text)[0]
            places = some([links.line(row.path, row.line) for row in pairs])
            there = links.line(pair.other_path, pair.other_line)
            yield Row(f"{one} ({places}) {verb} {other} ({there})", count=len(pairs))

    def remarks(self) -> Iterator[Remark]:
        for pair in self.pairs:
            rule = "contradiction" if pair.contradicts else "near-duplicate"
            verb = "contradicts" if pair.contradicts else "repeats"
            yield Remark(pair.path, pair.line, rule, f"{verb} the fact at {pair.other_path}:{pair.other_line}")

    def as_value(self) -> list[dict[str, Any]]:
        return [
            {
                "kind": "contradiction" if pair.contradicts else "near-duplicate",
                "path": pair.path,
                "line": pair.line,
                "text": pair.text,
                "other": {"path": pair.other_path, "line": pair.other_line, "text": pair.other_text},
            }
            for pair in self.pairs
        ]


def check(commits: Range) -> RivalFacts:
    """The pairs of long-term memory at the head."""
    come = [c for c in commits.changes if c.new is not None and not passes(c.path, commits.daily)]
    return RivalFacts(compared=len(come), pairs=tuple(find_rivals(commits.changes, commits.standing)))


def find_rivals(changes: Sequence[FactChange], existing: Sequence[tuple[str, Fact]]) -> list[Rival]:
    """Facts that came or changed in long-term memory, beside the ones they repeat or contradict."""
    new = {(c.path, c.new.line): c for c in changes if c.new and kind(c.path) in LASTING and _says_new(c)}
    holding: dict[str, list[int]] = defaultdict(list)  # term -> places in `existing`
    words = [terms(fact.text) for _, fact in existing]
    matters = [len(matter(fact.text)) for _, fact in existing]
    first: dict[str, int] = {}  # fact id -> its first place: of equal facts one is named
    for number, (_, fact) in enumerate(existing):
        if first.setdefault(fact.id, number) != number:
            continue
        for term in words[number]:
            holding[term].append(number)
    rivals: list[Rival] = []
    seen: set[frozenset[tuple[str, int]]] = set()
    for place, change in new.items():
        assert change.new is not None
        own, own_matter = terms(change.new.text), len(matter(change.new.text))
        text = change.new.text
        near: list[tuple[float, str, Fact]] = []
        for number in _nearest(own, holding):
            count = len(own & words[number])
            # Half of the matter in common is three times what is shared against both; shared numbers only add to it.
            if count * 3 < max(len(own), own_matter + matters[number]):
                continue
            path, fact = existing[number]
            if (path, fact.line) == place or frozenset((place, (path, fact.line))) in seen:
                continue
            if change.new.get("supersedes") and fact.id.startswith(change.new.get("supersedes")):
                continue
            near.append((likeness(matter(text), matter(fact.text)), path, fact))
        told = 0
        for _, path, fact in sorted(near, key=lambda row: -row[0])[:JUDGED]:
            repeated = same(text, fact.text)
            contradicting = not repeated and _disagree(change.new, fact)
            if contradicting or repeated:
                told += 1
                seen.add(frozenset((place, (path, fact.line))))
                rivals.append(
                    Rival(change.path, change.new.line, text, path, fact.line, fact.text, contradicts=contradicting)
                )
            if told == SIMILAR_SHOWN:
                break
    return sorted(rivals, key=lambda r: (not r.contradicts, r.path, r.line))


def _nearest(own: Iterable[str], holding: Mapping[str, Sequence[int]]) -> list[int]:
    """The places of the facts that share most terms with these; of terms that thousands of facts have, the rarest
    count, and POSTINGS of their facts at most."""
    shared: Counter[int] = Counter()
    left = POSTINGS
    for places in sorted((holding[term] for term in own if term in holding), key=len):
        if left <= 0:
            break
        shared.update(places[:left])
        left -= len(places)
    return [number for number, _ in shared.most_common(NEAREST)]


def _disagree(new: Fact, known: Fact) -> bool:
    """Whether a person should say which of two facts holds; the one without a day is the older one."""
    said = [Said(fact.text, day=fact_date(fact), kind=fact.get("type")) for fact in (known, new)]
    return relation(*sorted(said, key=lambda one: one.day)).asks


def _says_new(change: FactChange) -> bool:
    return change.old is None or change.new is None or change.old.id != change.new.id
