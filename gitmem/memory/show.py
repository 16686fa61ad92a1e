"""Reading one memory file, now or then: the flow behind `git mem show` and `memory_get`.

Only memory files of this repository are read, by any spelling of a path; links are never followed.
"""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.git.opening import Repository
from gitmem.memory.document import decode, split_lines
from gitmem.memory.facts import parse_lines
from gitmem.memory.files import read_memory_file
from gitmem.memory.forgotten import NOTHING, Forgotten
from gitmem.paths import Kind, kind
from gitmem.plural import counted


@dataclass(frozen=True, slots=True)
class ShownFile:
    """A file's lines at `at` ("worktree" or a commit) and the blob they are."""

    path: str
    at: str
    blob: str
    lines: tuple[str, ...]


def read(repo: Repository, config: Config, path: str, commit: str = "", forgotten: Forgotten = NOTHING) -> ShownFile:
    """The file in the work tree, or at `commit` (HEAD in a bare repository), without what was `forgotten`.

    Raises MissingFile, OutsideRepository, and GitMemError for bytes that are no text.
    """
    commit = commit or ("" if repo.root is not None else repo.head() or "")
    data = read_memory_file(repo, config, path, commit)
    text, problems = decode(data, path)
    if not text and problems:
        raise GitMemError(f"'{path}': {problems[0].message}", problems[0].hint)
    # what stands there now is no secret
    if kind(path) is Kind.MEMORY and not commit:
        mask = NOTHING
    else:
        mask = forgotten
    return ShownFile(path, commit or "worktree", repo.hash_blob(data), tuple(mask.lines(split_lines(text))))


def statement_at(shown: ShownFile, line: int) -> tuple[int, int]:
    """The first and last line of the statement that a line is part of; the line itself where it is part of none."""
    entry = parse_lines(shown.lines).at(line)
    if entry and line <= entry.fact.end:
        return (entry.start, entry.fact.end)
    return (line, line)


def as_value(shown: ShownFile, first: int = 0, last: int = 0) -> dict[str, object]:
    """The JSON of docs/json.md, "show": lines `first` to `last`, 0 for the ends. Raises UsageError past the end."""
    start, end = first or 1, min(last or len(shown.lines), len(shown.lines))
    if start > max(1, len(shown.lines)):
        raise UsageError(f"'{shown.path}' has {counted(len(shown.lines), 'line')}", f"git mem show {quote(shown.path)}")
    text = "\n".join(shown.lines[start - 1 : end])
    return {"path": shown.path, "at": shown.at, "blob": shown.blob, "start_line": start, "end_line": end, "text": text}
