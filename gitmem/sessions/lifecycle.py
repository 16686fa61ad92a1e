"""Flush a session's decisions to the daily log, and end a session with an episode.

A flush reads a transcript and appends lines to daily logs (`memory/YYYY-MM-DD.md`) through the gate, which refuses or
masks text with secrets or instructions. Each fact is written once: `sessions/state.py` remembers the facts that a
session wrote, and facts that memory already has are skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitmem.config import Config
from gitmem.daily_logs import log_path
from gitmem.errors import GitMemError, Refused
from gitmem.gate.quoting import without_secrets
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked
from gitmem.hosts.transcript import Role, Transcript, Turn, dated
from gitmem.memory import writing
from gitmem.memory.fact import fact_id
from gitmem.memory.forgotten import MASK
from gitmem.memory.new_statements import rivals_at_lines
from gitmem.promotion.proposal import Model
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.sessions import state as session_state
from gitmem.sessions.compaction import KEPT_TURNS
from gitmem.sessions.due_consolidation import note_ended
from gitmem.sessions.echoes import NO_STATEMENTS, memory_statements
from gitmem.sessions.episode import agent_worked, find_episode, is_worth_an_episode, write_episode
from gitmem.sessions.known_lines import known_statements, not_in_memory
from gitmem.sessions.opened_files import OpenedFiles
from gitmem.sessions.rolling_summary import distinct_keys, turn_key
from gitmem.sessions.selection import Selected, select
from gitmem.sessions.written_ids import written_id

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask
    from gitmem.memory.rivals import Rival

FLUSH_WAIT_SECONDS = 5.0  # for the lock of the session; the host waits for a flush
END_WAIT_SECONDS = 60.0  # the same at the end of a session, where nobody waits


@dataclass(frozen=True, slots=True)
class Source:
    """Where a transcript comes from. `session`: name of the session, "" for the transcript's own id. `agent`: whose
    daily logs are written, "" for the configured agent. `file`: path of the host's file, from which a later reset reads
    the transcript again; "" if that is not possible."""

    session: str = ""
    agent: str = ""
    file: str = ""


REFUSED_TEXT = "(refused by the gate)"


class SkippedText(NamedTuple):
    """A text that was not written. `text`: with its secrets masked; MASK for one that a person took out of memory;
    REFUSED_TEXT in place of one that the gate refused. `reason`: why it was not written."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class FlushedLine:
    """A line that a flush wrote: path and line number in the log, text, type of the fact, id of the turn that contains
    the statement."""

    path: str
    line: int
    text: str
    type: str
    turn: str


@dataclass(frozen=True, slots=True)
class FlushResult:
    """The result of a flush. `kept`: the written lines. `skipped`: the statements that were left out; the text of a
    refused statement is not quoted."""

    kept: tuple[FlushedLine, ...]
    skipped: tuple[SkippedText, ...]
    notes: tuple[str, ...] = ()  # failures of a model
    masks: tuple[Mask, ...] = ()  # what the gate masked in the lines
    differs: tuple[Rival, ...] = ()  # facts of MEMORY.md that the lines repeat, replace, end or conflict with


def flush(
    repo: Repository, config: Config, transcript: Transcript, source: Source = Source(), *, now: datetime,
    model: Model | None = None, wait: float = FLUSH_WAIT_SECONDS,
) -> FlushResult:  # fmt: skip
    """Write the decisions, promises, preferences and exceptions of a transcript to the agent's daily logs. Commits
    nothing; stores which turns were read, and the rolling summary.

    Each turn is read once, and each line goes to the log of its turn's day. The agent's last turns wait until the
    person answers or the session ends. Statements that MEMORY.md or a recent log already has are skipped. `model`:
    chooses lines in addition to the rules; its failure becomes a note. `wait`: seconds to wait for the session's lock.
    Raises GitMemError in a bare repository or if a log or the state cannot be written, Locked if another process holds
    the lock of the session or of memory, Refused if the gate finds something in the agent's name.
    """
    session = session_state.session_name(transcript, source.session)
    with _locked_state(repo, transcript, session, wait) as (root, state):
        flushed = _flush(
            repo, config, transcript, replace(source, session=session), FlushInput(root, state, now, model)
        )
    session_state.summary(repo.common_dir, transcript, session)
    return flushed


@contextmanager
def _locked_state(
    repo: Repository, transcript: Transcript, session: str, wait: float
) -> Iterator[tuple[Path, session_state.State]]:  # fmt: skip
    """Hold the session's lock; yields the work tree's root and the session's state, in the part of the session that the
    transcript belongs to. Raises GitMemError in a bare repository, Locked if another process holds the lock for `wait`
    seconds."""
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    with locked(repo.common_dir, session_state.state_lock(session), wait):
        yield repo.root, session_state.with_part_of(session_state.load_state(repo.common_dir, session), transcript)


class FlushInput(NamedTuple):
    """The input of `_flush` that its caller has looked up. `root`: the work tree. `state`: state of the session.
    `model`: None for the rules alone. `ended`: the session is over, so that its last turns count too."""

    root: Path
    state: session_state.State
    now: datetime
    model: Model | None
    ended: bool = False


def _flush(repo: Repository, config: Config, transcript: Transcript, source: Source, task: FlushInput) -> FlushResult:
    """Write the new lines of a transcript and save the session's state. The caller holds the session's lock."""
    state, now, ended = task.state, task.now, task.ended
    agent = source.agent or config.agent
    spoken = dated(transcript.spoken(), now, now, now.tzinfo)
    turns = unread_turns(spoken if ended else _turns_up_to_person(spoken), state.turns)
    selected, notes = _select_by_day(turns, spoken, agent, config.memory_daily, task)
    new_items, skipped = _new_items(repo, config, selected, source.session, task)
    code = OpenedFiles(repo, transcript.turns)
    passed: list[tuple[Selected, writing.GatedEntry]] = []

    def gate(items: Sequence[Selected]) -> list[tuple[Selected, str]]:
        """Add the items that the gate lets pass to `passed`. Returns, in order, the items that the gate or the limit of
        a line's length refused, each with its message."""
        entries = [_entry(item, source.session, code) for item in items]
        refused = []
        for item, gated in zip(items, writing.gate_for_logs(repo, config, entries, now=now, agent=agent), strict=True):
            if isinstance(gated, Refused):
                refused.append((item, gated.message))
            else:
                passed.append((item, gated))
        return refused

    refused = gate(new_items)
    skipped += [SkippedText(REFUSED_TEXT, message) for _, message in refused]
    # Sentences that settle something may pass the gate where the whole line does not.
    gate([shorter for item, _ in refused for shorter in item.apart() if shorter.text != item.text])
    places = {id(turn): index for index, turn in enumerate(spoken)}
    passed.sort(key=lambda item_and_entry: places[id(item_and_entry[0].turn)])
    added: list[writing.Added] = []
    if passed:
        added = writing.append_to_logs(repo, [entry for _, entry in passed], topic="session")
    lines = [
        FlushedLine(line.path, line.line, line.text, item.type, item.turn.id)
        for (item, _), line in zip(passed, added, strict=True)
    ]
    masks = [mask for line in added for mask in line.masks]
    state = replace(
        state,
        turns=state.turns | {*distinct_keys(map(turn_key, spoken if ended else _turns_up_to_person(spoken)))},
        facts=state.facts | {fact_id(line.text) for line in lines},
    )
    session_state.save_state(repo.common_dir, source.session, session_state.with_activity(state, now, source.file))
    differs = rivals_at_lines(repo, [(line.path, line.line) for line in lines], now.date())
    return FlushResult(tuple(lines), tuple(skipped), notes, tuple(masks), differs)


def _new_items(
    repo: Repository, config: Config, selected: Sequence[Selected], session: str, task: FlushInput
) -> tuple[list[Selected], list[SkippedText]]:
    """(the items that memory lacks and that no person took out of it, the others with their reasons)."""
    days = {(item.turn.at or task.now).date() for item in selected}
    memory = NO_STATEMENTS
    if selected:
        memory = memory_statements(task.root, config.memory_daily, written_id(session), task.now)
    repeated = [item.text for item in selected if item.turn.role is Role.ASSISTANT and memory.has(item.text)]
    selected = [item for item in selected if item.turn.role is not Role.ASSISTANT or item.text not in repeated]
    forgotten = forgotten_texts(repo)
    removed = [
        item for item in selected if forgotten.masked(item.text) != item.text or forgotten.is_removed_text(item.core)
    ]
    selected = [item for item in selected if item not in removed]
    stored = known_statements(task.root, config.memory_daily, task.now, days)
    new_items, known_texts = not_in_memory(selected, stored._replace(ids=stored.ids | task.state.facts))
    skipped = [SkippedText(without_secrets([text])[0], "memory holds it already") for text in (*repeated, *known_texts)]
    skipped += [SkippedText(MASK, "a person took it out of memory") for _ in removed]
    return new_items, skipped


def unread_turns(spoken: Sequence[Turn], read_keys: AbstractSet[str]) -> list[Turn]:
    """The turns that were not read before, in order.

    `spoken`: all turns. `read_keys`: keys of the turns that were read (`rolling_summary.distinct_keys`). A turn that
    says the same as another one, such as a second `no`, counts as unread everywhere after the first unread turn.
    """
    times = Counter(map(turn_key, spoken))
    unread: list[Turn] = []
    for turn, key in zip(spoken, distinct_keys(map(turn_key, spoken)), strict=True):
        if key not in read_keys or (unread and times[turn_key(turn)] > 1):
            unread.append(turn)
    return unread


def _turns_up_to_person(spoken: Sequence[Turn]) -> Sequence[Turn]:
    """The turns up to the person's last one; the person may still accept or refuse later turns of the agent."""
    return spoken[: max((end for end, turn in enumerate(spoken, 1) if turn.role is Role.USER), default=0)]


def _entry(item: Selected, session: str, code: OpenedFiles) -> writing.LogEntry:
    """The log line of a statement. Its comment has the session, the turns, and up to two citations of opened code."""
    turns = [("turn", written_id(turn.id)) for turn in (item.turn, *item.others)]
    citations = code.propose(item.text, item.turn.line)
    meta = (("session", written_id(session)), *turns, *citations)
    return writing.LogEntry(item.text, item.type, item.origin, meta, item.turn.at)


def _select_by_day(
    turns: Sequence[Turn], spoken: Sequence[Turn], agent: str, daily: Sequence[str], task: FlushInput
) -> tuple[list[Selected], tuple[str, ...]]:
    """The statements of `turns` that are worth a line, in order, and the notes of a model.

    Each day is selected alone, so that `tomorrow` counts from that day. `spoken`: all turns, including those read
    before. `agent`: whose logs the lines are for. `daily`: patterns of daily logs outside memory/.
    """
    selected: list[Selected] = []
    notes: list[str] = []
    places = {id(turn): index for index, turn in enumerate(spoken)}
    for day, turns_of_day in groupby(turns, key=lambda turn: (turn.at or task.now).date()):
        of_day = list(turns_of_day)
        start = places[id(of_day[0])]
        earlier = spoken[max(0, start - KEPT_TURNS) : start]
        last_time = of_day[-1].at or task.now
        later = spoken[start + len(of_day) :]
        chosen, problems = select(of_day, log_path(day, agent, daily), last_time, task.model, earlier, later)
        selected += chosen
        notes += problems
    return selected, tuple(dict.fromkeys(notes))


def end_session(
    repo: Repository, config: Config, transcript: Transcript, source: Source = Source(), *, now: datetime,
    model: Model | None = None, wait: float = END_WAIT_SECONDS,
) -> tuple[FlushResult, str]:  # fmt: skip
    """Flush the last turns too, then write the session's episode and count the session for `mem.distillAfter`. Returns
    the flush and the episode's path, "" if the session was only small talk. Commits nothing.

    A part of a session has one episode, however often the session ends. Ends and flushes wait for each other. An end
    without new turns (from an older copy of the transcript, for example) leaves the episode as it is. A session that
    starts again without its old turns is a new part (`state.with_part_of`). `model`: None for the rules alone. `wait`:
    seconds to wait for the session's lock. Raises the errors of `flush`, and Refused if the gate refuses the episode.
    """
    session = session_state.session_name(transcript, source.session)
    with _locked_state(repo, transcript, session, wait) as (root, state):
        flushed = _flush(
            repo, config, transcript, replace(source, session=session), FlushInput(root, state, now, model, True)
        )
        part = session_state.current_part(repo.common_dir, transcript, session)
        closed = [ended_part for ended_part in state.parts if ended_part.part == state.part]
        episode_keys = {key for ended_part in closed for key in distinct_keys(ended_part.turns)}
        path = find_episode(root, part.session) if episode_keys else ""
        if not path or any(key not in episode_keys for key in distinct_keys(map(turn_key, part.spoken()))):
            spoken = dated(part.spoken(), now, now, now.tzinfo)
            worked = agent_worked(part.turns)
            if not find_episode(root, part.session) and not is_worth_an_episode(spoken, now, worked=worked):
                spoken = []
            ended_at = (spoken[-1].at if spoken else None) or now
            path = write_episode(repo, config, spoken, part.session, source.agent or config.agent, ended_at)
        ended = session_state.with_ended_part(session_state.load_state(repo.common_dir, session), part.spoken())
        session_state.save_state(repo.common_dir, session, ended)
    session_state.summary(repo.common_dir, transcript, session)
    note_ended(repo, config, path)
    return flushed, path


def log_paths(kept: Sequence[FlushedLine]) -> list[str]:
    """The paths of the daily logs that these lines were written to, sorted."""
    return sorted({line.path for line in kept})
