"""What a scan reports: findings and what was skipped. Frozen values without behaviour.

A leaf: imports nothing of ours. Lines are 1-based and inclusive; columns are 1-based, in
characters; paths are repository-relative with `/`, as Git spells them; oids are opaque lower-case hex of 40 or 64.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """`block` refuses the change, `warn` is shown and passes."""

    BLOCK = "block"
    WARN = "warn"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a detector found. `excerpt` is already redacted: it never holds a secret.

    `start`/`end` are character offsets into the decoded text (half-open), for redaction; `commit` is set
    by range and history scans; `fingerprint` is filled in by the scan flow, empty from a detector. `secret`: it is one
    that can be changed (a token, a password), which masking does not take back.
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
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something not done, with the reason: a value, not a silence."""

    path: str
    reason: str
