"""Selects the commits that a push sends or a server received, for the hooks pre-push and pre-receive.

The functions select commits and read none of their files. A zero oid (`000...`) stands for "no commit" on both sides
of a ref: an old zero oid creates the ref, a new one deletes it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.repository import Repository
from gitmem.messages import Message


class RefUpdate(NamedTuple):
    """One ref that a push changes. `ref`: its name at the remote. `new`, `old`: its oids after and before the push."""

    ref: str
    new: str
    old: str


class NewCommits(NamedTuple):
    """The new commits of one ref.

    `base`: the commit that the ref builds on and whose settings must be kept, "" if unknown. `tip`: the newest commit.
    `revs`: arguments of `git log` that select the new commits: `tip`, and `^oid` for each excluded history.
    """

    base: str
    tip: str
    revs: list[str]


def push_updates(lines: Iterable[str]) -> list[RefUpdate]:
    """Parse the standard input of pre-push, one ref a line. Raises GitFailed for a line of another form.

    Git starts the hook without a ref when the remote has all of them; the shell of the hook makes that an empty line.
    """
    rows = [line.split() for line in lines if line.strip()]
    if any(len(words) != 4 for words in rows):
        raise GitFailed("pre-push: Git's list of refs cannot be read")
    return [RefUpdate(words[2], words[1], words[3]) for words in rows]


def received_updates(lines: Iterable[str]) -> list[RefUpdate]:
    """Parse the standard input of pre-receive, one ref a line. Raises GitFailed for a line of another form."""
    rows = [line.split(" ", 2) for line in lines]
    if any(len(words) != 3 for words in rows):
        raise GitFailed("pre-receive: Git's list of refs cannot be read")
    return [RefUpdate(words[2], words[1], words[0]) for words in rows]


def pushed_commits(repo: Repository, updates: Iterable[RefUpdate], remote: str) -> list[NewCommits]:
    """For each updated ref the commits that the remote lacks, as far as its tracking branches tell; deleted refs are
    left out.

    The base is the ref's commit at the remote, else the remote's default branch, else "". Raises GitMemError for a ref
    that is not a commit.
    """
    excluded = _remote_branches(repo, remote)
    ranges = []
    for update in updates:
        if not update.new.strip("0"):
            continue
        tip = _must_be_commit(repo, update.new, update.ref)
        base = _commit_before(repo, update)
        if base:
            ranges.append(NewCommits(base, tip, [tip, f"^{base}", *excluded]))
        else:
            ranges.append(NewCommits(default_branch(repo, remote), tip, [tip, *excluded]))
    return ranges


def default_branch(repo: Repository, remote: str) -> str:
    """The oid of a remote's default branch at the last fetch; "" when it is unknown, and for a `remote` with a slash,
    which is an address."""
    if remote and "/" not in remote:
        return _commit_of(repo, f"refs/remotes/{remote}/HEAD")
    return ""


def _remote_branches(repo: Repository, remote: str) -> list[str]:
    """`^oid` for each branch of a remote at the last fetch; [] for a `remote` with a slash, which is an address."""
    if remote and "/" not in remote:
        return [f"^{oid}" for _, oid in repo.refs(f"refs/remotes/{remote}/")]
    return []


def unpushed_commits(repo: Repository, remote: str, scanned_tip: str, start: str) -> list[NewCommits]:
    """For HEAD and each local branch the commits that the remote lacks, as far as its tracking branches tell.

    Each branch leaves out the commits of the branches before it. `scanned_tip`: a commit whose history is left out too,
    "" for none. `start`: a commit that the remote has, used only if no tracking branch is known, as for a `remote` that
    is an address; "" or a zero oid for none. The base of all is the remote's default branch.
    """
    excluded = _remote_branches(repo, remote)
    if not excluded and start.strip("0") and (commit := _commit_of(repo, start)):
        excluded = [f"^{commit}"]
    if scanned_tip:
        excluded.append(f"^{scanned_tip}")
    base = default_branch(repo, remote)
    ranges = []
    for branch in dict.fromkeys(filter(None, [repo.head(), *(oid for _, oid in repo.refs())])):
        ranges.append(NewCommits(base, branch, [branch, *excluded]))
        excluded = [*excluded, f"^{branch}"]
    return ranges


def received_commits(repo: Repository, updates: Iterable[RefUpdate]) -> list[NewCommits]:
    """For each updated ref the commits that no ref of this repository reaches yet; deleted refs are left out.

    The base is the ref's old commit, else HEAD, else "". Raises GitMemError for a ref that is not a commit.
    """
    excluded = [f"^{oid}" for _, oid in repo.refs("refs/")]
    ranges = []
    for update in updates:
        if update.new.strip("0"):
            tip = _must_be_commit(repo, update.new, update.ref)
            base = _commit_before(repo, update) or repo.head() or ""
            ranges.append(NewCommits(base, tip, [tip, *excluded]))
    return ranges


def _commit_before(repo: Repository, update: RefUpdate) -> str:
    """The commit that a ref had before the push; "" for a new ref, and for a commit that this repository lacks."""
    if not update.old.strip("0"):
        return ""
    return _commit_of(repo, update.old)


def _must_be_commit(repo: Repository, oid: str, ref: str) -> str:
    """The commit of a pushed ref. Raises GitMemError for a tag of a tree or a blob, which no scan would read."""
    commit = _commit_of(repo, oid)
    if not commit:
        raise GitMemError(Message("'{}' names no commit, so it cannot be scanned and is not let through", ref))
    return commit


def _commit_of(repo: Repository, oid: str) -> str:
    """The commit of an oid (a tag is peeled), "" when it is not a commit or not in this repository."""
    try:
        return repo.resolve(oid)
    except GitMemError:
        return ""


def oids_of_all_refs(repo: Repository) -> list[str]:
    """The oids of HEAD and of every ref, each once: together they reach all of this repository's history."""
    return list(dict.fromkeys(filter(None, [repo.head(), *(oid for _, oid in repo.refs("refs/"))])))
