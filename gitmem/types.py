"""Values that cross rooms. Frozen, no behaviour beyond what a value can say of itself.

A leaf: imports nothing of ours. Lines are 1-based and inclusive; columns are 1-based, in characters;
paths are repository-relative with `/`, as Git spells them; oids are opaque lower-case hex of 40 or 64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

REGULAR, EXECUTABLE, SYMLINK, GITLINK = 0o100644, 0o100755, 0o120000, 0o160000


@dataclass(frozen=True, slots=True)
class Entry:
    """One path of a tree or of Git's index. `size` is -1 where it was not asked for."""

    path: str
    mode: int
    oid: str
    size: int = -1


@dataclass(frozen=True, slots=True)
class Change:
    """One path between two trees: `status` is A, M, D, T or R (R only where renames were asked for).

    `old_*` are empty (mode 0) for A; `new_*` for D.
    """

    status: str
    path: str
    old_path: str
    old_oid: str
    new_oid: str
    old_mode: int
    new_mode: int


@dataclass(frozen=True, slots=True)
class Person:
    """Name and e-mail as a commit has them."""

    name: str
    email: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, its dates aware of their zone and its message decoded with replacement."""

    oid: str
    parents: tuple[str, ...]
    tree: str
    author: Person
    author_date: datetime
    committer: Person
    commit_date: datetime
    message: str

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0]


@dataclass(frozen=True, slots=True)
class BlameLine:
    """One line of `git blame`: `line` at the revision asked for, `source_*` where the commit put it.

    `commit` is all zeros for a line that is not committed yet.
    """

    line: int
    text: str
    commit: str
    source_path: str
    source_line: int


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of a path, optionally of one blob: `memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f`."""

    path: str
    start_line: int
    end_line: int
    blob: str = ""


class Severity(StrEnum):
    BLOCK = "block"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a detector found. `excerpt` is already redacted: it never holds a secret.

    `start`/`end` are character offsets into the decoded text (half-open), for redaction; `commit` is set
    by range and history scans; `fingerprint` is filled in by the scan flow, empty from a detector.
    """

    rule: str
    severity: Severity
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    message: str
    excerpt: str = ""
    start: int = -1
    end: int = -1
    commit: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something not done, with the reason: a value, not a silence."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One bullet of memory. `text` has no marker and no comment (NFC, white space collapsed);
    `id` is the first 12 hex of its SHA-256; `meta` the keys of its `<!-- mem ... -->` comment in order
    (repeatable keys such as `src` appear repeatedly); `heading` the nearest heading above it.
    """

    text: str
    id: str
    line: int
    heading: str = ""
    meta: tuple[tuple[str, str], ...] = field(default=())

    def get(self, key: str, default: str = "") -> str:
        return next((value for name, value in self.meta if name == key), default)
