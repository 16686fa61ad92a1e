"""Reads files of a commit by their paths, and many blobs at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES

Key = TypeVar("Key")


def file_at(repo: Repository, commit: str, path: str) -> bytes | None:
    """The bytes of a file at a commit; None if the commit has no such file, and for the commit ""."""
    oid = repo.blobs(commit, [path]).get(path) if commit else None
    return repo.read(oid) if oid else None


def read_small_blobs(repo: Repository, blobs: Iterable[tuple[Key, str]]) -> Iterator[tuple[Key, bytes]]:
    """(key, bytes) for each (key, oid), in order. Left out are objects that are missing or no blob, and blobs above
    MAX_MEMORY_FILE_BYTES, which the gate refuses."""
    pairs = list(blobs)
    sizes = repo.sizes([oid for _, oid in pairs])
    small = [(key, oid) for key, oid in pairs if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    for (key, _), (_, data) in zip(small, repo.read_many([oid for _, oid in small]), strict=True):
        if data is not None:
            yield key, data
