"""Lists the facts of the work tree or of a commit for the pages, with their state, filters and orders.

The facts are those that `verify` checks: of MEMORY.md, of the archive, and of notes and rules that cite a source. Reads
only.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from math import inf
from typing import NamedTuple

from gitmem.config import Config
from gitmem.git.opening import Repository
from gitmem.git.unmerged import WorkTreeReader
from gitmem.memory.fact import Fact, names_fact, values_of
from gitmem.memory.facts import SUPERSEDES, expired, fact_date, importance, parse, pinned
from gitmem.memory.files import memory_paths, read_memory_file
from gitmem.memory.retention import last_day
from gitmem.memory.snapshot import tree_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.provenance.cited_sources import file_meta, with_file_keys
from gitmem.provenance.writers import Writer, writers

KINDS = (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)
LONG_TERM_KINDS = (Kind.MEMORY, Kind.ARCHIVE)
STATES = ("current", "pinned", "expired", "superseded", "archived")
TRUST_STATES = ("promoted", "committed", "uncommitted")  # the values that search results have
MAX_CACHED_SNAPSHOTS = 3  # snapshots whose facts stay in memory; 10,000 facts take about 10 MB
AGES = {"week": 7, "month": 31, "year": 366}  # name -> days


@dataclass(frozen=True, slots=True)
class PresentFact:
    """A fact of a snapshot, with its place and state.

    `blob`: oid of the file's bytes. `end`: last line of the fact and of what is indented below it. `state`: one of
    STATES. `trust`: one of TRUST_STATES. `date`: day of the fact, "" for none.
    """

    path: str
    blob: str
    fact: Fact
    end: int
    state: str
    trust: str
    date: str

    @property
    def type(self) -> str:
        return self.fact.get("type")

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(tag for tag in self.fact.get("tags").split(",") if tag)


@dataclass(frozen=True, slots=True)
class FactFilter:
    """A filter of facts; an empty field allows every value.

    `age`: a key of AGES: at most so old; "older": older than all of them. `author`: name of the agent or person that
    wrote it (`writers.Writer.name`).
    """

    type: str = ""
    origin: str = ""
    tag: str = ""
    state: str = ""
    trust: str = ""
    age: str = ""
    path: str = ""
    author: str = ""

    def matches(self, row: PresentFact, today: date) -> bool:
        """Whether the fact passes the filter, apart from `author`. A fact without a type counts as `fact`, one without
        an origin as `none`."""
        return (
            self.type in ("", row.type or "fact")
            and self.origin in ("", row.fact.origin or "none")
            and (not self.tag or self.tag in row.tags)
            and self.state in ("", row.state)
            and self.trust in ("", row.trust)
            and self.path in ("", row.path)
            and self.has_age(row.date, today)
        )

    def has_age(self, day: str, today: date) -> bool:
        """Whether `day` (ISO) passes the filter of the age; no day ("") passes only when any age does."""
        return not self.age or _is_of_age(day, self.age, today)


def _ending_key(fact: Fact, today: date) -> tuple[int, int]:
    """Sort key of the order `ending`: facts that end soonest first, then facts without an end, then ended ones."""
    day = last_day(fact)
    if day is None:
        return (1, 0)
    if day >= today:
        return (0, day.toordinal())
    return (2, -day.toordinal())


def _is_of_age(day: str, age: str, today: date) -> bool:
    """Whether an ISO day is in the range `age` of AGES, or before all of them for any other `age`; False for a text
    that is not a day."""
    try:
        days = (today - date.fromisoformat(day)).days
    except ValueError:
        return False
    if age in AGES:
        return days <= AGES[age]
    return days > max(AGES.values())


class FactFile(NamedTuple):
    """A file that may have facts. `blob`: its oid. `data`: its bytes; None when they are not read yet."""

    path: str
    blob: str
    data: bytes | None


class FactList:
    """The facts of one snapshot, in the order of paths and lines. Counts and indexes are computed once."""

    def __init__(self, rows: Sequence[PresentFact]) -> None:
        self.rows = tuple(rows)
        self._writers: Mapping[str, Writer] | None = None

    @cached_property
    def by_id(self) -> dict[str, list[PresentFact]]:
        """Fact id -> the facts with that id, which have the same text."""
        rows: dict[str, list[PresentFact]] = defaultdict(list)
        for row in self.rows:
            rows[row.fact.id].append(row)
        return dict(rows)

    def successors(self, ident: str) -> list[PresentFact]:
        """The facts that name the fact with the id `ident`, or the beginning of it, with `supersedes`."""
        return [row for row in self.rows if names_fact(row.fact.meta, (SUPERSEDES,), ident)]

    def first_with(self, beginning: str) -> PresentFact | None:
        """The first fact whose id begins with `beginning`; None without one, and for ""."""
        return next((row for row in self.rows if beginning and row.fact.id.startswith(beginning)), None)

    @cached_property
    def counts(self) -> dict[str, Counter[str]]:
        """Field of FactFilter (type, origin, tag, state, trust, path) -> value -> number of facts."""
        return {
            "type": Counter(row.type or "fact" for row in self.rows),
            "origin": Counter(row.fact.origin or "none" for row in self.rows),
            "tag": Counter(tag for row in self.rows for tag in row.tags),
            "state": Counter(row.state for row in self.rows),
            "trust": Counter(row.trust for row in self.rows),
            "path": Counter(row.path for row in self.rows),
        }

    def filtered(self, choice: FactFilter, today: date) -> Sequence[PresentFact]:
        """The facts that pass the filter. The author is not compared: `by_author` does that."""
        if replace(choice, author="") == FactFilter():
            return self.rows
        return [row for row in self.rows if choice.matches(row, today)]

    def writers(self, repo: Repository, commit: str) -> Mapping[str, Writer]:
        """Fact id -> its writer, for the committed facts, in the history of `commit` (HEAD for ""). The first call
        reads every version of the files of long-term memory; later calls return its result, whatever `commit` they
        name."""
        if self._writers is None:
            committed = (row.fact for row in self.rows if row.trust != "uncommitted")
            self._writers = writers(repo, commit or repo.head() or "", committed)
        return self._writers

    def by_author(
        self, repo: Repository, commit: str, rows: Sequence[PresentFact], author: str
    ) -> Sequence[PresentFact]:
        """The facts of `rows` that `author` (a name) wrote."""
        writer_of = self.writers(repo, commit)
        return [row for row in rows if row.fact.id in writer_of and writer_of[row.fact.id].name == author]

    def in_order(
        self, repo: Repository, commit: str, rows: Sequence[PresentFact], order: str, today: date
    ) -> Sequence[PresentFact]:
        """`rows` in one of these orders; equal ones keep their order, and any other `order` changes nothing.

        "newest": uncommitted facts first, then those of the latest commits. "type": by name. "importance": the most
        important first. "ending": those that end soonest first, then those without an end, then ended ones.
        """
        match order:
            case "newest":
                writer_of = self.writers(repo, commit)
                times = {ident: writer.commit.commit_date.timestamp() for ident, writer in writer_of.items()}
                return sorted(rows, key=lambda row: -times.get(row.fact.id, inf))
            case "type":
                return sorted(rows, key=lambda row: row.type or "fact")
            case "importance":
                return sorted(rows, key=lambda row: -importance(row.fact))
            case "ending":
                return sorted(rows, key=lambda row: _ending_key(row.fact, today))
        return rows

    def author_names(self, repo: Repository, commit: str) -> Sequence[tuple[str, int]]:
        """(name, number of facts) for each writer, the largest number first."""
        writer_of = self.writers(repo, commit)
        return Counter(writer_of[row.fact.id].name for row in self.rows if row.fact.id in writer_of).most_common()


class FactLists:
    """A cache of the lists of MAX_CACHED_SNAPSHOTS snapshots, for a server process. Files are read at each call, and
    parsed only when one has changed. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lists: dict[Hashable, FactList] = {}

    def facts_of(self, repo: Repository, config: Config, commit: str, today: date) -> FactList:
        """The facts of `commit`, or of the work tree for "", with their state on `today`. Files above
        MAX_MEMORY_FILE_BYTES are left out; a bare repository has no work tree and no facts there. The lists of the
        MAX_CACHED_SNAPSHOTS snapshots asked for last are cached."""
        head_blobs: Mapping[str, str] | None = None
        if commit:
            files = list(_commit_files(repo, config, commit))
        else:
            files = list(_work_tree_files(repo, config))
            head_blobs = _blobs_in_head(repo, files)
        key = (
            tuple((file.path, file.blob) for file in files),
            None if head_blobs is None else tuple(sorted(head_blobs.items())),
            today,
        )
        with self._lock:
            facts = self._lists.pop(key, None)
            if facts is None:
                facts = FactList(_rows(repo, files, head_blobs, today))
            self._lists[key] = facts  # the last one asked for is the last to be dropped
            while len(self._lists) > MAX_CACHED_SNAPSHOTS:
                del self._lists[next(iter(self._lists))]
        return facts


def statements_of(repo: Repository, config: Config, path: str, commit: str = "") -> list[PresentFact]:
    """The statements of any memory file, also of a log, as facts of a list with the state `current`; [] for a file with
    a NUL byte.

    `commit`: the commit of the file, "" for the work tree. Raises MissingFile, OutsideRepository, and GitMemError for a
    file above MAX_MEMORY_FILE_BYTES.
    """
    data = read_memory_file(repo, config, path, commit)
    if b"\0" in data:
        return []
    blob = repo.hash_blob(data)
    committed = None
    if not commit and repo.root is not None:
        file = FactFile(path, blob, data)
        committed = _committed_ids(repo, file, _blobs_in_head(repo, [file]))
    return [
        PresentFact(
            path, blob, entry.fact, entry.end, "current", _trust_of(entry.fact, committed), fact_date(entry.fact)
        )
        for entry in parse(data).entries
    ]


def _trust_of(fact: Fact, committed: frozenset[str] | None) -> str:
    """`PresentFact.trust`. `committed`: ids of the committed facts of the file; None when all are committed."""
    if committed is not None and fact.id not in committed:
        return "uncommitted"
    if fact.get("src"):
        return "promoted"
    return "committed"


def uncommitted_facts(repo: Repository, config: Config, today: date) -> list[PresentFact]:
    """The facts of the work tree that HEAD's version of their file lacks. Unchanged files are not parsed."""
    files = list(_work_tree_files(repo, config))
    head_blobs = _blobs_in_head(repo, files)
    rows = _rows(repo, [file for file in files if head_blobs.get(file.path) != file.blob], head_blobs, today)
    return [row for row in rows if row.trust == "uncommitted"]


def _rows(
    repo: Repository, files: Sequence[FactFile], head_blobs: Mapping[str, str] | None, today: date
) -> list[PresentFact]:
    """The facts of files, in the order of the files and lines; none of a file that is missing or has a NUL byte. A fact
    that another one names with `supersedes` gets that state. `head_blobs`: path -> blob at HEAD; None when the files
    are those of a commit."""
    unread = [file.blob for file in files if file.data is None]
    contents = dict(repo.read_many(dict.fromkeys(unread)))
    rows: list[PresentFact] = []
    for file in files:
        data = file.data if file.data is not None else contents.get(file.blob)
        if data is not None and b"\0" not in data:
            rows += _facts_of(file, data, _committed_ids(repo, file, head_blobs), today)
    superseded = tuple({value for row in rows for value in values_of(row.fact.meta, SUPERSEDES)} - {""})
    return [replace(row, state="superseded") if row.fact.id.startswith(superseded) else row for row in rows]


def _facts_of(file: FactFile, data: bytes, committed: frozenset[str] | None, today: date) -> Iterator[PresentFact]:
    """The facts of one file with the bytes `data`. `committed`: as for `_trust_of`."""
    of_file = file_meta(data)
    if kind(file.path) not in LONG_TERM_KINDS and not of_file and b"src=" not in data:
        return
    for entry in parse(data).entries:
        fact = with_file_keys(entry.fact, of_file)
        state, trust = _state(file.path, fact, today), _trust_of(fact, committed)
        yield PresentFact(file.path, file.blob, fact, entry.end, state, trust, fact_date(fact))


def _state(path: str, fact: Fact, today: date) -> str:
    """`PresentFact.state`, apart from "superseded"."""
    if kind(path) is Kind.ARCHIVE:
        return "archived"
    if expired(fact, today):
        return "expired"
    if pinned(fact):
        return "pinned"
    return "current"


def _blobs_in_head(repo: Repository, files: Sequence[FactFile]) -> dict[str, str]:
    """Path -> oid of the file at HEAD, for the files that HEAD has."""
    head = repo.head()
    if head and files:
        return repo.blobs(head, [file.path for file in files])
    return {}


def _committed_ids(repo: Repository, file: FactFile, head_blobs: Mapping[str, str] | None) -> frozenset[str] | None:
    """The ids of the facts in HEAD's version of the file; None when all facts of `file` are committed."""
    if head_blobs is None:
        return None
    blob = head_blobs.get(file.path, "")
    if blob == file.blob:
        return None
    if not blob:
        return frozenset()
    return frozenset(fact.id for fact in parse(repo.read(blob)).facts)


def _commit_files(repo: Repository, config: Config, commit: str) -> Iterator[FactFile]:
    """Yield the files of a commit that may have facts, ordered by path."""
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    fact_files = {path: oid for path, oid in sorted(files.items()) if kind(path) in KINDS}
    sizes = repo.sizes(list(dict.fromkeys(fact_files.values())))
    yield from (
        FactFile(path, oid, None)
        for path, oid in fact_files.items()
        if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
    )


def _work_tree_files(repo: Repository, config: Config) -> Iterator[FactFile]:
    """Yield the files of the work tree that may have facts; none in a bare repository."""
    if repo.root is None:
        return
    paths = [path for path in memory_paths(repo, config) if kind(path) in KINDS]
    for path, data in WorkTreeReader(repo).read_all(paths, MAX_MEMORY_FILE_BYTES + 1):
        if isinstance(data, bytes) and len(data) <= MAX_MEMORY_FILE_BYTES:
            yield FactFile(path, repo.hash_blob(data), data)
