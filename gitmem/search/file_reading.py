"""Reads the files of one search, and what Git knows of their lines: days, commits, trust, authors, cited code.

The text comes from the blob or work-tree file that the index names, and its hash is checked: a damaged index can lose a
hit but never invent one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date
from typing import TYPE_CHECKING, NamedTuple

from gitmem.config import Config
from gitmem.daily_logs import log_day
from gitmem.errors import GitMemError
from gitmem.git.repository import Repository
from gitmem.index.db.values import Snapshot
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.memory.snapshot import read_hits
from gitmem.paths import Kind, kind, log_date
from gitmem.search.hits import Hit, text_lines, with_authors, with_trust
from gitmem.search.memory_file import NO_SHAPE, FileKey, MemoryFile

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader
    from gitmem.memory.code_state import CitedCode


class SearchedMemory(NamedTuple):
    """The memory that one search reads.

    `commit`: "" for the work tree. `fact_files`: (path, oid) of each MEMORY.md and archive, whose facts end or replace
    others. `today`: the day of the search. `forgotten`: texts that no hit shows.
    """

    repo: Repository
    config: Config
    index_reader: IndexReader
    commit: str
    fact_files: Sequence[FileKey]
    today: date
    forgotten: Forgotten


def fact_files_of(index: IndexReader, snapshot: Snapshot) -> list[FileKey]:
    """(path, oid) of each MEMORY.md and each archive of a snapshot."""
    return [file for file in index.files(snapshot) if kind(file[0]) in (Kind.MEMORY, Kind.ARCHIVE)]


class FileReader:
    """Reads files of one repository and caches them until the search ends. A server overrides what reads Git, because
    its files are in the mirrors of several repositories.

    `files`: (path, oid) -> the file, None for one that cannot be read; `read` fills it. `line_days`: (path, oid) -> the
    day of each line of the file; `read_line_days` fills it.
    """

    repository_name = ""  # shown with the hits of commits; "" for the repository of the command

    def __init__(self, memory: SearchedMemory) -> None:
        self.memory = memory
        self.files: dict[FileKey, MemoryFile | None] = {}
        self.line_days: Mapping[FileKey, Sequence[date]] = {}
        self._commit_times: dict[tuple[FileKey, int], str] = {}

    def read(self, keys: Iterable[FileKey]) -> None:
        """Add the files of these (path, oid) to `files`, unless they were read before."""
        wanted = [key for key in dict.fromkeys(keys) if key not in self.files]
        if not wanted:
            return
        contents = self.contents(wanted)
        index = self.memory.index_reader
        shapes = index.shapes({oid for _, oid in wanted})
        for key in wanted:
            path, oid = key
            data = contents.get(key)
            if data is None:
                self.files[key] = None
                continue
            file_kind = kind(path)
            if log_day(path, self.memory.config.memory_daily):
                file_kind = Kind.DAILY
            shape, has_secrets = shapes.get(oid, NO_SHAPE), index.secrets(oid) > 0
            self.files[key] = MemoryFile(key, text_lines(data), file_kind, log_date(path), shape, has_secrets)

    def read_line_days(self) -> None:
        """Fill `line_days` for the files that were read and have no day in their name."""
        undated = {key: len(file.lines) for key, file in self.files.items() if file is not None and file.when is None}
        self.line_days = self.days_of_lines(undated)

    def commit_time(self, file: MemoryFile, line: int) -> str:
        """The ISO time, in UTC, of the commit that last changed a line; the end of today for an uncommitted line; "" if
        Git cannot tell."""
        place = file.key, line
        if place not in self._commit_times:
            self._commit_times[place] = self.time_of_commit(file, line)
        return self._commit_times[place]

    # -- what a server reads otherwise ----------------------------------------------------------------------

    def repository(self, file: MemoryFile) -> int:
        """The number of the repository of a file, here always 0. It keeps a fact of one repository from ending lines of
        another."""
        return 0

    def contents(self, wanted: Sequence[FileKey]) -> Mapping[FileKey, bytes]:
        """(path, oid) -> the bytes of the file, for files that are in the snapshot."""
        return read_hits(self.memory.repo, wanted, self.memory.commit)

    def days_of_lines(self, undated: Mapping[FileKey, int]) -> Mapping[FileKey, Sequence[date]]:
        """(path, oid) -> the author's day of each line by Git's blame; today for an uncommitted line. `undated`: (path,
        oid) -> number of lines. New blames are cached in the index. Raises GitFailed if Git cannot blame a file."""
        from gitmem.index.line_days import line_days

        memory = self.memory
        return line_days(memory.repo, memory.config, memory.index_reader, undated, memory.commit, memory.today)

    def time_of_commit(self, file: MemoryFile, line: int) -> str:
        """The ISO time, in UTC, of the commit that last changed a line; `commit_time` caches it. The end of today for
        an uncommitted line, "" if Git cannot tell."""
        return commit_time(self.memory.repo, file.path, line, self.memory.commit, self.memory.today)

    def cited_code(self, cited: Mapping[FileKey, Sequence[str]]) -> Mapping[FileKey, Mapping[str, CitedCode]]:
        """(path, oid) of a file -> value of a `code` key -> the state of the cited code; only for code that was
        changed, renamed or removed. `cited`: (path, oid) -> such values."""
        from gitmem.claims.cited_code import changed_code

        values = dict.fromkeys(value for values in cited.values() for value in values)
        return dict.fromkeys(cited, changed_code(self.memory.repo, values, self.memory.commit))

    def forgotten(self, file: MemoryFile) -> Forgotten:
        """The forgotten texts to mask in a file: all of them; none in the MEMORY.md of the work tree, which people and
        hosts read anyway."""
        if file.kind is Kind.MEMORY and not self.memory.commit:
            return NOTHING
        return self.memory.forgotten

    def with_provenance(self, hits: list[Hit], blame: bool) -> list[Hit]:
        """All hits, with trust, date and author from Git.

        In a search of the work tree, hits that HEAD lacks get trust "uncommitted", and today's date if they have none.
        With `blame`, hits also get commit and author (`with_authors`).
        """
        if not self.memory.commit:
            hits = with_trust(self.memory.repo, hits, self._lines)
            today = self.memory.today.isoformat()  # the day of a line that is in no commit yet, as in `line_days`
            for index, hit in enumerate(hits):
                if hit.trust == "uncommitted" and not hit.date:
                    hits[index] = hit._replace(date=today)
        if blame:
            return with_authors(self.memory.repo, hits, self.memory.commit)
        return hits

    def _lines(self, hit: Hit) -> list[str]:
        """All lines of the file of a hit."""
        file = self.files[hit.path, hit.blob]
        assert file is not None
        return file.lines


def commit_time(repo: Repository, path: str, line: int, commit: str, today: date) -> str:
    """The ISO time, in UTC, of the commit that last changed a line; the end of `today` for an uncommitted line; "" if
    Git cannot tell. `commit`: "" for the work tree."""
    try:
        (blamed,) = repo.blame(path, line, line, commit)
        if not blamed.commit.strip("0"):
            return f"{today.isoformat()}T24"
        return repo.commit(blamed.commit).author_date.astimezone(UTC).isoformat()
    except (GitMemError, ValueError):
        return ""
