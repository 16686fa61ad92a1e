"""What a GitHub event asks of us: which commits, which pull request, from a fork or not. Pure: the payload in, a value
out. Everything in a payload (titles, branch names) was typed by somebody else; only oids and numbers are believed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True)
class Event:
    """`base` is "" when the event names none (a new branch, a schedule); `head` "" after a deletion."""

    name: str
    base: str
    head: str
    branch: str
    default_branch: str
    repository: str
    number: int = 0
    fork: bool = False

    @property
    def on_default_branch(self) -> bool:
        """Whether this is a trusted event of the default branch itself: the only place where a cache is saved."""
        return self.name in ("push", "schedule", "workflow_dispatch") and self.branch == self.default_branch


def parse(environ: Mapping[str, str], payload: Mapping[str, Any]) -> Event:
    """The event of GITHUB_EVENT_NAME with its payload; fields that are missing or no oid are empty."""
    name = environ.get("GITHUB_EVENT_NAME", "")
    repository = _get(payload, "repository")
    pull = _get(payload, "pull_request")
    common: dict[str, Any] = {
        "name": name,
        "branch": environ.get("GITHUB_REF_NAME", ""),
        "default_branch": str(repository.get("default_branch") or "main"),
        "repository": environ.get("GITHUB_REPOSITORY", ""),
    }
    if pull:
        base, head = _get(pull, "base"), _get(pull, "head")
        number = pull.get("number")
        return Event(
            **common, base=_oid(base.get("sha")), head=_oid(head.get("sha")),
            number=number if isinstance(number, int) else 0,
            fork=_get(head, "repo").get("full_name") != _get(base, "repo").get("full_name"),
        )  # fmt: skip
    if name == "push":
        return Event(**common, base=_oid(payload.get("before")), head=_oid(payload.get("after")))
    return Event(**common, base="", head=_oid(environ.get("GITHUB_SHA")))


def _get(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _oid(value: Any) -> str:
    return value if isinstance(value, str) and OID.fullmatch(value) and value.strip("0") else ""
