"""Check the code citations of the few statements that a search, a context or a page shows.

Each cited file of the snapshot (the work tree or a commit) is read; Git is called only if its lines have changed or the
file is missing. No tree is listed. If the state of a citation is unknown, nothing is reported: a file that is in no
commit, an ignored path, a shallow clone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitmem.claims.citations import MAX_CITATION_LINES, Citation, Verdict, blob_with, lines_of, parse, verdict
from gitmem.claims.departure import Departure
from gitmem.claims.finding import State
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.json_values import json_keys
from gitmem.memory.code_state import CitedCode, CodeState
from gitmem.paths import MAX_MEMORY_FILE_BYTES

if TYPE_CHECKING:
    from gitmem.claims.known_departures import KnownDepartures


MAX_LOOKUPS = 4  # missing paths for which one call searches history, which takes about 0.1 s each


class CodeExcerpt(NamedTuple):
    """Lines of a file. `first`: the number of the first one, from 1. `lines`: empty if the file cannot be read, or does
    not define the cited symbol."""

    path: str
    first: int
    lines: tuple[str, ...]


@json_keys("cites=place state words")
class CitationComparison(NamedTuple):
    """A citation with its code at two times.

    `place`: the citation as a person writes it. `state`, `words`: the state of its code, and the reason as words.
    `then`: the lines when they were cited. `now`: the lines now; its path is "" if the code is gone or its state is
    unknown.
    """

    place: str
    state: State
    words: str
    then: CodeExcerpt
    now: CodeExcerpt


def compare_citations(repo: Repository, values: Iterable[str], commit: str = "") -> list[CitationComparison]:
    """The code of citations when they were made and now, in the order of `values`, for a page that shows both.

    `values`: values of `code` keys; a value that is not a citation is left out. `commit`: the snapshot, "" for the work
    tree. Writes the cache of departures (`known_departures`).
    """
    parsed = map(parse, values)
    citations = [citation for citation in parsed if citation is not None]
    code = SnapshotCode(repo, commit, {citation.path for citation in citations})
    rows = []
    for citation in citations:
        try:
            checked = verdict(citation, code)
        except GitMemError:
            checked = Verdict(citation, State.UNKNOWN, "an object is not here")
        old_excerpt = _quoted(citation, citation.path, code.cited_blob(citation.blob), (citation.start, citation.end))
        new_excerpt = CodeExcerpt("", 0, ())
        if checked.path and checked.state is not State.UNKNOWN:
            span = checked if checked.start else citation
            new_excerpt = _quoted(citation, checked.path, code.data(checked.path), (span.start, span.end))
        rows.append(CitationComparison(citation.place, checked.state, checked.words, old_excerpt, new_excerpt))
    code.keep()
    return rows


def _quoted(citation: Citation, path: str, data: bytes | None, span: tuple[int, int]) -> CodeExcerpt:
    """The lines `span` of a file's bytes, or the definition of the citation's symbol; at most MAX_CITATION_LINES more
    than the first. No lines without `data`, and for a symbol that is not defined there."""
    if data is None:
        return CodeExcerpt(path, 0, ())
    lines = lines_of(data)
    if citation.symbol:
        from gitmem.claims import definitions

        span = definitions.lines_of(lines, path, citation.symbol) or (1, 0)
    first, last = span[0], min(span[1], span[0] + MAX_CITATION_LINES)
    return CodeExcerpt(path, first, tuple(lines[first - 1 : last]))


def changed_code(
    repo: Repository, values: Iterable[str], commit: str = "", max_lookups: int = MAX_LOOKUPS
) -> dict[str, CitedCode]:  # fmt: skip
    """The state of each citation whose code was renamed, changed or removed: value of its `code` key -> CitedCode.

    A citation is left out if its code is unchanged, if its state is unknown, or if the change of its code is not
    committed. `commit`: the snapshot, "" for the work tree. `max_lookups`: the number of missing paths for which Git
    may search history. Writes the cache of departures (`known_departures`).
    """
    parsed = {value: parse(value) for value in values}
    citations = {value: citation for value, citation in parsed.items() if citation is not None}
    if not citations:
        return {}
    code = SnapshotCode(repo, commit, {citation.path for citation in citations.values()}, max_lookups)
    changed: dict[str, CitedCode] = {}
    for value, citation in citations.items():
        try:
            checked = verdict(citation, code)
        except GitMemError:  # an object is missing
            continue
        if (state := _code_state(citation, checked, code)) is not None:
            changed[value] = state
    code.keep()
    return changed


def _code_state(citation: Citation, checked: Verdict, code: SnapshotCode) -> CitedCode | None:
    """A verdict as CitedCode; None if the code is unchanged at its path, or if the change is not committed."""
    match checked.state:
        case State.HOLDS if checked.path != citation.path:
            return CitedCode(CodeState.RENAMED, citation.place, checked.path, checked.commit)
        case State.CHANGED if code.is_committed(checked.path):
            new_path = checked.path if checked.path != citation.path else ""
            return CitedCode(CodeState.CHANGED, citation.place, new_path, checked.commit)
        case State.GONE if checked.commit or (checked.path and code.is_committed(checked.path)):
            return CitedCode(CodeState.GONE, citation.place, "", checked.commit)
    return None


class SnapshotCode:
    """The files of the work tree, or of a commit, read one path at a time. It implements `citations.Code`.

    A file that is in HEAD but not in the work tree is read from HEAD: a sparse checkout leaves it out, or its removal
    is not committed. `commit`: "" for the work tree. `paths`: the paths that will be asked for, so that Git lists them
    in one call. `max_lookups`: the number of missing paths for which Git may search history.
    """

    def __init__(self, repo: Repository, commit: str, paths: Iterable[str], max_lookups: int = MAX_LOOKUPS) -> None:
        self.repo = repo
        self.commit = commit or repo.head() or ""
        self.root = None if commit else repo.root
        self.shallow = (repo.common_dir / "shallow").exists()
        self._departures: KnownDepartures | None = None
        self._most_new = max_lookups
        self._paths = set(paths)
        self._committed: dict[str, str] | None = None
        self._read: dict[str, bytes | None] = {}
        self._behind_links: set[str] = set()

    def closed(self, path: str) -> str:
        """The reason why the snapshot cannot have a file at this path: it lies behind a link of the work tree. ""
        without one."""
        self._on_disk(path)
        return "it lies behind a link" if path in self._behind_links else ""

    def out_of_reach(self, path: str) -> str:
        if self.root is not None and self.repo.ignored([path]):
            return "Git ignores it"
        return ""

    def has(self, path: str) -> bool:
        return self._on_disk(path) is not None or self.is_committed(path)

    def oid(self, path: str) -> str:
        """The oid of a file; bytes of the work tree are hashed, not stored. Raises KeyError for a file that the
        snapshot lacks."""
        data = self._on_disk(path)
        if data is not None:
            return self.repo.hash_blob(data)
        return self._oids(path)[path]

    def data(self, path: str) -> bytes | None:
        """The bytes in the work tree, or in the commit if the file is not on disk; None if it is too large or in
        neither."""
        data = self._on_disk(path)
        if data is not None and len(data) > MAX_MEMORY_FILE_BYTES:
            return None
        if data is not None:
            return data
        oid = self._oids(path).get(path)
        if not oid or self.repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
            return None
        return self.repo.read(oid)

    def cited_blob(self, prefix: str) -> bytes | None:
        return blob_with(self.repo, prefix)

    def departure(self, path: str) -> Departure | None:
        if self._departures is None:
            from gitmem.claims.known_departures import KnownDepartures

            self._departures = KnownDepartures(self.repo, self.commit, self._most_new)
        return self._departures.of_path(path)

    def keep(self) -> None:
        """Write the cache of departures to the Git directory, if any was looked up."""
        if self._departures is not None:
            self._departures.keep()

    def is_committed(self, path: str) -> bool:
        """Whether the commit (HEAD, for the work tree) has a file at this path."""
        return path in self._oids(path)

    def _oids(self, path: str) -> dict[str, str]:
        """Path -> oid of the committed files among all known paths and `path`, read in one call of Git."""
        if self._committed is None or path not in self._paths:
            self._paths.add(path)
            self._committed = self.repo.blobs(self.commit, sorted(self._paths)) if self.commit else {}
        return self._committed

    def _on_disk(self, path: str) -> bytes | None:
        """The bytes of a file of the work tree, at most one byte more than the limit; None if it cannot be read."""
        if self.root is None:
            return None
        if path not in self._read:
            self._read[path] = None
            try:
                self._read[path] = read_bytes(self.root, path, MAX_MEMORY_FILE_BYTES + 1)
            except OutsideRepository:
                self._behind_links.add(path)
            except (OSError, ValueError):
                pass
        return self._read[path]
