"""On which day each line of a file was written: the author date of the commit that Git's blame names for it.

Blame is asked once a file, not once a line, and what it said of a committed file is kept in the index: by path, blob
and the commit it was asked at. It holds at a later commit as well, where the first parents lead from that one back and
none of these steps changes the file: blame goes to the first parent that has the same blob, whatever else a merge
brought. Only a search with `--since` or `--until` comes here. Ranks nothing, shows nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
SPAN = 500  # commits between the commit blame was asked at and the one in question, beyond which it is asked again
PROCESSES = 4  # of `git blame` at most at a time


class LineDays(NamedTuple):
    """The day on which each line of a blob at a path was written, as Git's blame had it at the commit `at`."""

    path: str
    oid: str
    at: str
    days: tuple[date, ...]


def line_days(
    repo: Repository, config: Config, index: IndexReader, files: Mapping[File, int], commit: str, today: date
) -> dict[File, Sequence[date]]:
    """The day of each line of `files` ((path, blob) -> number of lines) as of `commit`, "" for the work tree.

    A line that is in no commit yet is of `today`. Raises GitFailed where Git cannot blame a file. What is new is
    stored in the index, if that may be written now; if not, the next search asks again.
    """
    at = commit or repo.head() or ""
    if at:
        committed = repo.blobs(at, sorted({path for path, _ in files}))
    else:
        committed = {}
    same = [(path, oid) for path, oid in files if committed.get(path) == oid]
    known, moved = _stored_days(repo, index, same, files, at)
    by_file: dict[File, Sequence[date]] = {(row.path, row.oid): row.days for row in known}
    missing = [file for file in same if file not in by_file]
    authored = _AuthorDays(repo, today)
    fresh = []
    for (path, oid), commits in zip(missing, _blamed(repo, missing, files, at), strict=True):
        by_file[path, oid] = days = authored.of(commits, files[path, oid])
        if len(commits) == len(days):  # Git counts lines as we do
            fresh.append(LineDays(path, oid, at, days))
    for path, oid in files.keys() - by_file.keys():  # edited since, so blame is of no use to the next search
        if files[path, oid]:
            lines = repo.blame(path, 1, files[path, oid], commit)
        else:
            lines = []
        by_file[path, oid] = authored.of({line.line: line.commit for line in lines}, files[path, oid])
    if fresh or moved:
        _store(repo, config, index, [*fresh, *(row._replace(at=at) for row in moved)])
    return by_file


class _AuthorDays(dict[str, date]):
    """Commit -> the day its author wrote it, in the author's own time zone."""

    def __init__(self, repo: Repository, today: date) -> None:
        self._repo = repo
        self._today = today

    def __missing__(self, commit: str) -> date:
        if commit.strip("0"):
            day = self._repo.commit(commit).author_date.date()
        else:
            day = self._today
        self[commit] = day
        return day

    def of(self, commits: Mapping[int, str], count: int) -> tuple[date, ...]:
        """The day of each of `count` lines, given which commit it is of; a line without one is of today."""
        return tuple(self[commits.get(line, "")] for line in range(1, count + 1))


def _stored_days(
    repo: Repository, index: IndexReader, files: Iterable[File], counts: Mapping[File, int], at: str
) -> tuple[list[LineDays], list[LineDays]]:
    """What the index has of these files that holds at the commit `at`; and of it what was asked at an earlier one."""
    if not at or _shallow(repo):
        return [], []
    rows = [row for row in map(LineDays._make, index.line_days(files)) if len(row.days) == counts[row.path, row.oid]]
    touched = {old: _touched_since(repo, old, at) for old in {row.at for row in rows} - {at}}
    moved = []
    for row in rows:
        paths = touched.get(row.at)
        if paths is not None and row.path not in paths:
            moved.append(row)
    return [*moved, *(row for row in rows if row.at == at)], moved


def _touched_since(repo: Repository, old: str, new: str) -> set[str] | None:
    """The paths that differ anywhere on the way by first parents from `new` back to `old`; None where that way does not
    lead there, or is long."""
    from gitmem.git.ranges import touched

    if not repo.is_ancestor(old, new):
        return None
    commits = list(repo.log([new, f"^{old}"], first_parent=True, limit=SPAN + 1))
    if len(commits) > SPAN or commits[-1].parents[:1] != (old,):
        return None
    steps = [f"{commit.oid} {commit.parents[0]}" for commit in commits]
    return {change.path for _, changes in touched(repo, steps) for change in changes}


def _shallow(repo: Repository) -> bool:
    """Whether history may be completed later: then blame will say something else of the same commit."""
    return (repo.common_dir / "shallow").exists()


def _blamed(repo: Repository, files: Sequence[File], counts: Mapping[File, int], at: str) -> Iterator[dict[int, str]]:
    """For each file: line -> the commit it is of. Some processes at a time where there is more than one file."""

    def blame(file: File) -> dict[int, str]:
        if counts[file]:
            rows = repo.blame(file[0], 1, counts[file], at)
        else:
            rows = []
        return {row.line: row.commit for row in rows}

    if len(files) < 2:
        yield from map(blame, files)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(PROCESSES, len(files), 2 * (os.cpu_count() or 1))) as pool:
        yield from pool.map(blame, files)


def _store(repo: Repository, config: Config, index: IndexReader, rows: Iterable[LineDays]) -> None:
    """Keep what blame said, unless the index may not be written or another process writes it: a search never waits
    for what only saves work."""
    if index.frozen or not config.auto_index or _shallow(repo):
        return
    from gitmem.index.db.connection import open_writer

    try:
        with locked(repo.common_dir, "index", 0.0, make=False):
            writer = open_writer(directory(repo), make=False)
            try:
                with writer.writing():
                    writer.put_line_days(rows)
            finally:
                writer.close()
    except (GitMemError, OSError):
        return
