"""Flush a session's decisions to the daily log, and end it with an episode.

A flush reads a transcript and appends lines through the gate. It writes each fact once: `sessions/state.py` remembers
the facts that a session wrote, and facts that memory already has are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError, OutsideRepository, Refused
from gitmem.gate.quoting import without_secrets
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked, read_bytes
from gitmem.hosts.transcript import Role, Transcript, Turn, dated
from gitmem.memory import facts, writing
from gitmem.memory.fact import fact_id
from gitmem.memory.forgotten import MASK
from gitmem.memory.new_statements import at_lines
from gitmem.memory.rivals import Placed, placed
from gitmem.memory.writing import Entry
from gitmem.paths import daily_path, log_day
from gitmem.promotion.proposal import Model
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.sessions.compaction import KEEP
from gitmem.sessions.due_consolidation import note_ended
from gitmem.sessions.echoes import NO_STATEMENTS, echoes
from gitmem.sessions.episode import episode_of, has_matter, worked, write_episode
from gitmem.sessions.last_words import changed_since, row_of
from gitmem.sessions.log_files import log_files
from gitmem.sessions.read_code import ReadCode
from gitmem.sessions.rolling_summary import key, numbered
from gitmem.sessions.selection import Selected, select
from gitmem.sessions.state import (
    State,
    load_state,
    lock_of,
    name_of,
    present,
    save_state,
    summary,
    touched,
    with_ended_part,
    with_part_of,
)
from gitmem.sessions.written_ids import written_id

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask
    from gitmem.memory.rivals import Rival

FLUSH_WAIT_SECONDS = 5.0  # for the lock of the session; the host waits for a flush
END_WAIT_SECONDS = 60.0  # the same at the end of a session, where nobody waits
RECENT_DAYS = 7  # days of logs in which a flush looks for facts that it would repeat


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of a transcript. `session`: "" for the transcript's own id. `agent`: "" for the configured one.
    `file`: the host's file, for a later reset; "" if it cannot be read again."""

    session: str = ""
    agent: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class FlushedLine:
    """A line that a flush wrote: its place, its text, and the turn of its statement."""

    path: str
    line: int
    text: str
    type: str
    turn: str


@dataclass(frozen=True, slots=True)
class Flushed:
    """The result of a flush: the written lines, and the texts that were left out, each with its reason."""

    kept: tuple[FlushedLine, ...]
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()  # failures of a model
    masks: tuple[Mask, ...] = ()  # what the gate masked in the lines
    differs: tuple[Rival, ...] = ()  # facts of MEMORY.md that the lines repeat, replace, end or conflict with


def flush(
    repo: Repository, config: Config, transcript: Transcript, source: Source = Source(), *, now: datetime,
    model: Model | None = None, wait: float = FLUSH_WAIT_SECONDS,
) -> Flushed:  # fmt: skip
    """Write the decisions, promises, preferences and exceptions of a transcript to the agent's daily logs.

    A line goes to the log of the day of its turn. Each turn is read once; the agent's last turns wait until a person
    answers or the session ends. Facts that MEMORY.md or a recent log has are skipped. Text that the gate refuses is
    left out with the reason and never quoted. A `model` chooses lines besides the rules; its failure becomes a note.
    `wait`: seconds for the session's lock. Raises GitMemError in a bare repository, Locked.
    """
    session = name_of(transcript, source.session)
    with _of_session(repo, transcript, session, wait) as (root, state):
        flushed = _flush(
            repo, config, transcript, replace(source, session=session), FlushInput(root, state, now, model)
        )
    summary(repo.common_dir, transcript, session)
    return flushed


@contextmanager
def _of_session(
    repo: Repository, transcript: Transcript, session: str, wait: float
) -> Iterator[tuple[Path, State]]:  # fmt: skip
    """The work tree's root and the state of the transcript's part of the session, with the session's lock held."""
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    with locked(repo.common_dir, lock_of(session), wait):
        yield repo.root, with_part_of(load_state(repo.common_dir, session), transcript)


class FlushInput(NamedTuple):
    """The input of a flush: the work tree, the session's state, the time, an optional model, and whether the session is
    over."""

    root: Path
    state: State
    now: datetime
    model: Model | None
    ended: bool = False


def _flush(repo: Repository, config: Config, transcript: Transcript, source: Source, given: FlushInput) -> Flushed:
    """Do `flush` with the lock of the session held."""
    root, state, now, _, ended = given
    agent = source.agent or config.agent
    spoken = dated(transcript.spoken(), now, now, now.tzinfo)
    turns = unread(spoken if ended else _answered(spoken), state.turns)
    selected, notes = _of_days(turns, spoken, agent, given)
    days = {(item.turn.at or now).date() for item in selected}
    if selected:
        memory = echoes(root, config.memory_daily, written_id(source.session), now)
    else:
        memory = NO_STATEMENTS
    repeated = [item.text for item in selected if item.turn.role is Role.ASSISTANT and memory.has(item.text)]
    selected = [item for item in selected if item.turn.role is not Role.ASSISTANT or item.text not in repeated]
    forgotten = forgotten_texts(repo)
    gone = [item for item in selected if forgotten.masked(item.text) != item.text or forgotten.says_only(item.core)]
    selected = [item for item in selected if item not in gone]
    held = _in_memory(root, config.memory_daily, now, days)
    new, known = _new(selected, held._replace(ids=held.ids | state.facts))
    skipped = [(without_secrets([text])[0], "memory holds it already") for text in (*repeated, *known)]
    skipped += [(MASK, "a person took it out of memory") for _ in gone]
    kept: list[FlushedLine] = []
    masks: list[Mask] = []

    code = ReadCode(repo, transcript.turns)

    def write(items: Sequence[Selected]) -> list[tuple[Selected, str]]:
        """Write the items; returns those that the gate refused, each with its message."""
        entries = [_entry(item, source.session, code) for item in items]
        if entries:
            written = writing.log(repo, config, entries, now=now, agent=agent, topic="session")
        else:
            written = []
        refused = []
        for item, result in zip(items, written, strict=True):
            if isinstance(result, Refused):
                refused.append((item, result.message))
            else:
                masks.extend(result.masks)
                kept.append(FlushedLine(result.path, result.line, result.text, item.type, item.turn.id))
        return refused

    refused = write(new)
    skipped += [("(refused by the gate)", message) for _, message in refused]
    # The deciding sentence may pass the gate where the whole line does not.
    write([shorter for item, _ in refused if (shorter := item.alone()).text != item.text])
    state = replace(
        state,
        turns=state.turns | {*numbered(map(key, spoken if ended else _answered(spoken)))},
        facts=state.facts | {fact_id(line.text) for line in kept},
    )
    save_state(repo.common_dir, source.session, touched(state, now, source.file))
    differs = at_lines(repo, [(line.path, line.line) for line in kept], now.date())
    return Flushed(tuple(kept), tuple(skipped), notes, tuple(masks), differs)


def unread(spoken: Sequence[Turn], known: AbstractSet[str]) -> list[Turn]:
    """The turns that were not read before, also turns that repeat an earlier text, such as a second `no`.

    `known`: the keys of the turns that were read (`numbered`).
    """
    new = [ident not in known for ident in numbered(map(key, spoken))]
    if True in new:
        first = new.index(True)
    else:
        first = len(spoken)
    times = Counter(map(key, spoken))
    return [turn for at, turn in enumerate(spoken) if new[at] or (at > first and times[key(turn)] > 1)]


def _answered(spoken: Sequence[Turn]) -> Sequence[Turn]:
    """The turns up to the person's last one; later turns of the agent may still be accepted or refused."""
    last = max((at for at, turn in enumerate(spoken) if turn.role is Role.USER), default=-1)
    return spoken[: last + 1]


def _entry(item: Selected, session: str, code: ReadCode) -> Entry:
    """The log line of a statement, with the ids of its turns and the code that was open and contains it."""
    turns = [("turn", written_id(turn.id)) for turn in (item.turn, *item.others)]
    read = code.proposed(item.text, item.turn.line)
    return Entry(item.text, item.type, item.origin, (("session", written_id(session)), *turns, *read), item.turn.at)


def _of_days(
    turns: Sequence[Turn], spoken: Sequence[Turn], agent: str, given: FlushInput
) -> tuple[list[Selected], tuple[str, ...]]:
    """The statements of `turns` that are worth a line, day by day, and a model's notes.

    Each day is selected by itself, so that `tomorrow` counts from it. `spoken`: all turns, also those read before.
    """
    selected: list[Selected] = []
    notes: list[str] = []
    places = {id(turn): at for at, turn in enumerate(spoken)}
    for day, said in groupby(turns, key=lambda turn: (turn.at or given.now).date()):
        of_day = list(said)
        first = places[id(of_day[0])]
        earlier = spoken[max(0, first - KEEP) : first]
        when = of_day[-1].at or given.now
        later = spoken[first + len(of_day) :]
        chosen, problems = select(of_day, daily_path(day, agent), when, given.model, earlier, later)
        selected += chosen
        notes += problems
    return selected, tuple(dict.fromkeys(notes))


def _new(selected: Iterable[Selected], known: Known) -> tuple[list[Selected], list[str]]:
    """The statements that memory does not have yet, each once, and the texts of the others.

    A decision in memory counts even without its reason. One that was replaced since does not count: it was changed
    back.
    """
    seen = set(known.ids)
    rows = list(known.rows)
    new: list[Selected] = []
    held: list[str] = []
    for item in selected:
        ids = {fact_id(item.text), fact_id(item.core)}
        if ids & seen and not changed_since(ids, rows, by_person=item.origin == "user"):
            held.append(item.text)
        else:
            new.append(item)
            rows.append(row_of(item, len(rows)))
        seen |= ids
    return new, held


class Known(NamedTuple):
    """The contents of memory. `ids`: ids of facts and log lines. `rows`: the same as rows, in the order of their
    days."""

    ids: frozenset[str]
    rows: tuple[Placed, ...]


def _in_memory(root: Path, daily: Sequence[str], now: datetime, others: AbstractSet[date]) -> Known:
    """The facts of MEMORY.md and the items of the logs of the last RECENT_DAYS and of the days `others`, by any agent.

    `daily`: patterns of daily logs outside memory/.
    """
    rows: list[Placed] = []
    days = {now.date() - timedelta(days=back) for back in range(RECENT_DAYS)} | others
    for path in ("MEMORY.md", *log_files(root, daily, days)):
        day = log_day(path, daily)
        try:
            found = facts.parse(read_bytes(root, path)).facts
        except (OSError, OutsideRepository):
            continue
        rows += placed(path, found, day.isoformat() if day else "")
    in_order = sorted(rows, key=lambda row: (row.day, row.path != "MEMORY.md", row.path, row.fact.line))
    return Known(frozenset(row.fact.id for row in rows), tuple(in_order))


def end(
    repo: Repository, config: Config, transcript: Transcript, source: Source = Source(), *, now: datetime,
    model: Model | None = None, wait: float = END_WAIT_SECONDS,
) -> tuple[Flushed, str]:  # fmt: skip
    """Flush, then write the session's episode. Returns the flush and the episode's path, "" for small talk only.

    A part of a session has one episode, however often it ends. Ends and flushes wait for each other. An end without new
    turns (from an older reading of the transcript, say) leaves the episode as it is. A session that starts again
    without its old turns is a new part (`state.with_part_of`). `wait`: as in `flush`. Raises what `flush` and
    `write_episode` raise.
    """
    session = name_of(transcript, source.session)
    with _of_session(repo, transcript, session, wait) as (root, state):
        flushed = _flush(
            repo, config, transcript, replace(source, session=session), FlushInput(root, state, now, model, True)
        )
        part = present(repo.common_dir, transcript, session)
        known = frozenset(turn for each in state.parts if each.part == state.part for turn in numbered(each.turns))
        path = ""
        if known:
            path = episode_of(root, part.session)
        if not path or any(turn not in known for turn in numbered(map(key, part.spoken()))):
            spoken = dated(part.spoken(), now, now, now.tzinfo)
            if not episode_of(root, part.session) and not has_matter(spoken, now, worked=worked(part.turns)):
                spoken = []
            last = (spoken[-1].at if spoken else None) or now
            path = write_episode(repo, config, spoken, part.session, source.agent or config.agent, last)
        ended = with_ended_part(load_state(repo.common_dir, session), part.spoken())
        save_state(repo.common_dir, session, ended)
    summary(repo.common_dir, transcript, session)
    note_ended(repo, config, path)
    return flushed, path


def paths_of(kept: Sequence[FlushedLine]) -> list[str]:
    """The paths of the logs that a flush wrote to, sorted."""
    return sorted({line.path for line in kept})
