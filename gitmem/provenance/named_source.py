"""Turns the source that a person names for a new fact into keys of its comment: `src` for memory, `code` for code.

The lines must exist. Lines of memory must be committed, because sources are looked up in the history. Reads only.
"""

from __future__ import annotations

import re

from gitmem.claims.anchoring import citation_pairs
from gitmem.config import Config
from gitmem.errors import OutsideRepository, UsageError
from gitmem.git.git_index import is_committed
from gitmem.git.objects import Span
from gitmem.git.opening import Repository
from gitmem.git.transaction import Reading
from gitmem.git.worktree import relative
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Meta, render_span
from gitmem.memory.files import is_memory_path
from gitmem.messages import Message

_LINES = re.compile(r"(?P<path>.+?)(?::|#L)(?P<first>[0-9]{1,7})(?:-L?(?P<last>[0-9]{1,7}))?")


def source_keys(repo: Repository, config: Config, place: str) -> Meta:
    """The keys for `place`, such as `memory/2026-02-05.md:5-7`, `src/auth.py:10-24` or `src/auth.py#Session.open`; ()
    for "".

    Raises UsageError for a place without lines or a symbol, for lines, a symbol or a file that does not exist, for code
    that Git does not track or whose name is that of a file of secrets, and for a memory file with uncommitted edits.
    Raises GitMemError when the file is no readable text.
    """
    place = place.strip()
    if not place:
        return ()
    match = _LINES.fullmatch(place)
    path = _memory_path(repo, config, match["path"]) if match else ""
    if match is None or not path:
        return citation_pairs(repo, [place])
    data = Reading(repo).read(path)
    if data is None:
        raise UsageError(Message("there is no file '{}' here", path), "git mem search finds lines")
    if not is_committed(repo, path, data):
        raise UsageError(Message("'{}' has edits that are not committed", path), "commit or stash them first")
    count, first = len(blob_lines(data)), int(match["first"])
    last = int(match["last"] or first)
    if not 1 <= first <= last <= count:
        raise UsageError(Message("{} has {} lines, not {} to {}", path, count, first, last), "read it again")
    return (("src", render_span(Span(path, first, last, repo.hash_blob(data)))),)


def _memory_path(repo: Repository, config: Config, path: str) -> str:
    """The path of a memory file, relative to the root of the repository; "" for any other file."""
    if repo.root is None:
        return ""
    try:
        path = relative(repo.root, path.removeprefix("./"))
        if not is_memory_path(repo, config, path):
            return ""
        return path
    except OutsideRepository:
        return ""
