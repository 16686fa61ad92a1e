"""The mirrors: bare clones of the repositories, in `mirrors/<tenant>/<repository>`. Searches read shown lines there.

No hook or command of a remote is run. Mirrors stay open over libgit2 between searches.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from gitmem.errors import GitFailed, GitMemError, NotARepository
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import clean
from gitmem.git.process import first_line
from gitmem.git.write import HOOK_VIEW

MAX_OPEN = 64  # mirrors that stay open between searches
FETCH_SECONDS = 600.0  # time limit of a git process
DOUBTED = "gitmem-doubted"  # a file in a mirror: a search missed an indexed blob, so the next fetch checks the mirror
REFS = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
UNPACK = "fetch.unpackLimit=1"  # keep all in packs: libgit2 1.9 loops forever on a truncated loose object
TIDY = ("-c", "gc.autoDetach=false", "-c", "gc.pruneExpire=now")  # delete at once, and leave no process behind
PROTOCOLS = "https:ssh:git:file"  # others, such as `ext::`, run commands


class Mirrors:
    """The mirrors below a folder: `fetch` makes and updates one, `lent` opens it for reading. `environ`: the variables
    of git's processes. Safe for several threads: an open mirror is lent to one thread at a time."""

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self.folder = folder
        self._environ = {name: value for name, value in environ.items() if name not in HOOK_VIEW}
        self._environ.update(GIT_TERMINAL_PROMPT="0", LC_ALL="C.UTF-8", GIT_ALLOW_PROTOCOL=PROTOCOLS)
        self._lock = threading.Lock()
        self._idle: OrderedDict[tuple[int, int], list[Repository]] = OrderedDict()
        self._renewed: set[tuple[int, int]] = set()

    def place(self, tenant: int, repository: int) -> Path:
        """The folder of a repository's mirror."""
        return self.folder / str(tenant) / str(repository)

    def fetch(self, tenant: int, repository: int, url: str) -> None:
        """Make a mirror or update its branches, tags and HEAD; refs that the remote no longer has are deleted. A mirror
        that was doubted is checked first and made anew if it is damaged. Raises GitFailed with a message without the
        address."""
        place = self.place(tenant, repository)
        if (place / DOUBTED).exists():
            (place / DOUBTED).unlink(missing_ok=True)
            if not self._is_whole(place):
                self.renew(tenant, repository)
        if not (place / "HEAD").exists():
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.rmtree(place, ignore_errors=True)
            self._git("init", "--quiet", "--bare", "--", os.fspath(place))
        in_mirror = ("-C", os.fspath(place))
        head = self._start_git("ls-remote", "--symref", "--", url, "HEAD")  # beside the fetch: both wait for the remote
        try:
            fetched = ("fetch", "--quiet", "--prune", "--no-write-fetch-head", "--no-auto-maintenance", "--")
            self._git(*in_mirror, "-c", UNPACK, *fetched, url, *REFS)
        except BaseException:
            _kill(head)
            raise
        for line in self._output_of(head).splitlines():
            if line.startswith("ref: refs/heads/") and line.endswith("\tHEAD"):
                self._git(*in_mirror, "symbolic-ref", "HEAD", line[5:-5])

    def _git(self, *arguments: str) -> str:
        return self._output_of(self._start_git(*arguments))

    def _start_git(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["git", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self._environ,
            stdin=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def _output_of(self, child: subprocess.Popen[bytes]) -> str:
        """The output of a git process, after its end. Raises GitFailed if it fails or takes longer than
        FETCH_SECONDS; then it is killed."""
        try:
            output, errors = child.communicate(timeout=FETCH_SECONDS)
        except subprocess.TimeoutExpired:
            _kill(child)
            raise GitFailed(f"no answer within {FETCH_SECONDS:.0f} seconds", "is the remote reachable?") from None
        if child.returncode:
            raise GitFailed("the repository cannot be fetched", "") from GitMemError(first_line(os.fsdecode(errors)))
        return os.fsdecode(output)

    def read_by_git(self, tenant: int, repository: int, oids: Iterable[str]) -> dict[str, bytes | None]:
        """oid -> the blob's bytes, None for a missing blob. The git binary reads them: libgit2 misses those of a mirror
        that another process made anew (see `renew`). Raises NotARepository if there is no mirror."""
        place = self.place(tenant, repository)
        with closing(open_repository(place, {**clean(self._environ), "GIT_DIR": os.fspath(place)})) as repo:
            return dict(repo.read_many(oids))

    def doubt(self, tenant: int, repository: int) -> None:
        """Mark a mirror so that the next fetch checks it."""
        with suppress(OSError):
            (self.place(tenant, repository) / DOUBTED).touch()

    def _is_whole(self, place: Path) -> bool:
        """Whether `git fsck` finds no fault in a mirror; False if there is no mirror."""
        try:
            self._git("-C", os.fspath(place), "fsck", "--no-dangling", "--no-progress")
        except GitFailed:
            return False
        return True

    def left_of(self, tenant: int, repositories: Iterable[int], oid: str = "") -> dict[str, int] | None:
        """What is left of removed repositories: {"copies": number of their mirrors, "unreachable": objects that no ref
        reaches, "blob": mirrors that have `oid`}. None if this machine has no mirrors. Raises GitFailed for a damaged
        mirror."""
        if not self.folder.is_dir():
            return None
        copies = []
        for place in (self.place(tenant, number) for number in repositories):
            copies += [folder for folder in (place, place.with_name(f"{place.name}.removed")) if folder.exists()]
        remains = {"copies": len(copies), "unreachable": 0, "blob": 0}
        for copy in map(os.fspath, copies):
            unreachable = self._git(
                "-C", copy, "fsck", "--unreachable", "--no-reflogs", "--connectivity-only", "--no-progress"
            )
            remains["unreachable"] += len(unreachable.splitlines())
            if oid:
                kinds = self._git("-C", copy, "cat-file", "--batch-check", "--batch-all-objects")
                remains["blob"] += sum(line.startswith(f"{oid} ") for line in kinds.splitlines())
        return remains

    def is_reachable(self, url: str) -> bool:
        """Whether a remote answers within FETCH_SECONDS."""
        try:
            self._git("ls-remote", "--quiet", "--", url, "HEAD")
        except GitFailed:
            return False
        return True

    def remove(self, tenant: int, repository: int) -> None:
        """Delete a mirror. It is renamed first, so that a search finds either the whole mirror or none."""
        self.close(tenant, repository)
        place = self.place(tenant, repository)
        removed = place.with_name(f"{place.name}.removed")
        shutil.rmtree(removed, ignore_errors=True)  # left over from an interrupted removal
        with suppress(OSError):
            place.rename(removed)
        shutil.rmtree(removed, ignore_errors=True)
        shutil.rmtree(place, ignore_errors=True)

    def renew(self, tenant: int, repository: int) -> None:
        """Delete a damaged mirror. The next fetch makes it anew, and this process then reads it with the git binary:
        libgit2 caches a pack by its path while it is open, and the new pack has the damaged one's name."""
        self.remove(tenant, repository)
        self._renewed.add((tenant, repository))

    def expire(self, tenant: int, repository: int) -> None:
        """Delete the objects that no branch and no tag reaches. Raises GitFailed if git fails."""
        place = os.fspath(self.place(tenant, repository))
        self._git("-C", place, "reflog", "expire", "--expire=now", "--all")
        self._git("-C", place, "gc", "--quiet", "--prune=now")
        self.close(tenant, repository)

    def tidy(self, tenant: int, repository: int) -> None:
        """Run `git gc --auto`, which joins many packs into one. Raises GitFailed if it fails."""
        place = os.fspath(self.place(tenant, repository))
        self._git("-C", place, *TIDY, "gc", "--auto", "--quiet")

    @contextmanager
    def lent(self, tenant: int, repository: int) -> Iterator[Repository]:
        """An open mirror, for a `with` block. Raises NotARepository if there is no mirror, also if it was removed
        meanwhile and the block fails. After an error in the block the mirror is closed."""
        key = (tenant, repository)
        with self._lock:
            idle = self._idle.get(key)
            repo = idle.pop() if idle else None
        place = self.place(tenant, repository)
        repo = repo or _open(place, clean(self._environ), binary=key in self._renewed)
        succeeded = False
        try:
            yield repo
            succeeded = True
        except Exception as error:
            if (place / "HEAD").exists() or isinstance(error, NotARepository):
                raise
            raise _missing() from error
        finally:
            to_close: list[Repository] = []
            with self._lock:
                if succeeded:
                    self._idle.setdefault(key, []).append(repo)
                    self._idle.move_to_end(key)
                    while len(self._idle) > MAX_OPEN:
                        to_close += self._idle.popitem(last=False)[1]
                else:
                    to_close.append(repo)
            for each in to_close:
                each.close()

    def close(self, tenant: int | None = None, repository: int | None = None) -> None:
        """Close the open mirrors that are not lent: a repository's, or all without arguments."""
        with self._lock:
            keys = list(self._idle)
            if tenant is not None and repository is not None:
                keys = [(tenant, repository)]
            to_close = [repo for key in keys for repo in self._idle.pop(key, ())]
        for repo in to_close:
            repo.close()


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a git process and the processes that it started."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.communicate()


def _open(place: Path, environ: Mapping[str, str], *, binary: bool) -> Repository:
    """An open mirror, over libgit2, or over the git binary with `binary` and for a format that libgit2 cannot open.
    Raises NotARepository if there is none."""
    from gitmem.git.library import open_bare

    if not (place / "HEAD").exists():
        raise _missing()
    alone = {**environ, "GIT_DIR": os.fspath(place)}
    try:
        if binary:
            return open_repository(place, alone)
        return open_bare(place, alone)
    except (GitFailed, NotARepository):  # SHA-256, reftable, a partial clone: libgit2 cannot, the git binary can
        try:
            return open_repository(place, alone)
        except GitMemError:
            if (place / "HEAD").exists():
                raise
            raise _missing() from None


def _missing() -> NotARepository:
    return NotARepository("there is no copy of this repository yet", "it is fetched in a moment")
