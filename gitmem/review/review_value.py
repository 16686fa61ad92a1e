"""A review in the forms that programs read: the JSON of docs/json.md, "review", and a report of the gate. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.reports.finding_words import order
from gitmem.gate.scan import Report
from gitmem.git.objects import Span
from gitmem.json_values import json_object, json_value
from gitmem.memory.fact import parse_span
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.signatures import UNSIGNED
from gitmem.review.fact_diff import PLACE_KEYS, FactChange
from gitmem.review.forges.forge import Forge
from gitmem.review.line_verdicts import LineVerdict, State
from gitmem.review.review import Review
from gitmem.review.text_changes import TextChange

SEVERITY_OF = {True: Severity.BLOCK, False: Severity.WARN}  # by whether the review fails for it


def as_value(review: Review, forge: Forge | None = None) -> dict[str, Any]:
    """The review as a value for JSON. `forge`: where the links to source lines lead, None for no links.

    `Review` does not list these keys, because the warnings of the registry add keys, and the links need a forge.
    """
    return {
        "base": review.base or None,
        "head": review.head,
        "verdict": "failed" if review.failed else "clean",
        "changes": [
            {
                **json_object(change, f"{PLACE_KEYS} author? commit?"),
                "sources": _sources(change, review, forge),
            }
            for change in (*review.changes, *review.other.placements)
        ],
        "texts": [_text_value(text) for text in review.other.texts],
        "renamed": [json_object(row, "path old_path") for row in review.other.renamed],
        "unread": list(review.other.unread),
        "findings": json_value(order(review.report.findings)),
        "before": json_value(order(review.report.before)),
        "provenance": [_line_value(line) for line in review.lines],
        **{warning.key: json_value(warning.found) for warning in review.warnings},
        "masks": [json_object(row, "path line text") for row in review.masks],
        "notes": list(review.notes),
        "signatures": [json_object(signature) for signature in review.signatures if signature.state != UNSIGNED],
    }


def _line_value(line: LineVerdict) -> dict[str, Any]:
    edited = None
    if line.edits:
        changes = [{"what": key, "old": old or None, "new": new or None} for key, old, new in line.edits]
        edited = {"by": line.editor, "changes": changes}
    return {
        **json_object(line, "path line text state support? message?"),
        "edited": edited,
        **json_object(line, "commit author"),
    }


def _text_value(text: TextChange) -> dict[str, Any]:
    old_path = None
    if text.old_line:
        old_path = text.old_path or text.path
    return {
        "op": text.op.value,
        "path": text.path,
        "line": text.line or None,
        "text": text.text or None,
        "old_line": text.old_line or None,
        "old_text": text.old_text or None,
        "old_path": old_path,
        "heading": text.heading,
    }


def _sources(change: FactChange, review: Review, forge: Forge | None) -> list[dict[str, Any]]:
    """Each `src` of a fact, with the text of its lines and a link to them; None for lines that were not found."""
    rows = []
    for key, value in change.fact.meta:
        if key == "src":
            span = parse_span(value)
            cited = review.cited.get(review.place_of(change), ())
            source = next((row for row in cited if span and _is_same_span(row.recorded, span)), None)
            rows.append({"src": value, **_source_value(source, forge)})
    return rows


def _is_same_span(recorded: Span, span: Span) -> bool:
    """Whether two spans name the same lines. The blob of `span` may be abbreviated."""
    return recorded[:3] == span[:3] and recorded.blob.startswith(span.blob)


def _source_value(source: Source | None, forge: Forge | None) -> dict[str, Any]:
    """The link, commit and text of a source; all None for a source that was not read."""
    if source is None:
        return {"url": None, "commit": None, "text": None}
    url = None
    if forge and source.commit:
        url = forge.lines(source.commit, source.path, source.start_line, source.end_line)
    return {"url": url, "commit": source.commit or None, "text": source.text or None}


def as_report(review: Review) -> Report:
    """The gate's report with the broken, unrecorded and edited lines and the warnings added as findings, for SARIF and
    annotations. The added findings quote no memory text."""
    added = []
    for line in review.lines:
        if line.state is State.BROKEN:
            added.append(_finding(line.path, line.line, "provenance", Severity.BLOCK, line.message))
        elif line.state is State.AGENT and line.fails:
            words = line.message or f"an agent added it in {line.commit[:12]}, and no promotion did"
            added.append(_finding(line.path, line.line, "unrecorded", Severity.BLOCK, words))
        elif line.state is State.EDITED:
            words = f"{line.words}: {', '.join(key for key, _, _ in line.edits)}"
            added.append(_finding(line.path, line.line, "edited", Severity.WARN, words))
    for warning in review.warnings:
        for remark in warning.remarks():
            added.append(_finding(remark.path, remark.line, remark.rule, SEVERITY_OF[remark.fails], remark.words))
    return replace(review.report, findings=(*review.report.findings, *added))


def _finding(path: str, line: int, rule: str, severity: Severity, message: str) -> Finding:
    """A finding of the rule `review/RULE`, whose fingerprint does not depend on the line."""
    mark = hashlib.sha256(f"{rule}\0{path}\0{message}".encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Finding(f"review/{rule}", severity, path, line, 1, line, 1, message, fingerprint=mark)
