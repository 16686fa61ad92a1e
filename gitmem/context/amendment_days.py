"""Marks the statements of a context that a later line of a daily log replaces or ends, with the day of that line.

Until the next promotion (the move of log lines to MEMORY.md) only the log has the newer statement, and a context must
not show both as true. A statement is marked only if `memory/relation` is sure (`automatic`) and a person said the later
line; facts that a person pinned or wrote by hand are never marked. Doubtful pairs are left to `git mem settle`. No part
is left out here. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from itertools import islice

from gitmem.context.layers import MEMORY, Part
from gitmem.context.pieces import Piece
from gitmem.daily_logs import log_day
from gitmem.memory.fact import Fact, fact_id, origin_of
from gitmem.memory.facts import fact_date
from gitmem.memory.forgotten import recorded_text
from gitmem.memory.rivals import KnownFacts, PlacedFact, surely_supersedes
from gitmem.paths import log_date

MAX_LATER = 200  # newest lines of logs that are compared with the other statements


def with_amendment_days(parts: Sequence[Part], today: date, log_patterns: Iterable[str] = ()) -> list[Part]:
    """All parts in order. For each statement that a later line of a log surely replaces or ends, its part has (line of
    the statement, day of the later line) in `until`.

    `log_patterns`: path patterns of logs outside memory/. A commit or an episode that repeats such a statement is
    marked too. Only the MAX_LATER newest log lines that a person said are compared. Entries that a part has in `until`
    already are kept.
    """
    patterns = tuple(log_patterns)
    rows = [row for part in parts for row in _placed_facts(part)]
    later = [row for row in rows if log_day(row.path, patterns) and _is_of_person(row)]
    later = sorted(later, key=lambda row: (row.day, row.fact.line), reverse=True)[:MAX_LATER]
    if not later:
        return list(parts)
    standing = KnownFacts([row for row in rows if row.day], today)
    later_rows: dict[str, PlacedFact] = {}  # id of a statement -> the newest line that replaces or ends it
    for new in later:
        for old in standing.nearest(new.fact):
            ident = old.fact.id
            if ident in later_rows or ident == new.fact.id or not _is_earlier(old, new):
                continue
            if surely_supersedes(old, new, as_if_derived=old.path not in MEMORY):  # a log has no facts yet
                later_rows[ident] = new
    if later_rows:
        return [_part_with_days(part, later_rows) for part in parts]
    return list(parts)


def _placed_facts(part: Part) -> Iterator[PlacedFact]:
    """Each statement of a part as a fact with its path and day: the one that it states, else that of its file's name,
    else ""; none for a part without a file."""
    if not part.path:
        return
    dated = log_date(part.path)
    for piece in part.pieces:
        fact = _fact(piece)
        yield PlacedFact(part.path, fact, fact_date(fact) or (dated.isoformat() if dated else ""))


def _fact(piece: Piece) -> Fact:
    """The statement of a piece as a fact."""
    statement = piece.statement
    return Fact(
        statement.text, fact_id(statement.text), statement.first, "", statement.meta, statement.last, statement.trail
    )


def _is_of_person(row: PlacedFact) -> bool:
    """Whether a statement names no origin, or only a person (`user`) as its origin."""
    return origin_of(row.fact.meta) in ("", "user")


def _is_earlier(row: PlacedFact, other_row: PlacedFact) -> bool:
    """Whether `row` is from an earlier day than `other_row`, or from the same day and an earlier line of the same file.
    A statement without a day counts as earlier than any day."""
    if row.day != other_row.day:
        return row.day < other_row.day
    return row.path == other_row.path and row.fact.line < other_row.fact.line


def _part_with_days(part: Part, later_rows: Mapping[str, PlacedFact]) -> Part:
    """The part with (line, day) in `until` for each of its statements that is earlier than its row in `later_rows`. A
    line that is in `until` already gets no second day.

    `later_rows`: id of a fact -> the later line. A part without statements (a commit) with an empty `until` gets one
    day, the latest, for all of it.
    """
    dated_lines = {line for line, _ in part.until}
    added = []
    for row in _placed_facts(part):
        later = later_rows.get(row.fact.id)
        if later is not None and row.fact.line not in dated_lines and _is_earlier(row, later):
            added.append((row.fact.line, later.day))
    if not part.pieces and not dated_lines:
        days = [later_rows[ident].day for ident in _ids_of_text(part.content) if ident in later_rows]
        added = [(part.start_line, max(days))] if days else []
    return replace(part, until=(*part.until, *added)) if added else part


def _ids_of_text(text: str) -> Iterator[str]:
    """The fact ids of the first MAX_LATER lines of a commit message, read as items that record facts."""
    for line in islice(text.splitlines(), MAX_LATER):
        yield fact_id(recorded_text(line.strip().lstrip("-+* ")))
