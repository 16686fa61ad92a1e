"""The files of a change that decide how memory is checked: settings, exceptions, hooks, workflows, owners, hosts.

A reviewer sees them first, since a change of theirs decides what the next change is checked by, and what a host starts
before its agent reads a word. Reads only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from gitmem.agent_paths import SETTINGS
from gitmem.config import TRACKED
from gitmem.errors import BadConfig
from gitmem.gate import exceptions
from gitmem.gate.changes.ignored_memory import NAME as IGNORE
from gitmem.gate.changes.ignored_memory import newly_ignored
from gitmem.gate.changes.layout_loss import layout_loss
from gitmem.gate.changes.text_rules import loss_between
from gitmem.git.objects import REGULAR, Change
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted

NAMES = (
    TRACKED, exceptions.FILE, ".pre-commit-config.yaml", ".gitlab-ci.yml", "CODEOWNERS", "docs/CODEOWNERS",
    ".github/CODEOWNERS", ".gitlab/CODEOWNERS", ".forgejo/CODEOWNERS", ".gitea/CODEOWNERS",
)  # fmt: skip
FOLDERS = (
    ".github/workflows/", ".github/actions/", ".forgejo/workflows/", ".gitea/workflows/", ".gitlab/ci/", ".githooks/",
    ".husky/",
)  # fmt: skip
ATTRIBUTES = ".gitattributes"  # in any folder
# A line that `git mem init` writes (line ends as they are, our merge driver), a comment, a blank one.
MERGED = re.compile(r"[^\s\"\[!]\S*(?: -text| merge=gitmem)+|\s*(?:#.*)?")
WORDS = {"A": "added", "D": "removed"}


@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A file and what happens to it (`added`, `changed`, `removed`); `loosened` says what it no longer keeps, or ""."""

    path: str
    what: str
    loosened: str = ""


def settings_changes(repo: Repository, base: str, head: str) -> list[SettingsChange]:
    """The changed files from `base` ("" for nothing) to `head` that decide how memory is checked, what loosens first.

    Only .gitmem.toml is compared word for word; of the others it is said that they change. A file by which notes are
    memory no more stands among them, and a .gitignore that keeps new memory out of commits.
    """
    changed = repo.changes(base, head)
    changes = []
    if any(change.status == "A" for change in changed):
        changes = [SettingsChange(row.path, "added", row.message) for row in layout_loss(repo, base, head)]
    ignored = newly_ignored(repo, base, head, [change.path for change in changed])
    for change in changed:
        if ignored and change.path.rpartition("/")[2] == IGNORE:
            words = f"new memory is ignored there, and never committed: {', '.join(ignored)}"
            changes.append(SettingsChange(change.path, WORDS.get(change.status, "changed"), words))
        if decides(change.path) and not _only_merges(repo, change):
            lost = ""
            if change.path == TRACKED and change.old_oid.strip("0"):
                lost = "; ".join(row.message for row in loss_between(repo, base, head))
            if change.path == exceptions.FILE:
                lost = _accepted(repo, base, head)
            changes.append(SettingsChange(change.path, WORDS.get(change.status, "changed"), lost))
    return sorted(changes, key=lambda change: (not change.loosened, change.path))


def _only_merges(repo: Repository, change: Change) -> bool:
    """Whether a .gitattributes gains lines of MERGED, as `git mem init` writes them, and nothing else:
    they decide nothing of what is checked."""
    if change.path.rpartition("/")[2] != ATTRIBUTES or change.status not in "AM" or change.new_mode != REGULAR:
        return False
    old = ""
    if change.status == "M":
        old = change.old_oid
    sizes = repo.sizes([oid for oid in (old, change.new_oid) if oid])
    if any(size > MAX_MEMORY_FILE_BYTES for size in sizes.values()):
        return False
    before, after = (
        repo.read(oid).decode("utf-8", "replace").split("\n") if oid else [] for oid in (old, change.new_oid)
    )
    kept = [line for line in after if not MERGED.fullmatch(line)]
    return kept == [line for line in before if not MERGED.fullmatch(line)] and set(before) <= set(after)


def _accepted(repo: Repository, base: str, head: str) -> str:
    """How many findings the exceptions file of `head` accepts as they stand that the one of `base` does not."""
    before, after = (_baseline(repo, commit) for commit in (base, head))
    more = len(after - before)
    if not more:
        return ""
    return f"it accepts {counted(more, 'finding')} more as they stand"


def _baseline(repo: Repository, commit: str) -> frozenset[exceptions.Standing]:
    oid = ""
    if commit:
        oid = repo.blobs(commit, [exceptions.FILE]).get(exceptions.FILE, "")
    try:
        if not oid:
            return frozenset()
        return exceptions.parse(repo.read(oid).decode("utf-8", "replace")).baseline
    except BadConfig:
        return frozenset()


def decides(path: str) -> bool:
    """Whether what is at a path decides how memory is checked, or what a host starts."""
    if path in NAMES or path.startswith(FOLDERS) or path.rpartition("/")[2] == ATTRIBUTES:
        return True
    return bool(_hosts_settings().search(path))


@cache
def _hosts_settings() -> re.Pattern[str]:
    """The files in which hosts find the servers and commands they start, in any folder and case."""
    parts = "|".join(re.escape(glob).replace(r"\*\*", ".+").replace(r"\*", "[^/]+") for glob in SETTINGS)
    return re.compile(rf"(?:^|/)(?:{parts})$", re.IGNORECASE)
