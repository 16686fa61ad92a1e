"""Blame of the work tree. `git blame` of a file on disk would run the clone's clean filters: the file is compared with
HEAD's here, and Git asked of HEAD alone.
"""

from __future__ import annotations

from difflib import SequenceMatcher

from gitmem.errors import GitFailed
from gitmem.git.objects import BlameLine
from gitmem.git.protocol import Repository
from gitmem.git.worktree import read_bytes


def blame_work_tree(repo: Repository, path: str, start: int, end: int) -> list[BlameLine]:
    """Lines `start`..`end` of a file of the work tree, each with what HEAD's blame says of the line it was there; the
    oid of a line that HEAD has not is all zeros. Raises GitFailed where there is no such file."""
    now, then = _work_tree_lines(repo, path), _head_lines(repo, path)
    origin: dict[int, int] = {}
    for block in SequenceMatcher(None, then, now, autojunk=False).get_matching_blocks():
        origin.update({block.b + at + 1: block.a + at + 1 for at in range(block.size)})
    wanted = [line for line in range(start, end + 1) if line <= len(now)]
    known = [origin[line] for line in wanted if line in origin]
    nobody = "0" * (64 if repo.object_format == "sha256" else 40)
    blamed = {}
    if known:
        blamed = {row.line: row for row in repo.blame(path, min(known), max(known), "HEAD")}
    return [
        blamed[origin[line]]._replace(line=line)
        if line in origin
        else BlameLine(line, now[line - 1], nobody, path, line)
        for line in wanted
    ]


def _work_tree_lines(repo: Repository, path: str) -> list[str]:
    if repo.root is None:
        raise GitFailed("a bare repository has no work tree to look at", "name a revision")
    try:
        return _lines(read_bytes(repo.root, path))
    except FileNotFoundError:
        raise GitFailed(f"there is no file '{path}' here") from None


def _head_lines(repo: Repository, path: str) -> list[str]:
    head = repo.head()
    oid = repo.blobs(head, [path]).get(path) if head else None
    return _lines(repo.read(oid)) if oid else []


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").replace("\r\n", "\n").removesuffix("\n").split("\n")
