"""Reads objects through one `git cat-file --batch-command` process (Git 2.36 or newer)."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import IO, NamedTuple

from gitmem.errors import GitFailed, GitMemError, ObjectsLeftOut
from gitmem.git.process import NO_GIT, Git, is_left_out
from gitmem.messages import Message
from gitmem.shell_word import shell_word

HEX = frozenset("0123456789abcdef")
KINDS = (b"blob", b"tree", b"commit", b"tag")
OIDS_PER_REQUEST = 64  # sent at once: they fit into any pipe, so neither side can block the other
NAMES_PER_REQUEST = 8  # the same for names, which are longer than oids
PROMISOR_KEYS = r"^(extensions\.partialclone|remote\..*\.promisor)$"
# Prints those of the oids on standard input that are here, and asks no remote. It goes into trees: give it blobs only.
PRESENT = (
    "rev-list",
    "--objects",
    "--no-object-names",
    "--no-walk",
    "--missing=allow-any",
    "--ignore-missing",
    "--stdin",
)


class Header(NamedTuple):
    """What Git says of an object. `kind`: blob, tree, commit or tag. `size`: in bytes. For a missing object `oid` and
    `kind` are "" and `size` is 0."""

    oid: str
    kind: str
    size: int


MISSING = Header("", "", 0)


class CatFile:
    """One `git cat-file` process, which answers requests for objects. It is started for the first request, and again if
    it ended. Every method that asks the process raises GitFailed if the process ends before its answer is complete.

    git ends when it is asked for an object that a partial clone left out, since it may not fetch; the error is then
    ObjectsLeftOut. `skips_left_out`: `blobs` and `sizes` take such a blob as missing instead. `left_out`: the oids of
    the blobs that they took so.
    """

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None
        self.skips_left_out = False
        self.left_out: set[str] = set()

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
            yield from (header for header, _ in self._answers("info", request))

    def contents(self, name: str) -> tuple[Header, bytes]:
        """The header and the bytes of the object `name`; MISSING and b"" if there is none."""
        if not _is_one_line(name):
            return MISSING, b""
        return next(self._answers("contents", [name]))

    def blobs(self, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
        """(oid, bytes as stored) in the order of `oids`; None if the object is missing or not a blob. Raises GitFailed
        for an oid that is not hexadecimal, and if git ended."""
        for request in _batches(oids, OIDS_PER_REQUEST):
            if not all(HEX.issuperset(oid) for oid in request):
                raise GitFailed("an object id must be hexadecimal")
            for oid, (header, data) in zip(request, self._blob_answers("contents", request), strict=True):
                yield oid, data if header.kind == "blob" else None

    def sizes(self, oids: Iterable[str]) -> dict[str, int]:
        """oid -> size in bytes, for each object that exists. An oid that is not hexadecimal is left out."""
        sizes = {}
        for request in _batches((oid for oid in oids if HEX.issuperset(oid)), OIDS_PER_REQUEST):
            answers = zip(request, self._blob_answers("info", request), strict=True)
            sizes.update({oid: header.size for oid, (header, _) in answers if header.kind})
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
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):  # a request that an ended process did not read
                    pipe.close()
        process.terminate()  # closed pipes may not end it: a process forked meanwhile may hold them open
        process.wait()

    def _request(self, verb: str, names: Sequence[str]) -> IO[bytes]:
        """Send one request for each name, and return the pipe with the answers. The caller must read all of them.
        Raises _Ended if git ended."""
        requests, answers = self.open()
        try:
            requests.write("".join(f"{verb} {name}\n" for name in names).encode("utf-8", "surrogateescape"))
            requests.flush()
        except BrokenPipeError:
            raise _Ended from None
        return answers

    def _answers(self, verb: str, names: Sequence[str]) -> Iterator[tuple[Header, bytes]]:
        """The header of each object and, for the verb `contents`, its bytes. Raises GitFailed if git ended."""
        results: list[tuple[Header, bytes]] = []
        try:
            answers = self._request(verb, names)
            for _ in names:
                header = self._header(answers)
                data = b""
                if verb == "contents":
                    data = self._data(answers, header)
                results.append((header, data))
        except _Ended:
            raise self._why_it_ended(names[len(results)]) from None
        return iter(results)

    def _blob_answers(self, verb: str, oids: Sequence[str]) -> Iterator[tuple[Header, bytes]]:
        """As `_answers` for blobs; MISSING for those that a partial clone left out, if `skips_left_out` is set."""
        if not self.skips_left_out:
            return self._answers(verb, oids)
        if self.left_out:
            self._find_left_out(oids)
        present = [oid for oid in oids if oid not in self.left_out]
        try:
            answers = self._answers(verb, present)
        except ObjectsLeftOut:
            self._find_left_out(oids)
            if self.left_out.isdisjoint(present):
                raise
            return self._blob_answers(verb, oids)
        return (next(answers) if oid not in self.left_out else (MISSING, b"") for oid in oids)

    def _find_left_out(self, oids: Sequence[str]) -> None:
        """Add those of these blobs that are not here to `left_out`."""
        output = self._git.run(PRESENT, stdin="".join(f"{oid}\n" for oid in oids if oid).encode("ascii"))
        self.left_out.update(set(oids).difference(output.decode("ascii").split()))

    def _data(self, answers: IO[bytes], header: Header) -> bytes:
        """Read the bytes of an object whose header was read. Raises _Ended if git ended."""
        if not header.kind:
            return b""
        data = answers.read(header.size)
        answers.read(1)
        if len(data) != header.size:
            raise _Ended
        return data

    def _header(self, answers: IO[bytes]) -> Header:
        """Read a line `<oid> <kind> <size>`; any other line says that the object is missing. Raises _Ended if git
        ended."""
        line = answers.readline()
        if not line:
            raise _Ended
        words = line.split()
        if len(words) == 3 and words[2].isdigit() and words[1] in KINDS:
            return Header(words[0].decode(), words[1].decode(), int(words[2]))
        return MISSING

    def _why_it_ended(self, name: str) -> GitFailed:
        """The error if the process ended when it was asked for `name`. Ends what is left of it."""
        self.close()
        asked = self._git.result(["cat-file", "-e", name])
        if is_left_out(asked.stderr):
            return self.left_out_error()
        return GitFailed("git cat-file ended early", "Git 2.36 or newer is needed")

    def left_out_error(self) -> ObjectsLeftOut:
        """The error for an object that this partial clone left out; its hint fetches all from the promisor remote."""
        words = self._git.run(["config", "--get-regexp", PROMISOR_KEYS], ok=(0, 1)).decode("utf-8", "replace").split()
        remote = "".join(words[:1]).removeprefix("remote.").removesuffix(".promisor")
        if remote.startswith("extensions"):
            remote = "".join(words[1:2])
        return ObjectsLeftOut(
            Message("this partial clone left out an object, and its promisor remote '{}' is not asked for it", remote),
            Message("when '{}' can be reached: {}", remote, f"git fetch --refetch --no-filter {shell_word(remote)}"),
        )


class _Ended(Exception):
    """The process ended before its answer was complete."""


def _is_one_line(name: str) -> bool:
    return bool(name) and "\n" not in name and "\0" not in name


def _batches(items: Iterable[str], size: int) -> Iterator[list[str]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch
