"""What started a run of CI: which commits, which proposal, from a fork or not. The same value for every forge.

Everything in a payload (titles, branch names) was typed by somebody else; only oids and numbers are believed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Event:
    """`base` is "" when the event names none (a new branch, a schedule); `head` "" after a deletion.

    `source` and `source_branch` say which repository and branch another run's head came from (`workflow_run`): words of
    a stranger, only ever asked about. `comment` is the id of a comment that started the run, 0 for none.
    """

    name: str
    base: str
    head: str
    branch: str
    default_branch: str
    repository: str
    number: int = 0
    fork: bool = False
    source: str = ""
    source_branch: str = ""
    comment: int = 0

    @property
    def on_default_branch(self) -> bool:
        """Whether this is a trusted event of the default branch itself: the only place where a cache is saved."""
        return self.name in ("push", "schedule", "workflow_dispatch") and self.branch == self.default_branch

    @property
    def may_comment(self) -> bool:
        """Whether a comment is worth trying: the token of a fork's own event is read only."""
        return bool(self.number) and not self.of_fork

    @property
    def of_fork(self) -> bool:
        """Whether it is a fork's own event: it has no secrets, and its token may only read."""
        return self.fork and self.name.startswith("pull_request")


def oid_of(value: Any) -> str:
    """A value of a payload that is an oid, "" for any other and for the oid of nothing."""
    if isinstance(value, str) and OID.fullmatch(value) and value.strip("0"):
        return value
    return ""
