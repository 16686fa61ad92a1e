"""Parse and write places in memory files: `PATH:LINE` and `PATH:A-B`. Typed paths are relative to the current
folder."""

from __future__ import annotations

import re
from pathlib import Path

from gitmem.errors import GitMemError, UsageError
from gitmem.git.objects import Span
from gitmem.git.opening import Repository
from gitmem.git.worktree import relative
from gitmem.memory.fact import parse_span
from gitmem.plural import line_range


def parse_place(repo: Repository, typed: str) -> tuple[str, int]:
    """(repository path, line) of `PATH:LINE`. Raises UsageError for text that names no single line, OutsideRepository
    for a path outside the repository."""
    path, first, last = parse_lines(repo, typed)
    if not first or first != last:
        raise UsageError(f"'{typed}' names no line", "write PATH:LINE, for example MEMORY.md:17")
    return path, first


def parse_lines(repo: Repository, typed: str) -> tuple[str, int, int]:
    """(repository path, first line, last line) of `PATH`, `PATH:A` or `PATH:A-B`; both lines are 0 for `PATH`.

    A source in a fact's comment (`PATH#LA-LB@blob`) is accepted too; its lines are those of the current file. Raises
    UsageError for an empty path or a range that ends before it begins, OutsideRepository for a path outside the
    repository.
    """
    source = parse_span(typed)
    if source is not None:
        return _path(repo, source.path), source.start_line, source.end_line
    match = re.fullmatch(r"(?P<path>.+?)(?::(?P<first>[1-9]\d{0,8})(?:-(?P<last>[1-9]\d{0,8}))?)?", typed, re.DOTALL)
    if match is None:
        raise UsageError("a path is missing", "write PATH:LINE, for example MEMORY.md:17")
    first = int(match["first"] or 0)
    last = int(match["last"] or first)
    if last < first:
        raise UsageError(f"'{typed}' ends before it begins")
    return _path(repo, match["path"]), first, last


def place_text(span: Span) -> str:
    """A span as `PATH:A-B`, or `PATH:A` for one line; `parse_lines` reads it."""
    return f"{span.path}:{line_range(span.start_line, span.end_line)}"


def repository_path_of(repo: Repository, path: str) -> str:
    """The repository path of a path that was typed in the current folder, "" for the root. Raises GitMemError in a bare
    repository, OutsideRepository as `worktree.relative`."""
    if repo.root is None:
        raise GitMemError("a bare repository has no files", "scan a range: git mem scan --history")
    relative_path = relative(repo.root, path, Path.cwd())
    return "" if relative_path == "." else relative_path


def _path(repo: Repository, typed: str) -> str:
    """The repository path of a typed path. The path is relative to the current folder if there is such a file, else to
    the repository's root, as in our own output."""
    if repo.root is None:
        return typed
    path = relative(repo.root, typed, Path.cwd())
    if not (repo.root / path).exists() and (repo.root / typed).exists():
        return relative(repo.root, typed)
    return path
