"""`PATH:LINE` and `PATH:A-B` as a person types and reads them, relative to the folder they are in."""

from __future__ import annotations

import re
from pathlib import Path

from gitmem.errors import UsageError
from gitmem.git.objects import Span
from gitmem.git.opening import Repository
from gitmem.git.worktree import relative
from gitmem.memory.fact import parse_span


def place(repo: Repository, typed: str) -> tuple[str, int]:
    """(repository path, line) of `PATH:LINE`. Raises UsageError, OutsideRepository."""
    path, first, last = lines(repo, typed)
    if not first or first != last:
        raise UsageError(f"'{typed}' names no line", "write PATH:LINE, for example MEMORY.md:17")
    return path, first


def lines(repo: Repository, typed: str) -> tuple[str, int, int]:
    """(repository path, first line, last line) of `PATH`, `PATH:A`, `PATH:A-B`, or of a source as a fact's comment has
    it (`PATH#LA-LB@blob`, the lines as they are now); no lines are 0, 0."""
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


def place_of(span: Span) -> str:
    """The lines of a source as `PATH:A-B`, which `git mem show` takes."""
    last = ""
    if span.end_line != span.start_line:
        last = f"-{span.end_line}"
    return f"{span.path}:{span.start_line}{last}"


def _path(repo: Repository, typed: str) -> str:
    """A path as typed in this folder; or, where nothing is there, as our own answers spell it: from the top."""
    if repo.root is None:
        return typed
    here = relative(repo.root, typed, Path.cwd())
    if not (repo.root / here).exists() and (repo.root / typed).exists():
        return relative(repo.root, typed)
    return here
