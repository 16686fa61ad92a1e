"""Values that cross rooms. Frozen, no behaviour beyond what a value can say of itself.

A leaf: imports nothing of ours but what Git has (`objects`). Lines are 1-based and inclusive; columns are 1-based, in
characters; paths are repository-relative with `/`, as Git spells them; oids are opaque lower-case hex of 40 or 64.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from gitmem.objects import EXECUTABLE, GITLINK, REGULAR, SYMLINK, BlameLine, Change, Commit, Entry, Person, Span


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


__all__ = [
    "EXECUTABLE",
    "GITLINK",
    "REGULAR",
    "SYMLINK",
    "BlameLine",
    "Change",
    "Commit",
    "Entry",
    "Fact",
    "Finding",
    "Person",
    "Severity",
    "Skipped",
    "Span",
]
