"""The outcome of a promotion as JSON, and the texts that no output may repeat. Reads nothing."""

from __future__ import annotations

from typing import Any

from gitmem.json_values import json_object
from gitmem.promotion.promote import Outcome


def as_value(outcome: Outcome) -> dict[str, Any]:
    """The JSON of docs/json.md, "promote". A refused text that holds a secret is ""."""
    hidden = not_repeatable(outcome)
    value = json_object(outcome)
    for row in value["skipped"]:
        if row["text"] in hidden:
            row["text"] = ""
    return value


def not_repeatable(outcome: Outcome) -> set[str]:
    """The texts of refused operations in which our rules see a secret."""
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    texts = list(dict.fromkeys(item.operation.text for item in outcome.plan.refused))
    numbers = secret_lines("\n".join(text.replace("\n", " ") for text in texts))
    return {texts[number - 1] for number in numbers}
