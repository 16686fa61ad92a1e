"""What each commit of a range changed, in one git process for the whole range. Reads only."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from gitmem import system
from gitmem.errors import GitFailed
from gitmem.git.binary import MAX_MEMORY, SAFE, bounded, failed_list, first_line, read_environment, too_many_files
from gitmem.git.objects import MAX_FILES
from gitmem.git.repository import Repository

IDS = 50_000  # commits whose oids are asked for, so that an id is not taken for a secret


@dataclass(frozen=True, slots=True)
class PathChange:
    """One path a commit changes: `olds` is its blob in each parent that has it, `new_oid` "" when it is deleted.

    Of a merge only what differs from every parent: the rest came from a side that is its own commit.
    """

    path: str
    mode: int
    new_oid: str
    olds: tuple[str, ...]

    @property
    def added(self) -> bool:
        return not self.olds and bool(self.new_oid)


def commits_touching(repo: Repository, revs: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The commits that `revs` (oids, `^oid`) reach and that touch a file below `paths` on any side of a merge, the
    oldest first: a commit comes after all its parents. Raises GitFailed."""
    order = ["--full-history", "--date-order", "--reverse"]
    return _git(repo, ["rev-list", *order, "--end-of-options", *revs, "--", *paths]).decode("ascii").split()


def touched(
    repo: Repository, commits: Iterable[str], paths: Sequence[str] = ()
) -> Iterator[tuple[str, list[PathChange]]]:
    """(commit, its changes) for each commit oid, in the order given; root commits against nothing. Only changes below
    `paths` where these are given.

    Where `oid parent` stands for an oid, the changes are those against this parent alone.
    """
    at = repo.root or repo.git_dir
    command = bounded([
        "git", *SAFE, "-C", str(at), "diff-tree", "--stdin", "-r", "-c", "--root", "--raw", "-z", "--no-abbrev",
        "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none",
        "--", *paths,
    ])  # fmt: skip
    from threading import Thread  # the hooks' way does not come here

    asked = "".join(f"{oid}\n" for oid in commits).encode()
    words: list[bytes] = []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=read_environment(repo.environ),
    ) as process:  # fmt: skip
        system.bound_memory(process.pid, MAX_MEMORY)
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        # Pipes and threads, no files: a full disk must not keep anybody from reading.
        threads = [
            Thread(target=_feed, args=(process.stdin, asked), daemon=True),
            Thread(target=_drain, args=(process.stderr, words), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            yield from _parse(_fields(process.stdout))
        except BaseException:
            process.kill()
            raise
        finally:
            for thread in threads:
                thread.join()
    if process.returncode != 0:
        raise failed_list("diff-tree", b"".join(words), process.returncode)


def _feed(pipe: IO[bytes], data: bytes) -> None:
    """Write all of the data and close; a process that ended does not read it."""
    with contextlib.suppress(OSError):
        pipe.write(data)
    with contextlib.suppress(OSError):
        pipe.close()


def _drain(pipe: IO[bytes], words: list[bytes]) -> None:
    """Keep the first words of a process's complaints, and read the rest: a pipe that nobody reads stops it."""
    with contextlib.suppress(OSError, ValueError):
        words.append(pipe.read(4096))
        while pipe.read(1 << 16):
            pass


def tags(repo: Repository) -> list[tuple[str, str]]:
    """(oid of the tag object, what it leads to) of each annotated tag."""
    form = "--format=%(objecttype) %(objectname) %(*objectname)"
    rows = [row.split() for row in _git(repo, ["for-each-ref", form, "refs/tags/"]).decode("ascii").splitlines()]
    return [(row[1], row[2]) for row in rows if row[0] == "tag" and len(row) == 3]


def tag_objects(repo: Repository, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(oid, bytes) of those oids that are annotated tags."""
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
    """The oids of the newest commits here, IDS at most."""
    return frozenset(_git(repo, ["rev-list", "--all", f"--max-count={IDS}"]).decode("ascii").split())


def _git(repo: Repository, args: Sequence[str], given: bytes = b"") -> bytes:
    command = ["git", *SAFE, "-C", str(repo.root or repo.git_dir), *args]
    done = subprocess.run(command, input=given, capture_output=True, env=read_environment(repo.environ), check=False)
    if done.returncode != 0:
        raise GitFailed(f"git {args[0]}: {first_line(os.fsdecode(done.stderr)) or done.returncode}")
    return done.stdout


def shallow(repo: Repository) -> frozenset[str]:
    """The commits at which a shallow clone's history was cut; empty in a whole one."""
    try:
        text = (repo.common_dir / "shallow").read_text(encoding="ascii")
    except FileNotFoundError:
        return frozenset()
    return frozenset(text.split())


def _fields(stream: IO[bytes]) -> Iterator[bytes]:
    """NUL-ended fields of a stream."""
    rest = b""
    while chunk := stream.read(1 << 16):
        *whole, rest = (rest + chunk).split(b"\0")
        yield from whole


def _parse(fields: Iterator[bytes]) -> Iterator[tuple[str, list[PathChange]]]:
    commit, ranges = "", list[PathChange]()
    for field in fields:
        if not field.startswith(b":"):
            if commit:
                yield commit, ranges
            commit, ranges = field.decode().strip(), []
            continue
        sides = len(field) - len(field.lstrip(b":"))
        words = field[sides:].decode().split(" ")
        modes, oids = words[: sides + 1], words[sides + 1 : 2 * sides + 2]
        olds = tuple(oid for oid in oids[:-1] if oid.strip("0"))
        new = ""
        if oids[-1].strip("0"):
            new = oids[-1]
        if len(ranges) >= MAX_FILES:
            raise too_many_files()
        ranges.append(PathChange(os.fsdecode(next(fields)), int(modes[-1], 8), new, olds))
    if commit:
        yield commit, ranges
