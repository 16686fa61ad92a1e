"""Reads the claims of all files of a commit that are checked. A file of more than MAX_MEMORY_FILE_BYTES is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims.agent_files import MAX_FILES, checked_files
from gitmem.claims.claim_lookup import FileClaim
from gitmem.claims.extraction import claims_of
from gitmem.git.objects import Entry
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES


class Documents(NamedTuple):
    """The claims of a commit's files. `claims`: in the order of files and lines. `paths`: the files that were read.
    `notes`: sentences for a person about files that were left out. `entries`: the listing of all files of the commit,
    also those that are not checked."""

    claims: list[FileClaim]
    paths: list[str]
    notes: list[str]
    entries: list[Entry]


def read(repo: Repository, commit: str, daily: Iterable[str] = (), only: Sequence[str] = ()) -> Documents:
    """Read the claims of a commit's files. `daily`: patterns of daily logs, which are not checked. `only`: read only
    the files at or below these paths.

    Only the first MAX_FILES files are read, and none above MAX_MEMORY_FILE_BYTES; notes of the result say so. A file
    with a NUL byte has no claims.
    """
    listed = repo.entries(commit)
    entries = checked_files(listed, daily)
    if only:
        below = tuple(f"{path}/" for path in only)
        entries = [entry for entry in entries if f"{entry.path}/".startswith(below)]
    notes = []
    if len(entries) > MAX_FILES:
        notes.append(f"of {len(entries)} files that agents read, the first {MAX_FILES} are judged")
        entries = entries[:MAX_FILES]
    sizes = repo.sizes([entry.oid for entry in entries])
    small = [entry for entry in entries if sizes.get(entry.oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    if len(small) < len(entries):
        notes.append(f"{len(entries) - len(small)} files are larger than 1 MiB, or are not here, and are not judged")
    claims: list[FileClaim] = []
    for entry, (_, data) in zip(small, repo.read_many([entry.oid for entry in small]), strict=True):
        if data is not None and b"\0" not in data:
            claims += [FileClaim(entry.path, claim) for claim in claims_of(data.decode("utf-8", "replace"))]
    return Documents(claims, [entry.path for entry in small], notes, listed)
