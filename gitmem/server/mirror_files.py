"""Reads the files, dates and citations of a search from the mirrors of the searched repositories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import date
from functools import partial
from typing import NamedTuple

from gitmem.claims.cited_code import changed_code
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.db.values import Shape
from gitmem.index.line_days import line_days
from gitmem.memory.code_state import CitedCode
from gitmem.memory.forgotten import Forgotten
from gitmem.provenance.forgotten_texts import forgotten_texts
from gitmem.search.file_reading import FileReader, SearchedMemory, commit_time
from gitmem.search.hits import Hit, with_authors
from gitmem.search.memory_file import FileKey, MemoryFile
from gitmem.search.passages import Passages
from gitmem.server.mirrors import Mirrors
from gitmem.server.postgres.index import PostgresIndex
from gitmem.server.telemetry import stage


class Searched(NamedTuple):
    """A searched branch or tag of a repository. `snapshot`: number of its snapshot. `repository`, `name`: number and
    name of the repository. `commit`: hex. `has_unfetched`: any permitted repository waits for its first fetch, which
    has not failed."""

    snapshot: int
    repository: int
    name: str
    commit: str
    has_unfetched: bool = False


class MirrorFiles:
    """The files that one search reads from the mirrors.

    `repositories`: number -> the searched repository. `shape`: (oid, bytes) -> the shape of a blob. `doubt`: queues a
    fetch that checks the mirror of a repository. `homes`: (path, oid) -> the repository whose mirror has the file;
    filled by `contents`.
    """

    def __init__(
        self, mirrors: Mirrors, index: PostgresIndex, repositories: Mapping[int, Searched],
        shape: Callable[[str, bytes], Shape], doubt: Callable[[int], None],
    ) -> None:  # fmt: skip
        self.mirrors = mirrors
        self.index = index
        self.repositories = repositories
        self._shape = shape
        self._doubt = doubt
        self.homes: dict[tuple[str, str], Searched] = {}
        self._forgotten: dict[int, Forgotten] = {}
        self._read: dict[str, bytes] = {}

    def lent(self, repository: int) -> AbstractContextManager[Repository]:
        """The mirror of a repository, open for a `with` block. Raises NotARepository if there is none."""
        return self.mirrors.lent(self.index.tenant, repository)

    def contents(self, files: Sequence[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
        """The bytes of files, by (path, oid). A file that no searched snapshot has is left out. So is a file that its
        mirror does not have; then a fetch that checks the mirror is queued."""
        homes: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for key, repository in self.index.holders(files).items():
            self.homes[key] = self.repositories[repository]
            homes[repository].append(key)
        contents: dict[tuple[str, str], bytes] = {}
        for repository, keys in homes.items():
            try:
                with stage("git"), self.lent(repository) as repo:
                    texts = dict(repo.read_many(dict.fromkeys(oid for _, oid in keys)))
            except GitMemError:
                texts = {}
            missing = {oid for _, oid in keys if texts.get(oid) is None}
            if missing:
                with suppress(GitMemError):
                    texts |= self.mirrors.read_by_git(self.index.tenant, repository, missing)
            if any(texts.get(oid) is None for oid in missing):
                self._doubt(repository)
            for path, oid in keys:
                data = texts.get(oid)
                if data is not None:
                    contents[path, oid] = self._read[oid] = data
        return contents

    def forgotten(self, repository: int) -> Forgotten:
        """The texts that people removed from the memory of a repository, by its own branch; cached for this search."""
        if repository not in self._forgotten:
            with self.lent(repository) as repo:
                try:
                    texts = forgotten_texts(repo)
                except GitMemError:  # a mirror with a broken branch: the indexed commit has the forgotten texts too
                    self._doubt(repository)
                    texts = forgotten_texts(repo, self.repositories[repository].commit)
                self._forgotten[repository] = texts
        return self._forgotten[repository]

    def shapes(self, oids: Iterable[str]) -> dict[str, Shape]:
        """oid -> structure (headings, fences, tables) of those of the given blobs that `contents` has read; the others
        are left out."""
        return {oid: self._shape(oid, self._read[oid]) for oid in oids if oid in self._read}

    def passages(self, kind: type[Passages]) -> Callable[..., Passages]:
        """A function that makes the passages of a search as `kind` does, and reads their files from these mirrors."""
        return partial(kind, reader=partial(MirrorReader, self))


class MirrorReader(FileReader):
    """Reads the files of one search from the mirrors of several repositories. `mirrors`: the files that are read
    there."""

    def __init__(self, mirrors: MirrorFiles, memory: SearchedMemory) -> None:
        super().__init__(memory)
        self.mirrors = mirrors
        self.repository_name = next((home.name for home in mirrors.repositories.values()), "")

    def repository(self, file: MemoryFile) -> int:
        home = self.mirrors.homes.get(file.key)
        if home is not None:
            return home.repository
        return next(iter(self.mirrors.repositories))  # the hit is a commit: exactly one repository is searched

    def contents(self, wanted: Sequence[FileKey]) -> Mapping[FileKey, bytes]:
        return self.mirrors.contents(wanted)

    def days_of_lines(self, undated: Mapping[FileKey, int]) -> Mapping[FileKey, Sequence[date]]:
        by_home: dict[int, dict[FileKey, int]] = defaultdict(dict)
        for key, count in undated.items():
            by_home[self.mirrors.homes[key].repository][key] = count
        memory = self.memory
        days: dict[FileKey, Sequence[date]] = {}
        for number, files in by_home.items():
            commit = self.mirrors.repositories[number].commit
            with self.mirrors.lent(number) as repo:
                days |= line_days(repo, memory.config, memory.index_reader, files, commit, memory.today)
        return days

    def time_of_commit(self, file: MemoryFile, line: int) -> str:
        home = self.mirrors.homes[file.key]
        with self.mirrors.lent(home.repository) as repo:
            return commit_time(repo, file.path, line, home.commit, self.memory.today)

    def cited_code(self, cited: Mapping[FileKey, Sequence[str]]) -> Mapping[FileKey, Mapping[str, CitedCode]]:
        by_home: dict[int, list[FileKey]] = defaultdict(list)
        for key, values in cited.items():
            if values and key in self.mirrors.homes:
                by_home[self.mirrors.homes[key].repository].append(key)
        code: dict[FileKey, Mapping[str, CitedCode]] = {}
        for number, keys in by_home.items():
            codes = dict.fromkeys(value for key in keys for value in cited[key])
            with suppress(GitMemError), self.mirrors.lent(number) as repo:
                code |= dict.fromkeys(keys, changed_code(repo, codes, self.mirrors.repositories[number].commit))
        return code

    def forgotten(self, file: MemoryFile) -> Forgotten:
        return self.mirrors.forgotten(self.repository(file))

    def with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        shown = []
        for hit in hits:
            home = self.mirrors.homes[hit.path, hit.blob]
            if blame:
                with self.mirrors.lent(home.repository) as repo:
                    (hit,) = with_authors(repo, [hit], home.commit)
            shown.append(hit._replace(repository=home.name, commit=hit.commit or home.commit))
        return shown
