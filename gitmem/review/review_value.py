"""A review as the JSON of docs/json.md, "review". Pure."""

from __future__ import annotations

from typing import Any

from gitmem.gate.reports.finding_words import order
from gitmem.git.objects import Span
from gitmem.json_values import json_object, json_value
from gitmem.memory.fact import parse_span
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.signatures import UNSIGNED
from gitmem.review.fact_diff import PLACE_KEYS, FactChange
from gitmem.review.forges.forge import Forge
from gitmem.review.review import LineVerdict, Review
from gitmem.review.text_changes import TextChange


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
        "signatures": [json_object(one) for one in review.signatures if one.state != UNSIGNED],
    }


def _line_value(line: LineVerdict) -> dict[str, Any]:
    edited = None
    if line.edits:
        changes = [{"what": what, "old": old or None, "new": new or None} for what, old, new in line.edits]
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
            read = review.cited.get(review.place_of(change), ())
            source = next((row for row in read if span and _is_same_span(row.recorded, span)), None)
            rows.append({"src": value, **_source_value(source, forge)})
    return rows


def _is_same_span(one: Span, other: Span) -> bool:
    """Whether two spans name the same lines. The blob of `other` may be abbreviated."""
    return one[:3] == other[:3] and one.blob.startswith(other.blob)


def _source_value(source: Source | None, forge: Forge | None) -> dict[str, Any]:
    """The link, commit and text of a source; all None for a source that was not read."""
    if source is None:
        return {"url": None, "commit": None, "text": None}
    url = None
    if forge and source.commit:
        url = forge.lines(source.commit, source.path, source.start_line, source.end_line)
    return {"url": url, "commit": source.commit or None, "text": source.text or None}
