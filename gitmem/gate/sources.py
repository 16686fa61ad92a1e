"""Reads what the gate scans, and its policy: the index, a range, all of history, a push, paths of the work tree.

All but work-tree paths is read from Git objects, never from files on disk. The policy comes from the tree that is
trusted: the staged one in a hook, the base in CI. This module scans no text.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain, islice
from pathlib import Path

from gitmem.config import TRACKED, Config
from gitmem.config.loading import load
from gitmem.errors import GitFailed, GitMemError, OutsideRepository, UsageError
from gitmem.gate import exceptions, tags_and_notes
from gitmem.gate.changes import rules
from gitmem.gate.changes.attributes import is_attributes
from gitmem.gate.changes.layout_loss import layout_loss, may_narrow
from gitmem.gate.changes.merge_losses import before_merge, dropped
from gitmem.gate.changes.rewrite_trailer import rewrite_reason
from gitmem.gate.changes.staging import change_findings, counts, merge_heads, staged_change
from gitmem.gate.changes.text_rules import attribute_findings, history_findings, link_target, range_loss
from gitmem.gate.detectors import registry
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Before, Blob, Source
from gitmem.gate.imported_files import imported_files
from gitmem.gate.policy import MESSAGE, Policy, distinct
from gitmem.git import promised_objects
from gitmem.git.objects import (
    GITLINK,
    LFS_POINTER,
    LINKS,
    REGULAR,
    SYMLINK,
    Change,
    Commit,
    Entry,
    is_encrypted,
    is_git_crypt_filter,
)
from gitmem.git.ranges import PathChange, commit_ids, shallow, touched
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.git.worktree import read_bytes
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, layout_of

WINDOW = 256  # blobs read at once
STILL_ENCRYPTED = (
    "git-crypt encrypted it, and its text cannot be read here; git-crypt unlock,"
    " and git config --global mem.encryption git-crypt"
)


@dataclass(frozen=True, slots=True)
class BlobPlace:
    """A blob to read. `commit`: the commit that adds it, "" for none."""

    path: str
    oid: str
    commit: str = ""
    mode: int = REGULAR


# -- policies ------------------------------------------------------------------------------------------------


UserConfig = Sequence[tuple[str, str, str]]  # as `Repository.user_config` returns it


def policy_from(
    repo: Repository,
    trees: Sequence[Sequence[Entry]],
    today: date,
    *,
    trusted: int = 0,
    user_config: UserConfig | None = None,
) -> Policy:
    """The policy that the settings of these trees and of the user give.

    Memory paths, protected files and layouts are those of all `trees` together, which can only make the policy
    stricter; exceptions come from `trees[trusted]` alone. `user_config`: read from the repository when None. Raises
    BadConfig.
    """
    if user_config is None:
        user_config = repo.user_config()
    configs = [load(user_config, _text(repo, entries, TRACKED)) for entries in trees] or [load(user_config)]
    extra = tuple(dict.fromkeys(glob for config in configs for glob in config.memory_paths))
    allow = ""
    if trees:
        allow = _text(repo, trees[trusted], exceptions.FILE)
    return Policy(
        layouts=distinct(
            layout_of((e.path for e in entries), config.memory_paths)._replace(extra=extra)
            for entries, config in zip(trees, configs, strict=False)
            if entries
        )
        or (layout_of((), extra),),
        protected=tuple(dict.fromkeys(glob for config in configs for glob in config.protected)),
        daily=tuple(dict.fromkeys(pattern for config in configs for pattern in config.memory_daily)),
        allow=exceptions.parse(allow),
        today=today,
        strict=any(config.gate == "strict" for config in configs),
        imported=frozenset().union(*(imported_files(repo, entries) for entries in trees)),
        encryption=_encryption(configs[0]),
        detectors=_detectors(configs[0]),
    )


def _encryption(config: Config) -> str:
    """`Policy.encryption` as the user's settings give it."""
    if config.encryption == "none":
        return ""
    return config.encryption


def _detectors(config: Config) -> tuple[str, ...]:
    """`Policy.detectors` as the user's settings give them."""
    if not config.detect_secrets:
        return ()
    return registry.WITH_PLUGINS


def staged_policy(
    repo: Repository, today: date, *, merging: bool = False, user_config: UserConfig | None = None
) -> Policy:
    """The policy of hooks: the exceptions of the staged tree, the settings of that, of HEAD and of what is merged
    into HEAD.

    `merging`: as in `staged`.
    """
    trees: list[Sequence[Entry]] = [repo.staged()]
    if head := repo.head():
        trees += [repo.entries(commit) for commit in (head, *merge_heads(repo, merging=merging))]
    else:
        trees.append([])
    return policy_from(repo, trees, today, user_config=user_config)


def range_policy(repo: Repository, commits: CommitRange, today: date) -> Policy:
    """The policy of CI for a range: the exceptions of its judge, the settings of that, of its base and of its tip.

    Nothing in a range can except itself; without judge and base there are no exceptions.
    """
    trusted = commits.judge or commits.base
    trees: list[Sequence[Entry]] = [[]]
    if trusted:
        trees = [repo.entries(trusted)]
    trees += [repo.entries(oid) for oid in dict.fromkeys((commits.base, commits.tip)) if oid and oid != trusted]
    return policy_from(repo, trees, today)


def range_paths(repo: Repository, commits: CommitRange) -> tuple[str, ...]:
    """The `[memory] paths` of the judge, base and tip of a range, and the user's own."""
    pairs = repo.user_config()
    oids = dict.fromkeys(oid for oid in (commits.judge, commits.base, commits.tip) if oid)
    configs = [load(pairs, _text(repo, repo.entries(oid, [TRACKED]), TRACKED)) for oid in oids]
    return tuple(dict.fromkeys(glob for config in configs for glob in config.memory_paths))


def pushed_policy(repo: Repository, base: str, tip: str, today: date) -> Policy:
    """The policy of a push: the exceptions of its tip, the settings of that and of `base` ("" for none)."""
    trees = [repo.entries(commit) for commit in (tip, base) if commit]
    return policy_from(repo, trees, today)


def tree_policy(repo: Repository, commit: str, today: date) -> Policy:
    """The policy of a commit's own tree."""
    return policy_from(repo, [repo.entries(commit)], today)


def worktree_policy(repo: Repository, today: date) -> Policy:
    """The policy of a scan of the work tree: settings and exceptions as the files on disk have them."""
    policy = policy_from(repo, [repo.staged()], today)
    if repo.root is None:
        return policy
    texts = {}
    for name in (TRACKED, exceptions.FILE):
        try:
            texts[name] = read_bytes(repo.root, name, policy.limit).decode("utf-8", "replace")
        except (OSError, OutsideRepository):
            texts[name] = ""
    config = load(repo.user_config(), texts[TRACKED])
    paths_here = [entry.path for entry in repo.staged()] + repo.untracked()
    return Policy(
        layouts=(layout_of(paths_here, config.memory_paths),),
        protected=config.protected,
        daily=config.memory_daily,
        allow=exceptions.parse(texts[exceptions.FILE]),
        today=today,
        strict=config.gate == "strict",
        imported=policy.imported,
        encryption=_encryption(config),
        detectors=_detectors(config),
    )


def daily_patterns(repo: Repository, commit: str) -> tuple[str, ...]:
    """The patterns of daily logs in the settings of a commit; () for no commit ("")."""
    if not commit:
        return ()
    return load((), _text(repo, repo.entries(commit, [TRACKED]), TRACKED)).memory_daily


def _text(repo: Repository, entries: Sequence[Entry], path: str) -> str:
    entry = next((e for e in entries if e.path == path and e.mode not in LINKS), None)
    if entry is None:
        return ""
    if repo.sizes([entry.oid]).get(entry.oid, 0) > 1 << 20:
        raise GitMemError(Message("{} is larger than 1 MiB", path), Message("mend {}", path))
    return repo.read(entry.oid).decode("utf-8", "replace")


# -- what is staged ------------------------------------------------------------------------------------------


def staged(repo: Repository, policy: Policy, names: Sequence[str] = (), *, merging: bool = False) -> Source:
    """The staged memory files that a commit would change, from the index that Git names (GIT_INDEX_FILE).

    `names`: paths whose staged content is scanned although the commit does not change them. `merging`: whether the
    caller is pre-merge-commit (`gate/changes/staging.py`).
    """
    staging = staged_change(repo, policy, merging=merging)
    open_conflicts = [change.path for change in staging.changes if change.status == "U"]
    wanted = [
        BlobPlace(change.path, change.new_oid)
        for change in (*staging.changes, *staging.dropped)
        if change.status not in "DU" and change.new_mode not in LINKS and policy.concerns(change.path)
    ]
    if names:
        more = set(names) - {row.path for row in wanted}
        entries = [e for e in repo.staged() if e.path in more and e.mode not in LINKS and policy.concerns(e.path)]
        wanted += [BlobPlace(entry.path, entry.oid) for entry in entries]
    wanted += _newly_imported(repo, policy, staging.parents, repo.staged, wanted)
    conflicts = (Blob(path, b"", skipped="it is in conflict; resolve it first") for path in open_conflicts)
    before = None
    if policy.allow.baseline and staging.parents:
        before = before_of(repo, staging.parents, (change.path for change in staging.changes if change.status == "D"))
    findings = (*change_findings(repo, staging, policy), *_stored_in_clear(repo, wanted))
    blobs = chain(conflicts, read(repo, wanted, policy))
    return Source(blobs, findings, before, partial(commit_ids, repo))


def _stored_in_clear(repo: Repository, wanted: Sequence[BlobPlace]) -> Iterator[Finding]:
    """A finding for each staged file that git-crypt should have encrypted and did not.

    A clone that was never unlocked has no such filter, and Git stores the file as it is.
    """
    filters = repo.staged_filters([row.path for row in wanted])
    rows = [row for row in wanted if is_git_crypt_filter(filters.get(row.path, ""))]
    for row, data in zip(rows, repo.stored([row.oid for row in rows]), strict=True):
        if data and not is_encrypted(data):  # git-crypt leaves an empty file as it is
            yield rules.finding("stored-in-clear", row.path, rules.RULES["stored-in-clear"])


def _newly_imported(
    repo: Repository, policy: Policy, parents: Sequence[str], read_tree: Callable[[], Sequence[Entry]],
    wanted: Sequence[BlobPlace] = (), commit: str = "",
) -> list[BlobPlace]:  # fmt: skip
    """The unchanged files of a tree that agents read from now on, because a changed file names them.

    `parents`: the commits before the change. `wanted`: blobs that are scanned anyway.
    """
    if not policy.imported:
        return []
    entries = read_tree()
    imported_before = frozenset().union(*(imported_files(repo, repo.entries(oid)) for oid in parents))
    new = imported_files(repo, entries) - imported_before - {row.path for row in wanted}
    return [BlobPlace(entry.path, entry.oid, commit) for entry in entries if entry.path in new]


def before_of(repo: Repository, commits: Sequence[str], gone: Iterable[str]) -> Before:
    """The files before a change with these parents; `gone`: the paths that the change deletes or moves."""

    def texts(path: str) -> list[bytes]:
        entries = [e for commit in commits for e in repo.entries(commit, [path]) if e.path == path]
        oids = dict.fromkeys(entry.oid for entry in entries if entry.mode not in LINKS)
        sizes = repo.sizes(list(oids))
        return [repo.read(oid) for oid in oids if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]

    return Before(texts, frozenset(gone))


def before_commit(repo: Repository, commit: str) -> Before:
    """The files before a commit, as its first parent has them; none for a root commit."""
    row = next(iter(repo.log([commit], limit=1)))
    return before_of(repo, row.parents[:1], ())


# -- commits -------------------------------------------------------------------------------------------------


def span(repo: Repository, text: str) -> CommitRange:
    """The range that `A..B` or `A...B` names.

    A missing side is HEAD. The judge is A; the base is A, or the merge base with `...`. An all-zero A (a new branch)
    gives base and judge "". Raises UsageError and UnknownRevision.
    """
    symmetric = "..." in text
    dots = ".."
    if symmetric:
        dots = "..."
    first, dots, last = text.partition(dots)
    if not dots or text.startswith("-"):
        raise UsageError(Message("'{}' is not a range", text), "write it as A..B, for example origin/main..HEAD")
    tip = repo.resolve(last or "HEAD")
    if first and not first.strip("0"):
        return CommitRange("", tip)
    target = repo.resolve(first or "HEAD")
    if symmetric:
        return towards(repo, target, tip)
    return CommitRange(target, tip, target)


def commits(repo: Repository, revs: Sequence[str], policy: Policy, base: str = "") -> Source:
    """The messages of the commits of `revs`, and every version of a memory file that they add, oldest first.

    `base`: the commit that `revs[0]` will be merged into, "" for none; its settings must be kept, and what a merge
    drops of a parent (`gate/changes/merge_losses.py`) counts unless `base` has the same version. The names of changed
    files are read at once; their texts are read while they are scanned, WINDOW blobs at a time.
    """
    return _source_of(repo, repo.log(revs, reverse=True), policy, base, next(iter(revs), ""))


def last_commits(repo: Repository, number: int, policy: Policy) -> tuple[Source, list[str]]:
    """(source as of `commits`, oids) of the last `number` commits of HEAD, oldest first; empty without a HEAD."""
    newest: list[Commit] = []
    if head := repo.head():
        newest = list(repo.log([head], limit=number))
    newest.reverse()
    return _source_of(repo, newest, policy), [commit.oid for commit in newest]


def _source_of(repo: Repository, listed: Iterable[Commit], policy: Policy, base: str = "", tip: str = "") -> Source:
    """The source of these commits; `tip`: the newest, read only when there is a `base`."""
    messages: dict[str, bytes] = {}
    merges: dict[str, tuple[str, ...]] = {}
    reasoned: set[str] = set()  # commits whose message gives a reason to rewrite history
    names: dict[str, str] = {}  # names of authors and committers, which tools show to models
    for commit in listed:
        messages[commit.oid] = commit.message.encode("utf-8", "surrogateescape")
        names.setdefault(commit.author.name, commit.oid)
        names.setdefault(commit.committer.name, commit.oid)
        if len(commit.parents) > 1:
            merges[commit.oid] = commit.parents
        if rewrite_reason(commit.message):
            reasoned.add(commit.oid)
    if not messages:
        return Source(iter(()))
    lost = dropped(repo, merges, base, lambda path: counts(path, policy))
    changes = dict(touched(repo, messages))
    changed = [
        commit_change(oid, [*changes.get(oid, ()), *lost.get(oid, ())], policy)
        for oid in messages
        if oid in changes or oid in lost
    ]
    imported: list[BlobPlace] = []
    if base:
        imported = _newly_imported(repo, policy, [base], lambda: repo.entries(tip), commit=tip)
    promised_objects.fetch(repo, (row.oid for change in changed for row in (*change.wanted, *change.attributes)))
    blobs = chain(
        (Blob(MESSAGE, text, commit=oid) for oid, text in messages.items()),
        (Blob(MESSAGE, name.encode("utf-8", "surrogateescape"), commit=oid) for name, oid in names.items()),
        read(repo, _once(chain((row for change in changed for row in change.wanted), imported)), policy),
    )
    findings = [*_findings_of(repo, changed, policy), *_rewritten(repo, changed, merges, reasoned, policy)]
    rows = [(row, change.commit) for change in changed for row in change.settings]
    findings += range_loss(repo, rows, base, tip)
    if base and may_narrow(policy.layouts):
        findings += layout_loss(repo, repo.merge_base(base, tip) or base, tip, tip)
    before = None
    if base and policy.allow.baseline:
        before = before_of(repo, [base], (change.path for change in repo.changes(base, tip) if change.status == "D"))
    return Source(blobs, tuple(findings), before, partial(commit_ids, repo))


def files_of_commit(repo: Repository, commit: str, policy: Policy) -> Source:
    """The files of a commit's tree that the gate scans, with no finding about a change."""
    entries = [e for e in repo.entries(commit) if e.mode not in LINKS and policy.concerns(e.path)]
    return Source(read(repo, (BlobPlace(e.path, e.oid) for e in entries), policy), ids=partial(commit_ids, repo))


def commits_beyond(repo: Repository, base: str, tip: str, policy: Policy) -> Source:
    """As `commits`, for the commits of `tip` that `base` lacks (oids; `base` "" for all of its history).

    Raises GitMemError when a shallow clone ends among them.
    """
    return whole_commits(repo, [tip, *([f"^{base}"] if base else [])], policy, base)


def whole_commits(repo: Repository, revs: Sequence[str], policy: Policy, base: str = "") -> Source:
    """As `commits`, with the tags and notes of the commits; raises GitMemError when a shallow clone ends among them."""
    cut = shallow(repo)
    oldest = ""
    if cut:
        oldest = next((commit.oid for commit in repo.log(revs) if commit.oid in cut), "")
    if oldest:
        raise GitMemError(
            Message("this clone is shallow and ends at {}: what came before it cannot be scanned", oldest[:12]),
            "git fetch --unshallow; in a workflow, fetch-depth: 0 of actions/checkout",
        )
    source = commits(repo, revs, policy, base)
    listed = {commit.oid for commit in repo.log(revs)}
    return replace(source, blobs=chain(source.blobs, tags_and_notes.about(repo, listed)))


@dataclass(frozen=True, slots=True)
class CommitChange:
    """What the gate has to check in one commit, decided by paths and modes alone.

    `wanted`: blobs to scan. `attributes`: its .gitattributes files. `links`: symbolic links in place of files that
    agents read. `added`: paths of new files to scan. `rewrites`: changed or deleted daily logs and MEMORY.md.
    `settings`: changes of .gitmem.toml. `findings`: findings that need no text.
    """

    commit: str
    wanted: tuple[BlobPlace, ...]
    attributes: tuple[BlobPlace, ...]
    links: tuple[BlobPlace, ...]
    added: tuple[str, ...]
    rewrites: tuple[PathChange, ...]
    settings: tuple[PathChange, ...]
    findings: tuple[Finding, ...]


def commit_change(commit: str, changes: Sequence[PathChange], policy: Policy) -> CommitChange:
    """The changes of one commit, sorted by how they are checked. Reads nothing."""
    moved = {change.new_oid for change in changes if change.added and policy.remembers(change.path)}
    findings: list[Finding] = []
    wanted: list[BlobPlace] = []
    attributes: list[BlobPlace] = []
    links: list[BlobPlace] = []
    for change in changes:
        if policy.protects(change.path):
            status = "M"
            if not change.new_oid:
                status = "D"
            changed = Change(status, change.path, "", "", change.new_oid, 0, change.mode)
            findings += rules.check_protection([changed], policy, commit)
        if not change.new_oid:
            continue
        findings += rules.check_entry(change.path, change.mode, policy, commit)
        if is_attributes(change.path):
            attributes.append(BlobPlace(change.path, change.new_oid, commit, change.mode))
        if change.mode in LINKS:
            if change.mode == SYMLINK and policy.guides(change.path):
                links.append(BlobPlace(change.path, change.new_oid, commit))
            continue
        if policy.concerns(change.path):
            wanted.append(BlobPlace(change.path, change.new_oid, commit))
    rewrites = [
        change
        for change in changes
        if change.olds and policy.keeps_history(change.path) and (change.new_oid or not moved & set(change.olds))
    ]
    added = tuple(change.path for change in changes if change.added and policy.concerns(change.path))
    return CommitChange(
        commit, tuple(wanted), tuple(attributes), tuple(links), added, tuple(rewrites),
        settings=tuple(change for change in changes if change.path == TRACKED),
        findings=tuple(findings),
    )  # fmt: skip


def _findings_of(repo: Repository, changed: Sequence[CommitChange], policy: Policy) -> Iterator[Finding]:
    """The findings about the commits `changed` (oldest first) as changes, without those of settings and history."""
    for change in changed:
        yield from change.findings
    added = {path: change.commit for change in changed for path in change.added}
    if added:
        there = (entry.path for entry in repo.entries(changed[-1].commit))
        twins = rules.check_twins(added, there, policy)
        yield from (replace(twin, commit=added[twin.path]) for twin in twins if twin.path in added)
    for row in _once(row for change in changed for row in change.attributes):
        yield from attribute_findings(repo, row.path, row.mode, row.oid, policy, row.commit)
    for row in _once(row for change in changed for row in change.links):
        yield from rules.check_link(row.path, link_target(repo, row.oid), policy, row.commit)


def _rewritten(
    repo: Repository,
    changed: Sequence[CommitChange],
    merges: Mapping[str, Sequence[str]],
    reasoned: Collection[str],
    policy: Policy,
) -> Iterator[Finding]:
    """The findings of the history rules. `reasoned`: commits whose message gives a reason to rewrite history."""
    for change in changed:
        if change.commit not in reasoned:
            for file in change.rewrites:
                then = before_merge(repo, merges.get(change.commit, ()), file.path)
                yield from history_findings(repo, file.path, file.olds, file.new_oid, policy, change.commit, then)


def _once(rows: Iterable[BlobPlace]) -> Iterator[BlobPlace]:
    """The rows without a blob that an earlier commit has added at the same path."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.oid, row.path) not in seen:
            seen.add((row.oid, row.path))
            yield row


def read(repo: Repository, wanted: Iterable[BlobPlace], policy: Policy) -> Iterator[Blob]:
    """The blobs, in order. A blob above the limit, missing, encrypted or in Git LFS is `skipped`; sizes are asked for
    first, so that nothing above the limit is read."""
    rows = iter(wanted)
    while window := list(islice(rows, WINDOW)):
        sizes = repo.sizes([row.oid for row in window])
        small = [row for row in window if sizes.get(row.oid, policy.limit + 1) <= policy.limit]
        bytes_of = iter(repo.read_many([row.oid for row in small]))
        for row in window:
            size = sizes.get(row.oid)
            blob = Blob(row.path, b"", row.oid, row.commit)
            if size is None:
                yield replace(blob, skipped="its object is missing here (a partial clone?)")
            elif size > policy.limit:
                yield replace(blob, skipped=_too_large(size, policy))
            else:
                _, data = next(bytes_of)
                if data is None:
                    yield replace(blob, skipped="its object is missing or no blob")
                elif data.startswith(LFS_POINTER):
                    yield replace(blob, skipped="a pointer of Git LFS: its text lies outside the repository")
                elif is_encrypted(data):
                    yield replace(blob, skipped=STILL_ENCRYPTED)
                else:
                    yield replace(blob, data=data)


def _too_large(size: int, policy: Policy) -> str:
    return f"{size} bytes, more than the {policy.limit} a memory file may have"


def push_updates(lines: Iterable[str]) -> list[tuple[str, str, str]]:
    """(ref at the remote, its new oid, its old one) of each line of pre-push's standard input."""
    rows = [line.split() for line in lines]
    if any(len(words) != 4 for words in rows):
        raise GitFailed("pre-push: Git's list of refs cannot be read")
    return [(words[2], words[1], words[3]) for words in rows]


def received_updates(lines: Iterable[str]) -> list[tuple[str, str, str]]:
    """(ref, its new oid, its old one) of each line of pre-receive's standard input."""
    rows = [line.split(" ", 2) for line in lines]
    if any(len(words) != 3 for words in rows):
        raise GitFailed("pre-receive: Git's list of refs cannot be read")
    return [(words[2], words[1], words[0]) for words in rows]


def pushed(repo: Repository, lines: Iterable[str], remote: str) -> list[tuple[str, str, list[str]]]:
    """(base, tip, revisions) of each ref in pre-push's standard input; the revisions select the commits that the remote
    lacks, as far as its tracking branches tell.

    The base is the ref's commit at the remote, else the remote's default branch, "" when neither is known.
    """
    excluded = _remote_branches(repo, remote)
    walks = []
    for ref, tip, old in push_updates(lines):
        if tip.strip("0"):
            commit = _must_be_commit(repo, tip, ref)
            base = ""
            if old.strip("0"):
                base = _commit_of(repo, old)
            if base:
                walks.append((base, commit, [commit, f"^{base}", *excluded]))
            else:
                walks.append((default_branch(repo, remote), commit, [commit, *excluded]))
    return walks


def default_branch(repo: Repository, remote: str) -> str:
    """The commit of a remote's default branch at the last fetch, "" when it is not known."""
    if remote and "/" not in remote:
        return _commit_of(repo, f"refs/remotes/{remote}/HEAD")
    return ""


def _remote_branches(repo: Repository, remote: str) -> list[str]:
    """`^oid` for each branch of a remote at the last fetch; [] for a remote given by its address."""
    if remote and "/" not in remote:
        return [f"^{oid}" for _, oid in repo.refs(f"refs/remotes/{remote}/")]
    return []


def lacking(repo: Repository, remote: str, tip: str, start: str) -> list[tuple[str, list[str]]]:
    """(tip, revisions) of HEAD and of every local branch; the revisions select the commits that the remote lacks, as
    far as its tracking branches tell.

    `tip`: a commit whose history is excluded too, "" for none. Each branch excludes the branches before it. `start`:
    a commit that the remote has, for a remote given by its address; "" or zeros for none.
    """
    excluded = _remote_branches(repo, remote)
    if not excluded and start.strip("0") and (commit := _commit_of(repo, start)):
        excluded = [f"^{commit}"]
    if tip:
        excluded.append(f"^{tip}")
    walks = []
    for branch in dict.fromkeys(filter(None, [repo.head(), *(oid for _, oid in repo.refs())])):
        walks.append((branch, [branch, *excluded]))
        excluded = [*excluded, f"^{branch}"]
    return walks


def received(repo: Repository, lines: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """(base, tip, revisions) of each ref in pre-receive's standard input; the base is the ref's old commit, else
    HEAD."""
    excluded = [f"^{oid}" for _, oid in repo.refs("refs/")]
    walks = []
    for ref, new, old in received_updates(lines):
        if new.strip("0"):
            commit = _must_be_commit(repo, new, ref)
            base = ""
            if old.strip("0"):
                base = _commit_of(repo, old)
            walks.append((base or repo.head() or "", commit, [commit, *excluded]))
    return walks


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


def everything(repo: Repository) -> list[str]:
    """The oids of HEAD and of every ref: they reach all of this repository's history."""
    return list(dict.fromkeys(filter(None, [repo.head(), *(oid for _, oid in repo.refs("refs/"))])))


# -- the work tree -------------------------------------------------------------------------------------------


def paths(repo: Repository, names: Sequence[str], policy: Policy) -> Source:
    """Files of the work tree: every file named, the memory files below every folder named, all memory files without
    names.

    Ignored files are scanned only when named. Links are never followed. Raises GitMemError for a name that does not
    exist and in a bare repository.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no files", Message("scan a range: {}", "git mem scan --history"))
    listed = [entry.path for entry in repo.staged()] + repo.untracked()
    listed = [path for path in dict.fromkeys(listed) if _is_checked(repo.root, path, policy)]
    wanted: list[str] = []
    for name in names:
        place = repo.root / name
        if name in ("", "."):
            wanted += listed
        elif place.is_dir() and not place.is_symlink():
            wanted += [path for path in listed if path.startswith(f"{name}/")]
        elif place.is_symlink() or place.exists():
            wanted.append(name)
        else:
            raise GitMemError(
                Message("there is no file '{}' here", name), "git mem scan --range A..B reads committed ones"
            )
    if not names:
        wanted = listed
    chosen = list(dict.fromkeys(wanted))
    files = [(path, mode) for path in chosen if (mode := _mode(repo.root / path)) is not None]
    findings = [*rules.check_twins(chosen, listed, policy), *_nested(repo.root, chosen, policy)]
    for path, mode in files:
        findings += rules.check_entry(path, mode, policy)
        if mode == SYMLINK and policy.guides(path):
            findings += rules.check_link(path, os.readlink(repo.root / path), policy)
    return Source(_files(repo.root, files, policy), tuple(findings), ids=partial(commit_ids, repo))


def _is_checked(root: Path, path: str, policy: Policy) -> bool:
    """Whether the gate scans the file at this path of the work tree, or has a rule for the link or folder there."""
    if policy.concerns(path):
        return True
    stands_for = policy.holds(path.rstrip("/")) or policy.guides(path)
    return stands_for and _mode(root / path) in LINKS


def _nested(root: Path, chosen: Sequence[str], policy: Policy) -> Iterator[Finding]:
    """A finding for each folder above these paths that is a repository of its own."""
    folders = sorted({"/".join(path.split("/")[:n]) for path in chosen for n in range(1, path.count("/") + 1)})
    for folder in folders:
        if not policy.guides(folder) and (root / folder / ".git").exists():
            yield rules.finding("submodule", folder, "a repository of its own inside memory: it is not read")


def _mode(place: Path) -> int | None:
    """The mode that Git would give a file; None when it is deleted in the work tree."""
    try:
        status = place.lstat()
    except OSError:
        return None
    if stat.S_ISLNK(status.st_mode):
        return SYMLINK
    if stat.S_ISDIR(status.st_mode):
        return GITLINK
    return REGULAR


def _files(root: Path, files: Iterable[tuple[str, int]], policy: Policy) -> Iterator[Blob]:
    """The blobs of the work-tree files (path, mode). A link is skipped; one that has a finding of its own is left
    out."""
    for path, mode in files:
        if mode != REGULAR:
            if not policy.holds(path) and not policy.guides(path):
                yield Blob(path, b"", skipped="a symbolic link, not followed")
            continue
        try:
            size = (root / path).lstat().st_size
            if size > policy.limit:
                yield Blob(path, b"", skipped=_too_large(size, policy))
            else:
                data = read_bytes(root, path, policy.limit + 1)
                if is_encrypted(data):
                    yield Blob(path, b"", skipped=STILL_ENCRYPTED)
                else:
                    yield Blob(path, data)
        except OSError as error:
            yield Blob(path, b"", skipped=f"cannot be read: {error.strerror}")
        except OutsideRepository:
            yield Blob(path, b"", skipped="cannot be read: it is behind a link or no regular file")
