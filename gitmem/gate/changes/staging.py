"""Reads the changes that the commit which is about to be made has against its parents, and makes findings about the
change as a whole.

Reads Git's index and objects, never files on disk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitmem.config import TRACKED
from gitmem.errors import GitMemError
from gitmem.gate.changes import rules
from gitmem.gate.changes.attributes import is_attributes
from gitmem.gate.changes.layout_loss import check_layout, may_narrow
from gitmem.gate.changes.merge_losses import dropped_staged_paths, oid_in_merge_base
from gitmem.gate.changes.rewrite_trailer import rewrite_reason
from gitmem.gate.changes.text_rules import attribute_findings, history_findings, link_target, staged_settings_loss
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.policy import Policy
from gitmem.git.objects import SYMLINK, Change
from gitmem.git.repository import Repository

# An environment variable of `git merge`, which writes MERGE_HEAD later.
MERGED = re.compile(r"GITHEAD_([0-9a-f]{40,64})")


@dataclass(frozen=True, slots=True)
class Staging:
    """The staged change. `changes`: against HEAD. `dropped`: changes of a parent that the merge drops
    (`gate/changes/merge_losses.py`). `parents`: HEAD, then the merged commits; () without a HEAD. `theirs`: for each
    merged commit path -> its version (mode, oid), of the changed paths that the gate checks and the commit has."""

    changes: tuple[Change, ...]
    dropped: tuple[Change, ...] = ()
    parents: tuple[str, ...] = ()
    theirs: tuple[dict[str, tuple[int, str]], ...] = ()

    def own_changes(self) -> list[Change]:
        """The changes that the commit itself makes: without those in which the merge took a merged commit's version,
        and with the dropped ones."""
        lost = {change.path for change in self.dropped}
        changes = [change for change in self.changes if change.path not in lost and not self._equals_merged(change)]
        return [*changes, *self.dropped]

    def _equals_merged(self, change: Change) -> bool:
        """Whether a change gives a path the version that one of the merged commits has; for a deletion, whether one of
        them lacks the path."""
        version = None
        if change.status != "D":
            version = (change.new_mode, change.new_oid)
        return any(side.get(change.path) == version for side in self.theirs)


def staged_change(repo: Repository, policy: Policy, *, merging: bool = False) -> Staging:
    """Read the staged change. `merging`: whether the caller is the hook pre-merge-commit, in which only environment
    variables name the merged commits."""
    changes = tuple(repo.staged_changes())
    head = repo.head()
    if not head:
        return Staging(changes)
    sides = merge_heads(repo, merging=merging)
    if not sides:
        return Staging(changes, parents=(head,))
    paths = [change.path for change in changes if is_checked_path(change.path, policy)]
    theirs: tuple[dict[str, tuple[int, str]], ...] = tuple({} for _ in sides)
    if paths:
        theirs = tuple({e.path: (e.mode, e.oid) for e in repo.entries(side, paths)} for side in sides)
    lost = dropped_staged_paths(repo, [head, *sides], lambda path: is_checked_path(path, policy))
    return Staging(changes, tuple(lost), (head, *sides), theirs)


def is_checked_path(path: str, policy: Policy) -> bool:
    """Whether the gate checks a change of this path: .gitmem.toml, a .gitattributes, a file that it scans or protects,
    or a place of memory or of instructions."""
    if path == TRACKED or is_attributes(path):
        return True
    return (
        policy.scans(path)
        or policy.protects(path)
        or policy.is_place_of_memory(path)
        or policy.is_place_of_instructions(path)
    )


def change_findings(repo: Repository, staging: Staging, policy: Policy) -> list[Finding]:
    """The findings about the staged change as a whole. The history rules are not among them, since they need the commit
    message. Raises BadConfig when the staged settings cannot be read."""
    findings: list[Finding] = []
    changes = (*staging.changes, *staging.dropped)
    for change in changes:
        if change.status not in "DU":
            findings += rules.check_entry(change.path, change.new_mode, policy)
            if change.new_mode == SYMLINK and policy.is_place_of_instructions(change.path):
                findings += rules.check_link(change.path, link_target(repo, change.new_oid), policy)
            if is_attributes(change.path):
                findings += attribute_findings(repo, change.path, change.new_mode, change.new_oid, policy)
    if any(change.path == TRACKED for change in changes) or len(staging.parents) > 1:
        findings += staged_settings_loss(repo, staging.parents)
    if staging.parents and may_narrow(policy.layouts):
        findings += check_layout(repo, repo.entries(staging.parents[0]), repo.staged())
    findings += rules.check_protection(staging.own_changes(), policy)
    added = [change.path for change in changes if change.status == "A"]
    if any(policy.scans(path) for path in added):
        findings += rules.check_twins(added, (entry.path for entry in repo.staged()), policy)
    return list(dict.fromkeys(findings))


def staged_history(repo: Repository, staging: Staging, message: str, policy: Policy) -> list[Finding]:
    """The findings of the history rules for the commit that is about to be made with this message; [] when the message
    gives a reason (`rewrite_reason`)."""
    if rewrite_reason(message):
        return []
    findings: list[Finding] = []
    lost = {change.path for change in staging.dropped}
    moved = {c.new_oid for c in staging.changes if c.status == "A" and policy.is_memory(c.path)}
    for change in (*staging.changes, *staging.dropped):
        if not change.old_oid.strip("0") or not policy.keeps_history(change.path):
            continue
        new_oid = change.new_oid
        if change.status == "D":
            if change.old_oid in moved:
                continue
            new_oid = ""
        olds = [change.old_oid]
        if change not in staging.dropped:
            if change.path in lost or any(change.path not in side for side in staging.theirs):
                continue  # a dropped path has a row of its own; otherwise a merged commit lacks the path
            olds += [side[change.path][1] for side in staging.theirs]
        base_oid = oid_in_merge_base(repo, staging.parents, change.path)
        findings += history_findings(repo, rules.FileVersions(change.path, olds, new_oid, base_oid), policy)
    return findings


def merge_heads(repo: Repository, *, merging: bool = False) -> list[str]:
    """The oids of the commits that are being merged into HEAD, [] when there is no merge. `merging`: whether the caller
    is the hook pre-merge-commit, in which only environment variables name these commits."""
    try:
        return (repo.git_dir / "MERGE_HEAD").read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        if not merging:
            return []
    variables = filter(None, map(MERGED.fullmatch, repo.environ))
    return [match[1] for match in variables if _is_commit(repo, match[1])]


def _is_commit(repo: Repository, oid: str) -> bool:
    try:
        return repo.resolve(oid) == oid
    except GitMemError:
        return False
