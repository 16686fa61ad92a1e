"""Reads the blobs that the gate scans, some at a time, and files as they were before a change, from Git's objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from gitmem.gate.examine import Blob, FilesBefore
from gitmem.gate.policy import Policy
from gitmem.git.objects import LFS_POINTER, LINKS, REGULAR, is_encrypted
from gitmem.git.repository import Repository, read_small_blobs

WINDOW = 256  # blobs read at once
STILL_ENCRYPTED = (
    "git-crypt encrypted it, and its text cannot be read here; git-crypt unlock,"
    " and git config --global mem.encryption git-crypt"
)


@dataclass(frozen=True, slots=True)
class BlobPlace:
    """A blob to read: its path and oid. `commit`: the commit that adds it, "" for none. `mode`: its file mode in
    Git."""

    path: str
    oid: str
    commit: str = ""
    mode: int = REGULAR


def read_blobs(repo: Repository, places: Iterable[BlobPlace], policy: Policy) -> Iterator[Blob]:
    """Read blobs, in order. A blob above `policy.limit`, missing, encrypted or in Git LFS is yielded with
    `Blob.skipped` set. Sizes are asked for first, so that nothing above the limit is read."""
    rows = iter(places)
    while window := list(islice(rows, WINDOW)):
        sizes = repo.sizes([row.oid for row in window])
        small = [row for row in window if sizes.get(row.oid, policy.limit + 1) <= policy.limit]
        bytes_of = iter(repo.read_many([row.oid for row in small]))
        for row in window:
            size = sizes.get(row.oid)
            blob = Blob(row.path, b"", row.oid, row.commit)
            if size is None:
                yield replace(blob, skipped="its object is missing here (a partial clone?)")
            elif size > policy.limit:
                yield replace(blob, skipped=too_large(size, policy))
            else:
                _, data = next(bytes_of)
                if data is None:
                    yield replace(blob, skipped="its object is missing or no blob")
                elif data.startswith(LFS_POINTER):
                    yield replace(blob, skipped="a pointer of Git LFS: its text lies outside the repository")
                elif is_encrypted(data):
                    yield replace(blob, skipped=STILL_ENCRYPTED)
                else:
                    yield replace(blob, data=data)


def too_large(size: int, policy: Policy) -> str:
    return f"{size} bytes, more than the {policy.limit} a memory file may have"


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
