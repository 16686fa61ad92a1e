"""What became of the code that statements cite, for whatever shows them: a search, a context, a page.

The few citations of what is shown are asked of the snapshot itself, the work tree or a commit: a read of each cited
file, and Git only where one does not say what was cited. Nothing is listed and nothing stored. What cannot be told is
not said: a file that is in no commit, an ignored path, a shallow clone.
"""

from __future__ import annotations

from collections.abc import Iterable

from gitmem.claims.citations import MAX_CITATION_LINES, Citation, Verdict, blob_with, lines_of, parse, verdict
from gitmem.claims.departure import Departure
from gitmem.claims.finding import State
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.light_typing import TYPE_CHECKING, NamedTuple
from gitmem.memory.code_state import CitedCode, CodeState
from gitmem.paths import MAX_MEMORY_FILE_BYTES

if TYPE_CHECKING:
    from gitmem.claims.known_departures import KnownDepartures


MOST_NEW = 4  # paths that went for which one question asks Git: each may take it a tenth of a second


class Quoted(NamedTuple):
    """Lines of a file, the first with its number; no lines where they are not here."""

    path: str
    first: int
    lines: tuple[str, ...]


class Compared(NamedTuple):
    """A citation, what became of it (`state` is `unknown` where it cannot be told), the code `then` and `now`."""

    place: str
    state: State
    words: str
    then: Quoted
    now: Quoted


def compared(repo: Repository, values: Iterable[str], commit: str = "") -> list[Compared]:
    """The code of citations as it was when they were made and as it is, for a page that shows both."""
    citations = [one for value in values if (one := parse(value)) is not None]
    code = SnapshotCode(repo, commit, {one.path for one in citations})
    rows = []
    for citation in citations:
        try:
            found = verdict(citation, code)
        except GitMemError:
            found = Verdict(citation, State.UNKNOWN, "an object is not here")
        then = _quoted(citation, citation.path, code.cited_blob(citation.blob), (citation.start, citation.end))
        now = Quoted("", 0, ())
        if found.path and found.state is not State.UNKNOWN:
            if found.start:
                at = (found.start, found.end)
            else:
                at = (citation.start, citation.end)
            now = _quoted(citation, found.path, code.data(found.path), at)
        rows.append(Compared(citation.place, found.state, found.words, then, now))
    code.keep()
    return rows


def _quoted(citation: Citation, path: str, data: bytes | None, at: tuple[int, int]) -> Quoted:
    """The cited lines of a file, of a symbol its definition."""
    if data is None:
        return Quoted(path, 0, ())
    lines = lines_of(data)
    if citation.symbol:
        from gitmem.claims import definitions

        at = definitions.lines_of(lines, path, citation.symbol) or (1, 0)
    first, last = at[0], min(at[1], at[0] + MAX_CITATION_LINES)
    return Quoted(path, first, tuple(lines[first - 1 : last]))


def cited_code(
    repo: Repository, values: Iterable[str], commit: str = "", most_new: int = MOST_NEW
) -> dict[str, CitedCode]:  # fmt: skip
    """By the value of a `code` key what is not as it was when it was cited; what holds, or cannot be told, is not in
    it. `commit` is the snapshot, "" for the work tree; of `most_new` paths that went Git is asked where to."""
    citations = {value: one for value in values if (one := parse(value)) is not None}
    if not citations:
        return {}
    code = SnapshotCode(repo, commit, {one.path for one in citations.values()}, most_new)
    said: dict[str, CitedCode] = {}
    for value, citation in citations.items():
        try:
            found = verdict(citation, code)
        except GitMemError:  # an object that is not here
            continue
        if (shown := _shown(citation, found, code)) is not None:
            said[value] = shown
    code.keep()
    return said


def _shown(citation: Citation, found: Verdict, code: SnapshotCode) -> CitedCode | None:
    match found.state:
        case State.HOLDS if found.path != citation.path:
            return CitedCode(CodeState.RENAMED, citation.place, found.path, found.commit)
        case State.CHANGED if code.is_committed(found.path):
            now = ""
            if found.path != citation.path:
                now = found.path
            return CitedCode(CodeState.CHANGED, citation.place, now, found.commit)
        case State.GONE if found.commit or (found.path and code.is_committed(found.path)):
            return CitedCode(CodeState.GONE, citation.place, "", found.commit)
    return None


class SnapshotCode:
    """The files of the work tree, or of a commit, a path at a time (`citations.Code`). A file that the work tree lacks
    and HEAD has is HEAD's: it is left out of a sparse checkout, or its removal is not committed."""

    def __init__(self, repo: Repository, commit: str, paths: Iterable[str], most_new: int = MOST_NEW) -> None:
        self.repo = repo
        self.commit = commit or repo.head() or ""
        if commit:
            self.root = None
        else:
            self.root = repo.root
        self.shallow = (repo.common_dir / "shallow").exists()
        self._departures: KnownDepartures | None = None
        self._most_new = most_new
        self._paths = set(paths)
        self._committed: dict[str, str] | None = None
        self._there: dict[str, bytes | None] = {}
        self._closed: set[str] = set()

    def closed(self, path: str) -> str:
        self._on_disk(path)
        if path not in self._closed:
            return ""
        return "it lies behind a link"

    def out_of_reach(self, path: str) -> str:
        if self.root is not None and self.repo.ignored([path]):
            return "Git ignores it"
        return ""

    def has(self, path: str) -> bool:
        return self._on_disk(path) is not None or self.is_committed(path)

    def oid(self, path: str) -> str:
        data = self._on_disk(path)
        if data is not None:
            return self.repo.hash_blob(data)
        return self._oids(path)[path]

    def data(self, path: str) -> bytes | None:
        data = self._on_disk(path)
        if data is None and (oid := self._oids(path).get(path)):
            data = None
            if self.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES:
                data = self.repo.read(oid)
        if data is None or len(data) <= MAX_MEMORY_FILE_BYTES:
            return data
        return None

    def cited_blob(self, prefix: str) -> bytes | None:
        return blob_with(self.repo, prefix)

    def departure(self, path: str) -> Departure | None:
        if self._departures is None:
            from gitmem.claims.known_departures import KnownDepartures

            self._departures = KnownDepartures(self.repo, self.commit, self._most_new)
        return self._departures.of_path(path)

    def keep(self) -> None:
        """Remember where paths went, of which Git was asked."""
        if self._departures is not None:
            self._departures.keep()

    def is_committed(self, path: str) -> bool:
        """Whether the commit has a file at a path."""
        return path in self._oids(path)

    def _oids(self, path: str) -> dict[str, str]:
        """The committed blobs of what is asked for, all of them in one question."""
        if self._committed is None or path not in self._paths:
            self._paths.add(path)
            if self.commit:
                self._committed = self.repo.blobs(self.commit, sorted(self._paths))
            else:
                self._committed = {}
        return self._committed

    def _on_disk(self, path: str) -> bytes | None:
        if self.root is None:
            return None
        if path not in self._there:
            self._there[path] = None
            try:
                self._there[path] = read_bytes(self.root, path, MAX_MEMORY_FILE_BYTES + 1)
            except OutsideRepository:
                self._closed.add(path)
            except (OSError, ValueError):
                pass
        return self._there[path]
