"""The warning that a fact of a change repeats or contradicts one that is there."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, ClassVar

from gitmem.memory import rivals
from gitmem.memory.arrivals import LASTING
from gitmem.memory.fact import Fact
from gitmem.memory.facts import fact_date
from gitmem.paths import kind, passes
from gitmem.plural import counted
from gitmem.review.fact_diff import FactChange
from gitmem.review.markup import Links, shown
from gitmem.review.page import Row, place_list
from gitmem.review.warnings.warning import Checked, Range, Remark, ReviewWarning

BRIEF = 100  # characters of each of the two facts in a comment's short list
VERBS = {"same": "repeats", "replaces": "may replace", "ends": "may end", "conflicts": "may contradict"}


@dataclass(frozen=True, slots=True)
class Rival:
    """A fact of the change and the fact it repeats, or disagrees with: `relation` is a `kind` of `memory.rivals`."""

    path: str
    line: int
    text: str
    other_path: str
    other_line: int
    other_text: str
    relation: str

    @property
    def contradicts(self) -> bool:
        return self.relation != "same"

    @property
    def words(self) -> str:
        """What the later of the two does to the earlier, as `relation` judged it."""
        return VERBS[self.relation]


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
        verbs = Counter(pair.words for pair in self.pairs)
        said = {verb: "repeat" if verb == VERBS["same"] and count > 1 else verb for verb, count in verbs.items()}
        words = ", ".join(f"{count} {said[verb]}" for verb, count in sorted(verbs.items())) or "none"
        if any(pair.contradicts for pair in self.pairs):
            words += "; `git mem settle`, or the comment `/mem settle PLACE later`, says which one holds"
        yield Checked(not verbs, f"{counted(self.compared, 'fact')} beside the facts that are there", words)

    def rows(self, links: Links) -> Iterator[Row]:
        """Pairs of facts, equal ones in one row, long ones cut: the whole stands below, or where its link leads."""
        equal: dict[tuple[str, bool, str, int], list[Rival]] = defaultdict(list)
        for pair in self.pairs:
            equal[pair.text, pair.contradicts, pair.other_path, pair.other_line].append(pair)
        for pairs in equal.values():
            pair = pairs[0]
            if pair.contradicts:
                verb = f"**{pair.words}**"
            else:
                verb = pair.words
            one, other = shown(pair.text)[0], shown(pair.other_text)[0]
            places = place_list([links.line(row.path, row.line) for row in pairs])
            there = links.line(pair.other_path, pair.other_line)
            brief = f"{shown(pair.text, BRIEF)[0]} ({places}) {verb} {shown(pair.other_text, BRIEF)[0]} ({there})"
            yield Row(f"{one} ({places}) {verb} {other} ({there})", short=brief, count=len(pairs))

    def remarks(self) -> Iterator[Remark]:
        for pair in self.pairs:
            rule = "near-duplicate"
            if pair.contradicts:
                rule = "contradiction"
            verb = "repeats"
            if pair.contradicts:
                verb = "contradicts"
            yield Remark(pair.path, pair.line, rule, f"{verb} the fact at {pair.other_path}:{pair.other_line}")

    def as_value(self) -> list[dict[str, Any]]:
        return [
            {
                "kind": "contradiction" if pair.contradicts else "near-duplicate",
                "relation": pair.relation,
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
    pairs = find_rivals(commits.changes, commits.existing, commits.now.date())
    return RivalFacts(compared=len(come), pairs=tuple(pairs))


def find_rivals(changes: Sequence[FactChange], existing: Sequence[tuple[str, Fact]], today: date) -> list[Rival]:
    """Facts that came or changed in long-term memory, beside the ones they repeat or contradict and nobody settled."""
    new = [
        rivals.Placed(change.path, change.new, fact_date(change.new) or today.isoformat())
        for change in changes
        if change.new and kind(change.path) in LASTING and _says_new(change)
    ]
    standing = rivals.Standing([rivals.Placed(path, fact, fact_date(fact)) for path, fact in existing], today)
    found = [
        Rival(
            pair.new.path, pair.new.fact.line, pair.new.fact.text, pair.old.path, pair.old.fact.line,
            pair.old.fact.text, pair.kind,
        )
        for pair in rivals.rivals(new, standing)
    ]  # fmt: skip
    return sorted(found, key=lambda rival: (not rival.contradicts, rival.path, rival.line))


def _says_new(change: FactChange) -> bool:
    return change.old is None or change.new is None or change.old.id != change.new.id
