"""Finds commits in a search: opens the index of the commit history beside that of memory, and makes hits of messages.

Both indexes are searched as one, so that a commit and a line of memory are scored by the same evidence. The message of
a commit is read from Git. Lines that the gate would block are replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.objects import Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.index import history
from gitmem.index.history_tips import Bounds
from gitmem.index.index_file import OpenIndex
from gitmem.memory.state import state_of_text
from gitmem.paths import Kind
from gitmem.search.candidates import STATES, Candidate
from gitmem.search.commit_states import CommitState, CommitStates
from gitmem.search.file_reading import SearchedMemory, fact_files_of
from gitmem.search.hits import Hit
from gitmem.search.joined_index import JoinedIndex
from gitmem.search.memory_file import COMMIT, FileKey, MemoryFile
from gitmem.search.passages import Passages

MAX_RECALLED = 8  # commits among the hits for a context; the gate scans each of them
MAX_INDEXED_NOW = 2_000  # commits that are indexed for a context, which takes a second or two, once
# A trailer that names people, which is not shown at the end of a message; names of authors that are programs.
PEOPLE = re.compile(r"(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested)-by: |cc: ", re.IGNORECASE)
BOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|pyup|snyk|weblate|allcontributors|imgbot)\b|-bot\b", re.I
)


def with_history(
    repo: Repository, config: Config, memory: OpenIndex, mode: str, bounds: Bounds | None = None
) -> OpenIndex:
    """The open index of memory, joined with the index of the commit history, which is updated first. Closing the result
    closes both.

    `memory`: the open index of memory. `mode`: `Query.history`. `bounds`: how many commits may be indexed now; None for
    MAX_INDEXED_NOW with "known", else no limit.

    If the history cannot be read, raises GitMemError with "only"; with another mode memory is searched alone and a note
    tells the reason. `unread` of the result is the error if a person asked for the history.
    """
    unread = None
    try:
        past = history.ready(
            repo, config, memory.commit, bounds or Bounds(max_commits={"known": MAX_INDEXED_NOW}.get(mode, 0))
        )
    except GitMemError as error:
        if mode == "only":
            raise
        if mode != "known":
            unread = error
        past = history.History(None, (), "", (f"no history: {error.message}",))
    if mode != "known" and shallow(repo):
        past.notes = [
            *past.notes,
            "this clone is shallow: 'git fetch --unshallow' gets the commits that are not searched",
        ]
    index = JoinedIndex(memory, past, only=mode == "only", max_commits={"known": MAX_RECALLED}.get(mode, 0))
    opened = _OpenIndexes(repo, memory, past, index)
    opened.unread = unread
    return opened


class _OpenIndexes(OpenIndex):
    """The open indexes of memory and history as one OpenIndex; `close` closes both."""

    __slots__ = ("_memory", "_past", "_repo")

    def __init__(self, repo: Repository, memory: OpenIndex, past: history.History, index: JoinedIndex) -> None:
        notes = (*memory.notes, *past.notes)
        passages = memory.passages or PassagesWithCommits
        super().__init__(index, index.joined, memory.stale or past.stale, memory.commit, notes, passages=passages)
        self._repo, self._memory, self._past = repo, memory, past

    @property
    def chunks(self) -> int:
        """The number of chunks of memory, without those of commits, which may be thousands."""
        return self._memory.chunks

    def close(self, *, damaged: bool = False) -> None:
        self._memory.close(damaged=damaged)
        self._past.close()
        if damaged:  # it is not known which one is; both can be built again
            from gitmem.index.history_indexer import discard

            discard(self._repo)


class PassagesWithCommits(Passages):
    """Makes the hits of one search in files and in commits."""

    def __init__(self, memory: SearchedMemory, *args: Any, **kwargs: Any) -> None:
        index = memory.index_reader
        assert isinstance(index, JoinedIndex)
        if index.memory is not None and index.memory_snapshot is not None:  # also where only commits are found
            memory = memory._replace(fact_files=fact_files_of(index.memory, index.memory_snapshot))
        super().__init__(memory, *args, **kwargs)
        self.max_commits = index.max_commits
        self.commits = CommitStates(index.past)
        self.touched: Mapping[str, Sequence[str]] = {}

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, keys: Iterable[FileKey]) -> None:
        wanted = list(dict.fromkeys(keys))
        super()._read(key for key in wanted if key[0] != COMMIT)
        oids = [oid for path, oid in wanted if path == COMMIT]
        for oid in oids:
            commit = self.commits.commit(oid)
            self.reader.files[COMMIT, oid] = commit and MemoryFile(
                (COMMIT, oid), commit.message.rstrip().split("\n"), Kind.OTHER, commit.author_date.date()
            )
        if self.parsed.keep is not None:
            self.touched = self.commits.touched(oids)

    # -- judging ---------------------------------------------------------------------------------------------

    def _candidate(self, index: int) -> Candidate | None:
        oid, query, keep = self.lines.strip_of(index).oid, self.parsed.query, self.parsed.keep
        if self.lines.strip_of(index).path != COMMIT:
            return super()._candidate(index)
        line, file = self.lines[index], self.reader.files.get((COMMIT, oid))
        if file is None or file.when is None or line.last > len(file.lines) or query.types or query.tags:
            return None
        if not self.parsed.has_day(file.when):
            return None
        if keep is not None and not any(map(keep, self.touched.get(oid, ()))):
            return None
        text = file.text(line.first, line.last)
        if self.reader.forgotten(file).is_removed_text(text):
            return None
        state = self.commits.state(oid)
        recorded = STATES[state_of_text(text, self.maker.lapsed_of(file))]  # of the fact that the message records
        priors = self._commit_priors(self.commits.read[oid][0], state)
        return Candidate(index, line, file, {}, file.when, state.name or recorded, priors)

    def _commit_priors(self, commit: Commit, state: CommitState) -> tuple[tuple[str, float], ...]:
        """(name, value) of each prior of a commit: for its state, for a merge, and for a bot as its author."""
        holds = {state.name: bool(state.name), "merge": len(commit.parents) > 1}
        holds["bot"] = bool(BOT.search(f"{commit.author.name} {commit.author.email}"))
        return tuple((name, self.ranking.priors[name]) for name, is_true in holds.items() if is_true)

    # -- hits ------------------------------------------------------------------------------------------------

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        files = iter(super()._with_provenance([hit for hit in hits if not hit.kind], blame))
        return [hit if hit.kind else next(files) for hit in hits]

    def _join(self, candidates: list[Candidate], limit: int) -> list[Hit]:
        """At most `limit` hits, at most one for each commit and at most `max_commits` of commits (0: no such limit); a
        commit comes after the commit that reverted it."""
        hits: list[Hit] = []
        seen: set[str] = set()
        for hit in super()._join(candidates, 3 * limit):
            if hit.kind and (hit.commit in seen or (self.max_commits and len(seen) == self.max_commits)):
                continue
            hits.append(hit)
            if hit.kind:
                seen.add(hit.commit)
        hits = _latest_first(hits)
        return [self._without_blocked_text(hit) if hit.kind else hit for hit in hits[:limit]]

    def _hit(self, best: Candidate, members: list[Candidate]) -> Hit:
        hit = super()._hit(best, members)
        if hit.path != COMMIT:
            return hit
        commit, tip = self.commits.read[best.file.oid]
        state, mask = self.commits.state(commit.oid), self.reader.forgotten(best.file).masked
        return hit._replace(
            kind="commit", path="", blob="", trust="committed", commit=commit.oid, subject=mask(commit.subject),
            author=f"{commit.author.name} <{commit.author.email}>", by=state.by,
            repository=self.reader.repository_name or tip.name,
            text=mask(best.file.text(hit.start_line, hit.end_line)),
        )  # fmt: skip

    def _without_blocked_text(self, hit: Hit) -> Hit:
        """The hit of a commit with each line that the gate would block replaced, and without trailers with names at its
        end."""
        from gitmem.gate.policy import MESSAGE
        from gitmem.gate.withholding import without_blocked

        file = self.reader.files[COMMIT, hit.commit]
        assert file is not None  # it was read for the hit
        message = self.reader.forgotten(file).masked("\n".join(file.lines)).split("\n")
        author, *lines = without_blocked([hit.author, *message], MESSAGE)
        shown = [line.rstrip("\r") for line in lines[hit.start_line - 1 : hit.end_line]]
        while len(shown) > 1 and (not shown[-1].strip() or PEOPLE.match(shown[-1])):
            shown.pop()
        last = hit.start_line + len(shown) - 1
        return hit._replace(
            author=author, subject=next(filter(str.strip, lines), "").strip(), end_line=last, text="\n".join(shown)
        )


def _latest_first(hits: Sequence[Hit]) -> list[Hit]:
    """All hits; a commit that reverted or amended another hit and came after it is moved right before it."""
    ordered: list[Hit] = []
    remaining = list(hits)
    while remaining:
        chain = [remaining.pop(0)]
        while chain[-1].by and (later := next((hit for hit in remaining if hit.commit == chain[-1].by), None)):
            remaining.remove(later)
            chain.append(later._replace(score=max(later.score, chain[-1].score)))
        ordered += reversed(chain)
    return ordered
