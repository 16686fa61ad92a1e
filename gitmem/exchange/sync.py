"""`git mem sync`: the current branch and the one of its name at a remote become equal, without anybody at the keyboard.

Fetch, merge fact by fact in a temporary work tree, scan what comes in and what goes out, move the branch forward,
push; again from the start where somebody else pushed meanwhile. The branch moves by fast-forward only and nothing is
ever forced. Where both sides changed the same text of memory, the remote's text stands in the branch, and ours is a
commit on top of it, on a branch of its own that is pushed too: one `git merge` away, and lost nowhere.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date

from gitmem.config import Config
from gitmem.errors import Changed, GitFailed, GitMemError, Refused, UsageError
from gitmem.gate import sources
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.redaction import refusal
from gitmem.gate.scan import scan_source
from gitmem.git import merge_driver, transaction
from gitmem.git.branch_worktree import detached_worktree
from gitmem.git.objects import Entry
from gitmem.git.opening import Repository
from gitmem.git.ranges import shallow
from gitmem.git.revision import CommitRange
from gitmem.git.worktree import locked, read_bytes
from gitmem.git.write import commit_paths, ensure_can_commit, run_git, stage_entries
from gitmem.json_values import json_object
from gitmem.memory.new_statements import between
from gitmem.memory.rivals import MEMORY, Rival
from gitmem.memory.snapshot import layout_at
from gitmem.paths import is_memory, layout_of
from gitmem.plural import counted
from gitmem.review.publish import remote_url, through_the_gate

SYNCED = (
    "refs/gitmem/synced/"  # the tip of the remote's branch that the last sync took in: a rewritten one is seen by it
)
FETCHED = "refs/gitmem/fetched/"  # while a sync runs
KEPT_REFS = "refs/gitmem/kept/"  # branches with our side of a conflict that the remote has not got yet
TRIES = 6  # times it begins again where somebody committed here or pushed there meanwhile
REMEMBERED = 50  # former tips of the remote's branch that are looked at
OFFLINE = re.compile(
    r"could not resolve|couldn't resolve|name resolution|failed to connect|couldn't connect|could not connect|timed out"
    r"|connection (?:refused|reset|closed)|network is (?:unreachable|down)|no route to host|unable to connect"
    r"|operation too slow|early eof|host is down",
    re.IGNORECASE,
)
REFUSED = re.compile(r"\[remote rejected\]|hook declined")  # the remote answered, whatever its hook says
REJECTED = re.compile(r"\[rejected\]|\[remote rejected\].*(?:cannot lock|failed to update)|non-fast-forward")
IN_THE_WAY = re.compile(r"would be overwritten|not uptodate", re.IGNORECASE)
SLOW = {"http.lowSpeedLimit": "1", "http.lowSpeedTime": "60"}  # bytes a second, for so many seconds: then it is offline
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=20"  # where nobody could answer it
PLAIN = ("--no-autostash", "--no-overwrite-ignore")  # of a merge: nothing of the work tree is put aside or overwritten
_MARK = re.compile(rb"^(?:<{7}|\|{7}|={7}|>{7})(?: |\r?$)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Remote:
    """Where to sync with: a remote's name, the branch at both ends, whether a person named the remote, and whether
    nobody is there to be asked."""

    name: str
    branch: str
    named: bool = False
    unattended: bool = True

    @property
    def key(self) -> str:
        """The last part of our refs for it: no name of a branch stands in the way of another's."""
        return hashlib.sha256(f"{self.name}\0{self.branch}".encode("utf-8", "surrogateescape")).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sync did. `state`:

    `synced`: both ends are equal. `offline`: the remote did not answer; `waiting` commits go out next time.
    `uncommitted`: files with edits stand in the way of what came (`paths`). `conflict`: files that are no memory
    changed on both sides (`paths`); nothing was merged or pushed. `would sync`: a dry run.

    `received` and `sent` are commits. `kept` are the branches with our side of `paths`, where both sides changed the
    same text of memory. `uncommitted` are memory files whose edits no commit has: they stayed here. `differs`: the
    facts that those which came repeat, replace, end or conflict with.
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

    def as_value(self) -> dict[str, object]:
        """The JSON of docs/json.md, "sync"."""
        return json_object(
            self, "state remote branch commit? received sent waiting paths kept uncommitted reason? differs"
        )


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge that was made beside the work tree: its commit, the memory files both sides changed at one place, and
    the commit on top of it with our side of them ("" for none)."""

    commit: str
    paths: tuple[str, ...] = ()
    ours: str = ""


class _Conflict(Exception):
    """Files that are no memory changed on both sides."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(paths)
        self.paths = tuple(paths)


def remote_of(repo: Repository, name: str, *, unattended: bool) -> Remote:
    """The remote to sync the current branch with: `name`, else the branch's own, else `origin`.

    Raises GitMemError where no branch is checked out, where there is no such remote, and in a shallow clone.
    """
    branch = repo.branch()
    if branch is None:
        raise GitMemError("no branch is checked out here", "git switch main")
    if shallow(repo):
        raise GitMemError("this clone has a part of the history only", "git fetch --unshallow")
    own = name or _setting(repo, f"branch.{branch}.remote") or "origin"
    if own == "." or "/" in own:
        raise UsageError(f"'{own}' is no remote's name", "git remote lists them")
    remote_url(repo, own)
    return Remote(own, branch, bool(name), unattended)


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
    """Make the branch and the remote's equal. `commit`: what is not committed of memory is, first. `python` runs the
    merge driver.

    Raises Refused where the gate blocks what comes or goes (nothing is merged or pushed then), Locked when another sync
    runs, Changed after TRIES beginnings, GitMemError for a rewritten remote, GitFailed for what else Git refuses.
    """
    ensure_can_commit(repo)
    if repo.root is not None:
        unsettled = _unmerged(repo)
    else:
        unsettled = {}
    if unsettled:
        raise GitMemError(
            f"{_file_names(unsettled)}: a conflict that is not settled", "settle it, then git add the file"
        )
    run = _Run(repo, config, remote, today, commit and not dry_run, dry_run)
    with locked(repo.common_dir, "sync", 0):
        if not dry_run:
            merge_driver.set_up(repo, python, config.memory_daily)
        try:
            for attempt in range(TRIES):
                try:
                    return run.once()
                except Changed:
                    if attempt + 1 == TRIES:
                        raise
        finally:
            with suppress(GitFailed):
                run_git(repo, ["update-ref", "-d", f"{FETCHED}{remote.key}"])
    raise AssertionError("unreachable")


@dataclass
class _Run:
    """One sync. `conflicted` are the files of the conflicts that its beginnings met."""

    repo: Repository
    config: Config
    remote: Remote
    today: date
    commit: bool
    dry_run: bool
    conflicted: dict[str, None] = field(default_factory=dict)

    def once(self) -> Synced:
        """One beginning. Raises Changed where it has to begin again."""
        repo, remote = self.repo, self.remote
        if self.commit:
            _commit_memory(repo, self.config, self.today)
        before = transaction.position(repo)
        if before.branch != remote.branch:
            raise GitMemError(f"the branch changed from '{remote.branch}' meanwhile", "run it again")
        head = before.head or ""
        state = "synced"
        if self.dry_run:
            state = "would sync"
        done = Synced(state, remote.name, remote.branch, head, uncommitted=_uncommitted(repo, self.config))
        try:
            theirs = _fetched(repo, remote)
        except GitFailed as error:
            return self._offline(done, error, _count(repo, head, _tracked(repo, remote)))
        if not head and not theirs:
            raise GitMemError("there is no commit here and none there", "git mem init, then git commit")
        done = replace(done, received=_count(repo, theirs, head), sent=_count(repo, head, theirs))
        _ensure_not_rewritten(repo, remote, head, theirs)
        if self.dry_run:
            _scanned(repo, remote, head, theirs, head, self.today)
            return done
        try:
            merge = _merged(repo, self.config, remote, head, theirs, self.today)
        except _Conflict as conflict:
            return replace(done, state="conflict", paths=conflict.paths)
        self.conflicted |= dict.fromkeys(merge.paths)
        name = ""
        if merge.ours:
            name = _keep(repo, remote, merge)
        try:
            stands = self._moved_forward(before, merge.commit)
        except BaseException:
            _forget_kept(repo, remote, name)
            raise
        if stands:
            _forget_kept(repo, remote, name)
            return replace(done, state="uncommitted", paths=stands)
        kept = _unsent(repo, remote)
        came = between(_memory_at(repo, head), _memory_at(repo, merge.commit), self.today)
        done = replace(done, commit=merge.commit, paths=tuple(self.conflicted), kept=tuple(kept), differs=came)
        try:
            _push(repo, remote, merge.commit, theirs, kept)
        except GitFailed as error:
            return self._offline(done, error, _count(repo, merge.commit, theirs))
        _remember(repo, remote, merge.commit, kept)
        return replace(done, sent=_count(repo, merge.commit, theirs))

    def _offline(self, done: Synced, error: GitFailed, waiting: int) -> Synced:
        """What to answer where the remote does not. Raises the error where it does."""
        words = "\n".join(
            line for line in f"{error.message}\n{error.hint}".split("\n") if not line.lstrip().startswith("remote:")
        )
        if REFUSED.search(words) or not OFFLINE.search(words):
            raise error
        return replace(done, state="offline", waiting=waiting, reason=error.message)

    def _moved_forward(self, before: transaction.Position, commit: str) -> tuple[str, ...]:
        """Move the branch and the files forward to `commit`; the files that stand in the way, () where it moved.

        Raises Changed where HEAD moved, and where somebody wrote again what was just committed.
        """
        repo = self.repo
        if commit == before.head:
            return ()
        if before.head is None:
            in_the_way = _in_the_way(repo, before.head, commit)
        else:
            in_the_way = ()
        if in_the_way:
            return in_the_way
        try:
            with transaction.writer(repo):
                transaction.ensure_position(repo, before)
                run_git(repo, ["merge", "--quiet", *PLAIN, "--ff-only", commit])
        except GitFailed as error:
            if not IN_THE_WAY.search(f"{error.message}\n{error.hint}"):
                raise
            in_the_way = _in_the_way(repo, before.head, commit)
            if not in_the_way:
                raise
            if self.commit and set(in_the_way) <= set(_uncommitted(repo, self.config)):
                raise Changed("files change faster than they can be synced", "try again in a moment") from error
        return in_the_way


def _memory_at(repo: Repository, commit: str) -> bytes:
    """The bytes of MEMORY.md in a commit, none where it has no such file."""
    oid = None
    if commit:
        oid = repo.blobs(commit, [MEMORY]).get(MEMORY)
    if not oid:
        return b""
    return repo.read(oid)


# -- the remote ----------------------------------------------------------------------------------------------


def _fetched(repo: Repository, remote: Remote) -> str:
    """The tip of the remote's branch, which is here afterwards; "" where it has none. Moves no branch of its."""
    ref = f"{FETCHED}{remote.key}"
    spec = f"+refs/heads/{remote.branch}:{ref}"
    try:
        run_git(
            repo,
            ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--refmap=", "--no-recurse-submodules",
             remote.name, spec],
            env=_patience(repo, remote),
        )  # fmt: skip
    except GitFailed as error:
        if "couldn't find remote ref" in f"{error.message}\n{error.hint}":
            return ""
        next_line = f"git remote -v shows where {remote.name} leads, git remote set-url {remote.name} URL changes it"
        raise GitFailed(error.message, f"{next_line}\n{error.hint}".rstrip()) from error
    return repo.resolve(ref)


def _push(repo: Repository, remote: Remote, commit: str, theirs: str, kept: Iterable[str]) -> None:
    """Push the merge and the branches with our side. Raises Changed where somebody pushed meanwhile."""
    if commit != theirs:
        specs = [f"{commit}:refs/heads/{remote.branch}"]
    else:
        specs = []
    specs += [f"refs/heads/{name}:refs/heads/{name}" for name in kept]
    if not specs:
        return
    plain = ["--quiet", "--no-follow-tags", "--recurse-submodules=no"]  # what was not scanned does not go
    try:
        run_git(repo, ["push", *plain, remote.name, *specs], env=_patience(repo, remote))
    except GitFailed as error:
        words = f"{error.message}\n{error.hint}"
        if REJECTED.search(words) and "hook declined" not in words:
            raise Changed(f"others push to {remote.name} all the time", "try again in a moment") from error
        raise


def _remember(repo: Repository, remote: Remote, tip: str, kept: Iterable[str]) -> None:
    """Note what the remote has now. Its tracking branch and the upstream are for the person: they may be in the way."""
    run_git(repo, ["update-ref", f"{SYNCED}{remote.key}", tip])
    for name in kept:
        run_git(repo, ["update-ref", "-d", _kept_ref(remote, name)])
    with suppress(GitFailed):
        run_git(repo, ["update-ref", "-m", "git mem sync", f"refs/remotes/{remote.name}/{remote.branch}", tip])
    if not remote.named and not _setting(repo, f"branch.{remote.branch}.merge"):
        with suppress(GitFailed):
            run_git(repo, ["branch", "--quiet", f"--set-upstream-to={remote.name}/{remote.branch}"])


def _patience(repo: Repository, remote: Remote) -> dict[str, str]:
    """The environment in which Git gives up on a network that does not answer, and asks nothing where nobody is."""
    env = _with_settings(repo, SLOW)
    asked = repo.environ.get("GIT_SSH_COMMAND") or repo.environ.get("GIT_SSH") or _setting(repo, "core.sshCommand")
    if asked or not remote.unattended:
        return env
    return {**env, "GIT_SSH_COMMAND": SSH}


def _with_settings(repo: Repository, settings: Mapping[str, str]) -> dict[str, str]:
    """The environment that adds settings to one run of Git."""
    given = repo.environ.get("GIT_CONFIG_COUNT") or "0"
    count = 0
    if given.isdecimal():
        count = int(given)
    env = {"GIT_CONFIG_COUNT": str(count + len(settings))}
    for n, (key, value) in enumerate(settings.items(), count):
        env |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
    return env


def _ensure_not_rewritten(repo: Repository, remote: Remote, head: str, theirs: str) -> None:
    """Raise GitMemError where commits that were at the remote, and are here, have been taken out there: to merge would
    bring them back. Every tip that this clone knows the remote's branch had is looked at."""
    name = f"{remote.name}/{remote.branch}"
    for last in _former_tips(repo, remote) if head else ():
        if not repo.is_ancestor(last, head):
            continue
        if not theirs:
            raise GitMemError(
                f"{name} is gone at the remote, and nothing was pushed",
                f"if it should be there again: git push {remote.name} HEAD:refs/heads/{remote.branch}",
            )
        if not repo.is_ancestor(last, theirs):
            raise GitMemError(
                f"the history of {name} was rewritten: what was taken out there is here still, and nothing was merged",
                f"git fetch; git log {name}..HEAD shows what is here alone; then git rebase --onto {name} {last[:12]}",
            )


def _former_tips(repo: Repository, remote: Remote) -> list[str]:
    """Tips that the remote's branch had, the newest first, as far as this clone has seen them and has their commits."""
    tips = [dict(repo.refs(SYNCED)).get(f"{SYNCED}{remote.key}", ""), _tracked(repo, remote)]
    with suppress(GitFailed):  # there is no such branch, or nothing is logged
        shown = ["reflog", "show", f"--max-count={REMEMBERED}", "--format=%H"]
        tips += run_git(repo, [*shown, f"refs/remotes/{remote.name}/{remote.branch}"]).split()
    present = repo.sizes([oid for oid in dict.fromkeys(tips) if oid])
    return [oid for oid in dict.fromkeys(tips) if oid in present]


def _tracked(repo: Repository, remote: Remote) -> str:
    return dict(repo.refs("refs/remotes/")).get(f"refs/remotes/{remote.name}/{remote.branch}", "")


def _count(repo: Repository, tip: str, beyond: str) -> int:
    """How many commits `tip` has that `beyond` has not; either may be ""."""
    if not tip:
        return 0
    return int(run_git(repo, ["rev-list", "--count", tip, *([f"^{beyond}"] if beyond else [])]))


# -- the merge -----------------------------------------------------------------------------------------------


def _merged(repo: Repository, config: Config, remote: Remote, head: str, theirs: str, today: date) -> Merge:
    """The commit that both ends are to have, scanned. Raises Refused, _Conflict and GitFailed."""
    if not theirs or (head and repo.is_ancestor(theirs, head)):
        merge = Merge(head)
    elif not head or repo.is_ancestor(head, theirs):
        merge = Merge(theirs)
    else:
        _scanned(repo, remote, head, theirs, "", today)  # before a hook that came with it runs
        merge = _merge_in_worktree(repo, config, remote, head, theirs)
        _scanned(repo, remote, head, theirs, merge.ours or merge.commit, today, came=False)
        return merge
    _scanned(repo, remote, head, theirs, merge.commit, today)
    return merge


def _scanned(
    repo: Repository, remote: Remote, head: str, theirs: str, tip: str, today: date, *, came: bool = True
) -> None:
    """Scan what `theirs` brings here (with `came`), and what `tip` ("" for nothing) brings there. Raises Refused."""
    if came and theirs and _count(repo, theirs, head):
        try:
            through_the_gate(repo, CommitRange(head, theirs, head), today)
        except Refused as error:
            hint = f"git mem scan --range {head[:12] or 'HEAD'}..{theirs[:12]} shows it; it is to be taken out there"
            raise Refused(f"{_finding(error)}; what came from {remote.name} was not merged", hint) from None
    if tip and _count(repo, tip, theirs):
        try:
            through_the_gate(repo, CommitRange(theirs, tip, theirs), today)
        except Refused as error:
            span = "--history"
            if theirs:
                span = f"--range {theirs[:12]}..HEAD"
            hint = f"git mem scan {span} shows it; docs/leaked-secret.md says how to take it out of commits"
            raise Refused(f"{_finding(error)}; it is in commits here, and nothing was pushed", hint) from None


def _finding(error: Refused) -> str:
    return error.message.partition(": ")[2]


def _merge_in_worktree(repo: Repository, config: Config, remote: Remote, head: str, theirs: str) -> Merge:
    """The merge of the remote's branch into ours, made in a temporary work tree, with the hooks of this one."""
    layout = layout_at(repo, head, config)
    hooks = run_git(repo, ["rev-parse", "--path-format=absolute", "--git-path", "hooks"]).rstrip("\n")
    env = _with_settings(repo, {"rerere.enabled": "false", "core.hooksPath": hooks})
    with detached_worktree(repo, head) as there:
        subject = f"memory: merge {remote.name}/{remote.branch}"
        try:
            run_git(there, ["merge", "--quiet", "--no-edit", "--no-ff", *PLAIN, "-m", subject, theirs], env=env)
            return Merge(there.resolve("HEAD"))
        except GitFailed:
            stages = _unmerged(there)
            if not stages:
                raise
        foreign = [path for path in stages if not is_memory(path, layout)]
        if foreign:
            raise _Conflict(foreign)
        settled = {path: _sides(there, path, entries) for path, entries in stages.items()}
        named = _file_names(settled)
        _stage(there, {path: sides[1] for path, sides in settled.items()})
        words = f"{subject}\n\nIts text stands where both sides changed the same: {named}."
        run_git(there, ["commit", "--quiet", "--cleanup=whitespace", "--file=-"], input=words, env=env)
        commit = there.resolve("HEAD")
        _stage(there, {path: sides[0] for path, sides in settled.items()})
        words = f"memory: our side of what {remote.name}/{remote.branch} changed too\n\nIn {named}."
        if there.staged_changes():
            run_git(there, ["commit", "--quiet", "--cleanup=whitespace", "--file=-"], input=words, env=env)
        ours = there.resolve("HEAD")
    return Merge(commit, tuple(settled), ours if ours != commit else "")


def _file_names(paths: Iterable[str]) -> str:
    """Names of files for a sentence or a message; one that would not stay on its line is not spelled."""
    return ", ".join(f"'{path}'" if path.isprintable() else "a file with an odd name" for path in paths)


def _unmerged(repo: Repository) -> dict[str, dict[int, Entry]]:
    """path -> stage (1 base, 2 ours, 3 theirs) -> entry, for what Git could not merge."""
    stages: dict[str, dict[int, Entry]] = {}
    for row in run_git(repo, ["ls-files", "--unmerged", "-z"]).split("\0"):
        if row:
            about, path = row.split("\t", 1)
            mode, oid, stage = about.split()
            stages.setdefault(path, {})[int(stage)] = Entry(path, int(mode, 8), oid)
    return stages


def _sides(repo: Repository, path: str, stages: Mapping[int, Entry]) -> tuple[Entry | None, Entry | None]:
    """Our and their version of a file with conflicts, each with what could be merged; None is no file."""
    ours, theirs = stages.get(2), stages.get(3)
    if ours is None or theirs is None or ours.mode != theirs.mode:
        return ours, theirs
    if any(data is None or _MARK.search(data) for _, data in repo.read_many([e.oid for e in stages.values()])):
        return ours, theirs
    try:
        assert repo.root is not None
        marked = read_bytes(repo.root, path)
    except (OSError, GitMemError):
        return ours, theirs
    split = split_conflicts(marked)
    if split is None:
        return ours, theirs
    mine, other = (_cleaned_blob(repo, path, side) for side in split)
    return ours._replace(oid=mine), theirs._replace(oid=other)


def _cleaned_blob(repo: Repository, path: str, data: bytes) -> str:
    """The blob of a file's bytes in the work tree, as `git add` would make it (line ends, filters)."""
    text = data.decode("utf-8", "surrogateescape")
    return run_git(repo, ["hash-object", "-w", f"--path={path}", "--stdin"], input=text).strip()


def split_conflicts(marked: bytes) -> tuple[bytes, bytes] | None:
    """The two sides of a text with Git's conflict marks (seven characters, with a base or without).

    None where the marks are not in order, or there are none.
    """
    sides: tuple[list[bytes], list[bytes]] = ([], [])
    into: tuple[int, ...] = (0, 1)
    state = ""
    after = {"": b"<", "<": b"|=", "|": b"=", "=": b">"}
    seen = False
    for line in re.findall(rb"[^\n]*\n|[^\n]+", marked):
        mark = b""
        if _MARK.match(line):
            mark = line[:1]
        if mark and mark in after[state]:
            if mark == b">":
                state = ""
            else:
                state = mark.decode()
            into = {"": (0, 1), "<": (0,), "|": (), "=": (1,)}[state]
            seen = True
        elif mark and state:
            return None
        else:
            for side in into:
                sides[side].append(line)
    if seen and not state:
        return (b"".join(sides[0]), b"".join(sides[1]))
    return None


def _stage(repo: Repository, entries: Mapping[str, Entry | None]) -> None:
    """Stage versions of files, and have them in the work tree as they are staged; None takes a file out."""
    gone = [path for path, entry in entries.items() if entry is None]
    there = [entry for entry in entries.values() if entry is not None]
    if gone:
        run_git(repo, ["rm", "--quiet", "--force", "--ignore-unmatch", "--", *gone])
    if there:
        stage_entries(repo, there)
        run_git(repo, ["checkout-index", "--force", "-z", "--stdin"], input="".join(f"{e.path}\0" for e in there))


# -- branches with our side ----------------------------------------------------------------------------------


def _keep(repo: Repository, remote: Remote, merge: Merge) -> str:
    """The name of the branch that has our side from now on. It counts as unsent until the remote has it."""
    for name in (f"memory/conflict-{merge.ours[:8]}", f"memory-conflict-{merge.ours[:8]}"):
        with suppress(GitFailed):  # a branch `memory` leaves no room for the first
            run_git(repo, ["update-ref", "-m", "git mem sync", f"refs/heads/{name}", merge.ours])
            run_git(repo, ["update-ref", _kept_ref(remote, name), merge.ours])
            return name
    raise GitMemError(
        "no branch can be made for your side of a conflict", "git branch --list 'memory*' shows what is there"
    )


def _kept_ref(remote: Remote, name: str) -> str:
    return f"{KEPT_REFS}{remote.key}/{name.replace('/', '-', 1)}"


def _unsent(repo: Repository, remote: Remote) -> list[str]:
    """The branches with our side that the remote has not got, and that are still here."""
    heads = {name.removeprefix("refs/heads/"): oid for name, oid in repo.refs()}
    kept = {name for name, _ in repo.refs(f"{KEPT_REFS}{remote.key}/")}
    return [name for name in heads if _kept_ref(remote, name) in kept and "conflict-" in name]


def _forget_kept(repo: Repository, remote: Remote, name: str) -> None:
    """Take a branch out again whose merge did not become the branch's."""
    if name:
        for ref in (f"refs/heads/{name}", _kept_ref(remote, name)):
            run_git(repo, ["update-ref", "-d", ref])


# -- the work tree -------------------------------------------------------------------------------------------


def _commit_memory(repo: Repository, config: Config, today: date) -> None:
    """Commit the memory files that are not as HEAD has them, and nothing else. Raises Refused for what the gate blocks,
    and commits nothing then."""
    with transaction.writer(repo):
        paths = _uncommitted(repo, config)
        if not paths:
            return
        policy = sources.staged_policy(repo, today)
        assert repo.root is not None
        present = [path for path in paths if (repo.root / path).is_file()]
        report = None
        if present:
            report = scan_source(sources.paths(repo, present, policy), policy)
        if report is not None and report.blocked:
            error = refusal([finding for finding in report.findings if finding.severity is Severity.BLOCK])
            raise Refused(f"{_finding(error)}; nothing was committed or synced", "git mem scan shows it")
        subject = ""
        if len(paths) == 1 and paths[0].isprintable():
            subject = f"memory: {paths[0]}"
        subject = subject or f"memory: {counted(len(paths), 'file')}"
        commit_paths(repo, f"{subject}\n\nCommitted by git mem sync.", paths)


def _uncommitted(repo: Repository, config: Config) -> tuple[str, ...]:
    """The memory files that are not as HEAD has them: changed, new or gone. What Git ignores is none."""
    layout = layout_of((entry.path for entry in repo.staged()), config.memory_paths)
    return tuple(sorted(path for path in _edited(repo) if is_memory(path, layout)))


def _edited(repo: Repository) -> list[str]:
    rows = run_git(repo, ["status", "--porcelain", "-z", "--no-renames", "--untracked-files=all"]).split("\0")
    return [row[3:] for row in rows if row]


def _in_the_way(repo: Repository, head: str | None, commit: str) -> tuple[str, ...]:
    """The files here that `commit` would overwrite: edited ones, and those that Git does not know, ignored or not."""
    assert repo.root is not None
    edited = set(_edited(repo))
    if head is None:
        came = {entry.path: True for entry in repo.entries(commit)}
    else:
        came = {change.path: change.status == "A" for change in repo.changes(head, commit)}
    return tuple(path for path, new in came.items() if path in edited or (new and os.path.lexists(repo.root / path)))


def _setting(repo: Repository, key: str) -> str:
    try:
        return run_git(repo, ["config", "--get", key]).strip()
    except GitFailed:
        return ""
