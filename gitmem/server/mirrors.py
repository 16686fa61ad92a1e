"""Bare copies of the repositories, one folder each: where lines are read from when they are shown.

`mirrors/<tenant>/<repository>`; nothing of a remote is run. Repositories stay open over libgit2 between searches.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from gitmem.errors import GitFailed, GitMemError, NotARepository
from gitmem.git.binary import first_line
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean
from gitmem.git.write import HOOK_VIEW

OPEN = 64  # repositories that stay open
FETCH_SECONDS = 600.0
DOUBTED = "gitmem-doubted"  # a file in a copy of which a search could not read what should be there
REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
UNPACK = "fetch.unpackLimit=1"  # all in packs: libgit2 1.9 loops without end at a loose object that is cut short
TIDY = ("-c", "gc.autoDetach=false", "-c", "gc.pruneExpire=now")  # what is to be gone is gone, and nothing runs on
PROTOCOLS = "https:ssh:git:file"  # `ext::` and the like would run commands


class Mirrors:
    """The copies below a folder. Safe for several threads: an open repository is lent to one at a time."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self._environ = {name: value for name, value in environ.items() if name not in HOOK_VIEW}
        self._environ.update(GIT_TERMINAL_PROMPT="0", LC_ALL="C.UTF-8", GIT_ALLOW_PROTOCOL=PROTOCOLS)
        self._lock = threading.Lock()
        self._idle: OrderedDict[tuple[int, int], list[Repository]] = OrderedDict()
        self._renewed: set[tuple[int, int]] = set()

    def place(self, tenant: int, repository: int) -> Path:
        """Where the copy of a repository lies."""
        return self.folder / str(tenant) / str(repository)

    def fetch(self, tenant: int, repository: int, url: str) -> None:
        """Make a copy, or bring it up to date with branches and tags; what the remote no longer has goes. Raises
        GitFailed, never naming the address."""
        place = self.place(tenant, repository)
        if (place / DOUBTED).exists():
            (place / DOUBTED).unlink(missing_ok=True)
            if not self._is_whole(place):
                self.renew(tenant, repository)
        if not (place / "HEAD").exists():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.rmtree(place, ignore_errors=True)
            self._git("init", "--quiet", "--bare", "--", os.fspath(place))
        here = ("-C", os.fspath(place))
        head = self._started("ls-remote", "--symref", "--", url, "HEAD")  # meanwhile: each waits for the remote
        try:
            fetched = ("fetch", "--quiet", "--prune", "--no-write-fetch-head", "--no-auto-maintenance", "--")
            self._git(*here, "-c", UNPACK, *fetched, url, *REFS)
        except BaseException:
            _kill(head)
            raise
        for line in self._output(head).splitlines():
            if line.startswith("ref: refs/heads/") and line.endswith("\tHEAD"):
                self._git(*here, "symbolic-ref", "HEAD", line[5:-5])

    def _git(self, *arguments: str) -> str:
        return self._output(self._started(*arguments))

    def _started(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environ,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def _output(self, child: subprocess.Popen[bytes]) -> str:
        try:
            out, wrong = child.communicate(timeout=FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(child)
            raise GitFailed(f"no answer within {FETCH_SECONDS:.0f} seconds", "is the remote reachable?") from None
        if child.returncode:
            raise GitFailed("the repository cannot be fetched", "") from GitMemError(first_line(os.fsdecode(wrong)))
        return os.fsdecode(out)

    def read_by_git(self, tenant: int, repository: int, oids: Iterable[str]) -> dict[str, bytes | None]:
        """Blobs read with the git binary, for what libgit2 does not find: see `renew`, which another process ran."""
        place = self.place(tenant, repository)
        repo = open_repository(place, {**clean(self._environ), "GIT_DIR": os.fspath(place)})
        try:
            return dict(repo.read_many(oids))
        finally:
            repo.close()

    def doubt(self, tenant: int, repository: int) -> None:
        """Have the next fetch look whether a copy is whole."""
        with suppress(OSError):
            (self.place(tenant, repository) / DOUBTED).touch()

    def _is_whole(self, place: Path) -> bool:
        try:
            self._git("-C", os.fspath(place), "fsck", "--no-dangling", "--no-progress")
        except GitFailed:
            return False
        return True

    def left_of(self, tenant: int, repositories: Iterable[int], oid: str = "") -> dict[str, int] | None:
        """How many copies there are of these repositories, how many objects in them that no branch and no tag reaches,
        and whether `oid` is among their objects; None where this machine has no copies. Raises GitFailed for a copy
        that is damaged."""
        if not self.folder.is_dir():
            return None
        places = [self.place(tenant, number) for number in repositories]
        copies = [place for one in places for place in (one, one.with_name(f"{one.name}.removed")) if place.exists()]
        left = {"copies": len(copies), "unreachable": 0, "blob": 0}
        for copy in map(os.fspath, copies):
            found = self._git(
                "-C", copy, "fsck", "--unreachable", "--no-reflogs", "--connectivity-only", "--no-progress"
            )
            left["unreachable"] += len(found.splitlines())
            if oid:
                kinds = self._git("-C", copy, "cat-file", "--batch-check", "--batch-all-objects")
                left["blob"] += sum(line.startswith(f"{oid} ") for line in kinds.splitlines())
        return left

    def is_reachable(self, url: str) -> bool:
        """Whether a remote answers."""
        try:
            self._git("ls-remote", "--quiet", "--", url, "HEAD")
        except GitFailed:
            return False
        return True

    def remove(self, tenant: int, repository: int) -> None:
        """Delete a copy, and its objects with it. It is moved away first: a search finds it whole or not at all."""
        self.close(tenant, repository)
        place = self.place(tenant, repository)
        removed = place.with_name(f"{place.name}.removed")
        shutil.rmtree(removed, ignore_errors=True)  # of a removal that was cut off
        with suppress(OSError):
            place.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)
        shutil.rmtree(place, ignore_errors=True)

    def renew(self, tenant: int, repository: int) -> None:
        """Delete a copy that is damaged: the next fetch makes it anew, and this process reads that with the git binary.

        libgit2 remembers a pack by its path for as long as anybody has it open, and the new pack has the name of the
        damaged one."""
        self.remove(tenant, repository)
        self._renewed.add((tenant, repository))

    def expire(self, tenant: int, repository: int) -> None:
        """Delete the objects that no branch and no tag reaches."""
        place = os.fspath(self.place(tenant, repository))
        self._git("-C", place, "reflog", "expire", "--expire=now", "--all")
        self._git("-C", place, "gc", "--quiet", "--prune=now")
        self.close(tenant, repository)

    def tidy(self, tenant: int, repository: int) -> None:
        """Have a copy of many packs be one pack, as `git gc --auto` says when."""
        place = os.fspath(self.place(tenant, repository))
        self._git("-C", place, *TIDY, "gc", "--auto", "--quiet")

    @contextmanager
    def lent(self, tenant: int, repository: int) -> Iterator[Repository]:
        """A copy, open. Raises NotARepository where there is none, or none any more when something fails."""
        key = (tenant, repository)
        with self._lock:
            idle = self._idle.get(key)
            repo = None
            if idle:
                repo = idle.pop()
        place = self.place(tenant, repository)
        repo = repo or _open(place, clean(self._environ), binary=key in self._renewed)
        good = False
        try:
            yield repo
            good = True
        except Exception as error:
            if (place / "HEAD").exists() or isinstance(error, NotARepository):
                raise
            raise _missing() from error
        finally:
            closing: list[Repository] = []
            with self._lock:
                if good:
                    self._idle.setdefault(key, []).append(repo)
                    self._idle.move_to_end(key)
                    while len(self._idle) > OPEN:
                        closing += self._idle.popitem(last=False)[1]
                else:
                    closing.append(repo)
            for one in closing:
                one.close()

    def close(self, tenant: int | None = None, repository: int | None = None) -> None:
        """Close the copies that are open and not lent: one, or all."""
        with self._lock:
            if tenant is None or repository is None:
                keys = list(self._idle)
            else:
                keys = [(tenant, repository)]
            closing = [repo for key in keys for repo in self._idle.pop(key, ())]
        for repo in closing:
            repo.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    """End a git process, and what it started too."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _open(place: Path, environ: Mapping[str, str], *, binary: bool) -> Repository:
    """A copy, open over libgit2, or with `binary` by the git binary."""
    from gitmem.git.library import open_bare

    if not (place / "HEAD").exists():
        raise _missing()
    alone = {**environ, "GIT_DIR": os.fspath(place)}
    try:
        if binary:
            return open_repository(place, alone)
        return open_bare(place, alone)
    except (GitFailed, NotARepository):  # SHA-256, reftable, a partial clone: the git binary says what is
        try:
            return open_repository(place, alone)
        except GitMemError:
            if (place / "HEAD").exists():
                raise
            raise _missing() from None


def _missing() -> NotARepository:
    return NotARepository("there is no copy of this repository yet", "it is fetched in a moment")
