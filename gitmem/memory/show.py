"""Read one memory file from the work tree or from a commit, for `git mem show` and `memory_get`.

`files` decides which paths may be read: only memory files of this repository, and never through a symbolic link.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.git.opening import Repository
from gitmem.memory.document import decode, split_lines
from gitmem.memory.facts import parse_lines
from gitmem.memory.files import read_memory_file
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.paths import Kind, kind
from gitmem.plural import counted
from gitmem.shell_word import shell_word


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A memory file that was read. `at`: "worktree" or the commit. `blob`: the oid of the file's bytes. `lines`: its
    lines without their ends, with forgotten texts masked (but not in MEMORY.md of the work tree)."""

    path: str
    at: str
    blob: str
    lines: tuple[str, ...]


def read(repo: Repository, config: Config, path: str, commit: str = "", forgotten: Forgotten = NOTHING) -> ShownFile:
    """Read a memory file of the work tree, or at `commit` (default in a bare repository: HEAD), with `forgotten` texts
    masked, except in MEMORY.md of the work tree.

    Raises MissingFile if there is no such memory file, OutsideRepository for a path that leaves the repository or goes
    through a link, and GitMemError for a file that is too large or cannot be decoded.
    """
    if repo.root is None:
        commit = commit or repo.head() or ""
    data = read_memory_file(repo, config, path, commit)
    text, problems = decode(data, path)
    if not text and problems:
        raise GitMemError(f"'{path}': {problems[0].message}", problems[0].hint)
    lines = split_lines(text)
    if commit or kind(path) is not Kind.MEMORY:  # MEMORY.md of the work tree is read as it is now
        lines = forgotten.lines(lines)
    return ShownFile(path, commit or "worktree", repo.hash_blob(data), tuple(lines))


def statement_at(shown: ShownFile, line: int) -> tuple[int, int]:
    """The first and last line of the statement that contains `line`; `line` twice if no statement contains it."""
    entry = parse_lines(shown.lines).at(line)
    if entry and line <= entry.fact.end:
        return entry.start, entry.fact.end
    return line, line


class ShownLines(NamedTuple):
    """Lines of a file. `at`: `worktree` or a commit. `blob`: the oid of the whole file."""

    path: str
    at: str
    blob: str
    start_line: int
    end_line: int
    text: str


def lines_of(shown: ShownFile, first: int = 0, last: int = 0) -> ShownLines:
    """Lines `first` to `last` of a file; 0 means the first or the last line of the file.

    A `last` past the end means the last line; a `last` before `first` gives an empty text. Raises UsageError if `first`
    is past the end of the file.
    """
    start, end = first or 1, min(last or len(shown.lines), len(shown.lines))
    if start > max(1, len(shown.lines)):
        raise UsageError(
            f"'{shown.path}' has {counted(len(shown.lines), 'line')}", f"git mem show {shell_word(shown.path)}"
        )
    text = "\n".join(shown.lines[start - 1 : end])
    return ShownLines(shown.path, shown.at, shown.blob, start, end, text)
