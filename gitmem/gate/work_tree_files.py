"""Makes the gate's source of files in the work tree, read from disk. Symbolic links are never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from gitmem.errors import GitMemError, OutsideRepository
from gitmem.gate.blob_reading import STILL_ENCRYPTED, too_large
from gitmem.gate.changes import rules
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, Source
from gitmem.gate.policy import Policy
from gitmem.git.objects import GITLINK, LINKS, REGULAR, SYMLINK, is_encrypted
from gitmem.git.ranges import commit_ids
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.messages import Message


def work_tree_files(repo: Repository, names: Sequence[str], policy: Policy) -> Source:
    """The source of files of the work tree. `names`: repository-relative paths of files, and of folders, without a
    slash at the end, whose memory files are meant; [] for all memory files.

    A file that Git ignores is scanned only when it is named. Links are never followed. Raises GitMemError for a name
    that does not exist, and in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no files", Message("scan a range: {}", "git mem scan --history"))
    listed = [entry.path for entry in repo.staged()] + repo.untracked()
    listed = [path for path in dict.fromkeys(listed) if _is_checked(repo.root, path, policy)]
    paths: list[str] = []
    for name in names:
        place = repo.root / name
        if name in ("", "."):
            paths += listed
        elif place.is_dir() and not place.is_symlink():
            paths += [path for path in listed if path.startswith(f"{name}/")]
        elif place.is_symlink() or place.exists():
            paths.append(name)
        else:
            raise GitMemError(
                Message("there is no file '{}' here", name), "git mem scan --range A..B reads committed ones"
            )
    if not names:
        paths = listed
    chosen = list(dict.fromkeys(paths))
    modes = {path: _mode(repo.root / path) for path in chosen}
    files = [(path, mode) for path, mode in modes.items() if mode is not None]
    findings = [*rules.check_twins(chosen, listed, policy), *_nested(repo.root, chosen, policy)]
    for path, mode in files:
        findings += rules.check_entry(path, mode, policy)
        if mode == SYMLINK and policy.is_place_of_instructions(path):
            findings += rules.check_link(path, os.readlink(repo.root / path), policy)
    return Source(_files(repo.root, files, policy), tuple(findings), ids=partial(commit_ids, repo))


def _is_checked(root: Path, path: str, policy: Policy) -> bool:
    """Whether the gate scans the file at this path of the work tree, or has a rule about the link or folder there."""
    if policy.scans(path):
        return True
    stands_for = policy.is_place_of_memory(path.rstrip("/")) or policy.is_place_of_instructions(path)
    return stands_for and _mode(root / path) in LINKS


def _nested(root: Path, chosen: Sequence[str], policy: Policy) -> Iterator[Finding]:
    """A finding for each folder above these paths that is a Git repository of its own, except a place of instructions
    (`Policy.is_place_of_instructions`)."""
    folders = sorted({"/".join(path.split("/")[:n]) for path in chosen for n in range(1, path.count("/") + 1)})
    for folder in folders:
        if not policy.is_place_of_instructions(folder) and (root / folder / ".git").exists():
            yield rules.change_finding("submodule", folder, "a repository of its own inside memory: it is not read")


def _mode(place: Path) -> int | None:
    """The mode that Git would give a file, without its executable bit; GITLINK for a folder. None when it is deleted in
    the work tree or cannot be looked up."""
    try:
        status = place.lstat()
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return SYMLINK
    if stat.S_ISDIR(status.st_mode):
        return GITLINK
    return REGULAR


def _files(root: Path, files: Iterable[tuple[str, int]], policy: Policy) -> Iterator[Blob]:
    """The blobs of the work-tree files (path, mode). A link is skipped; one that has a finding of its own is left
    out."""
    for path, mode in files:
        if mode != REGULAR:
            if not policy.is_place_of_memory(path) and not policy.is_place_of_instructions(path):
                yield Blob(path, b"", skipped="a symbolic link, not followed")
            continue
        try:
            size = (root / path).lstat().st_size
            if size > policy.limit:
                yield Blob(path, b"", skipped=too_large(size, policy))
            else:
                data = read_bytes(root, path, policy.limit + 1)
                if is_encrypted(data):
                    yield Blob(path, b"", skipped=STILL_ENCRYPTED)
                else:
                    yield Blob(path, data)
        except OSError as error:
            yield Blob(path, b"", skipped=f"cannot be read: {error.strerror}")
        except OutsideRepository:
            yield Blob(path, b"", skipped="cannot be read: it is behind a link or no regular file")
