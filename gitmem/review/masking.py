"""Everything of a review that is text of memory, as it may be shown: the gate reads all of it at once.

Secrets and personal data are masked. What reads as an instruction is not: the reviewer has to see what an agent would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from gitmem.gate.policy import Policy
from gitmem.gate.redaction import LINE, redaction
from gitmem.gate.scan import Report

# Fields that hold text of memory or names of files, in whatever value of a review they stand.
TEXTS = frozenset(
    ("text", "old_text", "other_text", "heading", "meta", "edits", "question", "gained", "lost", "loosened", "problem",
     "path", "old_path", "other_path", "unread")
)  # fmt: skip
Value = TypeVar("Value")


def masked(found: Value, policy: Policy) -> Value:
    """The same value with every text in it masked where the gate finds a secret. A report of the gate is masked
    already and stays."""
    shown: dict[str, str] = {}

    def collect(text: str) -> str:
        shown.update((line, line) for line in text.split("\n"))
        return text

    _mapped(found, collect)
    _mask(shown, policy)
    masked: Value = _mapped(found, lambda text: "\n".join(shown[line] for line in text.split("\n")))
    return masked


def _mask(shown: dict[str, str], policy: Policy) -> None:
    """Replace each value by how its line may be shown."""
    texts = [text for text in shown if text]
    done = redaction("\n".join(texts) + "\n", "MEMORY.md", policy, only_secrets=True)
    lines = done.text.split("\n")[:-1]
    if done.whole or len(lines) != len(texts):
        alone = [redaction(text, "MEMORY.md", policy, only_secrets=True) for text in texts]
        lines = [LINE if one.whole else " ".join(one.text.split("\n")) for one in alone]
    shown.update(zip(texts, lines, strict=True))


def _mapped(value: Any, change: Callable[[str], str], name: str = "") -> Any:
    """A value with `change` done to every text in it that a field of TEXTS holds."""
    if isinstance(value, Report):
        return value
    if isinstance(value, str):
        return change(value) if name in TEXTS else value
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            named = zip(value._fields, value, strict=True)
            return type(value)(*(_mapped(part, change, field) for field, part in named))
        if name == "meta":  # a source names lines of a file, and is read as such
            return tuple((key, text if key == "src" else change(text)) for key, text in value)
        return tuple(_mapped(part, change, name) for part in value)
    if isinstance(value, Mapping):  # sources by commit, path and line
        return {
            (commit, change(path), line): _mapped(part, change, name) for (commit, path, line), part in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        names = [row.name for row in fields(value)]
        return replace(value, **{field: _mapped(getattr(value, field), change, field) for field in names})
    return value
