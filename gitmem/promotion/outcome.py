"""The outcome of a promotion as JSON, and the texts that no output may repeat. Reads nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gitmem.git.objects import Span
from gitmem.json_values import json_value
from gitmem.memory.fact import fact_id
from gitmem.promotion.promote import Outcome


def as_value(outcome: Outcome) -> dict[str, Any]:
    """The JSON of docs/json.md, "promote". A refused text that holds a secret is ""."""

    def places(spans: Sequence[Span]) -> list[dict[str, Any]]:
        return [span._asdict() for span in spans]

    hidden = not_repeatable(outcome)
    return {
        "facts": [
            {
                "op": str(item.operation.op),
                "id": fact_id(item.operation.text),
                "text": item.operation.text,
                "type": item.operation.type,
                "importance": item.operation.importance,
                "until": item.operation.until or None,
                "pinned": item.operation.pinned,
                "sources": places(item.operation.sources),
                "target": {"id": item.old.id, "text": item.old.text} if item.old else None,
                "reason": item.operation.reason,
            }
            for item in outcome.plan.approved
        ],
        "skipped": [
            {
                "id": fact_id(item.operation.text) if item.operation.text else None,
                "text": "" if item.operation.text in hidden else item.operation.text,
                "sources": places(item.operation.sources),
                "check": str(item.why),
                "reason": item.reason,
            }
            for item in outcome.plan.refused
        ],
        "differs": json_value(outcome.differs),
        "archived": [{"id": m.fact.id, "text": m.fact.text, "path": m.path} for m in outcome.archived],
        "cursor": outcome.cursor or None,
        "model": outcome.model,
        "mode": str(outcome.mode),
        "branch": outcome.branch or None,
        "commits": list(outcome.commits),
        "lines_read": outcome.lines,
        "why_nothing": outcome.why_nothing or None,
        "notes": [*outcome.notes, *(f"{s.path}: {s.reason}" for s in outcome.skipped)],
    }


def not_repeatable(outcome: Outcome) -> set[str]:
    """The texts of refused operations in which our rules see a secret."""
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    texts = list(dict.fromkeys(item.operation.text for item in outcome.plan.refused))
    numbers = secret_lines("\n".join(text.replace("\n", " ") for text in texts))
    return {texts[number - 1] for number in numbers}
