"""Handles the pull requests of memory for the composite actions: records a declined proposal, and merges the base
branch into open ones. Nothing here pushes the base branch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from gitmem.config import Config
from gitmem.errors import GitFailed, GitMemError, UnknownRevision
from gitmem.git import merge_driver
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.opening import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.git.signing import run_commit
from gitmem.git.write import run_git
from gitmem.paths import is_memory, layout_of
from gitmem.plural import counted
from gitmem.provenance import corrections, trailers
from gitmem.provenance.facts_of_source import By, Selector
from gitmem.review.commit_diff import range_revisions
from gitmem.review.forges.forge import Client, Pull, push_environment
from gitmem.review.forges.location import may_be_at
from gitmem.review.publish import ensure_gate_passes

DECLINED_REASON = "declined: pull request #{} was closed without merging"


def fetch(repo: Repository, client: Client | None, branch: str, environ: Mapping[str, str]) -> str:
    """Fetch `branch` of origin over the local branch of the same name and return its oid; "" when origin has none, and
    the local branch stays then. `client`: gives the token, None to fetch without one. Raises GitFailed when the name is
    not valid or the fetch fails."""
    env = push_environment(client, environ) if client else None
    try:
        run_git(repo, ["check-ref-format", "--branch", branch])
        spec = f"+refs/heads/{branch}:refs/heads/{branch}"
        run_git(repo, ["fetch", "--quiet", "--no-tags", "origin", spec], env=env)
    except GitFailed as error:
        if "couldn't find remote ref" in error.message:
            return ""
        raise
    return dict(repo.refs()).get(f"refs/heads/{branch}", "")


def fetch_pull(repo: Repository, client: Client, pull: Pull, environ: Mapping[str, str]) -> None:
    """Fetch the head of a pull request to `refs/gitmem/pull/NUMBER`, and its base, without a checkout.

    Raises GitMemError when the head is not the one that the forge named, GitFailed when the fetch fails.
    """
    ref = f"refs/gitmem/pull/{pull.number}"
    kind = "merge-requests" if client.forge.name == "GitLab" else "pull"
    head = f"refs/{kind}/{pull.number}/head"
    env = push_environment(client, environ)
    run_git(repo, ["fetch", "--quiet", "--no-tags", "origin", f"+{head}:{ref}", f"+refs/heads/{pull.base}"], env=env)
    if repo.resolve(ref) != pull.head:
        raise GitMemError(f"{client.forge.proposal} {pull.number} has moved on meanwhile", "run this again")


def proposed_range(repo: Repository, repository: str, branch: str, start: str, tip: str) -> CommitRange:
    """The range that a proposal for `branch` adds, judged by the tip of that branch in this clone.

    `start`: the base that the forge names. It may be older than the branch's tip, since a forge keeps the tip of the
    last push to the proposal; it judges where this clone has no newer tip. A branch that has all commits of `tip` is
    not believed either, because nothing would be checked then. Where the remote is not `repository` (`owner/name`), as
    in a checkout of a fork, its branches are a stranger's and `start` judges.
    """
    if branch and may_be_at(_origin(repo), repository):
        for ref in (f"refs/remotes/origin/{branch}", f"refs/heads/{branch}"):
            try:
                target = repo.resolve(ref)
            except UnknownRevision:
                continue
            if not repo.is_ancestor(target, start) and not repo.is_ancestor(tip, target):
                return towards(repo, target, tip)
    return towards(repo, start, tip)


def _origin(repo: Repository) -> str:
    """The URL of origin; "" when there is no such remote."""
    try:
        return run_git(repo, ["remote", "get-url", "origin"]).strip()
    except GitFailed:
        return ""


def fetch_target(repo: Repository, branch: str) -> None:
    """Fetch a branch of origin that this clone lacks. Raises GitFailed when the name is not valid or the fetch
    fails."""
    ref = f"refs/remotes/origin/{branch}"
    if ref not in dict(repo.refs()):
        run_git(repo, ["check-ref-format", "--branch", branch])
        run_git(repo, ["fetch", "--quiet", "--no-tags", "origin", f"+refs/heads/{branch}:{ref}"])


def record_rejection(repo: Repository, config: Config, client: Client, branch: str, base: str) -> int:
    """If the last pull request of `branch` was closed without merging, remove its promoted facts from the local branch,
    in commits with trailers that keep them from being proposed again. Pushes nothing. Returns how many facts were
    removed, 0 when it was not declined. `base`: a revision; commits in its history stay as they are. Raises ForgeError,
    and GitMemError when the facts cannot be removed."""
    last_pull = _declined_pull(client, branch)
    if last_pull is None:
        return 0
    tip = repo.resolve(f"refs/heads/{branch}")
    promoted = [commit.oid for commit in repo.log(range_revisions(base, tip)) if _only_promotes(commit.message)]
    count = 0
    if promoted:
        with branch_worktree(repo, branch) as worktree:
            for oid in promoted:
                selector = Selector(By.COMMIT, oid)
                reversion = corrections.revert(worktree, config, selector, DECLINED_REASON.format(last_pull.number))
                count += len(reversion.removals)
    return count


def _declined_pull(client: Client, branch: str) -> Pull | None:
    """The last pull request of `branch` if it was closed without merging; None when there is none, when one is open or
    when the last was merged."""
    pulls = client.pulls(head=branch, state="all")
    if not pulls or any(pull.state == "open" for pull in pulls):
        return None
    last = max(pulls, key=lambda pull: pull.number)
    return None if last.merged else last


def take_back_declined_consolidations(repo: Repository, client: Client, branch: str, base: str) -> int:
    """If the last pull request of `branch` was closed without merging, revert its consolidations on the local branch,
    so that they are not proposed again. Pushes nothing. Returns how many commits were reverted, 0 when it was not
    declined. `base`: a revision; commits in its history stay as they are. Raises ForgeError, and GitFailed when a
    revert conflicts; the branch stays as it was then."""
    from gitmem.promotion.past_consolidations import consolidations, reverted

    if _declined_pull(client, branch) is None:
        return 0
    revs = range_revisions(base, repo.resolve(f"refs/heads/{branch}"))
    reverted_oids = reverted(repo.log(revs))
    oids = [commit.oid for commit in consolidations(repo, revs) if commit.oid not in reverted_oids]
    if oids:
        with branch_worktree(repo, branch) as worktree:
            for oid in oids:
                run_git(worktree, ["revert", "--no-edit", oid])
    return len(oids)


def _only_promotes(message: str) -> bool:
    """Whether a commit message records promoted facts and no rejected ones."""
    rows = trailers.memory_trailers(message)
    return bool(trailers.values(rows, trailers.SOURCE)) and not trailers.values(rows, trailers.REJECTED)


@dataclass(frozen=True, slots=True)
class PullMerge:
    """The result for one open pull request. `state`: merged, current, conflict or skipped. `why`: the reason for a
    conflict or a skip, else ""."""

    number: int
    branch: str
    state: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class BaseMerge:
    """The parameters of a merge into the open pull requests of a forge. `base`: the local commit to merge. `environ`:
    the environment of the pushes."""

    config: Config
    client: Client
    base: str
    environ: Mapping[str, str]
    today: date


def merge_into_open(repo: Repository, merge: BaseMerge, python: str) -> list[PullMerge]:
    """Merge `merge.base` into every open pull request to the default branch that does not contain it yet, and push.

    The merge driver keeps the facts that both sides added. A conflict is left to a person; a pull request whose merge
    the gate, a hook or the push refuses has the state `conflict` too, and the next ones are still merged. A pull
    request is skipped when it comes from a fork, when its branch is gone, or when it changes no memory file that the
    base changed too. `python`: the interpreter that runs the merge driver. Raises ForgeError when the pull requests
    cannot be listed.
    """
    merge_driver.set_up(repo, python, merge.config.memory_daily)
    results = []
    for pull in merge.client.pulls(base=merge.client.default_branch()):
        if pull.head_repository != merge.client.forge.repository:
            results.append(PullMerge(pull.number, pull.branch, "skipped", "it comes from a fork"))
            continue
        try:
            results.append(_merge_one(repo, merge, pull.number, pull.branch))
        except GitMemError as error:
            results.append(PullMerge(pull.number, pull.branch, "conflict", error.message))
    return results


def _merge_one(repo: Repository, merge: BaseMerge, number: int, branch: str) -> PullMerge:
    """Merge the base into the branch of one pull request, pass the result through the gate, and push it. Raises
    GitMemError if the gate, a hook or the push refuses."""
    base = merge.base
    tip = fetch(repo, merge.client, branch, merge.environ)
    if not tip:
        return PullMerge(number, branch, "skipped", "its branch is gone")
    if repo.is_ancestor(base, tip):
        return PullMerge(number, branch, "current")
    start = repo.merge_base(base, tip) or ""
    layout = layout_of([entry.path for entry in repo.entries(tip)], merge.config.memory_paths)
    in_base = {change.path for change in repo.changes(start, base)}
    in_branch = {change.path for change in repo.changes(start, tip)}
    if not any(is_memory(path, layout) for path in in_base & in_branch):
        return PullMerge(number, branch, "skipped", "no memory file changed on both sides")
    with branch_worktree(repo, branch) as worktree:
        try:
            message = f"memory: merge the base branch into {branch}"
            run_commit(worktree, ["merge", "--quiet", "--no-edit", "-m", message, base])
        except GitFailed:
            files = run_git(worktree, ["diff", "--name-only", "--diff-filter=U"]).splitlines()
            if not files:  # not a conflict: a hook refused, or Git has no identity to commit with
                raise
            return PullMerge(number, branch, "conflict", f"a person must decide about {counted(len(files), 'file')}")
        merge_commit = worktree.resolve("HEAD")
    ensure_gate_passes(repo, CommitRange(base, merge_commit, base), merge.today)
    env = push_environment(merge.client, merge.environ)
    run_git(repo, ["push", "--quiet", "origin", f"refs/heads/{branch}:refs/heads/{branch}"], env=env)
    return PullMerge(number, branch, "merged")
