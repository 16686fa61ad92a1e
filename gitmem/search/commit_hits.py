"""Finds commits in a search: joins the indexes of memory and of the commit history, and makes hits of commit messages.

Both indexes are searched as one, so that a commit and a line of memory are scored by the same evidence. The message of
a commit is read from Git. Lines that the gate would block are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.index import history
from gitmem.index.db import commits as stored
from gitmem.index.db.reader import Index
from gitmem.index.db.values import PLACE_BITS, Place, Shape, Snapshot
from gitmem.index.history_tips import Bounds, Tip
from gitmem.index.index_file import Freshness, OpenIndex
from gitmem.index.line_records import Packed
from gitmem.memory.state import state_of_text
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind
from gitmem.search.candidates import STATES, Candidate
from gitmem.search.file_reading import SearchedMemory, fact_files_of
from gitmem.search.hits import Hit
from gitmem.search.memory_file import COMMIT, FileKey, MemoryFile
from gitmem.search.passages import Passages
from gitmem.text.terms import terms

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader

ABBREVIATED = 7  # digits of the shortest abbreviated oid
MAX_NAMING_COMMITS = 32  # commits that name one commit whose messages are read
MAX_REVERTS = 4  # reverts of reverts that are followed
MAX_RECALLED = 8  # commits among the hits for a context; the gate scans each of them
MAX_INDEXED_NOW = 2_000  # commits that are indexed for a context, which takes a second or two, once
NAMED = re.compile(rf"\b[0-9a-f]{{{ABBREVIATED},64}}\b")
PICKED = re.compile(r"^\(cherry picked from commit [0-9a-f]+\)$", re.MULTILINE)
NO_CHANGE = re.compile(r"Memory-(?:Cursor|Source): ")  # trailers that name a commit without changing it
REVERTS = re.compile(r"(?:This reverts commit|Reverts) ")  # stands before the oid of the reverted commit
MENTIONS_REVERT = re.compile(r"\brevert", re.IGNORECASE)  # a line that talks about a revert
PEOPLE = re.compile(r"(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested)-by: |cc: ", re.IGNORECASE)
NUMBER = re.compile(r" \(#\d+\)$")  # the number of a pull request, which a squash merge adds to the subject
BOT = re.compile(
    r"\[bot\]|\b(?:dependabot|renovate|greenkeeper|pyup|snyk|weblate|allcontributors|imgbot)\b|-bot\b", re.I
)


class State(NamedTuple):
    """Whether a later commit reverted or amended a commit. `name`: "reverted", "amended" or "". `by`: oid of the later
    commit, "" for none."""

    name: str = ""
    by: str = ""


def with_history(
    repo: Repository, config: Config, memory: OpenIndex, mode: str, bounds: Bounds | None = None
) -> OpenIndex:
    """The open index of memory, joined with the index of the commit history, which is updated first.

    `memory`: the open index of memory. `mode`: `Query.history`. `bounds`: how many commits may be indexed now; None for
    MAX_INDEXED_NOW with "known", else no limit.

    If the history cannot be read, raises GitMemError with "only"; with another mode memory is searched alone and a note
    tells the reason.
    """
    try:
        past = history.ready(
            repo, config, memory.commit, bounds or Bounds(most={"known": MAX_INDEXED_NOW}.get(mode, 0))
        )
    except GitMemError as error:
        if mode == "only":
            raise
        past = history.History(None, (), "", (f"no history: {error.message}",))
    index = JoinedIndex(memory, past, only=mode == "only", most={"known": MAX_RECALLED}.get(mode, 0))
    if memory.freshness.stale:
        stale = memory.freshness
    else:
        stale = Freshness(bool(past.stale), past.stale)
    return _OpenIndexes(repo, memory, past, index, stale)


class _OpenIndexes(OpenIndex):
    """The open indexes of memory and history as one OpenIndex; `close` closes both."""

    __slots__ = ("_memory", "_past", "_repo")

    def __init__(
        self, repo: Repository, memory: OpenIndex, past: history.History, index: JoinedIndex, stale: Freshness
    ) -> None:
        notes = (*memory.notes, *past.notes)
        passages = memory.passages or PassagesWithCommits
        super().__init__(index, index.both, stale, memory.commit, notes, passages=passages)
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


class JoinedIndex(Index):
    """The indexes of memory and history as one index. The history's chunks are numbered after those of memory.

    Its methods are those of `Index`. `only`: whether chunks of memory are excluded. `most`: commits that an answer may
    have, 0 for no limit.
    """

    def __init__(self, made: OpenIndex, past: history.History, *, only: bool, most: int) -> None:
        self.memory, self.snapshot_of_memory, self.past = made.index, made.snapshot, past
        norms = b""
        if made.snapshot is not None and made.index is not None:
            norms = made.snapshot.norms
        self.norms = (bytes(len(norms)) if only else norms) or b"\0"
        self.only, self.most = only, most
        self.first = len(self.norms)  # added to the number of a chunk of the history
        self.both = Snapshot(0, "", self.norms + past.norms)
        some = made.index or past.index
        self.frozen = False
        if some is not None:
            self.frozen, self.path = some.frozen, some.path

    @property
    def indexes(self) -> list[IndexReader]:
        return [index for index in (self.memory, self.past.index) if index is not None]

    @contextmanager
    def reading(self) -> Iterator[None]:
        with ExitStack() as stack:
            for index in self.indexes:
                stack.enter_context(index.reading())
            yield

    def select(self, snapshot: Snapshot, keep: Any = None, *, everything: bool = False) -> bytes:
        if self.memory is None or self.snapshot_of_memory is None or self.only:
            return self.both.norms
        norms = self.memory.select(self.snapshot_of_memory, keep, everything=everything)
        return norms.ljust(self.first, b"\0")[: self.first] + self.past.norms

    def frequency(self, term: str) -> int:
        return sum(index.frequency(term) for index in self.indexes)

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        return {term: self.frequency(term) for term in terms}

    def expect(self, terms: Iterable[str]) -> None:
        for index in self.indexes:
            index.expect(terms)

    def starting(self, prefix: str, limit: int = 20) -> list[tuple[str, int]]:
        words: dict[str, int] = {}
        for index in self.indexes:
            for word, count in index.starting(prefix, limit):
                words[word] = words.get(word, 0) + count
        return sorted(words.items())[:limit]

    def occurrences(self, term: str) -> list[int]:
        end, shift = self.first << PLACE_BITS, self.first << PLACE_BITS
        if self.memory is not None:
            rows = [row for row in self.memory.occurrences(term) if row < end]
        else:
            rows = []
        if self.past.index is not None:
            rows += [row + shift for row in self.past.index.occurrences(term)]
        return rows

    def in_force(self) -> tuple[str, str] | None:
        if not self.indexes:
            return None
        return self.indexes[0].in_force()

    def nearest(self, vector: bytes, norms: bytes, k: int) -> list[tuple[int, float]]:
        force = self.in_force()
        best: list[tuple[int, float]] = []
        if self.memory is not None and any(norms[: self.first]):
            best += self.memory.nearest(vector, norms[: self.first], k)
        if self.past.index is not None and self.past.index.in_force() == force:
            near = self.past.index.nearest(vector, norms[self.first :], k)
            best += [(chunk + self.first, cosine) for chunk, cosine in near]
        return sorted(best, key=lambda row: (-row[1], row[0]))[:k]

    def cosines(self, vector: bytes, chunks: Iterable[int]) -> dict[int, float]:
        wanted = list(chunks)
        found: dict[int, float] = {}
        if self.memory is not None:
            found |= self.memory.cosines(vector, [chunk for chunk in wanted if chunk < self.first])
        if self.past.index is not None and self.past.index.in_force() == self.in_force():
            past = [chunk - self.first for chunk in wanted if chunk >= self.first]
            found |= {chunk + self.first: near for chunk, near in self.past.index.cosines(vector, past).items()}
        return found

    def named(self, snapshot: Snapshot, terms: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
        if self.memory is None or self.snapshot_of_memory is None or self.only:
            return {}
        return self.memory.named(self.snapshot_of_memory, terms)

    def files(self, snapshot: Snapshot) -> list[tuple[str, str]]:
        if self.memory is None or self.snapshot_of_memory is None or self.only:
            return []
        return self.memory.files(self.snapshot_of_memory)

    def places(self, snapshot: Snapshot, chunks: Iterable[int]) -> dict[int, list[Place]]:
        wanted = list(chunks)
        places: dict[int, list[Place]] = {chunk: [] for chunk in wanted}
        if self.memory is not None and self.snapshot_of_memory is not None:
            places |= self.memory.places(self.snapshot_of_memory, [chunk for chunk in wanted if chunk < self.first])
        of_commits = [chunk - self.first for chunk in wanted if chunk >= self.first]
        if of_commits and self.past.index is not None:
            for chunk, place in stored.commits_of(self.past.index, of_commits).items():
                shifted = chunk + self.first
                places[shifted] = [place._replace(chunk=shifted, path=COMMIT)]
                self._commits.add(place.oid)
        return places

    @cached_property
    def _commits(self) -> set[str]:
        return set()

    def neighbours(self, oid: str, ordinal: int, reach: int = 1) -> list[tuple[int, int, int, int]]:
        if oid in self._commits and self.past.index is not None:
            rows = self.past.index.neighbours(oid, ordinal, reach)
            return [(chunk + self.first, first, last, heading) for chunk, first, last, heading in rows]
        if self.memory is None:
            return []
        return self.memory.neighbours(oid, ordinal, reach)

    def lines(self, chunks: Iterable[int]) -> dict[int, Packed]:
        wanted = set(chunks)
        of_memory = {chunk for chunk in wanted if chunk < self.first}
        if self.memory is not None and of_memory:
            records = self.memory.lines(of_memory)
        else:
            records = {}
        if self.past.index is not None and wanted - of_memory:
            past = self.past.index.lines(chunk - self.first for chunk in wanted - of_memory)
            records = {**records, **{chunk + self.first: packed for chunk, packed in past.items()}}
        return records

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        if self.memory is None:
            return {}
        return self.memory.shapes(oids)

    def secrets(self, oid: str) -> int:
        if self.memory is None:
            return 0
        return self.memory.secrets(oid)

    def withheld(self, snapshot: Snapshot) -> int:
        if self.memory is None or self.snapshot_of_memory is None or self.only:
            return 0
        return self.memory.withheld(self.snapshot_of_memory)

    def line_days(self, files: Iterable[tuple[str, str]]) -> Any:
        if self.memory is None:
            return []
        return self.memory.line_days(files)


class PassagesWithCommits(Passages):
    """Makes the hits of one search in files and in commits."""

    def __init__(self, memory: SearchedMemory, *given: Any, **named: Any) -> None:
        index = memory.index_reader
        assert isinstance(index, JoinedIndex)
        if index.memory is not None and index.snapshot_of_memory is not None:  # also where only commits are found
            memory = memory._replace(fact_files=fact_files_of(index.memory, index.snapshot_of_memory))
        super().__init__(memory, *given, **named)
        self.past, self.most = index.past, index.most
        self.commits: dict[str, tuple[Commit, Tip]] = {}
        self.touched: Mapping[str, Sequence[str]] = {}
        self.states: dict[str, State] = {}

    # -- reading ---------------------------------------------------------------------------------------------

    def _read(self, keys: Iterable[FileKey]) -> None:
        wanted = list(dict.fromkeys(keys))
        super()._read(key for key in wanted if key[0] != COMMIT)
        oids = [oid for path, oid in wanted if path == COMMIT]
        for oid in oids:
            commit = self._commit(oid)
            self.reader.files[COMMIT, oid] = commit and MemoryFile(
                (COMMIT, oid), commit.message.rstrip().split("\n"), Kind.OTHER, commit.author_date.date()
            )
        if self.filters.keep is not None:
            self.touched = self._touched(oids)

    def _commit(self, oid: str) -> Commit | None:
        """The commit, from the first repository that has it; None if none has it or if its object is too large."""
        if oid in self.commits:
            return self.commits[oid][0]
        for tip in self.past.tips:
            try:
                if tip.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES) < MAX_MEMORY_FILE_BYTES:
                    commit = tip.repo.commit(oid)
                    self.commits[oid] = commit._replace(message=commit.message[: stored.MAX_MESSAGE_CHARACTERS]), tip
                    break
            except GitMemError:
                continue
        if oid not in self.commits:
            return None
        return self.commits[oid][0]

    def _touched(self, oids: Iterable[str]) -> dict[str, list[str]]:
        """Oid of a commit -> the paths that it changed."""
        paths: dict[str, list[str]] = {}
        for tip in self.past.tips:
            paths |= tip.repo.touched([oid for oid in oids if oid in self.commits and self.commits[oid][1] is tip])
        return paths

    # -- judging ---------------------------------------------------------------------------------------------

    def _candidate(self, at: int) -> Candidate | None:
        oid, filters = self.lines.strip_of(at).oid, self.filters
        if self.lines.strip_of(at).path != COMMIT:
            return super()._candidate(at)
        line, file = self.lines[at], self.reader.files.get((COMMIT, oid))
        if file is None or file.when is None or line.last > len(file.lines) or filters.types or filters.tags:
            return None
        if not filters.has_day(file.when):
            return None
        if filters.keep is not None and not any(map(filters.keep, self.touched.get(oid, ()))):
            return None
        text = file.text(line.first, line.last)
        if self.reader.forgotten(file).is_removed_text(text):
            return None
        state = self._state_of(oid)
        recorded = STATES[state_of_text(text, self.maker.lapsed_of(file))]  # of the fact that the message records
        priors = self._commit_priors(self.commits[oid][0], state)
        return Candidate(at, line, file, {}, file.when, state.name or recorded, priors)

    def _commit_priors(self, commit: Commit, state: State) -> tuple[tuple[str, float], ...]:
        """(name, value) of each prior of a commit: for its state, for a merge, and for a bot as its author."""
        weights = self.ranking.priors
        if state.name:
            priors = [(state.name, weights[state.name])]
        else:
            priors = []
        if len(commit.parents) > 1:
            priors.append(("merge", weights["merge"]))
        if BOT.search(f"{commit.author.name} {commit.author.email}"):
            priors.append(("bot", weights["bot"]))
        return tuple(priors)

    def _state_of(self, oid: str, depth: int = MAX_REVERTS) -> State:
        """Whether a later commit of the snapshot reverted or amended a commit.

        The later message may name the commit by its oid. A revert may name it by its subject; the revert must then be a
        descendant. A revert that was itself reverted does not count, up to `depth` levels.
        """
        if oid in self.states:
            return self.states[oid]
        self.states[oid] = State()  # ends a circle of reverts
        index, commit = self.past.index, self._commit(oid)
        if index is None or commit is None or not depth:
            return State()
        by_subject = self._others(oid, ["revert", *terms(commit.subject)])
        by_oid = stored.naming(index, oid[:ABBREVIATED], self.past.norms, MAX_NAMING_COMMITS)
        found = State()
        for other in dict.fromkeys([*by_subject, *self._commits_of(by_oid)]):
            later = self._commit(other)
            if later is None or other == oid:
                continue
            name = _state_from_message(commit, later)
            if name != "reverted" and _reverts_subject(later, commit) and self._is_last(commit, later):
                name = "reverted"
            if name == "reverted" and self._state_of(other, depth - 1).name != "reverted":
                found = State(name, other)
                break
            if name == "amended" and (not found.by or _time_key(later) > _time_key(self.commits[found.by][0])):
                found = State(name, other)
        self.states[oid] = found
        return found

    def _commits_of(self, chunks: Sequence[int]) -> list[str]:
        """The oids of the commits of these chunks, sorted."""
        assert self.past.index is not None
        return sorted({place.oid for place in stored.commits_of(self.past.index, chunks).values()})

    def _others(self, oid: str, words: Sequence[str]) -> list[str]:
        """Oids of at most MAX_NAMING_COMMITS commits other than `oid` whose messages have these words one after the
        other."""
        assert self.past.index is not None
        chunks = stored.phrase(self.past.index, words, self.past.norms, MAX_NAMING_COMMITS)
        return [other for other in self._commits_of(chunks) if other != oid]

    def _is_last(self, commit: Commit, revert: Commit) -> bool:
        """Whether a revert that names only a subject reverts `commit`: the revert is a descendant, and no other commit
        with that subject is between the two."""
        reaches = self.commits[commit.oid][1].repo.is_ancestor
        with suppress(GitMemError):  # if commits between the two are missing, the answer is no
            if not reaches(commit.oid, revert.oid):
                return False
            others = map(self._commit, self._others(commit.oid, terms(commit.subject)))
            same = [other.oid for other in others if other is not None and other.subject == commit.subject]
            return not any(reaches(commit.oid, other) and reaches(other, revert.oid) for other in same)
        return False

    # -- hits ------------------------------------------------------------------------------------------------

    def _with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        files = iter(super()._with_provenance([hit for hit in hits if not hit.kind], blame))
        return [hit if hit.kind else next(files) for hit in hits]

    def _join(self, candidates: list[Candidate], limit: int) -> list[Hit]:
        """At most `limit` hits, at most one for each commit; a commit comes after the commit that reverted it."""
        hits: list[Hit] = []
        seen: set[str] = set()
        for hit in super()._join(candidates, 3 * limit):
            if hit.kind and (hit.commit in seen or (self.most and len(seen) == self.most)):
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
        commit, tip = self.commits[best.file.oid]
        state, mask = self._state_of(commit.oid), self.reader.forgotten(best.file).masked
        return hit._replace(
            kind="commit", path="", blob="", trust="committed", commit=commit.oid, subject=mask(commit.subject),
            author=f"{commit.author.name} <{commit.author.email}>", by=state.by,
            repository=self.reader.repository_name or tip.name,
            text=mask(best.file.text(hit.start_line, hit.end_line)),
        )  # fmt: skip

    def _without_blocked_text(self, hit: Hit) -> Hit:
        """The hit of a commit without lines that the gate would block, and without trailers with names at its end."""
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


def _time_key(commit: Commit) -> tuple[datetime, str]:
    """Sort key of commits by time; the same in every clone."""
    return commit.commit_date, commit.oid


def _latest_first(hits: Sequence[Hit]) -> list[Hit]:
    """All hits; a commit that reverted or amended another hit and came after it is moved right before it."""
    ordered: list[Hit] = []
    left = list(hits)
    while left:
        chain = [left.pop(0)]
        while chain[-1].by and (later := next((hit for hit in left if hit.commit == chain[-1].by), None)):
            left.remove(later)
            chain.append(later._replace(score=max(later.score, chain[-1].score)))
        ordered += reversed(chain)
    return ordered


def _reverts_subject(later: Commit, commit: Commit) -> bool:
    """Whether the subject of `later` is `Revert "SUBJECT"` with the subject of `commit`."""
    return f'Revert "{commit.subject}"' in (later.subject, NUMBER.sub("", later.subject))


def _state_from_message(commit: Commit, later: Commit) -> str:
    """ "reverted", "amended" or "": what `later` did to `commit` according to its message.

    "reverted" if the message has Git's sentence `This reverts commit OID`; "amended" if it names the oid in another
    way; "" if it does not name the oid, only mentions a revert, or if `later` is a merge.
    """
    if len(later.parents) > 1:
        return ""
    said = ""
    message = PICKED.sub("", later.message)
    for named in NAMED.finditer(message):
        if commit.oid.startswith(named[0]):
            before = message[message.rfind("\n", 0, named.start()) + 1 : named.start()]
            if NO_CHANGE.match(before):
                continue
            if REVERTS.fullmatch(before):
                return "reverted"
            if not MENTIONS_REVERT.search(before):
                said = "amended"
    return said
