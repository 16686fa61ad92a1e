"""Memory files written for a commit that is about to be made: as they were again where it is not made.

A record of what stood there lies beside Git's own state meanwhile, so that a killed run is undone by the next one.
Holds no lock: whoever calls has `write`.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes, write_atomic
from gitmem.git.write import run_git

RECORD = "gitmem-attempt.json"  # in the Git directory of the work tree
LIMIT = 64 << 20  # bytes of it that are read: memory files are small, and somebody else may have put it there


@contextmanager
def attempt(repo: Repository, contents: Mapping[str, bytes]) -> Iterator[None]:
    """Write `contents` (path -> bytes); the block commits or stages them. When it raises, the files and what is staged
    of them are as they were."""
    assert repo.root is not None
    before = {path: _present(repo, path) for path in contents}
    record = {
        path: {
            "before": None if old is None else base64.b64encode(old).decode(),
            "after": hashlib.sha256(contents[path]).hexdigest(),
        }
        for path, old in before.items()
    }
    write_atomic(repo.git_dir, RECORD, json.dumps(record).encode(), private=True)
    try:
        for path, data in contents.items():
            write_atomic(repo.root, path, data)
        yield
    except BaseException:
        for path, old in before.items():
            _put_back(repo, path, old)
        raise
    finally:
        (repo.git_dir / RECORD).unlink(missing_ok=True)


def recover(repo: Repository) -> list[str]:
    """Undo what a killed run left: files that hold just what it wrote, where HEAD does not. The paths put back.

    A file that somebody changed since stays as it is, and so does what a record names that is no file of ours.
    """
    try:
        record = json.loads(read_bytes(repo.git_dir, RECORD, LIMIT))
        rows = [(path, row["before"], row["after"]) for path, row in record.items()]
        known = [(path, None if old is None else base64.b64decode(old), after) for path, old, after in rows]
    except FileNotFoundError:
        return []
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OSError, OutsideRepository):
        known = []  # killed while it was written: nothing else had begun; or no record of ours
    undone = []
    head = repo.head()
    for path, old, after in known:
        data = _ours(repo, path)
        if data is None or data == old or hashlib.sha256(data).hexdigest() != after:
            continue
        if head and as_committed(repo, {entry.path: entry.oid for entry in repo.entries(head, [path])}.get(path), data):
            continue
        _put_back(repo, path, old)
        undone.append(path)
    _drop(repo)
    return undone


def _drop(repo: Repository) -> None:
    """Take the record away. Raises GitMemError where that cannot be: the next run would meet it again."""
    try:
        (repo.git_dir / RECORD).unlink(missing_ok=True)
    except OSError as error:
        raise GitMemError(f"cannot remove '{repo.git_dir / RECORD}': {error.strerror}") from None


def _ours(repo: Repository, path: str) -> bytes | None:
    """The file's bytes; None where it is gone, or is nothing that `attempt` could have written."""
    try:
        return _present(repo, path)
    except (OSError, ValueError, OutsideRepository):
        return None


def as_committed(repo: Repository, oid: str | None, data: bytes) -> bool:
    """Whether a work-tree file's bytes are that blob, its line ends aside."""
    return oid in (repo.hash_blob(data), repo.hash_blob(data.replace(b"\r\n", b"\n")))


def _present(repo: Repository, path: str) -> bytes | None:
    assert repo.root is not None
    try:
        return read_bytes(repo.root, path)
    except FileNotFoundError:
        return None


def _put_back(repo: Repository, path: str, old: bytes | None) -> None:
    """The file as it was, and nothing of ours staged: neither the text nor the intent to add it."""
    assert repo.root is not None
    ours = _present(repo, path)
    staged = {entry.path: entry.oid for entry in repo.staged() if entry.path == path}
    if old is None:
        (repo.root / path).unlink(missing_ok=True)
        run_git(repo, ["rm", "--cached", "--quiet", "--ignore-unmatch", "--", path])
        return
    if ours is not None and ours != old and path in staged and as_committed(repo, staged[path], ours):
        run_git(repo, ["reset", "--quiet", "--", path])
    write_atomic(repo.root, path, old)
