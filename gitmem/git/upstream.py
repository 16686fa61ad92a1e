"""The default base of a comparison: the branch's upstream, else the default branch, else the commit before HEAD."""

from __future__ import annotations

from gitmem.errors import GitFailed, GitMemError, UnknownRevision
from gitmem.git.repository import Repository
from gitmem.git.write import run_git

DEFAULT_BRANCHES = ("refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master")
LAST_COMMIT = "HEAD~1..HEAD"


def default_range(repo: Repository) -> str:
    """The range of the current branch's own commits, as a person would type it: `origin/main..HEAD`.

    The base is the branch's upstream, the first of DEFAULT_BRANCHES that is another branch, or the commit before HEAD.
    Raises GitMemError if there is no commit, or only one commit and no other branch.
    """
    if repo.head() is None:
        raise GitMemError("there is no commit here yet", "git commit")
    current = f"refs/heads/{repo.branch()}"
    for ref in filter(None, (_upstream(repo), *DEFAULT_BRANCHES)):
        if ref != current and (name := _short_name(repo, ref)):
            return f"{name}..HEAD"
    try:
        repo.resolve("HEAD~1")
    except UnknownRevision:
        raise GitMemError("there is one commit only, and no other branch to compare it with", "git mem log") from None
    return LAST_COMMIT


def _upstream(repo: Repository) -> str:
    """The full name of the current branch's upstream, which may be gone; "" if it has none."""
    branch = repo.branch()
    if branch is None:
        return ""
    try:
        return run_git(repo, ["for-each-ref", "--format=%(upstream)", f"refs/heads/{branch}"]).strip()
    except GitFailed:
        return ""


def _short_name(repo: Repository, name: str) -> str:
    """The name of a ref without `refs/heads/` or `refs/remotes/`; "" if there is no such ref."""
    try:
        repo.resolve(name)
    except UnknownRevision:
        return ""
    return name.removeprefix("refs/heads/").removeprefix("refs/remotes/")
