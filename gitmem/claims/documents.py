"""The claims of all judged files of a commit. Each blob is read once; a file too large to be memory is left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims.agent_files import MOST_FILES, files_of
from gitmem.claims.extraction import claims_of
from gitmem.claims.judge import Said
from gitmem.git.objects import Entry
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES


class Documents(NamedTuple):
    """The claims of a commit's judged files, in order; `notes` say what was left out, `entries` are all its files."""

    said: list[Said]
    paths: list[str]
    notes: list[str]
    entries: list[Entry]


def read(repo: Repository, commit: str, daily: Iterable[str] = (), only: Sequence[str] = ()) -> Documents:
    """The claims of the files that a commit has, of those at `only` or below where given."""
    listed = repo.entries(commit)
    entries = files_of(listed, daily)
    if only:
        entries = [one for one in entries if any(one.path == path or one.path.startswith(f"{path}/") for path in only)]
    notes = []
    if len(entries) > MOST_FILES:
        notes.append(f"of {len(entries)} files that agents read, the first {MOST_FILES} are judged")
        entries = entries[:MOST_FILES]
    sizes = repo.sizes([entry.oid for entry in entries])
    small = [entry for entry in entries if sizes.get(entry.oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    if len(small) < len(entries):
        notes.append(f"{len(entries) - len(small)} files are larger than 1 MiB, or are not here, and are not judged")
    said: list[Said] = []
    for entry, (_, data) in zip(small, repo.read_many([entry.oid for entry in small]), strict=True):
        if data is not None and b"\0" not in data:
            said += [Said(entry.path, claim) for claim in claims_of(data.decode("utf-8", "replace"))]
    return Documents(said, [entry.path for entry in small], notes, listed)
