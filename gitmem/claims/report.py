"""Findings as SARIF 2.1.0 and as annotations of a GitHub workflow. Pure; what a repository says is escaped."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from gitmem.claims.finding import Finding, State
from gitmem.gate.report import SARIF_SCHEMA, one_line, workflow_command

RESULTS = 5_000  # of one SARIF file
ANNOTATIONS = 10  # GitHub shows ten of each kind for a step


def words_of(one: Finding) -> str:
    """What is said of a finding in one sentence."""
    now = ""
    if one.renamed_to and one.renamed_to not in one.evidence:
        now = f"; it is {one.renamed_to} now"
    by = ""
    if one.commit and one.commit[:12] not in one.evidence:
        by = f" [{one.commit[:12]}]"
    return f"{one.claim}: {one.evidence}{now}{by}"


def key_of(one: Finding) -> str:
    """What a finding is told by, whatever line it stands on: a row of the baseline."""
    return "\t".join(" ".join(part.split()) for part in (one.path, one.kind, one.claim))


def as_sarif(findings: Sequence[Finding], version: str) -> str:
    """Each result has its place: an upload with one that has none fails as a whole."""
    rules = sorted({f"claim-{one.state.value}" for one in findings})
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "git-mem",
                "version": version,
                "rules": [
                    {"id": rule, "name": rule, "shortDescription": {"text": rule.replace("-", " ").capitalize()}}
                    for rule in rules
                ],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(one, rules) for one in findings[:RESULTS]],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=1) + "\n"


def _result(one: Finding, rules: Sequence[str]) -> dict[str, Any]:
    rule = f"claim-{one.state.value}"
    uri = quote(one.path.encode("utf-8", "surrogateescape"))
    mark = sha256(key_of(one).encode("utf-8", "surrogateescape")).hexdigest()[:20]
    words = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in words_of(one))
    return {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "error" if one.sure and one.state is State.GONE else "warning",
        "message": {"text": words},
        "locations": [
            {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": {"startLine": one.line}}},
        ],
        "partialFingerprints": {"gitmem/v1": mark},
    }


def as_annotations(findings: Sequence[Finding], escape: Callable[[str], str]) -> str:
    """The first ten of each kind, and how many more there are."""
    lines: list[str] = []
    for verb, ones in (
        ("error", [one for one in findings if one.sure and one.state is State.GONE]),
        ("warning", [one for one in findings if not (one.sure and one.state is State.GONE)]),
    ):
        for one in ones[:ANNOTATIONS]:
            fields = {"title": f"claim-{one.state.value}", "file": one.path, "line": str(one.line)}
            lines.append(workflow_command(verb, fields, one_line(words_of(one), escape), escape))
        if len(ones) > ANNOTATIONS:
            lines.append(f"{len(ones) - ANNOTATIONS} more {verb}s: git mem check lists them")
    return "".join(f"{line}\n" for line in lines)
