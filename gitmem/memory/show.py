"""Reading one memory file, now or then: the flow behind `git mem show` and `memory_get`.

Only memory files of this repository are read, by any spelling of a path; links are never followed.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitmem.config import Config
from gitmem.errors import GitMemError, MissingFile, UsageError
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes
from gitmem.memory.document import decode, split_lines
from gitmem.memory.snapshot import look, tree_files
from gitmem.paths import INSTRUCTIONS, LIMIT, is_memory, layout_of
from gitmem.plural import counted


@dataclass(frozen=True, slots=True)
class Shown:
    """A file's lines at `at` ("worktree" or a commit) and the blob they are."""

    path: str
    at: str
    blob: str
    lines: tuple[str, ...]


def read(repo: Repository, config: Config, path: str, commit: str = "") -> Shown:
    """The file in the work tree, or at `commit` (HEAD in a bare repository).

    Raises MissingFile, OutsideRepository, and GitMemError for bytes that are no text.
    """
    commit = commit or ("" if repo.root is not None else repo.head() or "")
    data = _then(repo, config, path, commit) if commit else _now(repo, config, path)
    text, problems = decode(data, path)
    if not text and problems:
        raise GitMemError(f"'{path}': {problems[0].message}", problems[0].hint)
    return Shown(path, commit or "worktree", repo.hash_blob(data), tuple(split_lines(text)))


def _then(repo: Repository, config: Config, path: str, commit: str) -> bytes:
    files, _ = tree_files(repo, repo.tree(commit), config.memory_paths)
    oid = files.get(path)
    if oid is None and path in INSTRUCTIONS:
        plain = [entry.oid for entry in repo.entries(commit, [path]) if entry.mode & 0o170000 == 0o100000]
        oid = plain[0] if plain else None
    if oid is None:
        raise MissingFile(f"there is no memory file '{path}' at {commit[:12]}", "git mem search finds lines")
    return repo.read(oid)


def _now(repo: Repository, config: Config, path: str) -> bytes:
    missing = MissingFile(f"there is no memory file '{path}'", "git mem search finds lines")
    if repo.root is None:
        raise missing
    known = is_memory(path, layout_of([path], config.memory_paths))
    if not known and path not in look(repo, config.memory_paths).files:
        raise missing
    try:
        return read_bytes(repo.root, path, LIMIT + 1)
    except OSError:
        raise missing from None


def as_value(found: Shown, first: int = 0, last: int = 0) -> dict[str, object]:
    """The JSON of docs/json.md, "show": lines `first` to `last`, 0 for the ends. Raises UsageError past the end."""
    start, end = first or 1, min(last or len(found.lines), len(found.lines))
    if start > max(1, len(found.lines)):
        raise UsageError(f"'{found.path}' has {counted(len(found.lines), 'line')}")
    text = "\n".join(found.lines[start - 1 : end])
    return {"path": found.path, "at": found.at, "blob": found.blob, "start_line": start, "end_line": end, "text": text}
