"""What is said of a claim that is not true of the tree. Values, their order and their JSON; pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from gitmem.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class State(StrEnum):
    """The four words in which claims and citations end."""

    HOLDS = "holds"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


class Finding(NamedTuple):
    """`claim` as it stands in the line; `commit` took it away, "" where none is known; `renamed_to` where it is now.

    `sure`: said without being asked. `cause` is what went away: findings with one cause are one.
    """

    path: str
    line: int
    claim: str
    kind: str
    state: State
    evidence: str
    commit: str = ""
    renamed_to: str = ""
    sure: bool = True
    cause: str = ""


def as_value(findings: Iterable[Finding]) -> dict[str, Any]:
    """The JSON of docs/json.md, "check"."""
    return {
        "findings": [
            {
                "path": one.path,
                "line": one.line,
                "claim": one.claim,
                "kind": one.kind,
                "state": one.state.value,
                "evidence": one.evidence,
                "commit": one.commit or None,
                "renamed_to": one.renamed_to or None,
            }
            for one in findings
        ]
    }


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """What is sure first, then by place; one finding for a claim of a line."""
    seen: dict[tuple[str, int, str], Finding] = {}
    for one in sorted(findings, key=lambda one: (not one.sure, one.path, one.line, one.claim)):
        seen.setdefault((one.path, one.line, one.claim), one)
    return list(seen.values())
