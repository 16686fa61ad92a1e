"""Reads objects through one `git cat-file --batch-command` process (Git 2.36 or newer)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, NamedTuple

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.process import NO_GIT, Git
from gitmem.messages import Message

HEX = frozenset("0123456789abcdef")
KINDS = (b"blob", b"tree", b"commit", b"tag")
OIDS_PER_REQUEST = 64  # sent at once: they fit into any pipe, so neither side can block the other
NAMES_PER_REQUEST = 8  # the same for names, which are longer than oids
PROMISOR_KEYS = r"^(extensions\.partialclone|remote\..*\.promisor)$"


class Header(NamedTuple):
    """What Git says of an object. `kind`: blob, tree, commit or tag. `size`: in bytes. For a missing object `oid` and
    `kind` are "" and `size` is 0."""

    oid: str
    kind: str
    size: int


MISSING = Header("", "", 0)


class CatFile:
    """One `git cat-file` process, which answers requests for objects. It is started for the first request, and again if
    it ended. Every method that asks the process raises GitFailed if the process ends before its answer is complete."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_open(self) -> bool:
        """Whether the process was started and not closed. It may have ended by itself."""
        return self._process is not None

    def info(self, name: str) -> Header:
        """The header of the object `name`: an oid, or any name that Git knows. MISSING if there is none, and for an
        empty name or one with a line break or NUL."""
        return next(self.infos([name])) if _is_one_line(name) else MISSING

    def infos(self, names: Iterable[str]) -> Iterator[Header]:
        """The headers of the objects `names`, in this order; MISSING for an object that is not there. The names must
        hold no line break."""
        for request in _batches(names, NAMES_PER_REQUEST):
            yield from self._headers(request)

    def contents(self, name: str) -> tuple[Header, bytes]:
        """The header and the bytes of the object `name`; MISSING and b"" if there is none."""
        if not _is_one_line(name):
            return MISSING, b""
        return self._object(self._request("contents", [name]))

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """(oid, bytes as stored) in the order of `oids`; None if the object is missing or not a blob. Raises GitFailed
        for an oid that is not hexadecimal, and if git ended."""
        for request in _batches(oids, OIDS_PER_REQUEST):
            if not all(HEX.issuperset(oid) for oid in request):
                raise GitFailed("an object id must be hexadecimal")
            answers = self._request("contents", request)
            objects = [self._object(answers) for _ in request]
            for oid, (header, data) in zip(request, objects, strict=True):
                yield oid, data if header.kind == "blob" else None

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """oid -> size in bytes, for each object that exists. An oid that is not hexadecimal is left out."""
        sizes = {}
        for request in _batches((oid for oid in oids if HEX.issuperset(oid)), OIDS_PER_REQUEST):
            headers = zip(request, self._headers(request), strict=True)
            sizes.update({oid: header.size for oid, header in headers if header.kind})
        return sizes

    def open(self) -> tuple[IO[bytes], IO[bytes]]:
        """Start the process if it does not run. Returns its standard input and its standard output. Raises
        GitMemError if git is not installed."""
        if self._process is None or self._process.poll() is not None:
            try:
                self._process = subprocess.Popen(
                    self._git.command(["cat-file", "--batch-command"]),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._git.env,
                )  # fmt: skip
            except FileNotFoundError:
                raise GitMemError(*NO_GIT) from None
        assert self._process.stdin is not None and self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.terminate()  # closed pipes may not end it: a process forked meanwhile may hold them open
        self._process.wait()
        self._process = None

    def _request(self, verb: str, names: Sequence[str]) -> IO[bytes]:
        """Send one request for each name, and return the pipe with the answers. The caller must read all of them.
        Raises GitFailed if git ended."""
        requests, answers = self.open()
        try:
            requests.write("".join(f"{verb} {name}\n" for name in names).encode("utf-8", "surrogateescape"))
            requests.flush()
        except BrokenPipeError:
            raise self._ended_early() from None
        return answers

    def _headers(self, names: Sequence[str]) -> list[Header]:
        answers = self._request("info", names)
        return [self._header(answers) for _ in names]

    def _object(self, answers: IO[bytes]) -> tuple[Header, bytes]:
        """Read the answer to a `contents`. Raises GitFailed if git ended."""
        header = self._header(answers)
        if not header.kind:
            return header, b""
        data = answers.read(header.size)
        answers.read(1)
        if len(data) != header.size:
            raise self._ended_early()
        return header, data

    def _header(self, answers: IO[bytes]) -> Header:
        """Read a line `<oid> <kind> <size>`; any other line says that the object is missing. Raises GitFailed if git
        ended."""
        line = answers.readline()
        if not line:
            raise self._ended_early()
        words = line.split()
        if len(words) == 3 and words[2].isdigit() and words[1] in KINDS:
            return Header(words[0].decode(), words[1].decode(), int(words[2]))
        return MISSING

    def _ended_early(self) -> GitFailed:
        """The error if the process ended: in a partial clone it ends when it cannot fetch a missing object."""
        import shlex  # a search need not pay for it

        words = self._git.run(["config", "--get-regexp", PROMISOR_KEYS], ok=(0, 1)).decode("utf-8", "replace").split()
        if not words:
            return GitFailed("git cat-file ended early", "Git 2.36 or newer is needed")
        remote = words[0].removeprefix("remote.").removesuffix(".promisor")
        if remote.startswith("extensions"):
            remote = "".join(words[1:2])
        return GitFailed(
            Message(
                "this is a partial clone, and its promisor remote '{}' did not give an object that is not here", remote
            ),
            Message("when '{}' can be reached: {}", remote, f"git fetch --refetch --no-filter {shlex.quote(remote)}"),
        )


def _is_one_line(name: str) -> bool:
    return bool(name) and "\n" not in name and "\0" not in name


def _batches(items: Iterable[str], size: int) -> Iterator[list[str]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
