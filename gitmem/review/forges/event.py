"""The event that started a CI run, as the same value for every forge: its commits, its proposal, its branch.

Strangers write the titles and branch names of a payload, so only its oids and numbers are trusted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Event:
    """An event. `name`: GitHub's name of the event, for every forge. `branch`: the branch of the run; for a proposal ""
    or a name of the forge's own, as `7/merge`. `repository`: its path, as `owner/name`.

    `base`: the oid before, "" when the event names none (a new branch, a schedule). `head`: the oid after, "" after a
    deletion. `number`: the number of the proposal, 0 for none. `fork`: the proposal comes from a fork. `source`,
    `source_branch`: the repository and branch of another run's head (`workflow_run`); untrusted, so they are only used
    in questions to the forge. `comment`: the id of the comment that started the run, 0 for none. `target`: the branch
    that the proposal is made for, "" if unknown.
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
    target: str = ""

    @property
    def on_default_branch(self) -> bool:
        """Whether this is a push, a schedule or a start by hand on the default branch. Only such a run saves a
        cache."""
        return self.name in ("push", "schedule", "workflow_dispatch") and self.branch == self.default_branch

    @property
    def may_comment(self) -> bool:
        """Whether the run may be able to comment: it has a proposal and is not of a fork, whose token is read-only."""
        return bool(self.number) and not self.of_fork

    @property
    def of_fork(self) -> bool:
        """Whether a pull request from a fork started the run, so that it has no secrets and a read-only token."""
        return self.fork and self.name.startswith("pull_request")


def oid_of(value: Any) -> str:
    """The value if it is an oid; "" for anything else and for the oid of all zeros."""
    if isinstance(value, str) and OID.fullmatch(value) and value.strip("0"):
        return value
    return ""
