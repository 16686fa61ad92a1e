"""A finding: a claim that is not true of the tree. Values, their order and their JSON; pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, NamedTuple

from gitmem.json_values import json_object


class State(StrEnum):
    """The result of checking a claim or a citation."""

    HOLDS = "holds"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


class Finding(NamedTuple):
    """A claim that is false.

    `path`, `line`: where the claim is. `claim`: its words. `kind`: the value of its `claim.Kind`, "code" for a citation
    or "diagram" for a whole diagram. `state`: what became of it. `evidence`: why it is false, as a sentence. `commit`:
    the commit that made it false, "" if unknown. `renamed_to`: the new path of a renamed file or folder, "" without.
    `sure`: False for a suspicion, which is reported only on request. `cause`: the thing that is gone; findings with the
    same cause are reported together.
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
        "findings": [json_object(one, "path line claim kind state evidence commit? renamed_to?") for one in findings]
    }


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings sorted: sure ones first, then by path, line and claim; of a claim in a line only the first one."""
    seen: dict[tuple[str, int, str], Finding] = {}
    for one in sorted(findings, key=lambda one: (not one.sure, one.path, one.line, one.claim)):
        seen.setdefault((one.path, one.line, one.claim), one)
    return list(seen.values())
