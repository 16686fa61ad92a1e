"""The values that a scan reports: findings and skipped files. Frozen, without behaviour.

Lines are 1-based and inclusive; columns are 1-based, in characters; paths are repository-relative with `/`, as Git
spells them; oids are lower-case hex of 40 or 64 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gitmem.json_values import json_keys


class Severity(StrEnum):
    """`block` refuses the change; `warn` is shown, and the change passes."""

    BLOCK = "block"
    WARN = "warn"

    @classmethod
    def of(cls, *, blocks: bool) -> Severity:
        if blocks:
            return cls.BLOCK
        return cls.WARN


@json_keys("rule severity path line column end_line end_column message excerpt commit fingerprint")
@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a scan.

    `path`: the file, `MESSAGE` for a commit message. `excerpt`: the text around the match, already masked; "" for a
    finding about a file or a change as a whole. `start`, `end`: half-open character offsets into the decoded text, -1
    when the finding has no place. `commit`: the oid of the commit, "" outside scans of commits. `fingerprint`: the
    stable name that exceptions use; the scan fills it in. `secret`: whether it is a secret that its owner can rotate
    (a token, a password). `in_file_name`: whether the match is in the name of the file, not in its text.

    JSON: `severity`: blocking findings come first. `path`: `COMMIT_EDITMSG` for a commit message. `line`, `column`,
    `end_line`, `end_column`: from 1, columns in characters; `end_column` is the one after the last character; 1:1
    for a finding about a file as a whole. `excerpt`: the masked text, which never holds a secret. `commit`: set by
    `--range` and `--history`, else "". `fingerprint`: the name that exceptions use.
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
    in_file_name: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not scanned, and the reason."""

    path: str
    reason: str
