"""Import old sessions into memory: an episode for each session, and lines in the daily logs of the days on which they
were said.

Every text passes the gate, and existing files are only added to. An episode names the hash of its transcript, and lines
are compared by text: a second import of the same files writes nothing, and an interrupted import can be repeated.
Sessions are read in the order given and written in batches, each batch as a whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from itertools import count, groupby, islice
from pathlib import Path
from typing import NamedTuple

from gitmem.config import Config
from gitmem.daily_logs import log_path
from gitmem.errors import GitMemError, Refused
from gitmem.gate.redaction import Mask, mask_counts
from gitmem.git.opening import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, write
from gitmem.git.worktree import locked
from gitmem.hosts.transcript import Turn, dated
from gitmem.json_values import json_keys
from gitmem.memory.fact import Meta, fact_id
from gitmem.memory.percent_encoding import encode
from gitmem.memory.writing import LogEntry, append_entry, ensure_agent_passes, gated_entry
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.sessions.compaction import KEPT_TURNS
from gitmem.sessions.episode import EpisodeFile, Heading, gated_episode, list_episodes, path_with_hash
from gitmem.sessions.known_lines import KnownLines
from gitmem.sessions.lifecycle import REFUSED_TEXT, SkippedText
from gitmem.sessions.past_sessions import PastSession
from gitmem.sessions.rolling_summary import distinct_keys, turn_key
from gitmem.sessions.selection import Selected, select
from gitmem.sessions.state import MAX_QUIET_TIME, load_state, part_name, save_state, state_lock, with_activity
from gitmem.sessions.written_ids import written_id, written_session

SESSIONS_PER_WRITE = 32  # sessions of a batch: an interruption loses at most these
STATE_LOCK_SECONDS = 5.0  # wait for a running flush of the session
TOPIC = "session"
ALREADY_IN_MEMORY = "memory holds it already"


class ImportState(StrEnum):
    """The outcome of one session; the value is the text in the output. KNOWN: an episode has it already. FAILED: it
    cannot be read, or the gate lets nothing of it through."""

    IMPORTED = "imported"
    KNOWN = "there already"
    EMPTY = "nothing was said"
    FAILED = "left out"


@json_keys("path text turn")
class ImportedLine(NamedTuple):
    """A line for a daily log. `path`: the log. `text`: the text that passed the gate. `meta`: (key, value) of its
    comment. `when`, `turn`: time and id of the turn that contains the statement. `masks`: the masks that the gate
    applied."""

    path: str
    text: str
    meta: Meta
    when: datetime
    turn: str
    masks: tuple[Mask, ...] = ()

    def after(self, log: bytes) -> bytes:
        """The bytes of a daily log with this line appended, below a heading with its time. `log`: the bytes before."""
        text, _ = append_entry(log.decode("utf-8", "surrogateescape"), self.text, self.meta, self.when, TOPIC)
        return text.encode("utf-8", "surrogateescape")


@json_keys(
    "session=session.name from=session.place day project=session.project? state=done episode? lines skipped problem?"
)
@dataclass(frozen=True, slots=True)
class ImportedSession:
    """The outcome of one session. `done`: what happened. `episode`: path, "" for none. `lines`: written lines.
    `skipped`: (text, reason) of lines that were left out. `problem`: why the whole session was left out, "" if it was
    not.

    JSON: `from`: the host's file. `project`: null if the host does not say in which folder a session worked.
    `state`: one of the keys of `totals`. `skipped`: lines that were not written. `problem`: why a session was left
    out.
    """

    session: PastSession
    done: ImportState
    episode: str = ""
    lines: tuple[ImportedLine, ...] = ()
    skipped: tuple[SkippedText, ...] = ()
    problem: str = ""

    @property
    def day(self) -> date:
        return self.session.start.date()


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Options of an import. `source`: name of the host or archive, for the commit message. `agent`: whose daily logs
    are written, "" for the configured agent. `dry_run`: write nothing. `committing`: commit each batch."""

    source: str
    agent: str = ""
    dry_run: bool = False
    committing: bool = False


class _Prepared(NamedTuple):
    """A session that passed the gate and is not written yet. `name`: name of its part. `sha256`: hash of its
    transcript. `turns`: its spoken turns, each with a time, at least one. `lines`: lines that no log has yet.
    `skipped`: (text, reason). `path`, `episode`: path and text of its episode, "" if the gate refused it. `new`: the
    session has no episode yet, so that another file may be at `path`."""

    session: PastSession
    name: str
    sha256: str
    turns: tuple[Turn, ...]
    lines: tuple[ImportedLine, ...]
    skipped: tuple[SkippedText, ...]
    path: str
    episode: str
    new: bool

    def outcome(self, episode: str) -> ImportedSession:
        """The outcome after the session was written. `episode`: path of its episode, "" for none."""
        if self.lines or episode:
            return ImportedSession(self.session, ImportState.IMPORTED, episode, self.lines, self.skipped)
        problem = "the gate lets nothing of it through"
        return ImportedSession(self.session, ImportState.FAILED, skipped=self.skipped, problem=problem)


def import_sessions(
    repo: Repository, config: Config, sessions: Iterable[PastSession], options: ImportOptions, now: datetime
) -> Iterator[ImportedSession]:
    """Import sessions, given in order of time, and yield the outcome of each. SESSIONS_PER_WRITE sessions are written
    together before the first of them is yielded; a caller may stop at any time.

    Raises GitMemError in a bare repository, Refused if the gate finds something in the agent's name, and Locked,
    Changed or another error of writing; earlier batches stay, and the same import can be repeated."""
    if repo.root is None:
        raise GitMemError("a bare repository has no memory files", "run it in a clone")
    agent = options.agent or config.agent
    ensure_agent_passes(agent, config)
    importer = _Importer(repo, repo.root, config, replace(options, agent=agent), now)
    remaining = iter(sessions)
    while batch := list(islice(remaining, SESSIONS_PER_WRITE)):
        yield from importer.import_batch(batch)


class _Importer:
    """The state of one import: known lines, known episodes by session and by transcript hash, and paths of episodes in
    use."""

    def __init__(self, repo: Repository, root: Path, config: Config, options: ImportOptions, now: datetime) -> None:
        self._repo, self._config, self._options, self._now = repo, config, options, now
        self._root, self._paths = root, set[str]()
        self._known = KnownLines(root, config.memory_daily)
        self._episodes = {written_session(episode.session): episode for episode in reversed(list(list_episodes(root)))}
        self._imported = {episode.transcript: episode for episode in self._episodes.values() if episode.transcript}

    def import_batch(self, sessions: Sequence[PastSession]) -> list[ImportedSession]:
        """Read these sessions, write the new ones together, and return the outcome of each."""
        prepared = [self._prepared(session) for session in sessions]
        paths = iter(self._write([item for item in prepared if isinstance(item, _Prepared)]))
        return [item.outcome(next(paths)) if isinstance(item, _Prepared) else item for item in prepared]

    def _prepared(self, session: PastSession) -> _Prepared | ImportedSession:
        """A session with its gated lines and episode, or its outcome if there is nothing to write. Later sessions of
        the import count them as known already."""
        try:
            transcript, sha256 = session.read()
        except OSError as error:
            return ImportedSession(session, ImportState.FAILED, problem=f"cannot be read: {error.strerror}")
        name, own_episode = self._part(session.name, session.file)
        imported = self._imported.get(sha256)
        if imported is None and own_episode and not own_episode.transcript:
            imported = own_episode  # without a hash: the session itself wrote the episode when it ended
        if imported:
            return ImportedSession(session, ImportState.KNOWN, imported.path)
        turns = tuple(dated(transcript.spoken(), session.start, self._now))
        if not turns:
            return ImportedSession(session, ImportState.EMPTY)
        lines, skipped = self._lines(session, turns, has_episode=own_episode is not None)
        path, text = "", ""
        try:
            heading = Heading(name, self._options.agent, turns[-1].at or session.start, sha256, session.file)
            existing = own_episode.path if own_episode else ""
            path, text = gated_episode(turns, heading, self._config, existing)
            if own_episode is None and (path in self._paths or os.path.lexists(self._root / path)):
                path = path_with_hash(path, name)
            self._paths.add(path)
            self._episodes[written_session(name)] = self._imported[sha256] = EpisodeFile(
                path, name, sha256, session.file
            )
        except Refused as error:
            skipped.append(SkippedText("(the episode is refused by the gate)", error.message))
        return _Prepared(session, name, sha256, turns, tuple(lines), tuple(skipped), path, text, own_episode is None)

    def _part(self, session: str, file: str) -> tuple[str, EpisodeFile | None]:
        """(name, episode or None) of the part of a session that is in `file`. A host may write a new file when it
        resumes a session: each file is a part, and a file that has grown keeps its part's name."""
        for part in count(1):
            name = part_name(session, part)
            episode = self._episodes.get(written_session(name))
            if episode is None or not episode.transcript or episode.file == file:
                return name, episode
        raise AssertionError("unreachable")

    def _lines(
        self, session: PastSession, turns: Sequence[Turn], *, has_episode: bool
    ) -> tuple[list[ImportedLine], list[SkippedText]]:
        """(lines to import, (text, reason) of lines that memory holds already or that the gate refused), day by day.
        The statements to import are added to those that memory is known to hold.

        If the gate refuses a text and passes only its core sentence, the sentence is in the first list and the refusal
        in the second. A text that memory holds only after a secret in it is masked is in neither; so are turns that an
        earlier import or flush read.

        `has_episode`: the session has an episode. Without one its turns are read again, but for a session that still
        runs: its import or its end was undone.
        """
        from gitmem.gate.quoting import without_secrets

        state = load_state(self._repo.common_dir, session.name)
        read_before: frozenset[str] = frozenset()
        runs = state.transcript and not state.ended  # by its hooks, which flush it before it has an episode
        if has_episode or runs:
            read_before = state.turns
        lines: list[ImportedLine] = []
        skipped: list[SkippedText] = []
        keys = distinct_keys(map(turn_key, turns))
        fresh = [turn for turn, key in zip(turns, keys, strict=True) if key not in read_before]
        for day, turns_of_day in groupby(fresh, key=lambda turn: (turn.at or session.start).date()):
            path = log_path(day, self._options.agent, self._config.memory_daily)
            of_day = list(turns_of_day)
            start = turns.index(of_day[0])
            around = turns[max(0, start - KEPT_TURNS) : start], turns[turns.index(of_day[-1]) + 1 :]
            for item in select(of_day, path, of_day[-1].at or session.start, None, *around)[0]:
                ids = {fact_id(item.text), fact_id(item.core)}
                if self._known.holds(ids, day):
                    skipped.append(SkippedText(without_secrets([item.text])[0], ALREADY_IN_MEMORY))
                    continue
                for line in self._gated(item, session, path, skipped):
                    if not self._known.holds([fact_id(line.text)], day):  # a masked secret changes the text and its id
                        lines.append(line)
                    self._known.add({*ids, fact_id(line.text)}, path, day)
        return lines, skipped

    def _gated(self, item: Selected, session: PastSession, path: str, skipped: list[SkippedText]) -> list[ImportedLine]:
        """The lines of a selection that the gate accepts: the whole text; if it is refused, those of its settling
        sentences (`Selected.apart`) that pass alone. The refusal of the whole text is added to `skipped`."""
        try:
            return [self._line(item, session, path)]
        except Refused as error:
            skipped.append(SkippedText(REFUSED_TEXT, error.message))
        lines = []
        for part in item.apart():
            if part.text != item.text:
                with suppress(Refused):
                    lines.append(self._line(part, session, path))
        return lines

    def _line(self, item: Selected, session: PastSession, path: str) -> ImportedLine:
        """The line of a selection for the log at `path`. Raises Refused if the gate refuses it."""
        meta = (("session", written_id(session.name)), ("turn", written_id(item.turn.id)))
        entry = LogEntry(item.text, item.type, item.origin, meta)
        gated, comment = gated_entry(entry, path, self._config)
        return ImportedLine(path, gated.text, comment, item.turn.at or session.start, item.turn.id, gated.masks)

    def _write(self, prepared: Sequence[_Prepared]) -> list[str]:
        """Write the prepared sessions in one transaction; a dry run writes nothing. Returns the path of each one's
        episode, "" for none."""

        def plan(reading: Reading) -> CommitDraft[list[str]]:
            contents: dict[str, bytes] = {}
            places = []
            for item in prepared:
                for line in item.lines:
                    contents[line.path] = line.after(contents.get(line.path) or reading.read(line.path) or b"")
                place = item.path
                if item.episode and item.new and reading.raw(place) is not None:  # written by another process meanwhile
                    place = path_with_hash(place, item.name)
                if item.episode:
                    contents[place] = item.episode.encode("utf-8", "surrogateescape")
                places.append(place)
            return CommitDraft(contents, places, self._message(prepared))

        if not prepared or self._options.dry_run:
            return [item.path for item in prepared]
        if self._options.committing:
            places = commit(self._repo, plan)[0]
        else:
            places = write(self._repo, plan)
        for item, place in zip(prepared, places, strict=True):
            if place:
                episode = self._episodes[written_session(item.name)]._replace(path=place)
                self._episodes[written_session(item.name)] = self._imported[item.sha256] = episode
            self._remember(item)
        return places

    def _message(self, prepared: Sequence[_Prepared]) -> str:
        """The commit message, with a trailer for each session: its name, transcript hash, and ids of the first and last
        turn."""
        words = f"memory: import {counted(len(prepared), 'session')} of {self._options.source}"
        transcripts = tuple(
            f"{encode(item.name)} sha256:{item.sha256} {encode(item.turns[0].id)}..{encode(item.turns[-1].id)}"
            for item in prepared
        )
        reason = f"old sessions of {self._options.source}"
        recorded = trailers.CommitRecord(agent=self._options.agent, reason=reason, transcripts=transcripts)
        return trailers.with_record(words, recorded)

    def _remember(self, item: _Prepared) -> None:
        """Store the imported turns and facts in the session's state, so that a flush of the session, if it is
        continued, skips them. Stores nothing for a session older than MAX_QUIET_TIME."""
        ended_at = item.turns[-1].at
        if ended_at is None or self._now - ended_at > MAX_QUIET_TIME:
            return
        common, name = self._repo.common_dir, item.session.name
        with locked(common, state_lock(name), STATE_LOCK_SECONDS):
            state = load_state(common, name)
            if state.seen is None:
                state = replace(with_activity(state, ended_at, ""), ended=bool(item.episode))
            fact_ids = {fact_id(line.text) for line in item.lines}
            turns = state.turns.union(distinct_keys(map(turn_key, item.turns)))
            save_state(common, name, replace(state, turns=turns, facts=state.facts | fact_ids))


@json_keys("lines refused masked")
@dataclass(slots=True)
class Totals:
    """The counts of an import. `sessions`: outcome -> number. `lines`: written lines. `refused`: texts that the gate
    refused. `masks`: masks that the gate applied to the lines."""

    sessions: dict[str, int] = field(default_factory=lambda: {str(done): 0 for done in ImportState})
    lines: int = 0
    refused: int = 0
    masks: list[Mask] = field(default_factory=list)

    def count(self, session: ImportedSession) -> None:
        """Add the outcome, lines, masks and refusals of one session to the counts."""
        self.sessions[str(session.done)] += 1
        self.lines += len(session.lines)
        self.masks += [mask for line in session.lines for mask in line.masks]
        self.refused += sum(reason != ALREADY_IN_MEMORY for _, reason in session.skipped)

    @property
    def masked(self) -> dict[str, int]:
        """Rule -> number of masked values."""
        return mask_counts(self.masks)
