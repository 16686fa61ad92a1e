"""Reads what each commit of a range changed, by one git process for the whole range."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Thread
from typing import IO

from gitmem import system
from gitmem.errors import GitFailed
from gitmem.git.binary import (
    MAX_MEMORY,
    SAFE,
    bounded,
    failed_list,
    first_line,
    read_environment,
    read_in_thread,
    too_many_files,
)
from gitmem.git.objects import MAX_FILES
from gitmem.git.repository import Repository

MAX_COMMIT_IDS = 50_000  # of `commit_ids`


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path that a commit changes. `olds`: its blob in each parent that has it. `new_oid`: "" if deleted.

    A merge has only the paths that differ from every parent; any other change is in a commit of its own.
    """

    path: str
    mode: int
    new_oid: str
    olds: tuple[str, ...]

    @property
    def added(self) -> bool:
        return not self.olds and bool(self.new_oid)


def commits_touching(repo: Repository, revs: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The commits that `revs` (oids, `^oid`) reach and that change a file below `paths`, on all sides of merges.

    A commit comes after all its parents. Raises GitFailed.
    """
    order = ["--full-history", "--date-order", "--reverse"]
    return _git(repo, ["rev-list", *order, "--end-of-options", *revs, "--", *paths]).decode("ascii").split()


def touched(
    repo: Repository, commits: Iterable[str], paths: Sequence[str] = ()
) -> Iterator[tuple[str, list[PathChange]]]:
    """(commit, its changes) for each oid of `commits`, in order; only changes below `paths` if given.

    A root commit is compared with the empty tree. An element `OID PARENT` is compared with that parent only. Raises
    GitFailed, TooManyFiles.
    """
    at = repo.root or repo.git_dir
    command = bounded([
        "git", *SAFE, "-C", str(at), "diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", "--no-abbrev",
        "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
        "--", *paths,
    ])  # fmt: skip
    lines = "".join(f"{oid}\n" for oid in commits).encode()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=read_environment(repo.environ),
    ) as process:  # fmt: skip
        system.limit_memory(process.pid, MAX_MEMORY)
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        # Threads and pipes, no temporary files: a full disk must not stop a reader.
        stderr = read_in_thread(process.stderr)
        writer = Thread(target=_write_all, args=(process.stdin, lines), daemon=True)
        writer.start()
        try:
            yield from _parse(_fields(process.stdout))
        except BaseException:
            process.kill()
            raise
        finally:
            writer.join()
            problem = stderr()
    if process.returncode != 0:
        raise failed_list("diff-tree", problem, process.returncode)


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    """Write to a process and close the pipe; errors are ignored, because the process may have ended."""
    with contextlib.suppress(OSError):
        pipe.write(data)
    with contextlib.suppress(OSError):
        pipe.close()


def tags(repo: Repository) -> list[tuple[str, str]]:
    """(oid of the tag object, oid of the tagged object) of each annotated tag."""
    form = "--format=%(objecttype) %(objectname) %(*objectname)"
    rows = [row.split() for row in _git(repo, ["for-each-ref", form, "refs/tags/"]).decode("ascii").splitlines()]
    return [(row[1], row[2]) for row in rows if row[0] == "tag" and len(row) == 3]


def tag_objects(repo: Repository, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(oid, bytes) of those of `oids` that are tag objects."""
    data = _git(repo, ["cat-file", "--batch"], "".join(f"{oid}\n" for oid in oids).encode())
    while data:
        head, _, rest = data.partition(b"\n")
        words = head.split()
        if len(words) != 3:  # `<oid> missing`
            data = rest
            continue
        size = int(words[2])
        if words[1] == b"tag":
            yield words[0].decode("ascii"), rest[:size]
        data = rest[size + 1 :]


def commit_ids(repo: Repository) -> frozenset[str]:
    """The oids of the newest MAX_COMMIT_IDS commits of all refs: a detector does not take them for secrets."""
    return frozenset(_git(repo, ["rev-list", "--all", f"--max-count={MAX_COMMIT_IDS}"]).decode("ascii").split())


def _git(repo: Repository, args: Sequence[str], given: bytes = b"") -> bytes:
    command = ["git", *SAFE, "-C", str(repo.root or repo.git_dir), *args]
    result = subprocess.run(command, input=given, capture_output=True, env=read_environment(repo.environ), check=False)
    if result.returncode != 0:
        raise GitFailed(f"git {args[0]}: {first_line(os.fsdecode(result.stderr)) or result.returncode}")
    return result.stdout


def shallow(repo: Repository) -> frozenset[str]:
    """The commits at which the history of a shallow clone is cut; empty in a full clone."""
    try:
        text = (repo.common_dir / "shallow").read_text(encoding="ascii")
    except FileNotFoundError:
        return frozenset()
    return frozenset(text.split())


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    """The NUL-ended fields of a stream."""
    rest = b""
    while chunk := stream.read(1 << 16):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole


def _parse(fields: Iterator[bytes]) -> Iterator[tuple[str, list[PathChange]]]:
    """Parses `diff-tree --stdin -c --raw -z`: (commit, its changes)."""
    commit, changes = "", list[PathChange]()
    for field in fields:
        if not field.startswith(b":"):
            if commit:
                yield commit, changes
            commit, changes = field.decode().strip(), []
            continue
        sides = len(field) - len(field.lstrip(b":"))
        words = field[sides:].decode().split(" ")
        modes, oids = words[: sides + 1], words[sides + 1 : 2 * sides + 2]
        olds = tuple(oid for oid in oids[:-1] if oid.strip("0"))
        new = oids[-1] if oids[-1].strip("0") else ""
        if len(changes) >= MAX_FILES:
            raise too_many_files()
        changes.append(PathChange(os.fsdecode(next(fields)), int(modes[-1], 8), new, olds))
    if commit:
        yield commit, changes
