"""Where the gate's blobs come from: what is staged, a range, all of history, a push, paths of the work tree.

Everything but work-tree paths is read from Git objects, never from files on disk. A policy is read from the tree
that is trusted for the case: the staged one in a hook, the base in CI. This module finds nothing in a text.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from itertools import chain, islice
from pathlib import Path

from gitmem.config import TRACKED, Config, load
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

WINDOW = 256  # blobs asked for at once
STILL_ENCRYPTED = (
    "git-crypt encrypted it, and its text cannot be read here; git-crypt unlock,"
    " and git config --global mem.encryption git-crypt"
)


@dataclass(frozen=True, slots=True)
class BlobPlace:
    """A blob that is to be read: its path, its oid, and the commit that brings it ("" for none)."""

    path: str
    oid: str
    commit: str = ""
    mode: int = REGULAR


# -- policies ------------------------------------------------------------------------------------------------


UserConfig = Sequence[tuple[str, str, str]]  # as `Repository.user_config` gives it


def policy_from(
    repo: Repository,
    trees: Sequence[Sequence[Entry]],
    today: date,
    *,
    trusted: int = 0,
    user_config: UserConfig | None = None,
) -> Policy:
    """The policy of tree `trees[trusted]`, with the paths, protection and layouts of all `trees` united.

    Uniting only ever tightens; exceptions come from the trusted tree alone. `user_config` is asked for where it is not
    given. Raises BadConfig.
    """
    pairs = repo.user_config() if user_config is None else user_config
    configs = [load(pairs, _text(repo, entries, TRACKED)) for entries in trees] or [load(pairs)]
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
    """The `encryption` of a policy, from the user's own settings."""
    if config.encryption == "none":
        return ""
    return config.encryption


def _detectors(config: Config) -> tuple[str, ...]:
    """The `detectors` of a policy, from the user's own settings."""
    if not config.detect_secrets:
        return ()
    return registry.WITH_PLUGINS


def staged_policy(
    repo: Repository, today: date, *, merging: bool = False, user_config: UserConfig | None = None
) -> Policy:
    """What hooks hold a commit to: the staged tree's exceptions, the rules of the staged tree, of HEAD and of what is
    merged into it (`merging`: as in `staged`)."""
    head = repo.head()
    if head:
        before = [repo.entries(commit) for commit in (head, *merge_heads(repo, merging=merging))]
    else:
        before = [[]]
    return policy_from(repo, [repo.staged(), *before], today, user_config=user_config)


def range_policy(repo: Repository, commits: CommitRange, today: date) -> Policy:
    """What CI holds a range to: the exceptions of its judge, the rules of that, of its base and of its tip united.
    Nothing in a range can except itself; without judge and base there are no exceptions."""
    trusted = commits.judge or commits.base
    trees = [repo.entries(trusted) if trusted else []]
    trees += [repo.entries(oid) for oid in dict.fromkeys((commits.base, commits.tip)) if oid and oid != trusted]
    return policy_from(repo, trees, today)


def range_paths(repo: Repository, commits: CommitRange) -> tuple[str, ...]:
    """The `[memory] paths` of all that a range is held to, and the user's own."""
    pairs = repo.user_config()
    known = dict.fromkeys(oid for oid in (commits.judge, commits.base, commits.tip) if oid)
    configs = [load(pairs, _text(repo, repo.entries(oid, [TRACKED]), TRACKED)) for oid in known]
    return tuple(dict.fromkeys(glob for config in configs for glob in config.memory_paths))


def pushed_policy(repo: Repository, base: str, tip: str, today: date) -> Policy:
    """What a push is held to: the exceptions of its tip, the rules of that and of `base` ("" for none)."""
    trees = [repo.entries(commit) for commit in (tip, base) if commit]
    return policy_from(repo, trees, today)


def tree_policy(repo: Repository, commit: str, today: date) -> Policy:
    """The policy a commit's own tree gives."""
    return policy_from(repo, [repo.entries(commit)], today)


def worktree_policy(repo: Repository, today: date) -> Policy:
    """What a person's own look at the work tree uses: the files as they lie there."""
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
    known = [entry.path for entry in repo.staged()] + repo.untracked()
    return Policy(
        layouts=(layout_of(known, config.memory_paths),),
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
    """The patterns of daily logs that the settings of a commit ("" for none) name."""
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
    """The staged blobs that a commit would make memory, from the index Git named (GIT_INDEX_FILE).

    `names` are paths whose staged content is wanted though the commit does not change them; `merging`: for
    pre-merge-commit (`gate/changes/staging.py`).
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
    wanted += _newly_imported(repo, policy, staging.parents, repo.staged() if policy.imported else (), wanted)
    conflicts = (Blob(path, b"", skipped="it is in conflict; resolve it first") for path in open_conflicts)
    before = None
    if policy.allow.baseline and staging.parents:
        before = before_of(repo, staging.parents, (change.path for change in staging.changes if change.status == "D"))
    findings = (*change_findings(repo, staging, policy), *_stored_in_clear(repo, wanted))
    blobs = chain(conflicts, read(repo, wanted, policy))
    return Source(blobs, findings, before, partial(commit_ids, repo))


def _stored_in_clear(repo: Repository, wanted: Sequence[BlobPlace]) -> Iterator[Finding]:
    """A finding for each staged file that git-crypt should encrypt and did not: in a clone that was never unlocked Git
    knows no such filter, and stores what it is given."""
    filters = repo.staged_filters([row.path for row in wanted])
    rows = [row for row in wanted if is_git_crypt_filter(filters.get(row.path, ""))]
    for row, data in zip(rows, repo.stored([row.oid for row in rows]), strict=True):
        if data and not is_encrypted(data):  # git-crypt leaves an empty file as it is
            yield rules.finding("stored-in-clear", row.path, rules.RULES["stored-in-clear"])


def _newly_imported(
    repo: Repository, policy: Policy, before: Sequence[str], now: Sequence[Entry], wanted: Sequence[BlobPlace],
    commit: str = "",
) -> list[BlobPlace]:  # fmt: skip
    """The files of a tree that a change makes agents read without changing them: they were nobody's instructions before
    it, and something leads to them now."""
    if not policy.imported:
        return []
    known = frozenset().union(*(imported_files(repo, repo.entries(oid)) for oid in before))
    new = imported_files(repo, now) - known - {row.path for row in wanted if not commit}
    return [BlobPlace(entry.path, entry.oid, commit) for entry in now if entry.path in new]


def before_of(repo: Repository, commits: Sequence[str], gone: Iterable[str]) -> Before:
    """The files of some commits, all of which a change has as its parents; `gone` are the paths that it takes away."""

    def texts(path: str) -> list[bytes]:
        entries = [e for commit in commits for e in repo.entries(commit, [path]) if e.path == path]
        oids = dict.fromkeys(entry.oid for entry in entries if entry.mode not in LINKS)
        sizes = repo.sizes(list(oids))
        return [repo.read(oid) for oid in oids if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]

    return Before(texts, frozenset(gone))


def before_commit(repo: Repository, commit: str) -> Before:
    """The files before a commit, as its first parent has them."""
    row = next(iter(repo.log([commit], limit=1)))
    return before_of(repo, row.parents[:1], ())


# -- commits -------------------------------------------------------------------------------------------------


def span(repo: Repository, text: str) -> CommitRange:
    """The range `A..B`, which A judges; a missing side is HEAD; an all-zero A (a new branch) is "".

    Of `A...B` the base is the merge base. Raises UsageError and UnknownRevision.
    """
    symmetric = "..." in text
    first, dots, last = text.partition("..." if symmetric else "..")
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
    """Every version of every memory blob the commits of `revs` bring in, and their messages, oldest first.

    `base` ("" for none) is what the first of `revs` will be merged into: its settings are to be kept, and what a merge
    drops of a parent (`gate/changes/merge_losses.py`) counts but for what `base` has alike.
    What the commits change is read at once; the texts are read one window after the other while they are scanned.
    """
    return _source_of(repo, repo.log(revs, reverse=True), policy, base, revs[0] if base else "")


def last_commits(repo: Repository, number: int, policy: Policy) -> tuple[Source, list[str]]:
    """As `commits`, of the last `number` commits of HEAD, and their oids, oldest first; none where there is no HEAD."""
    if head := repo.head():
        newest = list(repo.log([head], limit=number))
    else:
        newest = []
    newest.reverse()
    return _source_of(repo, newest, policy), [commit.oid for commit in newest]


def _source_of(repo: Repository, listed: Iterable[Commit], policy: Policy, base: str = "", tip: str = "") -> Source:
    messages: dict[str, bytes] = {}
    merges: dict[str, tuple[str, ...]] = {}
    reasoned: set[str] = set()  # commits whose message gives a reason to rewrite history
    names: dict[str, str] = {}  # of authors and committers: tools give them to models
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
    brought = dict(touched(repo, messages))
    changed = [
        commit_change(oid, [*brought.get(oid, ()), *lost.get(oid, ())], policy)
        for oid in messages
        if oid in brought or oid in lost
    ]
    if base and policy.imported:
        led = _newly_imported(repo, policy, [base], repo.entries(tip), (), tip)
    else:
        led = []
    promised_objects.fetch(repo, (row.oid for change in changed for row in (*change.wanted, *change.attributes)))
    blobs = chain(
        (Blob(MESSAGE, text, commit=oid) for oid, text in messages.items()),
        (Blob(MESSAGE, name.encode("utf-8", "surrogateescape"), commit=oid) for name, oid in names.items()),
        read(repo, _once(chain((row for change in changed for row in change.wanted), led)), policy),
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
    """The files of a commit's tree that the gate reads, as they are, with no finding about a change."""
    entries = [e for e in repo.entries(commit) if e.mode not in LINKS and policy.concerns(e.path)]
    return Source(read(repo, (BlobPlace(e.path, e.oid) for e in entries), policy), ids=partial(commit_ids, repo))


def commits_beyond(repo: Repository, base: str, tip: str, policy: Policy) -> Source:
    """As `commits`, of what `tip` brings beyond `base` (oids; `base` "" for all of its history).

    Raises GitMemError where a shallow clone ends within that.
    """
    return whole_commits(repo, [tip, *([f"^{base}"] if base else [])], policy, base)


def whole_commits(repo: Repository, revs: Sequence[str], policy: Policy, base: str = "") -> Source:
    """As `commits`; raises GitMemError where a shallow clone ends within `revs`: nothing tells what is not here."""
    cut = shallow(repo)
    ends = ""
    if cut:
        ends = next((commit.oid for commit in repo.log(revs) if commit.oid in cut), "")
    if ends:
        raise GitMemError(
            Message("this clone is shallow and ends at {}: what came before it cannot be scanned", ends[:12]),
            "git fetch --unshallow; in a workflow, fetch-depth: 0 of actions/checkout",
        )
    source = commits(repo, revs, policy, base)
    listed = {commit.oid for commit in repo.log(revs)}
    return replace(source, blobs=chain(source.blobs, tags_and_notes.about(repo, listed)))


@dataclass(frozen=True, slots=True)
class CommitChange:
    """What the gate looks at in one commit, as its names and modes alone tell.

    `wanted` are its memory blobs and what agents read, `attributes` its .gitattributes, `links` those that stand for
    what agents read; `added` its new memory paths; `rewrites` its changed or deleted logs and MEMORY.md; `settings`
    what it does to .gitmem.toml; `findings` what is wrong already.
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
    """The changes of one commit, sorted by what is to be done with them. Reads nothing."""
    moved = {change.new_oid for change in changes if change.added and policy.remembers(change.path)}
    findings: list[Finding] = []
    wanted: list[BlobPlace] = []
    attributes: list[BlobPlace] = []
    links: list[BlobPlace] = []
    for change in changes:
        if policy.protects(change.path):
            changed = Change("M" if change.new_oid else "D", change.path, "", "", change.new_oid, 0, change.mode)
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
    """The findings about the commits `changed` (in order) themselves, but for settings and history."""
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
    """The findings of the history rules; `reasoned` are the commits whose message gives a reason to rewrite it."""
    for change in changed:
        if change.commit not in reasoned:
            for file in change.rewrites:
                then = before_merge(repo, merges.get(change.commit, ()), file.path)
                yield from history_findings(repo, file.path, file.olds, file.new_oid, policy, change.commit, then)


def _once(rows: Iterable[BlobPlace]) -> Iterator[BlobPlace]:
    """Each blob at each path for the first commit alone that brings it."""
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if (row.oid, row.path) not in seen:
            seen.add((row.oid, row.path))
            yield row


def read(repo: Repository, wanted: Iterable[BlobPlace], policy: Policy) -> Iterator[Blob]:
    """The blobs that are wanted, in order; sizes are asked first, and nothing above the limit is ever read."""
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
    """(base, tip, revisions) of each ref in pre-push's standard input that brings commits the remote has not shown us.

    The base is what the ref is at the remote, else the remote's default branch, "" where neither is known.
    """
    known = _shown_by(repo, remote)
    walks = []
    for ref, tip, old in push_updates(lines):
        if tip.strip("0"):
            commit = _must_be_commit(repo, tip, ref)
            there = ""
            if old.strip("0"):
                there = _commit_of(repo, old)
            if there:
                have = [f"^{there}"]
            else:
                have = []
            walks.append((there or default_branch(repo, remote), commit, [commit, *have, *known]))
    return walks


def default_branch(repo: Repository, remote: str) -> str:
    """The commit of a remote's default branch as it has shown it, "" where that is not known."""
    if remote and "/" not in remote:
        return _commit_of(repo, f"refs/remotes/{remote}/HEAD")
    return ""


def _shown_by(repo: Repository, remote: str) -> list[str]:
    """What a remote has shown of its branches, as exclusions; nothing of one that is no name but an address."""
    if remote and "/" not in remote:
        return [f"^{oid}" for _, oid in repo.refs(f"refs/remotes/{remote}/")]
    return []


def lacking(repo: Repository, remote: str, tip: str, start: str) -> list[tuple[str, list[str]]]:
    """(tip, revisions) of the commits of HEAD and of every local branch that a remote has not shown us.

    `tip` ("" for none) and what it reaches are left out, and each branch leaves out what those before it reach. `start`
    ("" or zeros for none) is what the remote has where it is known by its address alone.
    """
    have = _shown_by(repo, remote)
    if not have and start.strip("0") and (commit := _commit_of(repo, start)):
        have = [f"^{commit}"]
    if tip:
        have.append(f"^{tip}")
    walks = []
    head = repo.head()
    for branch in dict.fromkeys([*([head] if head else []), *(oid for _, oid in repo.refs())]):
        walks.append((branch, [branch, *have]))
        have = [*have, f"^{branch}"]
    return walks


def received(repo: Repository, lines: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """(base, tip, revisions) of each ref in pre-receive's standard input; base is what the ref was, else HEAD."""
    have = [f"^{oid}" for _, oid in repo.refs("refs/")]
    walks = []
    for ref, new, old in received_updates(lines):
        if new.strip("0"):
            commit = _must_be_commit(repo, new, ref)
            base = ""
            if old.strip("0"):
                base = _commit_of(repo, old)
            walks.append((base or repo.head() or "", commit, [commit, *have]))
    return walks


def _must_be_commit(repo: Repository, oid: str, ref: str) -> str:
    """The commit a pushed ref names. Raises GitMemError for a tag of a tree or a blob: nothing would scan it."""
    commit = _commit_of(repo, oid)
    if not commit:
        raise GitMemError(Message("'{}' names no commit, so it cannot be scanned and is not let through", ref))
    return commit


def _commit_of(repo: Repository, oid: str) -> str:
    """The commit an oid names (a tag is peeled), "" when it is none or not here."""
    try:
        return repo.resolve(oid)
    except GitMemError:
        return ""


def everything(repo: Repository) -> list[str]:
    """Revisions that reach all of history here."""
    head = repo.head()
    return list(dict.fromkeys([*([head] if head else []), *(oid for _, oid in repo.refs("refs/"))]))


# -- the work tree -------------------------------------------------------------------------------------------


def paths(repo: Repository, names: Sequence[str], policy: Policy) -> Source:
    """Files of the work tree: those named whatever they are, the memory files below folders named, all when none.

    Ignored files are left out unless named. Links are never followed. Raises GitMemError for a name that is not there.
    """
    if repo.root is None:
        raise GitMemError("a bare repository has no files", Message("scan a range: {}", "git mem scan --history"))
    listed = [entry.path for entry in repo.staged()] + repo.untracked()
    listed = [path for path in dict.fromkeys(listed) if _looked_at(repo.root, path, policy)]
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
    chosen = list(dict.fromkeys(wanted if names else listed))
    files = [(path, mode) for path in chosen if (mode := _mode(repo.root / path)) is not None]
    findings = [*rules.check_twins(chosen, listed, policy), *_nested(repo.root, chosen, policy)]
    for path, mode in files:
        findings += rules.check_entry(path, mode, policy)
        if mode == SYMLINK and policy.guides(path):
            findings += rules.check_link(path, os.readlink(repo.root / path), policy)
    return Source(_files(repo.root, files, policy), tuple(findings), ids=partial(commit_ids, repo))


def _looked_at(root: Path, path: str, policy: Policy) -> bool:
    """Whether the gate has a word on what is at this path of the work tree: a file, or a link or folder there."""
    if policy.concerns(path):
        return True
    stands_for = policy.holds(path.rstrip("/")) or policy.guides(path)
    return stands_for and _mode(root / path) in LINKS


def _nested(root: Path, chosen: Sequence[str], policy: Policy) -> Iterator[Finding]:
    folders = sorted({"/".join(path.split("/")[:n]) for path in chosen for n in range(1, path.count("/") + 1)})
    for folder in folders:
        if not policy.guides(folder) and (root / folder / ".git").exists():
            yield rules.finding("submodule", folder, "a repository of its own inside memory: it is not read")


def _mode(place: Path) -> int | None:
    """The mode that Git would give a file; None for one that is tracked, and deleted in the work tree."""
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
    """The bytes of the work-tree files (path, mode); of a link nothing, and a word on it where no finding has one."""
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
                yield Blob(path, b"", skipped=STILL_ENCRYPTED) if is_encrypted(data) else Blob(path, data)
        except (OSError, OutsideRepository) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is behind a link or no regular file"
            yield Blob(path, b"", skipped=f"cannot be read: {reason}")
