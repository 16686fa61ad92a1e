"""The files as they were before a change, for the findings that a file had already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.gate.examine import FilesBefore
from gitmem.git.objects import LINKS
from gitmem.git.repository import Repository, read_small_blobs


def files_before(repo: Repository, commits: Sequence[str], gone: Iterable[str]) -> FilesBefore:
    """The files before a change, read when they are asked for; links and files of more than MAX_MEMORY_FILE_BYTES are
    left out. `commits`: the parents of the change. `gone`: the paths that the change deletes or moves."""

    def texts(path: str) -> list[bytes]:
        entries = [e for commit in commits for e in repo.entries(commit, [path]) if e.path == path]
        oids = dict.fromkeys(entry.oid for entry in entries if entry.mode not in LINKS)
        return [data for _, data in read_small_blobs(repo, ((oid, oid) for oid in oids))]

    return FilesBefore(texts, frozenset(gone))


def files_before_commit(repo: Repository, commit: str) -> FilesBefore:
    """The files before one commit, as its first parent has them; no files for a root commit."""
    row = next(iter(repo.log([commit], limit=1)))
    return files_before(repo, row.parents[:1], ())
