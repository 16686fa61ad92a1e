"""Starts git processes that only read.

No program that the repository's configuration names is run: no fsmonitor, external diff, textconv, signature check
or filter (docs/threats.md, A22).
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from gitmem import system
from gitmem.errors import GitFailed, GitMemError, ObjectsLeftOut, TooManyFiles
from gitmem.git.objects import MAX_FILES
from gitmem.git.repository import Repository
from gitmem.messages import Message

# Variables that Git sets for its hooks, or that a person sets for place and configuration. Git gets no other GIT_*.
PASSED_VARIABLES = {
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
}
PATTERNS = (
    "--no-pager", "--no-replace-objects",
    "-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-c", "core.quotePath=false",
    "-c", "blame.ignoreRevsFile=", "-c", "diff.renames=false", "-c", "submodule.recurse=false",
)  # fmt: skip
LITERAL = ("--literal-pathspecs", *PATTERNS)
SMALL_WINDOWS = ("-c", "core.packedGitLimit=256m", "-c", "core.packedGitWindowSize=16m")  # git fits into MAX_MEMORY
MAX_MEMORY = 2 << 30  # bytes that git may take for a list of files
NO_GIT = ("git is not installed or not on PATH", "install Git 2.36 or newer")  # message and hint of an error
UNFILTERED = "git fetch --refetch --no-filter gets all of them"  # hint where a partial clone lacks objects
PIECE_BYTES = 1 << 18  # read at once of a long output
MAX_STDERR_BYTES = 4096  # kept of a process's error output


def read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a git process that only reads: `environ`, of its GIT_* variables only PASSED_VARIABLES and
    settings, and variables by which Git takes no optional lock, asks nothing and fetches nothing."""
    passed = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
    env = {
        name: value
        for name, value in environ.items()
        if not name.startswith("GIT_") or name in PASSED_VARIABLES or name.startswith(passed)
    }
    env.update(LC_ALL="C", GIT_OPTIONAL_LOCKS="0", GIT_TERMINAL_PROMPT="0", GIT_NO_LAZY_FETCH="1")
    return env


class Git(NamedTuple):
    """How git is started: in `folder`, with the variables `env`. `options`: LITERAL, or PATTERNS if its paths are
    patterns."""

    folder: Path
    env: Mapping[str, str]
    options: tuple[str, ...] = LITERAL

    def command(self, args: Sequence[str]) -> list[str]:
        """The words of a git command: `git`, the options, `-C FOLDER`, then `args`."""
        return ["git", *self.options, "-C", str(self.folder), *args]

    def start(self, args: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a git command and do not wait for it. Raises GitMemError if git is not installed."""
        pipe = subprocess.PIPE
        try:
            return subprocess.Popen(
                self.command(args), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, env=self.env
            )
        except FileNotFoundError:
            raise GitMemError(*NO_GIT) from None

    def result(self, args: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run a git command to its end. Returns its output and its exit code. Raises GitMemError if git is not
        installed."""
        try:
            return subprocess.run(self.command(args), input=stdin, capture_output=True, env=self.env, check=False)
        except FileNotFoundError:
            raise GitMemError(*NO_GIT) from None

    def run(self, args: Sequence[str], ok: Container[int] = (0,), stdin: bytes = b"") -> bytes:
        """The output of a git command. `ok`: the exit codes that are no error. Raises GitFailed for any other,
        and as `result`."""
        result = self.result(args, stdin)
        if result.returncode not in ok:
            raise failure(args[0], result.stderr, result.returncode)
        return result.stdout

    @contextmanager
    def output(self, args: Sequence[str], lines: Iterable[str] = (), *, bounded: bool = True) -> Iterator[IO[bytes]]:
        """The standard output, as a stream, of a git command that reads `lines` from standard input. With `bounded` git
        gets at most MAX_MEMORY bytes.

        Git is killed if the block raises. Raises GitFailed at the end if git failed, TooManyFiles if it ran out of
        memory: it holds all of a difference in memory before it prints the first file.
        """
        pipe = subprocess.PIPE
        command = self.command([*(SMALL_WINDOWS if bounded else ()), *args])
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=self.env) as process:
            if bounded:
                system.limit_memory(process.pid, MAX_MEMORY)
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            # Threads and pipes, no temporary files: a full disk must not stop a reader.
            stderr = read_in_thread(process.stderr)
            text = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")
            writer = threading.Thread(target=_write_all, args=(process.stdin, text), daemon=True)
            writer.start()
            try:
                yield process.stdout
            except BaseException:
                process.kill()
                raise
            finally:
                writer.join()
                problem = stderr()
        out_of_memory = b"emory" in problem or process.returncode in (-9, -6, -11)
        if process.returncode != 0 and out_of_memory and bounded:
            raise too_many_files()
        if process.returncode != 0:
            raise failure(args[0], problem, process.returncode)

    def listing(self, args: Sequence[str], fields: int) -> bytes:
        """The output of a git list of files, `fields` NUL-ended fields per file.

        Raises TooManyFiles, and kills git, as soon as it prints more than MAX_FILES files. Raises the errors of
        `output` too.
        """
        pieces, count = [], 0
        with self.output(args) as output:
            while piece := output.read(PIECE_BYTES):
                pieces.append(piece)
                count += piece.count(b"\0")
                if count > fields * MAX_FILES:
                    raise too_many_files()
        return b"".join(pieces)


def git_of(repo: Repository) -> Git:
    """How git is started to read `repo`."""
    return Git(repo.root or repo.git_dir, read_environment(repo.environ))


def read_in_thread(pipe: IO[bytes]) -> Callable[[], bytes]:
    """Read the error output of a process to its end in a thread, so that a full pipe never stops the process.

    Returns a function that waits for the end and returns the first MAX_STDERR_BYTES. (Git warns once for each folder
    whose path is too long.)
    """
    beginning = bytearray()

    def read() -> None:
        with suppress(ValueError):  # the caller wants no more of the output and has closed the pipes
            while piece := pipe.read(PIECE_BYTES):
                beginning.extend(piece[: MAX_STDERR_BYTES - len(beginning)])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()

    def result() -> bytes:
        reader.join()
        return bytes(beginning)

    return result


def _write_all(pipe: IO[bytes], data: bytes) -> None:
    """Write to a process and close the pipe; errors are ignored, because the process may have ended."""
    with suppress(OSError):
        pipe.write(data)
    with suppress(OSError):
        pipe.close()


def failure(command: str, stderr: bytes, code: int) -> GitFailed:
    """The error for `git COMMAND`: the first line of its error output, or its exit code if it printed nothing. In a
    partial clone that lacks an object, the error says how to get it, since we let Git fetch nothing by itself."""
    if is_left_out(stderr):
        return objects_left_out(command)
    return GitFailed(f"git {command}: {first_line(os.fsdecode(stderr)) or code}")


def is_left_out(stderr: bytes) -> bool:
    """Whether git says in its error output that it needs an object which a partial clone left out."""
    return b"lazy fetching disabled" in stderr or b"from promisor remote" in stderr


def objects_left_out(command: str) -> ObjectsLeftOut:
    """The error for `git COMMAND` that needs objects which a partial clone left out."""
    return ObjectsLeftOut(Message("git {} needs objects that this partial clone left out", command), UNFILTERED)


def too_many_files() -> TooManyFiles:
    """The error for a tree, or a difference of trees, of more than MAX_FILES files."""
    return TooManyFiles(
        Message("a tree has more than {} files", f"{MAX_FILES:,}"), "nothing of it was read; leave that branch out"
    )


def first_line(words: str) -> str:
    """The first line of git's error output without `fatal:` or `error:`, at most 300 characters; "" if empty."""
    lines = [line for line in words.splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[0].removeprefix("fatal: ").removeprefix("error: ")[:300]
