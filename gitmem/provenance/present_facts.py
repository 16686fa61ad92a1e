"""The facts that a snapshot holds, each with how it stands, and the choice of some of them: what a list shows.

A fact is a bullet of long-term memory, as `verify` takes them: MEMORY.md, the archive, notes and rules that cite a
source. Reads only.
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
from gitmem.git.worktree import read_files
from gitmem.memory.fact import Fact
from gitmem.memory.facts import expired, fact_date, importance, parse, pinned
from gitmem.memory.files import memory_paths, read_memory_file
from gitmem.memory.retention import last_day
from gitmem.memory.snapshot import tree_files
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.provenance.cited_sources import file_meta, inherit
from gitmem.provenance.writers import Writer, writers

KINDS = (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)
LASTING = (Kind.MEMORY, Kind.ARCHIVE)
STATES = ("current", "pinned", "expired", "superseded", "archived")
TRUST = ("promoted", "committed", "uncommitted")  # as a search says of a passage
MAX_CACHED_SNAPSHOTS = 3  # snapshots whose facts are kept: 10,000 facts take some 10 MB
ORDERS = ("newest", "type", "importance", "ending")  # of a list; without one the facts stand as in their files
AGES = {"week": 7, "month": 31, "year": 366}  # name -> days


@dataclass(frozen=True, slots=True)
class PresentFact:
    """A fact in its file: `blob` are the file's bytes it was read from, `end` its last line, `state` one of STATES,
    `trust` one of TRUST, `date` the day it is from ("" for none)."""

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
class Choice:
    """Which facts are wanted: "" takes all. `age` is one of AGES (no older than that) or "older" (than all of them)."""

    type: str = ""
    origin: str = ""
    tag: str = ""
    state: str = ""
    trust: str = ""
    age: str = ""
    path: str = ""
    author: str = ""  # the name of its writer (`writers.Writer.name`)

    def matches(self, row: PresentFact, today: date) -> bool:
        """Whether a fact is wanted."""
        return (
            self.type in ("", row.type or "fact")
            and self.origin in ("", row.fact.origin or "none")
            and (not self.tag or self.tag in row.tags)
            and self.state in ("", row.state)
            and self.trust in ("", row.trust)
            and self.path in ("", row.path)
            and self.ages(row.date, today)
        )

    def ages(self, day: str, today: date) -> bool:
        """Whether what is from `day` ("" for no day) is of the age that is wanted."""
        return not self.age or _is_of_age(day, self.age, today)


def _end(fact: Fact, today: date) -> tuple[int, int]:
    """What a fact is sorted by where the next to end stands first."""
    day = last_day(fact)
    if day is None:
        return (1, 0)
    if day >= today:
        return (0, day.toordinal())
    return (2, -day.toordinal())


def _is_of_age(day: str, age: str, today: date) -> bool:
    try:
        days = (today - date.fromisoformat(day)).days
    except ValueError:
        return False
    if age in AGES:
        return days <= AGES[age]
    return days > max(AGES.values())


class FactFile(NamedTuple):
    """A file that may hold facts: `data` is None where its bytes have not been read yet."""

    path: str
    blob: str
    data: bytes | None


class FactList:
    """The facts of one snapshot, files in order of path, facts in order of line; what is asked of all of them is
    counted once."""

    def __init__(self, rows: Sequence[PresentFact]) -> None:
        self.rows = tuple(rows)
        self._writers: Mapping[str, Writer] | None = None

    @cached_property
    def by_id(self) -> dict[str, list[PresentFact]]:
        """The facts with each id: those with one text."""
        found: dict[str, list[PresentFact]] = defaultdict(list)
        for row in self.rows:
            found[row.fact.id].append(row)
        return dict(found)

    @cached_property
    def successors(self) -> dict[str, list[PresentFact]]:
        """id -> the facts that say they supersede it."""
        found: dict[str, list[PresentFact]] = defaultdict(list)
        for row in self.rows:
            for key, value in row.fact.meta:
                if key == "supersedes":
                    found[value].append(row)
        return dict(found)

    @cached_property
    def counts(self) -> dict[str, Counter[str]]:
        """How many facts have each type, origin, tag, state, trust and path, by the names of Choice."""
        return {
            "type": Counter(row.type or "fact" for row in self.rows),
            "origin": Counter(row.fact.origin or "none" for row in self.rows),
            "tag": Counter(tag for row in self.rows for tag in row.tags),
            "state": Counter(row.state for row in self.rows),
            "trust": Counter(row.trust for row in self.rows),
            "path": Counter(row.path for row in self.rows),
        }

    def chosen(self, choice: Choice, today: date) -> Sequence[PresentFact]:
        """The facts that are wanted, whoever their authors are."""
        wanted = replace(choice, author="")
        if wanted == Choice():
            return self.rows
        return [row for row in self.rows if wanted.matches(row, today)]

    def writers(self, repo: Repository, commit: str) -> Mapping[str, Writer]:
        """Fact id -> who wrote it, of the facts that are committed. The first question reads every version of the files
        of long-term memory."""
        if self._writers is None:
            committed = (row.fact for row in self.rows if row.trust != "uncommitted")
            self._writers = writers(repo, commit or repo.head() or "", committed)
        return self._writers

    def by_author(
        self, repo: Repository, commit: str, rows: Sequence[PresentFact], author: str
    ) -> Sequence[PresentFact]:
        """Those of `rows` that `author` (a name) wrote."""
        known = self.writers(repo, commit)
        return [row for row in rows if (one := known.get(row.fact.id)) is not None and one.name == author]

    def in_order(
        self, repo: Repository, commit: str, rows: Sequence[PresentFact], order: str, today: date
    ) -> Sequence[PresentFact]:
        """`rows` in one of ORDERS, equal ones as they stand in their files; any other word leaves them as they are.

        `newest`: what is not committed, then by the time of the commit that wrote each. `ending`: what ends next, then
        what has no end, then what is over.
        """
        match order:
            case "newest":
                known = self.writers(repo, commit)
                times = {ident: one.commit.commit_date.timestamp() for ident, one in known.items()}
                return sorted(rows, key=lambda row: -times.get(row.fact.id, inf))
            case "type":
                return sorted(rows, key=lambda row: row.type or "fact")
            case "importance":
                return sorted(rows, key=lambda row: -importance(row.fact))
            case "ending":
                return sorted(rows, key=lambda row: _end(row.fact, today))
        return rows

    def author_names(self, repo: Repository, commit: str) -> Sequence[tuple[str, int]]:
        """(name, how many of the facts it wrote) of everybody who wrote one, the most first."""
        known = self.writers(repo, commit)
        return Counter(one.name for row in self.rows if (one := known.get(row.fact.id))).most_common()


class FactLists:
    """The lists of the last few snapshots that were asked for, for a process that lives long: files are read each
    time, and parsed again only where one is not what it was. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Hashable, FactList] = {}

    def of(self, repo: Repository, config: Config, commit: str, today: date) -> FactList:
        """The facts of the work tree, or of `commit`, as they stand on `today`."""
        files = list(_of_commit(repo, config, commit) if commit else _of_work_tree(repo, config))
        if commit:
            there = None
        else:
            there = _in_head(repo, files)
        key = (
            tuple((file.path, file.blob) for file in files),
            None if there is None else tuple(sorted(there.items())),
            today,
        )
        with self._lock:
            known = self._kept.pop(key, None)
            if known is None:
                known = FactList(_rows(repo, files, there, today))
            self._kept[key] = known  # the last one asked for is the last to go
            while len(self._kept) > MAX_CACHED_SNAPSHOTS:
                del self._kept[next(iter(self._kept))]
        return known


def statements_of(repo: Repository, config: Config, path: str, commit: str = "") -> list[PresentFact]:
    """The statements of any memory file, a log or an adopted note too, as facts of a list are; of `commit`, or of the
    work tree. Raises MissingFile, OutsideRepository, GitMemError for a file beyond LIMIT."""
    data = read_memory_file(repo, config, path, commit)
    if b"\0" in data:
        return []
    blob = repo.hash_blob(data)
    file = FactFile(path, blob, data)
    if commit:
        there = ""
    else:
        there = _in_head(repo, [file]).get(path, "")
    if commit or repo.root is None:
        known = None
    else:
        known = _committed(repo, file, there)
    return [
        PresentFact(path, blob, entry.fact, entry.end, "current", _trust_of(entry.fact, known), fact_date(entry.fact))
        for entry in parse(data).entries
    ]


def _trust_of(fact: Fact, known: frozenset[str] | None) -> str:
    if known is not None and fact.id not in known:
        return "uncommitted"
    if fact.get("src"):
        return "promoted"
    return "committed"


def uncommitted(repo: Repository, config: Config, today: date) -> list[PresentFact]:
    """The facts of the work tree that HEAD's version of their file has not: no other file is parsed."""
    files = list(_of_work_tree(repo, config))
    there = _in_head(repo, files)
    rows = _rows(repo, [file for file in files if there.get(file.path) != file.blob], there, today)
    return [row for row in rows if row.trust == "uncommitted"]


def _rows(
    repo: Repository, files: Sequence[FactFile], there: Mapping[str, str] | None, today: date
) -> list[PresentFact]:
    """The facts of files; `there` are the blobs that HEAD has at their paths, None where the files are a commit's."""
    unread = [file.blob for file in files if file.data is None]
    contents = dict(repo.read_many(dict.fromkeys(unread)))
    rows: list[PresentFact] = []
    for file in files:
        data = file.data if file.data is not None else contents.get(file.blob)
        if data is not None and b"\0" not in data:
            if there is None:
                known = None
            else:
                known = _committed(repo, file, there.get(file.path, ""))
            rows += _facts_of(file.path, file.blob, data, known, today)
    superseded = {value for row in rows for key, value in row.fact.meta if key == "supersedes"} - {""}
    return [replace(row, state="superseded") if row.fact.id in superseded else row for row in rows]


def _facts_of(path: str, blob: str, data: bytes, known: frozenset[str] | None, today: date) -> Iterator[PresentFact]:
    """The facts of one file. `known`: ids of the committed facts; None when all are committed."""
    whole = file_meta(data)
    archived = kind(path) is Kind.ARCHIVE
    if kind(path) not in LASTING and not whole and b"src=" not in data:
        return
    for entry in parse(data).entries:
        fact = inherit(entry.fact, whole)
        if archived:
            state = "archived"
        else:
            state = _state(fact, today)
        yield PresentFact(path, blob, fact, entry.end, state, _trust_of(fact, known), fact_date(fact))


def _state(fact: Fact, today: date) -> str:
    """`PresentFact.state` of a fact outside the archive: "expired", "pinned" or "current"."""
    if expired(fact, today):
        return "expired"
    if pinned(fact):
        return "pinned"
    return "current"


def _in_head(repo: Repository, files: Sequence[FactFile]) -> dict[str, str]:
    head = repo.head()
    if head and files:
        return repo.blobs(head, [file.path for file in files])
    return {}


def _committed(repo: Repository, file: FactFile, there: str) -> frozenset[str] | None:
    """The ids of the facts that HEAD's version of a file has, None where it is the same file."""
    if there == file.blob:
        return None
    if not there:
        return frozenset()
    return frozenset(fact.id for fact in parse(repo.read(there)).facts)


def _of_commit(repo: Repository, config: Config, commit: str) -> Iterator[FactFile]:
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    wanted = {path: oid for path, oid in sorted(files.items()) if kind(path) in KINDS}
    sizes = repo.sizes(list(dict.fromkeys(wanted.values())))
    yield from (
        FactFile(path, oid, None)
        for path, oid in wanted.items()
        if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
    )


def _of_work_tree(repo: Repository, config: Config) -> Iterator[FactFile]:
    if repo.root is None:
        return
    paths = [path for path in memory_paths(repo, config) if kind(path) in KINDS]
    for path, data in read_files(repo.root, paths, MAX_MEMORY_FILE_BYTES + 1):
        if isinstance(data, bytes) and len(data) <= MAX_MEMORY_FILE_BYTES:
            yield FactFile(path, repo.hash_blob(data), data)
