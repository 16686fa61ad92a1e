"""The life of an agent's session: flush what matters before a context is compacted, end with an episode.

Reads a transcript, writes only through the gate, appends only, and says the same thing once: what a session has
already written is remembered (`sessions/state.py`), and what memory already holds is not written again.
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
from gitmem.sessions.echoes import NOTHING_TOLD, echoes
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

FLUSH_WAIT = 5.0  # seconds for another flush of the session: a host waits for this one
END_WAIT = 60.0  # seconds for the same: nobody waits for the end, and what it says is said nowhere else
RECENT_DAYS = 7  # of logs in which a flush looks for what it would write


@dataclass(frozen=True, slots=True)
class Source:
    """Whose transcript it is. `session` and `agent` are "" for the transcript's own and the configured one; `file` is
    the host's, for a later reset, "" where it cannot be read again."""

    session: str = ""
    agent: str = ""
    file: str = ""


@dataclass(frozen=True, slots=True)
class FlushedLine:
    """One line a flush wrote: where, what, and the turn it was said in."""

    path: str
    line: int
    text: str
    type: str
    turn: str


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did: lines written, and texts that were left out with the reason."""

    kept: tuple[FlushedLine, ...]
    skipped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()  # what a model did not do
    masks: tuple[Mask, ...] = ()  # what the gate masked of the lines
    differs: tuple[Rival, ...] = ()  # what the lines repeat, replace, end or conflict with in MEMORY.md


def flush(
    repo: Repository, config: Config, transcript: Transcript, source: Source = Source(), *, now: datetime,
    model: Model | None = None, wait: float = FLUSH_WAIT,
) -> Flushed:  # fmt: skip
    """Write what the transcript decided, promised, preferred or excepted to the agent's logs of the days it was said.

    A turn is read once, the agent's last ones when they are answered or the session ends; a fact that MEMORY.md or a
    recent log holds is not written again. What the gate refuses is left out, with the reason, never quoted. A `model`
    chooses more of the lines, and its failure is a note: what the rules choose is written all the same. `wait`: seconds
    for another flush of the session. Raises GitMemError in a bare repository, Locked.
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
    """The work tree's root and what the session has given in the part that the transcript is of, while nobody else
    writes for it."""
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    with locked(repo.common_dir, lock_of(session), wait):
        yield repo.root, with_part_of(load_state(repo.common_dir, session), transcript)


class FlushInput(NamedTuple):
    """What a flush finds: the work tree, what the session has given before, the time, the model that chooses too, and
    whether the session is over."""

    root: Path
    state: State
    now: datetime
    model: Model | None
    ended: bool = False


def _flush(repo: Repository, config: Config, transcript: Transcript, source: Source, given: FlushInput) -> Flushed:
    """`flush` of the named session, whose lock is held."""
    root, state, now, _, ended = given
    agent = source.agent or config.agent
    spoken = dated(transcript.spoken(), now, now, now.tzinfo)
    turns = unread(spoken if ended else _answered(spoken), state.turns)
    selected, notes = _of_days(turns, spoken, agent, given)
    days = {(item.turn.at or now).date() for item in selected}
    if selected:
        told = echoes(root, config.memory_daily, written_id(source.session), now)
    else:
        told = NOTHING_TOLD
    repeated = [item.text for item in selected if item.turn.role is Role.ASSISTANT and told.hold(item.text)]
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
        """Write the items; those that the gate refuses, each with what it says."""
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
    # What settles the matter may stand where the rest of the line may not.
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
    """The turns that were not read before, with what repeats an earlier text between and behind them: a second `no`.
    `known`: the keys of those that were read (`numbered`)."""
    new = [ident not in known for ident in numbered(map(key, spoken))]
    if True in new:
        first = new.index(True)
    else:
        first = len(spoken)
    times = Counter(map(key, spoken))
    return [turn for at, turn in enumerate(spoken) if new[at] or (at > first and times[key(turn)] > 1)]


def _answered(spoken: Sequence[Turn]) -> Sequence[Turn]:
    """The turns up to the last of a person: what the agent said since may still be agreed to or objected to."""
    last = max((at for at, turn in enumerate(spoken) if turn.role is Role.USER), default=-1)
    return spoken[: last + 1]


def _entry(item: Selected, session: str, code: ReadCode) -> Entry:
    """The line of the log, with every turn that it was said in and the code that was open then and says it."""
    turns = [("turn", written_id(turn.id)) for turn in (item.turn, *item.others)]
    read = code.proposed(item.text, item.turn.line)
    return Entry(item.text, item.type, item.origin, (("session", written_id(session)), *turns, *read), item.turn.at)


def _of_days(
    turns: Sequence[Turn], spoken: Sequence[Turn], agent: str, given: FlushInput
) -> tuple[list[Selected], tuple[str, ...]]:
    """What is worth a line of `turns`, day by day: `tomorrow` is read as of the day on which it was said; and a model's
    notes. `spoken` are all turns, those that were read before too."""
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
    """What is not held yet, each once, and the texts of the rest. A decision is held without its reason too; one that
    another replaced since is not held: it was changed back."""
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
    """What memory holds. `ids`: of facts and lines of logs. `rows`: these in the order in which they were said."""

    ids: frozenset[str]
    rows: tuple[Placed, ...]


def _in_memory(root: Path, daily: Sequence[str], now: datetime, others: AbstractSet[date]) -> Known:
    """The facts of MEMORY.md and the items of the logs of the last days and of `others`, whoever wrote them. `daily`:
    patterns of more logs than those in memory/."""
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
    model: Model | None = None, wait: float = END_WAIT,
) -> tuple[Flushed, str]:  # fmt: skip
    """Flush, then write the session's episode; its path, "" when nothing was said but small talk.

    A part of a session has one episode however often it ends: ends and flushes wait for each other, and one that knows
    nothing new (an older reading of the transcript, say) leaves the episode that is there. A session that begins again
    without its old turns is a new part (`state.with_part_of`). `wait` as in `flush`. Raises what `flush` and
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
    """The logs that a flush wrote to, sorted."""
    return sorted({line.path for line in kept})
