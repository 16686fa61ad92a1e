"""The day on which each line of a file was written: the author date of the commit that `git blame` names for it.

Git is asked once per file. The index caches the blame of a committed file by path, blob and the commit of the blame. A
cached blame holds at a later commit too, if first parents lead from that commit back to the old one and none of them
changes the file: blame follows the first parent that has the same blob, whatever a merge brings. Only a search with
`--since` or `--until` calls this module.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import GitMemError
from gitmem.git.worktree import locked
from gitmem.index.index_file import directory

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.git.repository import Repository
    from gitmem.index.store import IndexReader

File = tuple[str, str]  # path, blob oid
MAX_COMMITS_SINCE_BLAME = 500  # for a cached blame to be used at a later commit
MAX_PROCESSES = 4  # of `git blame` at a time


class LineDays(NamedTuple):
    """The stored blame of a file. `path`, `oid`: the file and its blob. `at`: the commit that was blamed. `days`: the
    day of each line."""

    path: str
    oid: str
    at: str
    days: tuple[date, ...]


def line_days(
    repo: Repository, config: Config, index: IndexReader, files: Mapping[File, int], commit: str, today: date
) -> dict[File, Sequence[date]]:
    """(path, blob) -> the day on which each line was written, in `commit`, or in the work tree if "".

    `files`: (path, blob) -> number of lines. A line that is not committed gets `today`. New blames are cached in the
    index if it may be written now. Raises GitFailed if Git cannot blame a file.
    """
    blamed_commit = commit or repo.head() or ""
    committed: dict[str, str] = {}
    if blamed_commit:
        committed = repo.blobs(blamed_commit, sorted({path for path, _ in files}))
    unchanged = [(path, oid) for path, oid in files if committed.get(path) == oid]
    cached, moved = _cached_days(repo, index, unchanged, files, blamed_commit)
    by_file: dict[File, Sequence[date]] = {(row.path, row.oid): row.days for row in cached}
    missing = [file for file in unchanged if file not in by_file]
    author_days = _AuthorDays(repo, today)
    new_rows = []
    for (path, oid), commits in zip(missing, _blamed(repo, missing, files, blamed_commit), strict=True):
        by_file[path, oid] = days = author_days.of(commits, files[path, oid])
        if len(commits) == len(days):  # Git counts as many lines as we do
            new_rows.append(LineDays(path, oid, blamed_commit, days))
    for path, oid in files.keys() - by_file.keys():  # edited since, so the next search cannot use the blame
        commits = _blame(repo, path, files[path, oid], commit)
        by_file[path, oid] = author_days.of(commits, files[path, oid])
    if new_rows or moved:
        _store(repo, config, index, [*new_rows, *(row._replace(at=blamed_commit) for row in moved)])
    return by_file


class _AuthorDays(dict[str, date]):
    """Commit -> the day of its author date, in the author's time zone; `today` for "" and for a commit of zeros."""

    def __init__(self, repo: Repository, today: date) -> None:
        self._repo = repo
        self._today = today

    def __missing__(self, commit: str) -> date:
        day = self._today
        if commit.strip("0"):
            day = self._repo.commit(commit).author_date.date()
        self[commit] = day
        return day

    def of(self, commits: Mapping[int, str], count: int) -> tuple[date, ...]:
        """The days of the lines 1 to `count`; `commits`: line -> its commit."""
        return tuple(self[commits.get(line, "")] for line in range(1, count + 1))


def _cached_days(
    repo: Repository, index: IndexReader, files: Iterable[File], counts: Mapping[File, int], commit: str
) -> tuple[list[LineDays], list[LineDays]]:
    """The cached blames of these files that hold at `commit`, and those of them of an earlier commit."""
    if not commit or _shallow(repo):
        return [], []
    rows = [row for row in map(LineDays._make, index.line_days(files)) if len(row.days) == counts[row.path, row.oid]]
    touched = {old: _touched_since(repo, old, commit) for old in {row.at for row in rows} - {commit}}
    moved = []
    for row in rows:
        paths = touched.get(row.at)
        if paths is not None and row.path not in paths:
            moved.append(row)
    return [*moved, *(row for row in rows if row.at == commit)], moved


def _touched_since(repo: Repository, old_commit: str, new_commit: str) -> set[str] | None:
    """The paths that the first parents from `new_commit` back to `old_commit` change.

    None if they do not lead to `old_commit`, or if they are more than MAX_COMMITS_SINCE_BLAME.
    """
    from gitmem.git.ranges import touched

    if not repo.is_ancestor(old_commit, new_commit):
        return None
    commits = list(repo.log([new_commit, f"^{old_commit}"], first_parent=True, limit=MAX_COMMITS_SINCE_BLAME + 1))
    if len(commits) > MAX_COMMITS_SINCE_BLAME or commits[-1].parents[:1] != (old_commit,):
        return None
    steps = [f"{commit.oid} {commit.parents[0]}" for commit in commits]
    return {change.path for _, changes in touched(repo, steps) for change in changes}


def _shallow(repo: Repository) -> bool:
    """Whether the clone is shallow: once it is completed, the blame at the same commit may differ."""
    return (repo.common_dir / "shallow").exists()


def _blame(repo: Repository, path: str, line_count: int, commit: str) -> dict[int, str]:
    """Line -> its commit, for the lines 1 to `line_count`."""
    if not line_count:
        return {}
    return {row.line: row.commit for row in repo.blame(path, 1, line_count, commit)}


def _blamed(repo: Repository, files: Sequence[File], counts: Mapping[File, int], at: str) -> Iterator[dict[int, str]]:
    """For each file: line -> its commit. Two or more files are blamed by several processes at a time."""

    def blame(file: File) -> dict[int, str]:
        return _blame(repo, file[0], counts[file], at)

    if len(files) < 2:
        yield from map(blame, files)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(MAX_PROCESSES, len(files), 2 * (os.cpu_count() or 1))) as pool:
        yield from pool.map(blame, files)


def _store(repo: Repository, config: Config, index: IndexReader, rows: Iterable[LineDays]) -> None:
    """Cache blames, unless the index must not be written or another process writes it: a search does not wait."""
    if index.frozen or not config.auto_index or _shallow(repo):
        return
    from gitmem.index.db.connection import open_writer

    with (
        suppress(GitMemError, OSError),
        locked(repo.common_dir, "index", 0.0, make=False),
        closing(open_writer(directory(repo), make=False)) as writer,
        writer.writing(),
    ):
        writer.put_line_days(rows)
