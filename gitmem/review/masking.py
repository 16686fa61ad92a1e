"""Everything of a review that is text of memory, as it may be shown: the gate reads all of it at once.

Secrets and personal data are masked. What reads as an instruction is not: the reviewer has to see what an agent would.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from gitmem.gate.detectors.personal.pii import RULES as PERSONAL
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import LINE, redaction
from gitmem.gate.scan import Report
from gitmem.memory.fact import parse_span

# Fields that hold text of memory or names of files, in whatever value of a review they stand.
TEXTS = frozenset(
    ("text", "old_text", "other_text", "heading", "meta", "edits", "question", "gained", "lost", "loosened", "problem",
     "path", "old_path", "other_path", "unread", "trail", "claim", "evidence", "renamed_to", "cause")
)  # fmt: skip
PEOPLE = frozenset(("author", "editor", "signer", "notes"))  # who wrote, changed or signed it, by their own words
Value = TypeVar("Value")


def masked(value: Value, policy: Policy) -> Value:
    """The same value with every text in it masked where the gate finds a secret. A report of the gate is masked
    already and stays; names of people keep what is personal in them, and hold no secret either."""
    texts, people = Texts(), Texts()
    fields_of = {**dict.fromkeys(TEXTS, texts), **dict.fromkeys(PEOPLE, people)}
    _mapped(value, {name: lines.collect for name, lines in fields_of.items()})
    texts.mask(policy, ())
    people.mask(policy, frozenset(PERSONAL))
    masked: Value = _mapped(value, {name: lines.masked for name, lines in fields_of.items()})
    return masked


class Texts:
    """Texts, and how each may be shown. The gate reads all of them at once to see which hold anything, and each of
    those by itself: a key in one must not take the name of a file beside it along."""

    def __init__(self) -> None:
        self.shown: dict[str, str] = {}

    def collect(self, text: str) -> str:
        """Take a text; the text as it is."""
        self.shown[text] = text
        return text

    def mask(self, policy: Policy, leave: Collection[str]) -> None:
        """Replace each text by how it may be shown, whatever the rules in `leave` find."""
        texts = [text for text in self.shown if text]
        joined = "\n\n".join(texts) + "\n"
        done = redaction(joined, "MEMORY.md", policy, only_secrets=True, leave=leave)
        before, after = joined.split("\n"), done.text.split("\n")
        at = 0
        for text in texts:
            last = at + text.count("\n") + 1
            if done.whole or len(before) != len(after) or before[at:last] != after[at:last]:
                one = redaction(text, "MEMORY.md", policy, only_secrets=True, leave=leave)
                lines = text.count("\n")
                self.shown[text] = one.text if not one.whole and one.text.count("\n") == lines else _hidden(lines)
            at = last + 1

    def masked(self, text: str) -> str:
        """A text that was collected, as it may be shown."""
        return self.shown[text]


def _hidden(breaks: int) -> str:
    """A text of which no part can be shown, with as many lines."""
    return "\n".join([LINE] * (breaks + 1))


def _mapped(value: Any, changes: Mapping[str, Callable[[str], str]], name: str = "") -> Any:
    """A value with every text in it changed, by the name of the field that holds it."""
    if isinstance(value, Report):
        return value
    if isinstance(value, str):
        return changes[name](value) if name in changes else value
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            named = zip(value._fields, value, strict=True)
            return type(value)(*(_mapped(part, changes, field) for field, part in named))
        if name == "meta":  # a source that names lines of a file is read as such
            return tuple((k, text if k == "src" and parse_span(text) else changes[name](text)) for k, text in value)
        return tuple(_mapped(part, changes, name) for part in value)
    if isinstance(value, Mapping):  # sources by commit, path and line
        return {
            (commit, changes["path"](path), line): _mapped(part, changes, name)
            for (commit, path, line), part in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        names = [row.name for row in fields(value)]
        return replace(value, **{field: _mapped(getattr(value, field), changes, field) for field in names})
    return value
