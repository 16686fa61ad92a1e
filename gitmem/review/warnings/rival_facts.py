"""The warning that a fact of the change repeats or contradicts an existing fact."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar, NamedTuple

from gitmem.daily_logs import records_events
from gitmem.json_values import json_keys
from gitmem.memory import rivals
from gitmem.memory.arrivals import LASTING
from gitmem.memory.fact import Fact
from gitmem.memory.facts import fact_date
from gitmem.paths import kind
from gitmem.plural import counted
from gitmem.review.fact_diff import FactChange
from gitmem.review.markup import MAX_UNFOLDED_CHARACTERS, Links, cut_as_code
from gitmem.review.page import Row, place_list
from gitmem.review.warnings.warning import CheckRow, Range, Remark, ReviewWarning

MAX_SHORT_CHARS = 100  # of each of the two facts in the short form of a row
VERBS = {"same": "repeats", "replaces": "may replace", "ends": "may end", "conflicts": "may contradict"}
VERBS_OF_EARLIER = {**VERBS, "replaces": "may be replaced by", "ends": "may be ended by"}  # of a fact, by a later one
REMARKS = {True: ("contradiction", "contradicts"), False: ("near-duplicate", "repeats")}  # contradicts -> rule, verb


class OtherFact(NamedTuple):
    """An existing fact of long-term memory. `at`: the commit of the target branch in which it stands, "" for the
    head."""

    path: str
    line: int
    text: str
    at: str


@json_keys("kind=rule relation path line text other")
@dataclass(frozen=True, slots=True)
class Rival:
    """A fact of the change and the existing fact that it repeats or contradicts. `relation`: `same`, `replaces`, `ends`
    or `conflicts`. `other_at`: the commit of the target branch that has the existing fact, "" for the head. `later`:
    whether the fact of the change is the later of the two."""

    path: str
    line: int
    text: str
    other_path: str
    other_line: int
    other_text: str
    relation: str
    other_at: str = ""
    later: bool = True

    @property
    def contradicts(self) -> bool:
        return self.relation != "same"

    @property
    def rule(self) -> str:
        """The rule of its remark: `near-duplicate` if the two facts say the same, else `contradiction`."""
        return REMARKS[self.contradicts][0]

    @property
    def other(self) -> OtherFact:
        """The existing fact."""
        return OtherFact(self.other_path, self.other_line, self.other_text, self.other_at)

    @property
    def verb(self) -> str:
        """What stands between the fact of the change and the other fact: `repeats`, `may be replaced by` and so on."""
        return (VERBS if self.later else VERBS_OF_EARLIER)[self.relation]


@dataclass(frozen=True, slots=True)
class RivalFacts(ReviewWarning):
    """The pairs of a fact of the change and an existing fact that it repeats or contradicts, contradictions first.
    `compared`: how many facts of the change were compared."""

    key: ClassVar[str] = "rivals"
    title: ClassVar[str] = "Contradicts or repeats"
    noun: ClassVar[str] = "pair of facts"
    plural: ClassVar[str] = "pairs of facts"
    compared: int = 0
    found: tuple[Rival, ...] = ()

    def checked(self) -> Iterator[CheckRow]:
        verbs = Counter(VERBS[pair.relation] for pair in self.found)
        counts = []
        for verb, count in sorted(verbs.items()):
            if verb == VERBS["same"] and count > 1:
                verb = "repeat"
            counts.append(f"{count} {verb}")
        words = ", ".join(counts) or "none"
        on_target = sum(bool(pair.other_at) for pair in self.found)
        if on_target:
            words += f"; {on_target} with what the target branch got meanwhile: merge it into this one to settle them"
        if any(pair.contradicts and not pair.other_at for pair in self.found):
            words += "; `git mem settle`, or the comment `/mem settle PLACE later`, says which one holds"
        yield CheckRow(not verbs, f"{counted(self.compared, 'fact')} beside the facts that are there", words)

    def rows(self, links: Links) -> Iterator[Row]:
        """One row for each pair; pairs with equal text and the same other fact share a row. Long texts are cut."""
        equal: dict[tuple[str, str, OtherFact], list[Rival]] = defaultdict(list)
        for pair in self.found:
            equal[pair.text, pair.verb, pair.other].append(pair)
        for pairs in equal.values():
            pair = pairs[0]
            verb = pair.verb
            if pair.contradicts:
                verb = f"**{verb}**"
            places = place_list([links.line(row.path, row.line) for row in pairs])
            other_place = links.line(pair.other_path, pair.other_line, pair.other_at)
            if pair.other_at:
                other_place += " of the target branch"
            long, short = (
                f"{cut_as_code(pair.text, limit)[0]} ({places}) {verb} "
                f"{cut_as_code(pair.other_text, limit)[0]} ({other_place})"
                for limit in (MAX_UNFOLDED_CHARACTERS, MAX_SHORT_CHARS)
            )
            yield Row(long, short=short, count=len(pairs))

    def remarks(self) -> Iterator[Remark]:
        for pair in self.found:
            rule, verb = REMARKS[pair.contradicts]
            branch = " of the target branch" if pair.other_at else ""
            yield Remark(pair.path, pair.line, rule, f"{verb} the fact at {pair.other_path}:{pair.other_line}{branch}")


def check(commits: Range) -> RivalFacts:
    """Compare the added and edited facts with all long-term memory at the head, and with the facts that the target
    branch has gained since the base."""
    compared = sum(
        change.new is not None and not records_events(change.path, commits.daily) for change in commits.changes
    )
    today = commits.now.date()
    pairs = find_rivals(commits.changes, commits.existing, today)
    on_target = find_rivals(commits.changes, commits.since, today)
    pairs += [replace(pair, other_at=commits.target) for pair in on_target]
    return RivalFacts(compared=compared, found=tuple(sorted(pairs, key=_order)))


def find_rivals(changes: Sequence[FactChange], existing: Sequence[tuple[str, Fact]], today: date) -> list[Rival]:
    """The pairs of an added or edited fact of long-term memory and an `existing` (path, fact) that it repeats or
    contradicts, contradictions first. Pairs that a person settled are left out."""
    placed = [
        rivals.PlacedFact(change.path, change.new, fact_date(change.new) or today.isoformat())
        for change in changes
        if change.new and kind(change.path) in LASTING and (not change.old or change.old.id != change.new.id)
    ]
    standing = rivals.KnownFacts([rivals.PlacedFact(path, fact, fact_date(fact)) for path, fact in existing], today)
    pairs = [
        Rival(
            pair.new.path, pair.new.fact.line, pair.new.fact.text, pair.old.path, pair.old.fact.line,
            pair.old.fact.text, pair.kind, later=pair.later,
        )
        for pair in rivals.rivals(placed, standing)
    ]  # fmt: skip
    return sorted(pairs, key=_order)


def _order(rival: Rival) -> tuple[bool, str, int]:
    """The key of the order of pairs: contradictions first, then by place."""
    return not rival.contradicts, rival.path, rival.line
