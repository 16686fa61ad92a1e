"""Compares files of the work tree with HEAD and with Git's index, and changes staged entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gitmem.errors import Changed, GitMemError
from gitmem.git.objects import Entry, is_encrypted
from gitmem.git.repository import Repository
from gitmem.git.write import run_git, stage_entries, store_blob
from gitmem.messages import Message


def is_committed(repo: Repository, path: str, data: bytes | None) -> bool:
    """Whether HEAD has `path` with the bytes `data`, or no such file if `data` is None. CRLF counts as LF."""
    return is_blob(repo, blob_oids(repo, repo.head(), [path]).get(path), data)


def blob_oids(repo: Repository, commit: str | None, paths: Sequence[str]) -> dict[str, str]:
    """path -> oid of the blob, for those of `paths` that `commit` has; {} if `commit` is None."""
    return repo.blobs(commit, paths) if commit is not None else {}


def is_blob(repo: Repository, oid: str | None, data: bytes | None) -> bool:
    """Whether `data`, the bytes of a file of the work tree, are the blob `oid`. None stands for no file; the result is
    True if both are None. CRLF in `data` counts as LF."""
    if data is None or oid is None:
        return data is None and oid is None
    return oid in (repo.hash_blob(data), repo.hash_blob(data.replace(b"\r\n", b"\n")))


def unstage(repo: Repository, path: str, *, keep: bytes | None, drop: bytes | None) -> None:
    """Reset the staged entry of `path` to HEAD if it has the text `drop`, unless it has the text `keep` too. Both may
    match if they differ only in line ends, because CRLF counts as LF. A text that is None matches if nothing is staged
    at `path`."""
    staged = {entry.path: entry.oid for entry in repo.staged() if entry.path == path}.get(path)
    if is_blob(repo, staged, drop) and not is_blob(repo, staged, keep):
        reset(repo, [path])


def reset(repo: Repository, paths: Sequence[str]) -> None:
    """Make the staged entries of `paths` what HEAD has."""
    if repo.head() is None:
        run_git(repo, ["rm", "--cached", "--quiet", "--force", "--ignore-unmatch", "--", *paths])
    else:
        run_git(repo, ["reset", "--quiet", "--", *paths])


@dataclass(frozen=True, slots=True)
class StagedText:
    """New bytes for an entry of Git's index. `before`: the entry now; its path and mode stay. `data`: the new bytes."""

    before: Entry
    data: bytes


def stage_over(repo: Repository, staged: Sequence[StagedText]) -> None:
    """Stage new bytes over entries of Git's index. Raises Changed, and stages nothing, if an entry is not as it was;
    GitMemError if the text of an encrypted file cannot be encrypted."""
    new_entries = [text.before._replace(oid=_stored(repo, text)) for text in staged]
    staged_now = {entry.path: (entry.mode, entry.oid) for entry in repo.staged()}
    for text in staged:
        if staged_now.get(text.before.path) != (text.before.mode, text.before.oid):
            raise Changed(
                Message("something else was staged of '{}' meanwhile; nothing was written", text.before.path),
                "run it again",
            )
    stage_entries(repo, new_entries)


def _stored(repo: Repository, text: StagedText) -> str:
    """Store the new bytes, encrypted if the old blob is. Returns the oid of the new blob. Raises GitMemError if they
    cannot be encrypted or stored."""
    (old_data,) = repo.stored([text.before.oid])
    if old_data is None or not is_encrypted(old_data):
        return store_blob(repo, text.data)
    git_crypt, encrypted = repo.git_crypt(), None
    if git_crypt and text.data:
        encrypted = git_crypt.encrypted_as(text.data, old_data)
    if encrypted is None:
        raise GitMemError(
            Message("'{}' is stored encrypted, and git-crypt did not encrypt its new text", text.before.path)
        )
    return store_blob(repo, encrypted)
