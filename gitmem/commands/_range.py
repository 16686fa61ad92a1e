"""`A..B` as Git has it: which two commits a command compares."""

from __future__ import annotations

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.files import Layout
from gitmem.git import Repository


def split_range(repo: Repository, typed: str, *, both: bool = False) -> tuple[str, str]:
    """(base oid, head oid). `A..B` and `A...B` both start at the merge base, so that what B never had is not
    counted as removed; `A..` ends at HEAD. One revision, or nothing (HEAD), has base "" unless `both` asks for two.
    """
    dots = "..." if "..." in typed else ".."
    left, found, right = typed.partition(dots)
    if both and not found:
        raise UsageError(f"'{typed}' is no range", "write BASE..HEAD, for example main..HEAD")
    if not found and not typed and repo.head() is None:
        raise GitMemError("there is no commit here yet", "git commit")
    head = repo.resolve((right if found else left) or "HEAD")
    if not found:
        return "", head
    base = repo.resolve(left or "HEAD")
    return repo.merge_base(base, head) or base, head


def layout_at(repo: Repository, commit: str, config: Config) -> Layout:
    """What counts as memory in the tree of a commit, with the globs in force here."""
    from gitmem.files import layout_of

    return layout_of((entry.path for entry in repo.entries(commit)), config.memory_paths)
