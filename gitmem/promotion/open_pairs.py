"""The pairs of statements that may not both be true and have no answer of a person: those that `git mem settle` lists.

The pairs come from `memory/rivals`: pairs of facts of MEMORY.md, and of a fact with a line of a recent daily log.
Reads only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import islice
from typing import NamedTuple

from gitmem.config import Config
from gitmem.daily_logs import log_day
from gitmem.errors import GitMemError, UsageError
from gitmem.git.blame import blame_work_tree
from gitmem.git.objects import Span
from gitmem.git.repository import Repository
from gitmem.json_values import json_keys
from gitmem.memory import facts
from gitmem.memory.fact import Fact
from gitmem.memory.facts import Memory, fact_date, fact_of
from gitmem.memory.files import memory_paths
from gitmem.memory.new_statements import file_bytes, memory_bytes
from gitmem.memory.recent_lines import RECENT_DAYS, RecentLines, is_comparable
from gitmem.memory.rivals import (
    MEMORY,
    UNCOMMITTED,
    KnownFacts,
    PlacedFact,
    Progress,
    Rival,
    proposed_rivals,
    rivals,
    rivals_in_memory,
    without_secrets,
)
from gitmem.memory.statements import Statement, read
from gitmem.messages import Message
from gitmem.promotion.proposal import Log

MAX_COMPARED = 2_000  # newest facts, and newest lines of logs, that are compared with all facts
ID_DIGITS = 8  # hex digits of the id of a pair


def open_pairs(repo: Repository, config: Config, today: date, report: Progress = lambda *_: None) -> list[Rival]:
    """The pairs of statements of the work tree that may not both hold and that no person answered: those that a comment
    proposes (PROPOSES), then disagreements, then repetitions.

    Their order depends only on the files, their history and `today`. `report` is called with the numbers of compared
    and of all facts. Raises GitMemError in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files to write", "run it in a clone")
    dated = dated_facts(repo, work_tree_facts(repo), today)
    lines = list(islice(_recent_lines(repo, config, [row.fact for row in dated], today), MAX_COMPARED))
    disagreeing = [rival for rival in rivals(lines, KnownFacts(dated, today)) if rival.later and not rival.repeats]
    proposed = proposed_rivals(lines, dated)
    pairs = [*proposed, *open_fact_pairs(dated, today, report), *_without(disagreeing, proposed)]
    return sorted(pairs, key=lambda rival: rival.repeats)


def open_fact_pairs(rows: Sequence[PlacedFact], today: date, report: Progress = lambda *_: None) -> list[Rival]:
    """The open pairs among facts, in the order of `open_pairs`. `rows`: the facts, newest first."""
    rows = [row for row in rows if not facts.expired(row.fact, today)]
    proposed = proposed_rivals(rows, rows)
    return [*proposed, *_without(rivals(rows[:MAX_COMPARED], KnownFacts(rows, today), report), proposed)]


def _without(pairs: Iterable[Rival], excluded: Iterable[Rival]) -> Iterator[Rival]:
    """The pairs whose two places are not those of one of `excluded`."""
    places = {_places(pair) for pair in excluded}
    return (pair for pair in pairs if _places(pair) not in places)


def _places(pair: Rival) -> frozenset[tuple[str, int]]:
    return frozenset((row.path, row.fact.line) for row in (pair.new, pair.old))


def dated_facts(repo: Repository, memory_facts: Iterable[Fact], today: date) -> list[PlacedFact]:
    """Facts of MEMORY.md of the work tree, newest first: by the day in their comment, else by the commit that wrote
    their line. An uncommitted line is of today. Of two facts of one time the upper one comes first, since new facts are
    added above old ones."""
    memory_facts = list(memory_facts)
    times = _times(repo, [fact.line for fact in memory_facts])
    rows = []
    for fact in memory_facts:
        seconds, day = times.get(fact.line, (UNCOMMITTED, today.isoformat()))
        day = fact_date(fact) or day
        rows.append((day, seconds, -fact.line, PlacedFact(MEMORY, fact, day, seconds)))
    return [row for *_, row in sorted(rows, key=lambda row: row[:3], reverse=True)]


def commit_days(place: Repository, memory: Memory, today: date) -> dict[str, str]:
    """Fact id -> ISO day of the commit that wrote the fact, for facts without a day of their own; {} in a bare
    repository."""
    undated = [fact for fact in memory.facts if not facts.fact_date(fact)]
    if not undated or place.root is None:
        return {}
    return {row.fact.id: row.day for row in dated_facts(place, undated, today)}


def _times(repo: Repository, lines: Sequence[int]) -> dict[int, tuple[int, str]]:
    """Line of MEMORY.md -> (seconds, ISO day) of the commit that wrote it, for committed lines; {} in a bare repository
    and if no commit has the file."""
    if repo.root is None or not lines or repo.head() is None:
        return {}
    try:
        blamed = blame_work_tree(repo, MEMORY, min(lines), max(lines))
    except GitMemError:  # no commit has the file
        return {}
    times: dict[str, tuple[int, str]] = {}
    for row in blamed:
        if row.commit.strip("0") and row.commit not in times:
            author_date = repo.commit(row.commit).author_date
            times[row.commit] = (int(author_date.timestamp()), author_date.date().isoformat())
    return {row.line: times[row.commit] for row in blamed if row.commit in times}


def work_tree_facts(repo: Repository) -> list[Fact]:
    """The facts of MEMORY.md in the work tree."""
    return facts.parse(memory_bytes(repo)).facts


def _recent_lines(repo: Repository, config: Config, memory_facts: Sequence[Fact], today: date) -> Iterator[PlacedFact]:
    """The lines of `RecentLines` in the daily logs of the work tree, newest first, each text once."""
    recent = RecentLines(memory_facts, today)
    seen_ids: set[str] = set()
    dated = [(log_day(path, config.memory_daily), path) for path in memory_paths(repo, config)]
    logs = [(day, path) for day, path in dated if day is not None]
    for day, path in sorted(logs, reverse=True):
        if not recent.are_in_log_of(day):
            continue
        lines = read(facts.split_lines(file_bytes(repo, path)))
        for row in reversed(list(recent.of_log(path, day, lines))):
            if row.fact.id not in seen_ids:
                seen_ids.add(row.fact.id)
                yield row


def rivals_of_skipped_lines(
    logs: Sequence[Log], skipped: Iterable[Span], memory: bytes, today: date, days: Mapping[str, str]
) -> tuple[Rival, ...]:
    """The rivals of the lines of logs that promotion `skipped`: facts of `memory` that they may replace, end or
    contradict. Lines of logs older than RECENT_DAYS, which `open_pairs` does not read, are left out. `days`: the result
    of `commit_days`."""
    by_place = {(log.path, log.blob): log for log in logs if log.day >= today - timedelta(days=RECENT_DAYS)}
    numbers_of: dict[tuple[str, str], set[int]] = {}
    for span in skipped:
        if (span.path, span.blob) in by_place:
            numbers_of.setdefault((span.path, span.blob), set()).add(span.start_line)
    lines = []
    for (path, blob), numbers in numbers_of.items():
        log = by_place[path, blob]
        for fact in statement_facts(log.lines):
            if not numbers.isdisjoint(range(fact.line, fact.end + 1)):
                lines.append(PlacedFact(path, fact, log.day.isoformat()))
    compared = rivals_in_memory(lines, memory, today, days)
    return tuple(without_secrets(rival) for rival in compared if not rival.repeats)


def statement_facts(lines: Sequence[str]) -> list[Fact]:
    """The statements of a log that are compared with facts, each as the fact that it would be. `lines`: of the log."""
    return [fact_of(statement) for statement in comparable_statements(lines)]


def comparable_statements(lines: Sequence[str]) -> list[Statement]:
    """The statements of a log that can be compared with facts: its items, paragraphs and quotations that have text."""
    return [statement for statement in read(lines) if is_comparable(statement)]


def pair_id(pair: Rival) -> str:
    """The id by which a person names a pair: ID_DIGITS hex digits of a hash of the earlier and the later statement.

    The path, the text and the trail of each count, its line does not: an answer moves lines, and the other pairs keep
    their ids. A pair whose texts, headings or order of days have changed has another id.
    """
    sides = [[row.path, row.fact.id, *row.fact.trail] for row in pair.earlier_first]
    return hashlib.sha256(json.dumps(sides).encode("ascii")).hexdigest()[:ID_DIGITS]


def pair_with_id(pairs: Iterable[Rival], ident: str) -> Rival | None:
    """The pair with the id `ident`; None when there is none."""
    return next((pair for pair in pairs if pair_id(pair) == ident), None)


def pair_named(pairs: Sequence[Rival], first_name: str, second_name: str = "") -> Rival:
    """The open pair that `first_name` names by the place (`MEMORY.md:9`) or the id of one of its statements, of which
    six characters are enough. `second_name`: names the second statement, "" for any. A place is right only for the
    files that the person saw: the caller makes sure of that. Raises UsageError when not exactly one pair matches."""
    names = [name for name in (first_name, second_name) if name]
    found = [pair for pair in pairs if all(any(_is_named(row, name) for row in (pair.new, pair.old)) for name in names)]
    if len(found) == 1:
        return found[0]
    message = Message("no open pair of {}", " and ".join(names))
    if found:
        message = Message("{} open pairs of {}", len(found), " and ".join(names))
    raise UsageError(message, "git mem settle lists them")


def _is_named(row: PlacedFact, name: str) -> bool:
    return f"{row.path}:{row.fact.line}" == name or (len(name) >= 6 and row.fact.id.startswith(name))


# -- JSON ----------------------------------------------------------------------------------------------------


@json_keys("path line=fact.line id=fact.id text=fact.text trail=fact.trail day?")
class Side(NamedTuple):
    """One of the two statements of a pair. `day`: its ISO day, "" if it is not known."""

    path: str
    fact: Fact
    day: str


@json_keys("id relation reason earlier later")
class ShownPair(NamedTuple):
    """A pair as its JSON has it. `relation`: `same`, `replaces`, `ends` or `conflicts`.

    JSON: `id`: what `git mem settle` takes; it stays while the texts, headings and days of the pair stay.
    """

    id: str
    relation: str
    reason: str
    earlier: Side
    later: Side


def shown_pair(pair: Rival) -> ShownPair:
    """A pair as JSON shows it, with its id; a text that holds a secret is hidden."""
    shown = without_secrets(pair)
    earlier, later = (Side(row.path, row.fact, row.day) for row in shown.earlier_first)
    return ShownPair(pair_id(pair), shown.kind, shown.reason, earlier, later)
