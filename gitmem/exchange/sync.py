"""`git mem sync`: makes the current branch and the branch of that name at a remote equal, with nobody at the keyboard.

It fetches, merges fact by fact in a temporary work tree, scans the commits that come in and go out, moves the branch
forward and pushes. If somebody else pushed meanwhile, it starts again. The branch moves by fast-forward only; nothing
is forced. If both sides changed the same text of memory, the branch gets the remote's text, and ours is a commit on top
of it, on a branch of its own that is pushed too: one `git merge` brings it back.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date

from gitmem.config import Config
from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.exchange.sync_merge import PLAIN, Conflict, Merge, file_names, merge_in_worktree
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.redaction import refusal
from gitmem.gate.scan import scan
from gitmem.gate.tree_policies import staged_policy
from gitmem.gate.work_tree_files import work_tree_files
from gitmem.git import merge_driver, transaction
from gitmem.git.commit import commit_paths, ensure_can_commit
from gitmem.git.git_config import settings_as_variables
from gitmem.git.opening import Repository
from gitmem.git.ranges import shallow
from gitmem.git.repository import file_at
from gitmem.git.revision import CommitRange
from gitmem.git.unmerged import unmerged_stages
from gitmem.git.worktree import locked
from gitmem.git.write import run_git
from gitmem.json_values import json_keys
from gitmem.memory.new_statements import rivals_between
from gitmem.memory.rivals import MEMORY, Rival
from gitmem.memory.snapshot import layout_at
from gitmem.paths import is_memory, layout_of
from gitmem.plural import counted
from gitmem.review.publish import ensure_gate_passes, remote_url

SYNCED = "refs/gitmem/synced/"  # the remote's tip at the last sync, by which a rewritten history is noticed
FETCHED = "refs/gitmem/fetched/"  # the remote's tip while a sync runs
KEPT_REFS = "refs/gitmem/kept/"  # branches with our side of a conflict that are not pushed yet
MAX_TRIES = 6  # if somebody commits here or pushes there during a sync
MAX_FORMER_TIPS = 50  # of the remote's branch, that are compared to notice a rewritten history
OFFLINE = re.compile(
    r"could not resolve|couldn't resolve|name resolution|failed to connect|couldn't connect|could not connect|timed out"
    r"|connection (?:refused|reset|closed)|network is (?:unreachable|down)|no route to host|unable to connect"
    r"|operation too slow|early eof|host is down",
    re.IGNORECASE,
)
REFUSED = re.compile(r"\[remote rejected\]|hook declined")  # the remote answered, so it is not offline
REJECTED = re.compile(r"\[rejected\]|\[remote rejected\].*(?:cannot lock|failed to update)|non-fast-forward")
IN_THE_WAY = re.compile(r"would be overwritten|not uptodate", re.IGNORECASE)
SLOW = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}  # less than 1 byte a second for 60 seconds: offline
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=20"  # if nobody can answer a question


@dataclass(frozen=True, slots=True)
class Remote:
    """The remote to sync with.

    `name`: of the remote. `branch`: its name at both ends. `named`: a person typed the name. `unattended`: nobody can
    answer a question.
    """

    name: str
    branch: str
    named: bool = False
    unattended: bool = True

    @property
    def key(self) -> str:
        """The last part of our refs for this remote and branch; a hash, so that branch names cannot collide."""
        return hashlib.sha256(f"{self.name}\0{self.branch}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


@json_keys("state remote branch commit? received sent waiting paths kept uncommitted reason? differs")
@dataclass(frozen=True, slots=True)
class Synced:
    """The result of a sync. `state` is one of:

    `synced`: both ends are equal. `offline`: the remote did not answer; `waiting` commits are pushed next time.
    `uncommitted`: edited files (`paths`) would be overwritten by the merge. `conflict`: files that are not memory
    (`paths`) changed on both sides; nothing was merged or pushed. `would sync`: a dry run.

    `received`, `sent`: numbers of commits. `paths` of a synced state: memory files whose same text both sides changed;
    `kept`: the branches with our side of them. `uncommitted`: memory files with edits that are not committed and stayed
    here. `differs`: facts here that a received fact repeats, replaces, ends or contradicts.

    JSON: `state`: `synced`; `offline` (`waiting` commits go next time, `reason` says why); `uncommitted` or
    `conflict` (`paths` stand in the way; nothing was merged); `would sync` with `--dry-run`. `received`, `sent`:
    numbers of commits. `kept`: the branches with this side of `paths`, which both sides changed at one place.
    `uncommitted`: memory files that were not sent. `differs`: as in `git mem add`.
    """

    state: str
    remote: str
    branch: str
    commit: str = ""
    received: int = 0
    sent: int = 0
    waiting: int = 0
    paths: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()
    reason: str = ""
    differs: tuple[Rival, ...] = ()


def remote_of(repo: Repository, name: str, *, unattended: bool) -> Remote:
    """The remote for the current branch: `name`, or if "" the remote of the branch's upstream, or `origin`.
    `unattended`: nobody can answer a question of Git.

    Raises GitMemError during a rebase, if no branch is checked out, if there is no such remote, or in a shallow clone;
    UsageError for a path, an address or an option in place of a name.
    """
    branch = repo.branch()
    if branch is None:
        ensure_can_commit(repo)  # during a rebase Git has no branch checked out, and cannot switch to one
        raise GitMemError("no branch is checked out here", "git switch main")
    if shallow(repo):
        raise GitMemError("this clone has a part of the history only", "git fetch --unshallow")
    remote_name = name or _setting(repo, f"branch.{branch}.remote") or "origin"
    if remote_name == "." or "/" in remote_name:
        raise UsageError(f"'{remote_name}' is no remote's name", "git remote lists them")
    remote_url(repo, remote_name)
    return Remote(remote_name, branch, bool(name), unattended)


def sync(
    repo: Repository,
    config: Config,
    remote: Remote,
    *,
    today: date,
    python: str,
    commit: bool = False,
    dry_run: bool = False,
) -> Synced:
    """Make the current branch and the remote's branch equal: fetch, merge, scan, move the branch forward, push. The
    result says how it ended, also if the remote did not answer or edited files are in the way.

    `commit`: commit edited memory files first. `dry_run`: fetch and scan, but commit, merge and push nothing. `python`:
    the interpreter of the merge driver. Raises Refused if the gate blocks a commit that comes in or goes out (nothing
    is merged or pushed then), Locked if another sync runs, Changed after MAX_TRIES, GitMemError if the remote's history
    was rewritten, if a merge is in progress, if a conflict is not settled or if neither end has a commit, GitFailed if
    Git fails otherwise.
    """
    ensure_can_commit(repo)
    unsettled = unmerged_stages(repo)
    if unsettled:
        raise GitMemError(
            f"{file_names(unsettled)}: a conflict that is not settled", "settle it, then git add the file"
        )
    run = _Run(repo, config, remote, today, commit and not dry_run, dry_run)
    with locked(repo.common_dir, "sync", 0):
        if not dry_run:
            merge_driver.set_up(repo, python, config.memory_daily)
        try:
            for attempt in range(MAX_TRIES):
                try:
                    return run.once()
                except Changed:
                    if attempt + 1 == MAX_TRIES:
                        raise
        finally:
            with suppress(GitFailed):
                run_git(repo, ["update-ref", "-d", f"{FETCHED}{remote.key}"])
    raise AssertionError("unreachable")


@dataclass
class _Run:
    """One sync with all its tries. `conflicted`: the memory files with conflicts in any of them."""

    repo: Repository
    config: Config
    remote: Remote
    today: date
    commit: bool
    dry_run: bool
    conflicted: dict[str, None] = field(default_factory=dict)

    def once(self) -> Synced:
        """One try. Raises Changed if another one is needed, GitMemError if the branch was switched meanwhile, and the
        other errors of `sync`. Adds the files with conflicts to `self.conflicted`."""
        repo, remote = self.repo, self.remote
        if self.commit:
            _commit_memory(repo, self.config, self.today)
        old_position = transaction.position(repo)
        if old_position.branch != remote.branch:
            raise GitMemError(f"the branch changed from '{remote.branch}' meanwhile", "run it again")
        head = old_position.head or ""
        state = "would sync" if self.dry_run else "synced"
        result = Synced(state, remote.name, remote.branch, head, uncommitted=_uncommitted(repo, self.config))
        try:
            theirs = _fetched(repo, remote)
        except GitFailed as error:
            return self._offline(result, error, _count(repo, head, _tracked(repo, remote)))
        if not head and not theirs:
            raise GitMemError("there is no commit here and none there", "git mem init, then git commit")
        result = replace(result, received=_count(repo, theirs, head), sent=_count(repo, head, theirs))
        _ensure_not_rewritten(repo, remote, head, theirs)
        if self.dry_run:
            _scanned(repo, remote, head, theirs, head, self.today)
            return result
        try:
            merge = _merged(repo, self.config, remote, head, theirs, self.today)
        except Conflict as conflict:
            return replace(result, state="conflict", paths=conflict.paths)
        self.conflicted |= dict.fromkeys(merge.paths)
        kept_branch = _keep(repo, remote, merge) if merge.ours else ""
        try:
            in_the_way = self._move_forward(old_position, merge.commit)
        except BaseException:
            _remove_kept(repo, remote, kept_branch)
            raise
        if in_the_way:
            _remove_kept(repo, remote, kept_branch)
            return replace(result, state="uncommitted", paths=in_the_way)
        unsent = _unsent(repo, remote)
        memory_here, memory_merged = (file_at(repo, commit, MEMORY) or b"" for commit in (head, merge.commit))
        differs = rivals_between(memory_here, memory_merged, self.today)
        result = replace(result, commit=merge.commit, paths=tuple(self.conflicted), kept=tuple(unsent), differs=differs)
        try:
            _push(repo, remote, merge.commit, theirs, unsent)
        except GitFailed as error:
            return self._offline(result, error, _count(repo, merge.commit, theirs))
        _record_synced(repo, remote, merge.commit, unsent)
        return replace(result, sent=_count(repo, merge.commit, theirs))

    def _offline(self, result: Synced, error: GitFailed, waiting: int) -> Synced:
        """`result`, as offline with `waiting` commits, if `error` means that the remote does not answer.
        Raises `error` if it means anything else, such as a refused push."""
        words = "\n".join(
            line for line in f"{error.message}\n{error.hint}".split("\n") if not line.lstrip().startswith("remote:")
        )
        if REFUSED.search(words) or not OFFLINE.search(words):
            raise error
        return replace(result, state="offline", waiting=waiting, reason=error.message)

    def _move_forward(self, old_position: transaction.Position, commit: str) -> tuple[str, ...]:
        """Move the branch and the work tree forward to `commit`.

        Returns the files that it would overwrite; () if the branch moved. Raises Changed if HEAD moved meanwhile, or if
        somebody edited a file again that was just committed.
        """
        repo = self.repo
        in_the_way: tuple[str, ...] = ()
        if commit == old_position.head:
            return in_the_way
        if old_position.head is None:  # Git would overwrite files then
            in_the_way = _in_the_way(repo, old_position.head, commit)
        if in_the_way:
            return in_the_way
        try:
            with transaction.writer(repo):
                transaction.ensure_position(repo, old_position)
                run_git(repo, ["merge", "--quiet", *PLAIN, "--ff-only", commit])
        except GitFailed as error:
            if not IN_THE_WAY.search(f"{error.message}\n{error.hint}"):
                raise
            in_the_way = _in_the_way(repo, old_position.head, commit)
            if not in_the_way:
                raise
            if self.commit and set(in_the_way) <= set(_uncommitted(repo, self.config)):
                raise Changed("files change faster than they can be synced", "try again in a moment") from error
        return in_the_way


# -- the remote ----------------------------------------------------------------------------------------------


def _fetched(repo: Repository, remote: Remote) -> str:
    """Fetch the remote's branch and return its tip; "" if the remote has no such branch. Moves no other ref. Raises
    GitFailed if the fetch fails otherwise."""
    ref = f"{FETCHED}{remote.key}"
    spec = f"+refs/heads/{remote.branch}:{ref}"
    try:
        run_git(
            repo,
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules",
             remote.name, spec],
            env=_network_environ(repo, remote),
        )  # fmt: skip
    except GitFailed as error:
        if "couldn't find remote ref" in f"{error.message}\n{error.hint}":
            return ""
        next_line = f"git remote -v shows where {remote.name} leads, git remote set-url {remote.name} URL changes it"
        raise GitFailed(error.message, f"{next_line}\n{error.hint}".rstrip()) from error
    return repo.resolve(ref)


def _push(repo: Repository, remote: Remote, commit: str, theirs: str, branches: Iterable[str]) -> None:
    """Push the merge `commit` and `branches`. `theirs`: the tip that was fetched, "" for none; if it is
    `commit`, only `branches` is pushed. Raises Changed if somebody pushed meanwhile, GitFailed if the push fails
    otherwise."""
    specs = [f"refs/heads/{name}:refs/heads/{name}" for name in branches]
    if commit != theirs:
        specs.insert(0, f"{commit}:refs/heads/{remote.branch}")
    if not specs:
        return
    plain = ["--quiet", "--no-follow-tags", "--recurse-submodules=no"]  # no tag and no submodule: they are not scanned
    try:
        run_git(repo, ["push", *plain, remote.name, *specs], env=_network_environ(repo, remote))
    except GitFailed as error:
        words = f"{error.message}\n{error.hint}"
        if REJECTED.search(words) and "hook declined" not in words:
            raise Changed(f"others push to {remote.name} all the time", "try again in a moment") from error
        raise


def _record_synced(repo: Repository, remote: Remote, tip: str, branches: Iterable[str]) -> None:
    """Record in refs that the remote has `tip` and `branches` now.

    Also moves the tracking branch and sets a missing upstream, as a person expects; errors of these are ignored.
    """
    run_git(repo, ["update-ref", f"{SYNCED}{remote.key}", tip])
    for name in branches:
        run_git(repo, ["update-ref", "-d", _kept_ref(remote, name)])
    with suppress(GitFailed):
        run_git(repo, ["update-ref", "-m", "git mem sync", f"refs/remotes/{remote.name}/{remote.branch}", tip])
    if not remote.named and not _setting(repo, f"branch.{remote.branch}.merge"):
        with suppress(GitFailed):
            run_git(repo, ["branch", "--quiet", f"--set-upstream-to={remote.name}/{remote.branch}"])


def _network_environ(repo: Repository, remote: Remote) -> dict[str, str]:
    """The environment for Git in which it gives up on a dead network, and asks nothing if the sync is unattended."""
    env = settings_as_variables(SLOW, repo.environ)
    own_ssh = repo.environ.get("GIT_SSH_COMMAND") or repo.environ.get("GIT_SSH") or _setting(repo, "core.sshCommand")
    if own_ssh or not remote.unattended:
        return env
    return {**env, "GIT_SSH_COMMAND": SSH}


def _ensure_not_rewritten(repo: Repository, remote: Remote, head: str, theirs: str) -> None:
    """Raise GitMemError if the remote's branch lost commits that it had and that are here: a merge would restore them.

    Compares the former tips of the remote's branch that this clone knows: that of the last sync, the tracking branch,
    and the newest MAX_FORMER_TIPS entries of its reflog. `head`: the commit here, "" for none: then there is nothing to
    compare. `theirs`: the remote's tip, "" if the branch is gone.
    """
    name = f"{remote.name}/{remote.branch}"
    if not head:
        return
    for prior in _former_tips(repo, remote):
        if not repo.is_ancestor(prior, head):
            continue
        if not theirs:
            raise GitMemError(
                f"{name} is gone at the remote, and nothing was pushed",
                f"if it should be there again: git push {remote.name} HEAD:refs/heads/{remote.branch}",
            )
        if not repo.is_ancestor(prior, theirs):
            raise GitMemError(
                f"the history of {name} was rewritten: what was taken out there is here still, and nothing was merged",
                f"git fetch; git log {name}..HEAD shows what is here alone; then git rebase --onto {name} {prior[:12]}",
            )


def _former_tips(repo: Repository, remote: Remote) -> list[str]:
    """The former tips of the remote's branch that this clone has seen and whose commits it has: the tip of the last
    sync, the tracking branch, then at most MAX_FORMER_TIPS entries of its reflog, the newest first; each once."""
    tips = [dict(repo.refs(SYNCED)).get(f"{SYNCED}{remote.key}", ""), _tracked(repo, remote)]
    with suppress(GitFailed):  # no such branch, or no reflog
        shown = ["reflog", "show", f"--max-count={MAX_FORMER_TIPS}", "--format=%H"]
        tips += run_git(repo, [*shown, f"refs/remotes/{remote.name}/{remote.branch}"]).split()
    present = repo.sizes([oid for oid in dict.fromkeys(tips) if oid])
    return [oid for oid in dict.fromkeys(tips) if oid in present]


def _tracked(repo: Repository, remote: Remote) -> str:
    """The tip of the tracking branch; "" if there is none."""
    return dict(repo.refs("refs/remotes/")).get(f"refs/remotes/{remote.name}/{remote.branch}", "")


def _count(repo: Repository, tip: str, beyond: str) -> int:
    """The number of commits that `tip` reaches and `beyond` does not; "" reaches none."""
    if not tip:
        return 0
    revs = [tip]
    if beyond:
        revs.append(f"^{beyond}")
    return int(run_git(repo, ["rev-list", "--count", *revs]))


# -- the merge -----------------------------------------------------------------------------------------------


def _merged(repo: Repository, config: Config, remote: Remote, head: str, theirs: str, today: date) -> Merge:
    """The commit that both ends shall have: `head` or `theirs` if it contains the other, else a merge of the two. ""
    stands for a side without commits. The gate scans the commits that come here and those that go there.

    Raises Refused if the gate refuses one, Conflict if Git cannot merge a file that is not memory, GitFailed if the
    merge fails otherwise.
    """
    if not theirs or (head and repo.is_ancestor(theirs, head)):
        merge = Merge(head)
    elif not head or repo.is_ancestor(head, theirs):
        merge = Merge(theirs)
    else:
        _scanned(repo, remote, head, theirs, "", today)  # before the merge runs a hook that came with it
        layout = layout_at(repo, head, config)
        merge = merge_in_worktree(repo, layout, f"{remote.name}/{remote.branch}", head, theirs)
        _scanned(repo, remote, head, theirs, merge.ours or merge.commit, today, incoming=False)
        return merge
    _scanned(repo, remote, head, theirs, merge.commit, today)
    return merge


def _scanned(
    repo: Repository, remote: Remote, head: str, theirs: str, tip: str, today: date, *, incoming: bool = True
) -> None:
    """Scan the commits that come here (with `incoming`), those of `theirs` beyond `head`, and those that go there,
    those of `tip` ("" for none) beyond `theirs`.

    Raises Refused if the gate refuses a commit.
    """
    if incoming and theirs and _count(repo, theirs, head):
        try:
            ensure_gate_passes(repo, CommitRange(head, theirs, head), today)
        except Refused as error:
            hint = f"git mem scan --range {head[:12] or 'HEAD'}..{theirs[:12]} shows it; it is to be taken out there"
            raise Refused(f"{_finding(error)}; what came from {remote.name} was not merged", hint) from None
    if tip and _count(repo, tip, theirs):
        try:
            ensure_gate_passes(repo, CommitRange(theirs, tip, theirs), today)
        except Refused as error:
            span = f"--range {theirs[:12]}..HEAD" if theirs else "--history"
            hint = f"git mem scan {span} shows it; docs/leaked-secret.md says how to take it out of commits"
            raise Refused(f"{_finding(error)}; it is in commits here, and nothing was pushed", hint) from None


def _finding(error: Refused) -> str:
    """The finding in the message of a refusal, without its first words."""
    return error.message.partition(": ")[2]


# -- branches with our side ----------------------------------------------------------------------------------


def _keep(repo: Repository, remote: Remote, merge: Merge) -> str:
    """Make a branch for our side of a conflict and return its name. It counts as unsent until it is pushed. Raises
    GitMemError if Git refuses both names."""
    for name in (f"memory/conflict-{merge.ours[:8]}", f"memory-conflict-{merge.ours[:8]}"):
        with suppress(GitFailed):  # Git refuses the first name if there is a branch `memory`
            run_git(repo, ["update-ref", "-m", "git mem sync", f"refs/heads/{name}", merge.ours])
            run_git(repo, ["update-ref", _kept_ref(remote, name), merge.ours])
            return name
    raise GitMemError(
        "no branch can be made for your side of a conflict", "git branch --list 'memory*' shows what is there"
    )


def _kept_ref(remote: Remote, name: str) -> str:
    return f"{KEPT_REFS}{remote.key}/{name.replace('/', '-', 1)}"


def _unsent(repo: Repository, remote: Remote) -> list[str]:
    """The branches with our side of a conflict that are still here and not pushed yet."""
    heads = {name.removeprefix("refs/heads/"): oid for name, oid in repo.refs()}
    kept = {name for name, _ in repo.refs(f"{KEPT_REFS}{remote.key}/")}
    return [name for name in heads if _kept_ref(remote, name) in kept and "conflict-" in name]


def _remove_kept(repo: Repository, remote: Remote, name: str) -> None:
    """Remove a branch of `_keep` ("" for none) if its merge was not taken."""
    if name:
        for ref in (f"refs/heads/{name}", _kept_ref(remote, name)):
            run_git(repo, ["update-ref", "-d", ref])


# -- the work tree -------------------------------------------------------------------------------------------


def _commit_memory(repo: Repository, config: Config, today: date) -> None:
    """Commit the memory files that differ from HEAD, and nothing else. Raises Refused if the gate blocks a file."""
    with transaction.writer(repo):
        paths = _uncommitted(repo, config)
        if not paths:
            return
        policy = staged_policy(repo, today)
        assert repo.root is not None
        present = [path for path in paths if (repo.root / path).is_file()]
        if present:
            report = scan(work_tree_files(repo, present, policy), policy)
            if report.blocked:
                error = refusal([finding for finding in report.findings if finding.severity is Severity.BLOCK])
                raise Refused(f"{_finding(error)}; nothing was committed or synced", "git mem scan shows it")
        subject = f"memory: {counted(len(paths), 'file')}"
        if len(paths) == 1 and paths[0].isprintable():
            subject = f"memory: {paths[0]}"
        commit_paths(repo, f"{subject}\n\nCommitted by git mem sync.", paths)


def _uncommitted(repo: Repository, config: Config) -> tuple[str, ...]:
    """The memory files that differ from HEAD, by path: changed, new or removed; not those that Git ignores."""
    layout = layout_of((entry.path for entry in repo.staged()), config.memory_paths)
    return tuple(sorted(path for path in _edited(repo) if is_memory(path, layout)))


def _edited(repo: Repository) -> list[str]:
    """The paths that differ from HEAD or are not tracked, staged or not; without ignored ones."""
    rows = run_git(repo, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]).split("\0")
    return [row[3:] for row in rows if row]


def _in_the_way(repo: Repository, head: str | None, commit: str) -> tuple[str, ...]:
    """The files here that `commit` would overwrite: edited files, and files that Git does not track, ignored or not."""
    assert repo.root is not None
    edited = set(_edited(repo))
    return tuple(
        change.path
        for change in repo.changes(head or "", commit)
        if change.path in edited or (change.status == "A" and os.path.lexists(repo.root / change.path))
    )


def _setting(repo: Repository, key: str) -> str:
    """The value of a key of Git's configuration; "" if it is not set."""
    try:
        return run_git(repo, ["config", "--get", key]).strip()
    except GitFailed:
        return ""
