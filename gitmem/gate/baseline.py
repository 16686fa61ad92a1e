"""A team's `.secrets.baseline` (the format of detect-secrets) as exceptions of ours.

A baseline names each secret by the SHA-1 of its value. What our detectors find in the file it names is hashed the same
way, so only what both found becomes an exception; nothing is taken on the baseline's word, and no rule as a whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import BadConfig
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.detectors.text import Match
from gitmem.gate.examine import Inspection, finding_of
from gitmem.gate.policy import Policy
from gitmem.json_values import json_object

_PARTS = (r"\S+", r"[^\s\"'`:=@/,;<>(){}\[\]]+", r"[^\s\"'`]+")
# All that detect-secrets hashes of a private key and of a GitHub token.
_HEAD = re.compile(r"BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?|gh[pousr](?=_)")


@dataclass(frozen=True, slots=True)
class Row:
    """One result of a baseline. `digest` is the SHA-1 of the value, in hex; `real` says that somebody marked it as a
    secret that is in use."""

    path: str
    line: int
    digest: str
    type: str
    real: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a row: the findings to be excepted, or `why` there are none."""

    row: Row
    findings: tuple[Finding, ...] = ()
    why: str = ""


def parse(text: str) -> list[Row]:
    """The results of a baseline, in its order. Raises BadConfig for what is none."""
    try:
        results = json.loads(text)["results"]
        rows = [_row(path, row) for path, own_rows in results.items() for row in own_rows]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise BadConfig("this is no baseline of detect-secrets", "detect-secrets scan > .secrets.baseline") from None
    return rows


def _row(path: str, row: dict[str, Any]) -> Row:
    digest, line = row["hashed_secret"], row.get("line_number", 0)
    if not isinstance(path, str) or not isinstance(line, int) or not re.fullmatch("[0-9a-f]{40}", digest):
        raise ValueError
    real = row.get("is_secret") is True or row.get("is_verified") is True
    return Row(path, line, digest, str(row.get("type", "")), real)


def outcomes(
    rows: Sequence[Row], look: Callable[[str], Inspection | str], policy: Policy, salt: Policy
) -> Iterator[Outcome]:
    """The outcome of each row of a baseline.

    `look`: returns the findings of a file, or the reason why the file was not scanned. `policy`: its exceptions are in
    force now. `salt`: the policy that supplies the salt of new fingerprints.
    """
    seen: dict[str, Inspection | str] = {}
    for row in rows:
        if row.real:
            yield Outcome(row, why="marked as a secret in use: rotate it")
            continue
        if row.path not in seen:
            seen[row.path] = look(row.path)
        inspection = seen[row.path]
        if isinstance(inspection, str):
            yield Outcome(row, why=inspection)
            continue
        same = _matches_of_row(row, inspection)
        findings = [finding_of(match, inspection, salt) for match in same]
        known = [finding_of(match, inspection, policy) for match in same]
        left = [new for new, old in zip(findings, known, strict=True) if policy.allow.covers(old) is None]
        why = ""
        if not left:
            why = "the gate finds no such secret in that file"
            if findings:
                why = "excepted already"
        yield Outcome(row, tuple(left), why)


def _matches_of_row(row: Row, inspection: Inspection) -> list[Match]:
    """The secrets that have the row's hash: those on its line, or anywhere where lines have moved since."""
    secrets = [match for match in inspection.matches if match.secret]
    here = [match for match in secrets if inspection.text.line_of(match.start)[0] == row.line]
    lines = inspection.text.raw.split("\n")
    if 0 < row.line <= len(lines):
        heads = _HEAD.findall(lines[row.line - 1])
    else:
        heads = []
    same = [head for head in heads if _sha1(head) == row.digest]
    if same:  # the same for every secret of its type: the line must say which; what we find of a key stands below it
        below = [match for match in secrets if inspection.text.line_of(match.start)[0] in (row.line, row.line + 1)]
        return [
            match
            for match in below
            if any(head in inspection.text.raw[match.start : match.end] for head in same)
            or (match.rule == "private-key" and "PRIVATE KEY" in same[0])
        ]
    return [match for match in here if row.digest in _digests(match, inspection)] or [
        match for match in secrets if row.digest in _digests(match, inspection)
    ]


def _digests(match: Match, inspection: Inspection) -> set[str]:
    """The SHA-1 of what a match covers and of the words in it: rules differ in how much around a value they take."""
    text = inspection.text.raw[match.start : match.end]
    words = {text, *(word for part in _PARTS for word in re.findall(part, text))}
    return {_sha1(word) for word in words}


def _sha1(word: str) -> str:
    from hashlib import sha1  # loads OpenSSL: only this command needs it

    return sha1(word.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def as_value(outcomes: Sequence[Outcome], dry_run: bool) -> dict[str, Any]:
    """The JSON of docs/json.md."""
    taken = [json_object(finding, "path line rule fingerprint") for outcome in outcomes for finding in outcome.findings]
    left = [(outcome.row, outcome.why) for outcome in outcomes if outcome.why]
    rows = [{"path": row.path, "line": row.line, "type": row.type, "why": why} for row, why in left]
    return {"imported": taken, "left": rows, "dry_run": dry_run}
