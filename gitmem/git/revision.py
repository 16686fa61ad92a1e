"""Which commits a range means. Pure but for what it asks of Git."""

from __future__ import annotations

from gitmem.errors import GitMemError, UsageError
from gitmem.git.repository import Repository


def split_range(repo: Repository, typed: str, *, both: bool = False) -> tuple[str, str]:
    """(base oid, head oid). `A..B` and `A...B` both start at the merge base, so that what B never had is not
    counted as removed; `A..` ends at HEAD. One revision, or nothing (HEAD), has base "" unless `both` asks for two.
    """
    dots = "..." if "..." in typed else ".."
    left, separator, right = typed.partition(dots)
    if both and not separator:
        raise UsageError(f"'{typed}' is no range", "write BASE..HEAD, for example main..HEAD")
    if not separator and not typed and repo.head() is None:
        raise GitMemError("there is no commit here yet", "git commit")
    head = repo.resolve((right if separator else left) or "HEAD")
    if not separator:
        return "", head
    base = repo.resolve(left or "HEAD")
    return repo.merge_base(base, head) or base, head
