"""Makes the gate's source of existing commits: their messages, their versions of memory files, and their changes.

Everything is read from Git's objects, never from files on disk.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from gitmem.config import TRACKED
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.blob_reading import BlobPlace, files_before, read_blobs
from gitmem.gate.changes import rules
from gitmem.gate.changes.attributes import is_attributes
from gitmem.gate.changes.layout_loss import layout_loss, may_narrow
from gitmem.gate.changes.merge_losses import dropped_paths, oid_in_merge_base
from gitmem.gate.changes.rewrite_trailer import rewrite_reason
from gitmem.gate.changes.staging import is_checked_path
from gitmem.gate.changes.text_rules import attribute_findings, history_findings, link_target, range_settings_loss
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.examine import Blob, Source
from gitmem.gate.imported_files import newly_imported
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.pushed_commits import oids_of_all_refs
from gitmem.gate.tags_and_notes import tags_and_notes_of, tags_without_commit
from gitmem.git import promised_objects
from gitmem.git.objects import LINKS, SYMLINK, Change, Commit
from gitmem.git.ranges import UNSHALLOW, PathChange, commit_ids, ensure_listable, shallow, touched
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange, towards
from gitmem.messages import Message


def parse_range(repo: Repository, text: str) -> CommitRange:
    """Parse a range `A..B` or `A...B` of commits. A missing side is HEAD.

    A's settings and exceptions apply (`CommitRange.judge`). The base is A, or with `...` the merge base; "" if there is
    none, so that all commits of B count. Only zeros in place of A (a new branch) give base and judge "". Raises
    UsageError for another form or a leading `-`, UnknownRevision for a side that names no commit.
    """
    symmetric = "..." in text
    dots = ".."
    if symmetric:
        dots = "..."
    base_name, dots, tip_name = text.partition(dots)
    if not dots or text.startswith("-"):
        raise UsageError(Message("'{}' is not a range", text), "write it as A..B, for example origin/main..HEAD")
    tip = repo.resolve(tip_name or "HEAD")
    if base_name and not base_name.strip("0"):
        return CommitRange("", tip)
    target = repo.resolve(base_name or "HEAD")
    if symmetric:
        return towards(repo, target, tip)
    return CommitRange(target, tip, target)


def files_of_commits(repo: Repository, revs: Sequence[str], policy: Policy, base: str = "") -> Source:
    """The source of the commits that `revs` select: their messages, the names of their authors and committers, and
    every version of a file to scan that they add, oldest commit first.

    `revs`: as arguments of `git log`; the first is the newest commit. `base`: the commit that `revs[0]` will be merged
    into, "" for none. With a base its settings must be kept, and a version that a merge drops
    (`gate/changes/merge_losses.py`) counts unless `base` has the same version. The names of changed files are read at
    once; their texts are read during the scan, WINDOW blobs at a time.
    """
    return _source_of(repo, repo.log(revs, reverse=True), policy, base, next(iter(revs), ""))


def files_of_last_commits(repo: Repository, number: int, policy: Policy) -> tuple[Source, list[str]]:
    """(the source that `files_of_commits` makes of them, their oids) for the last `number` commits of HEAD, oldest
    first; empty without a HEAD."""
    newest: list[Commit] = []
    if head := repo.head():
        newest = list(repo.log([head], limit=number))
    newest.reverse()
    return _source_of(repo, newest, policy), [commit.oid for commit in newest]


def _source_of(repo: Repository, listed: Iterable[Commit], policy: Policy, base: str = "", tip: str = "") -> Source:
    """The source of these commits: their messages, the names of their authors and committers, and their changed files.
    `base`, `tip`: the ends of the range, "" for none; with a `base` changes of the range as a whole are looked at
    too."""
    messages: dict[str, bytes] = {}
    merges: dict[str, tuple[str, ...]] = {}
    reasoned: set[str] = set()  # commits whose message gives a reason to rewrite history
    names: dict[str, str] = {}  # names and e-mail addresses of authors and committers, which tools show to models
    trees: dict[str, None] = {}
    for commit in listed:
        trees[commit.tree] = None
        messages[commit.oid] = commit.message.encode("utf-8", "surrogateescape")
        for text in (*commit.author, *commit.committer):
            names.setdefault(text, commit.oid)
        if len(commit.parents) > 1:
            merges[commit.oid] = commit.parents
        if rewrite_reason(commit.message):
            reasoned.add(commit.oid)
    if not messages:
        return Source(())
    promised_objects.fetch_trees(repo, trees)
    for tree in trees:
        ensure_listable(repo, tree)  # Git would list all of it before the first file is seen
    lost = dropped_paths(repo, merges, base, lambda path: is_checked_path(path, policy))
    changes = dict(touched(repo, messages))
    changed = [
        commit_change(oid, [*changes.get(oid, ()), *lost.get(oid, ())], policy)
        for oid in messages
        if oid in changes or oid in lost
    ]
    imported: list[BlobPlace] = []
    if base and policy.imported:
        imported = newly_imported(repo, [base], repo.entries(tip), commit=tip)
    promised_objects.fetch(repo, (row.oid for change in changed for row in (*change.scanned, *change.attributes)))
    blobs = chain(
        (Blob(MESSAGE, text, commit=oid) for oid, text in messages.items()),
        (Blob(MESSAGE, name.encode("utf-8", "surrogateescape"), commit=oid) for name, oid in names.items()),
        read_blobs(repo, _once(chain((row for change in changed for row in change.scanned), imported)), policy),
    )
    findings = [*_findings_of(repo, changed, policy), *_rewritten(repo, changed, merges, reasoned, policy)]
    rows = [(row, change.commit) for change in changed for row in change.settings]
    findings += range_settings_loss(repo, rows, base, tip)
    if base and may_narrow(policy.layouts):
        findings += layout_loss(repo, repo.merge_base(base, tip) or base, tip, tip)
    before = None
    if base and policy.allow.baseline:
        before = files_before(repo, [base], (change.path for change in repo.changes(base, tip) if change.status == "D"))
    return Source(blobs, tuple(findings), before, partial(commit_ids, repo))


def files_of_commit(repo: Repository, commit: str, policy: Policy) -> Source:
    """The source of all files of one commit's tree that the gate scans, without findings about a change."""
    entries = [e for e in repo.entries(commit) if e.mode not in LINKS and policy.scans(e.path)]
    return Source(read_blobs(repo, (BlobPlace(e.path, e.oid) for e in entries), policy), ids=partial(commit_ids, repo))


def files_of_new_commits(repo: Repository, base: str, tip: str, policy: Policy) -> Source:
    """The source of the commits that `tip` has and `base` lacks (oids; `base` "" for all commits of `tip`): what
    `files_of_commits` reads of them, and their tags and notes. Raises GitMemError when a shallow clone ends among
    them."""
    return files_with_tags_and_notes(repo, [tip, *([f"^{base}"] if base else [])], policy, base)


def files_of_history(repo: Repository, policy: Policy) -> Source:
    """The source of all commits of all refs: what `files_of_commits` reads of them, their tags and notes, and the tags,
    blobs and trees of refs that name no commit. Raises GitMemError in a shallow clone."""
    source = Source(())
    if revs := oids_of_all_refs(repo):
        source = files_with_tags_and_notes(repo, revs, policy)
    return replace(source, blobs=chain(source.blobs, tags_without_commit(repo, policy)))


def files_with_tags_and_notes(repo: Repository, revs: Sequence[str], policy: Policy, base: str = "") -> Source:
    """The source of the commits that `revs` select: what `files_of_commits` reads of them, and the messages of their
    tags and notes. Arguments as there. Raises GitMemError when a shallow clone ends among them."""
    cut = shallow(repo)
    oldest = ""
    if cut:
        oldest = next((commit.oid for commit in repo.log(revs) if commit.oid in cut), "")
    if oldest:
        raise GitMemError(
            Message("this clone is shallow and ends at {}: what came before it cannot be scanned", oldest[:12]),
            UNSHALLOW,
        )
    source = files_of_commits(repo, revs, policy, base)
    listed = {commit.oid for commit in repo.log(revs)}
    return replace(source, blobs=chain(source.blobs, tags_and_notes_of(repo, listed)))


@dataclass(frozen=True, slots=True)
class CommitChange:
    """The parts of one commit that the gate checks, chosen by paths and modes alone.

    `commit`: its oid. `scanned`: blobs to scan. `attributes`: its .gitattributes files. `links`: symbolic links in
    place of files that agents read. `added`: paths of new files to scan. `rewrites`: changes and deletions of daily
    logs and MEMORY.md, without files that the commit moves unchanged to another memory path. `settings`: changes of
    .gitmem.toml. `findings`: findings that need no text.
    """

    commit: str
    scanned: tuple[BlobPlace, ...]
    attributes: tuple[BlobPlace, ...]
    links: tuple[BlobPlace, ...]
    added: tuple[str, ...]
    rewrites: tuple[PathChange, ...]
    settings: tuple[PathChange, ...]
    findings: tuple[Finding, ...]


def commit_change(commit: str, changes: Sequence[PathChange], policy: Policy) -> CommitChange:
    """Group the changed paths of one commit by how the gate checks them; one path may be in several groups. Reads
    nothing."""
    moved = {change.new_oid for change in changes if change.added and policy.is_memory(change.path)}
    findings: list[Finding] = []
    scanned: list[BlobPlace] = []
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
            if change.mode == SYMLINK and policy.is_place_of_instructions(change.path):
                links.append(BlobPlace(change.path, change.new_oid, commit))
            continue
        if policy.scans(change.path):
            scanned.append(BlobPlace(change.path, change.new_oid, commit))
    rewrites = [
        change
        for change in changes
        if change.olds and policy.keeps_history(change.path) and (change.new_oid or not moved & set(change.olds))
    ]
    added = tuple(change.path for change in changes if change.added and policy.scans(change.path))
    return CommitChange(
        commit, tuple(scanned), tuple(attributes), tuple(links), added, tuple(rewrites),
        settings=tuple(change for change in changes if change.path == TRACKED),
        findings=tuple(findings),
    )  # fmt: skip


def _findings_of(repo: Repository, changed: Sequence[CommitChange], policy: Policy) -> Iterator[Finding]:
    """The findings about the commits `changed` (oldest first) as changes, without those of settings and history."""
    for change in changed:
        yield from change.findings
    added = {path: change.commit for change in changed for path in change.added}
    if added:
        tip_paths = (entry.path for entry in repo.entries(changed[-1].commit))
        twins = rules.check_twins(added, tip_paths, policy)
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
    """The findings of the history rules (`rules.check_history`). `reasoned`: oids of commits whose message gives a
    reason to rewrite history; they have none. `merges`: oid -> parents of each merge."""
    for change in changed:
        if change.commit not in reasoned:
            for file in change.rewrites:
                base_oid = oid_in_merge_base(repo, merges.get(change.commit, ()), file.path)
                versions = rules.FileVersions(file.path, file.olds, file.new_oid, base_oid)
                yield from history_findings(repo, versions, policy, change.commit)


def _once(rows: Iterable[BlobPlace]) -> Iterator[BlobPlace]:
    """The places without those whose blob an earlier commit has added at the same path."""
    yielded: set[tuple[str, str]] = set()
    for row in rows:
        if (row.oid, row.path) not in yielded:
            yielded.add((row.oid, row.path))
            yield row
