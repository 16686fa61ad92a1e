"""The changed files that decide how memory is checked: settings, exceptions, hooks, workflows, owners, hosts.

A reviewer sees them first: these files decide how the next change is checked, and which commands a host starts before
its agent reads anything. This module only reads the repository.
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
from gitmem.gate.changes.text_rules import settings_loss
from gitmem.git.objects import REGULAR, Change
from gitmem.git.repository import Repository, file_at
from gitmem.json_values import json_keys
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
# A line of .gitattributes that `git mem init` writes (`-text`, our merge driver), a comment or a blank line.
HARMLESS_LINE = re.compile(r"[^\s\"\[!]\S*(?: -text| merge=gitmem)+|\s*(?:#.*)?")
STATUS_WORDS = {"A": "added", "D": "removed"}


@json_keys("path what loosened?")
@dataclass(frozen=True, slots=True)
class SettingsChange:
    """A changed file. `what`: `added`, `changed` or `removed`. `loosened`: which protection the change takes away, ""
    for none."""

    path: str
    what: str
    loosened: str = ""


def settings_changes(repo: Repository, base: str, head: str) -> list[SettingsChange]:
    """The changed files from `base` ("" for nothing) to `head` that decide how memory is checked, loosened ones first.

    `loosened` is only worked out for .gitmem.toml, the exceptions file, a file whose addition takes notes out of
    memory, and a .gitignore that keeps new memory out of commits.
    """
    changed = repo.changes(base, head)
    changes = []
    if any(change.status == "A" for change in changed):
        changes = [SettingsChange(row.path, "added", row.message) for row in layout_loss(repo, base, head)]
    ignored = newly_ignored(repo, base, head, [change.path for change in changed])
    for change in changed:
        name, status = change.path.rpartition("/")[2], STATUS_WORDS.get(change.status, "changed")
        if ignored and name == IGNORE:
            words = f"new memory is ignored there, and never committed: {', '.join(ignored)}"
            changes.append(SettingsChange(change.path, status, words))
        if decides_checks(change.path) and not (name == ATTRIBUTES and _adds_only_harmless_lines(repo, change)):
            lost = ""
            if change.path == TRACKED and change.old_oid.strip("0"):
                lost = "; ".join(row.message for row in settings_loss(repo, base, head))
            if change.path == exceptions.FILE:
                lost = _accepted_findings_words(repo, base, head)
            changes.append(SettingsChange(change.path, status, lost))
    return sorted(changes, key=lambda change: (not change.loosened, change.path))


def _adds_only_harmless_lines(repo: Repository, change: Change) -> bool:
    """Whether a .gitattributes only gains lines of HARMLESS_LINE, as `git mem init` adds them."""
    if change.status not in "AM" or change.new_mode != REGULAR:
        return False
    oids = [change.new_oid]
    if change.status == "M":
        oids.append(change.old_oid)
    if any(size > MAX_MEMORY_FILE_BYTES for size in repo.sizes(oids).values()):
        return False
    new_lines, *old_versions = (repo.read(oid).decode("utf-8", "replace").split("\n") for oid in oids)
    old_lines = [line for lines in old_versions for line in lines]
    old, new = ([line for line in lines if not HARMLESS_LINE.fullmatch(line)] for lines in (old_lines, new_lines))
    return old == new and set(old_lines) <= set(new_lines)


def _accepted_findings_words(repo: Repository, base: str, head: str) -> str:
    """A phrase that counts the findings which the exceptions file accepts at `head` but not at `base`; "" for none."""
    old_rows, new_rows = (_baseline(repo, commit) for commit in (base, head))
    count = len(new_rows - old_rows)
    if not count:
        return ""
    return f"it accepts {counted(count, 'finding')} more as they stand"


def _baseline(repo: Repository, commit: str) -> frozenset[exceptions.BaselineRow]:
    """The baseline rows of the exceptions file at a commit; empty for "", a missing file and a bad one."""
    try:
        return exceptions.parse((file_at(repo, commit, exceptions.FILE) or b"").decode("utf-8", "replace")).baseline
    except BadConfig:
        return frozenset()


def decides_checks(path: str) -> bool:
    """Whether the file at `path` decides how memory is checked or what a host starts."""
    if path in NAMES or path.startswith(FOLDERS) or path.rpartition("/")[2] == ATTRIBUTES:
        return True
    return bool(_host_settings().search(path))


@cache
def _host_settings() -> re.Pattern[str]:
    """Matches the files, in any folder and case, that tell a host which servers and commands to start."""
    parts = "|".join(re.escape(glob).replace(r"\*\*", ".+").replace(r"\*", "[^/]+") for glob in SETTINGS)
    return re.compile(rf"(?:^|/)(?:{parts})$", re.IGNORECASE)
