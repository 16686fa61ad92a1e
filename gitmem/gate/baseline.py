"""Imports a team's `.secrets.baseline` (the file of the program detect-secrets) as exceptions of the gate.

Such a baseline has the SHA-1 of each known secret. The values that our detectors find in the same file are hashed in
the same way, and only a value with the same hash becomes an exception. No rule is excepted as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitmem.errors import BadConfig
from gitmem.gate.detectors.finding import Finding
from gitmem.gate.detectors.text import Match
from gitmem.gate.examine import Inspection, finding_of
from gitmem.gate.policy import Policy
from gitmem.json_values import json_object, parse_json

_PARTS = (r"\S+", r"[^\s\"'`:=@/,;<>(){}\[\]]+", r"[^\s\"'`]+")
# The only part of a private key and of a GitHub token that detect-secrets hashes.
_HEAD = re.compile(r"BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?|gh[pousr](?=_)")


@dataclass(frozen=True, slots=True)
class Row:
    """One result of a baseline. `line`: from 1, 0 when the baseline has none. `digest`: the SHA-1 of the value, in hex.
    `type`: the name of the plugin's rule. `real`: whether somebody marked it as a secret in use."""

    path: str
    line: int
    digest: str
    type: str
    real: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result for one row. `findings`: the findings for which exceptions are to be made. `why`: the reason why there
    are none, "" when there are some."""

    row: Row
    findings: tuple[Finding, ...] = ()
    why: str = ""


def parse(text: str) -> list[Row]:
    """The results in the text of a `.secrets.baseline` of detect-secrets, in its order. Raises BadConfig for any other
    text."""
    try:
        results = parse_json(text)["results"]
        rows = [_row(path, row) for path, own_rows in results.items() for row in own_rows]
    except (ValueError, TypeError, KeyError, AttributeError):
        raise BadConfig("this is no baseline of detect-secrets", "detect-secrets scan > .secrets.baseline") from None
    return rows


def _row(path: str, row: dict[str, Any]) -> Row:
    """A row of a detect-secrets baseline. Raises KeyError, TypeError or ValueError for a malformed one."""
    digest, line = row["hashed_secret"], row.get("line_number", 0)
    if not isinstance(path, str) or not isinstance(line, int) or not re.fullmatch("[0-9a-f]{40}", digest):
        raise ValueError
    real = row.get("is_secret") is True or row.get("is_verified") is True
    return Row(path, line, digest, str(row.get("type", "")), real)


def outcomes(
    rows: Sequence[Row], look: Callable[[str], Inspection | str], policy: Policy, salt: Policy
) -> Iterator[Outcome]:
    """Look up each row of a baseline among the gate's findings; yields one outcome a row, in order.

    `look`: scans a path and returns the inspection, or a text with the reason why the file was not scanned. It is
    called once for each path. `policy`: findings that its exceptions cover already are left out. `salt`: the policy
    whose salt new fingerprints get. A row that is marked as a secret in use never gets an exception.
    """
    inspections: dict[str, Inspection | str] = {}
    for row in rows:
        if row.real:
            yield Outcome(row, why="marked as a secret in use: rotate it")
            continue
        if row.path not in inspections:
            inspections[row.path] = look(row.path)
        inspection = inspections[row.path]
        if isinstance(inspection, str):
            yield Outcome(row, why=inspection)
            continue
        matches = _matches_of_row(row, inspection)
        findings = [finding_of(match, inspection, salt) for match in matches]
        old_findings = [finding_of(match, inspection, policy) for match in matches]
        uncovered = [new for new, old in zip(findings, old_findings, strict=True) if policy.allow.covers(old) is None]
        why = ""
        if not uncovered:
            why = "the gate finds no such secret in that file"
            if findings:
                why = "excepted already"
        yield Outcome(row, tuple(uncovered), why)


def _matches_of_row(row: Row, inspection: Inspection) -> list[Match]:
    """The matches that are secrets with the row's hash: those on its line, else anywhere in the file, since lines move.
    If the hash is that of a head (`_HEAD`) on the row's line, the result has the secrets with that head on this line or
    the next one."""
    secrets = [match for match in inspection.matches if match.secret]
    on_line = [match for match in secrets if inspection.text.line_of(match.start)[0] == row.line]
    lines = inspection.text.raw.split("\n")
    heads: list[str] = []
    if 0 < row.line <= len(lines):
        heads = _HEAD.findall(lines[row.line - 1])
    matching_heads = [head for head in heads if _sha1(head) == row.digest]
    # The hash is that of every secret of its type: only those on its line, or a key below it, are meant.
    if matching_heads:
        below = [match for match in secrets if inspection.text.line_of(match.start)[0] in (row.line, row.line + 1)]
        return [
            match
            for match in below
            if any(head in inspection.text.raw[match.start : match.end] for head in matching_heads)
            or (match.rule == "private-key" and "PRIVATE KEY" in matching_heads[0])
        ]
    return [match for match in on_line if row.digest in _digests(match, inspection)] or [
        match for match in secrets if row.digest in _digests(match, inspection)
    ]


def _digests(match: Match, inspection: Inspection) -> set[str]:
    """The SHA-1 of the matched text and of each word in it: rules differ in how much around a value they match."""
    text = inspection.text.raw[match.start : match.end]
    words = {text, *(word for part in _PARTS for word in re.findall(part, text))}
    return {_sha1(word) for word in words}


def _sha1(word: str) -> str:
    from hashlib import sha1  # loads OpenSSL: only this command needs it

    return sha1(word.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def as_value(results: Sequence[Outcome], dry_run: bool) -> dict[str, Any]:
    """The JSON of docs/json.md, "allow": `imported` (path, line, rule and fingerprint of each finding that gets an
    exception), `left` (path, line, type and `why` of each row that gets none, such as one that is excepted already) and
    `dry_run`, whether the command only shows what it would write. It is no class, because each list has a selection of
    the outcomes."""
    imported = [json_object(finding, "path line rule fingerprint") for result in results for finding in result.findings]
    left_out = [json_object(row, "path=row.path line=row.line type=row.type why") for row in results if row.why]
    return {"imported": imported, "left": left_out, "dry_run": dry_run}
