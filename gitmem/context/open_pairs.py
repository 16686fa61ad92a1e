"""Marks the statements of a context that may not both be true, as `git mem settle` asks a person about them.

The pairs and their judgement are those of `memory/rivals`: two facts of MEMORY.md, or a fact and a later line of a
recent log, without an answer of a person. Both sides are marked, each with the place and the day of the other. A side
that a sure replacement marks already (`amendment_days`) gets no second mark. No part is left out here.

A judgement depends on the two statements only. It is cached on disk by a hash of both, so that a context judges a pair
once and not at every prompt. A fact that states no day is dated by the commit that wrote it; Git is asked for that only
if the fact may be one side of a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

from gitmem.context.layers import Part
from gitmem.daily_logs import log_day
from gitmem.memory import facts
from gitmem.memory.fact import ABOUT, Fact
from gitmem.memory.facts import by_person
from gitmem.memory.recent_lines import RecentLines
from gitmem.memory.rivals import MEMORY, KnownFacts, OtherSide, PlacedFact, Rival, proposed_rivals, rival_of, rivals
from gitmem.models.judgement_cache import JudgementCache
from gitmem.package_files import state_of

DaysOfLines = Callable[[str, Sequence[int]], Mapping[int, str]]  # path, lines -> line -> the ISO day it was written
MAX_STATEMENTS = 500  # statements of one scope that are compared
JUDGE_CODE = ("memory", "text")  # folders of the package on which a judgement depends


@dataclass(frozen=True, slots=True)
class PairSource:
    """What the pairs of one scope need beside its parts. `days_of_lines`: the day on which lines of a file were
    written. `state`: the folder `gitmem/` of the Git directory for the cache of judgements; None caches nothing on
    disk. `log_patterns`: path patterns of daily logs outside memory/."""

    days_of_lines: DaysOfLines = field(default=lambda _path, _lines: {})
    state: Path | None = None
    log_patterns: tuple[str, ...] = ()


def with_open_pairs(
    parts: Sequence[Part], offered: Iterable[Part], sources: Mapping[str, PairSource], today: date
) -> list[Part]:
    """All parts in order; `differs` is set on those with a statement that is one side of an open pair.

    `offered`: all parts of the memories, also those that the context does not show; the other side of a pair may be one
    of them. `sources`: scope name -> what its pairs need; other scopes have no pairs.
    """
    facts_of: dict[str, dict[int, PlacedFact]] = {}
    for part in offered:
        if part.scope in sources and part.path == MEMORY:
            facts_of.setdefault(part.scope, {}).update((row.fact.line, row) for row in _rows(part))
    sides: dict[tuple[str, str, int], OtherSide] = {}
    for scope, scope_facts in facts_of.items():
        shown = [part for part in parts if part.scope == scope]
        for (path, line), other in _Pairs(sources[scope], list(scope_facts.values()), today).other_sides(shown).items():
            sides[scope, path, line] = other
    if not sides:
        return list(parts)
    return [_marked(part, sides) for part in parts]


def _marked(part: Part, sides: Mapping[tuple[str, str, int], OtherSide]) -> Part:
    """The part with `differs` for each of its statements in `sides`, unless a later line replaces that statement."""
    amended = {line for line, _ in part.until}
    differs = []
    for piece in part.pieces:
        other_side = sides.get((part.scope, part.path, piece.first))
        if other_side is not None and piece.first not in amended:
            differs.append((piece.first, other_side))
    return replace(part, differs=tuple(differs)) if differs else part


def _rows(part: Part) -> Iterator[PlacedFact]:
    """The statements of a part as facts, each with the day that it states, "" if none."""
    for piece in part.pieces:
        fact = facts.fact_of(piece.statement)
        yield PlacedFact(part.path, fact, facts.fact_date(fact))


class _Pairs:
    """The open pairs of one scope. `known`: the facts of its MEMORY.md."""

    def __init__(self, source: PairSource, known: Sequence[PlacedFact], today: date) -> None:
        self.source = source
        self.known = known
        self.standing = KnownFacts(known, today)
        self.recent = RecentLines((row.fact for row in known), today)
        self.cache = JudgementCache(source.state, f"open pairs {state_of(*JUDGE_CODE)}")
        self.new: dict[str, float] = {}
        self.days: Mapping[int, str] | None = None

    def other_sides(self, shown: Iterable[Part]) -> dict[tuple[str, int], OtherSide]:
        """(path, line) of a statement -> the other side of its first pair, for all pairs of a statement of `shown`."""
        facts_shown: list[PlacedFact] = []
        lines: list[PlacedFact] = []
        amended: set[tuple[str, int]] = set()
        for part in shown:
            amended |= {(part.path, line) for line, _ in part.until}
            if part.path == MEMORY:
                facts_shown += _rows(part)
            else:
                day = log_day(part.path, self.source.log_patterns)
                if day is not None:
                    lines += self.recent.of_log(part.path, day, (piece.statement for piece in part.pieces))
        facts_shown = sorted(facts_shown, key=lambda row: (row.day, -row.fact.line), reverse=True)[:MAX_STATEMENTS]
        lines = lines[:MAX_STATEMENTS]
        pairs = [*proposed_rivals(lines, self.known), *proposed_rivals(facts_shown, self.known)]
        pairs += rivals(facts_shown, self.standing, judged=self.judged)
        pairs += [pair for pair in rivals(lines, self.standing, judged=self.judged) if pair.later]
        if self.new:
            self.cache.put(self.new)
        sides: dict[tuple[str, int], OtherSide] = {}
        for pair in pairs:
            earlier, later = map(self._dated, pair.earlier_first)
            if (earlier.path, earlier.fact.line) in amended:
                continue
            for row, other in ((earlier, later), (later, earlier)):
                later_side = None
                if earlier.day and later.day and earlier.day != later.day:
                    later_side = other is later
                sides.setdefault(
                    (row.path, row.fact.line), OtherSide(other.path, other.fact.line, other.day, later_side)
                )
        return sides

    def judged(self, new: PlacedFact, old: PlacedFact) -> Rival | None:
        """The open pair of two statements, None if a person need not be asked.

        A pair with a fact that states no day is judged in both orders first, and Git is asked for days only if one of
        them is open.
        """
        if not (new.day and old.day):
            if not (self._is_open(new, old) or self._is_open(old, new)):
                return None
            new, old = self._dated(new), self._dated(old)
        if new.day == old.day and new.path == old.path and new.fact.line > old.fact.line:
            new, old = old, new  # new facts are added above old ones
        later = new.may_follow(old)
        if self._is_open(new, old):
            return Rival(new, old, "conflicts", "", later)
        return None

    def _dated(self, row: PlacedFact) -> PlacedFact:
        """The statement with the day of the commit that wrote it, if it states no day; "" if that is not known. The
        days of all statements are looked up at the first call."""
        if row.day:
            return row
        if self.days is None:
            self.days = self.source.days_of_lines(MEMORY, [known.fact.line for known in self.known if not known.day])
        return row._replace(day=self.days.get(row.fact.line, ""))

    def _is_open(self, new: PlacedFact, old: PlacedFact) -> bool:
        """Whether `rival_of` finds that two statements differ; cached."""
        key = repr([_judged_values(row) for row in (new, old)])
        value = self.cache.get(key)
        if value is None:
            value = self.new.get(key)
        if value is None:
            rival = rival_of(new, old)
            value = self.new[key] = float(rival is not None and not rival.repeats)
        return value > 0


def _judged_values(row: PlacedFact) -> tuple[object, ...]:
    """All of a statement on which the judgement of a pair depends."""
    fact: Fact = row.fact
    return fact.text, fact.trail, fact.get(ABOUT), row.day, fact.get("type"), by_person(fact)
