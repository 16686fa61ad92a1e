"""A finding: a claim that is not true of the tree. Values and their order; pure."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from gitmem.json_values import json_keys


class State(StrEnum):
    """The result of checking a claim or a citation. HOLDS: it is true. CHANGED: the thing is there, but differs. GONE:
    the thing is missing. UNKNOWN: the files at hand cannot tell."""

    HOLDS = "holds"
    CHANGED = "changed"
    GONE = "gone"
    UNKNOWN = "unknown"


@json_keys("path line claim kind state evidence commit? renamed_to?")
class Finding(NamedTuple):
    """A claim that is false.

    `path`, `line`: the place of the claim. `claim`: its words. `kind`: the value of its `claim.Kind`, "code" for a
    citation or "diagram" for a whole diagram. `state`: the state of the named thing. `evidence`: why the claim is
    false, as a sentence. `commit`: the commit that made it false, "" if unknown. `renamed_to`: the new path of a
    renamed file or folder, "" for none. `sure`: False for a suspicion, which is reported only on request. `cause`: the
    thing that is gone; findings with the same cause are reported together.

    JSON: `claim`: the text as it stands in the line. `kind`: `path`, `directory`, `command`, `symbol`,
    `environment`, `version`, `port`, `diagram` (a whole drawing) or `code` (a fact's citation). `state`: `gone` or
    `changed`. `commit`: the commit that took it away, null if none is known. `renamed_to`: where it is now, or
    null.
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


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings sorted: sure ones first, then by path, line and claim. Of several findings about one claim in a line
    only the first is kept."""
    seen: dict[tuple[str, int, str], Finding] = {}
    for finding in sorted(findings, key=lambda finding: (not finding.sure, finding.path, finding.line, finding.claim)):
        seen.setdefault((finding.path, finding.line, finding.claim), finding)
    return list(seen.values())
