"""Every text of a review as it may be shown: each string is masked by itself, whatever field it stands in.

Secrets and personal data are masked. What reads as an instruction is not: the reviewer has to see what an agent would.
Only the fields of SAFE are left as they are: they hold oids, ids and words of our own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from gitmem.gate.detectors.personal.pii import RULES as PERSONAL
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import LINE, redaction
from gitmem.gate.scan import Report
from gitmem.memory.fact import parse_span, render_span

SAFE = frozenset(  # an oid, an id, a key of a signature, a rule, a state: nothing that a person wrote
    ("base", "head", "commit", "blob", "id", "fingerprint", "standing", "key", "rule", "rules", "support")
)
PEOPLE = frozenset(("author", "editor", "signer", "notes"))  # who wrote, changed or signed it, by their own words
Value = TypeVar("Value")
Change = Callable[[str, str], str]  # (a text, the field it stands in) -> the text to put there


def masked(value: Value, policy: Policy) -> Value:
    """The same value with every text in it masked where the gate finds a secret. A report of the gate is masked
    already and stays; names of people keep what is personal in them, and hold no secret either."""
    texts, people = Texts(), Texts()

    def kind(name: str) -> Texts:
        if name in PEOPLE:
            return people
        return texts

    _mapped(value, lambda text, name: kind(name).collect(text))
    texts.mask(policy, ())
    people.mask(policy, frozenset(PERSONAL))
    masked: Value = _mapped(value, lambda text, name: kind(name).masked(text))
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
                if not one.whole and one.text.count("\n") == lines:
                    self.shown[text] = one.text
                else:
                    self.shown[text] = _hidden(lines)
            at = last + 1

    def masked(self, text: str) -> str:
        """A text that was collected, as it may be shown."""
        return self.shown[text]


def _hidden(breaks: int) -> str:
    """A text of which no part can be shown, with as many lines."""
    return "\n".join([LINE] * (breaks + 1))


def _mapped(value: Any, change: Change, name: str = "") -> Any:
    """A value with every text in it changed; `name` is the field that holds it."""
    if isinstance(value, Report | Enum) or name in SAFE:
        return value
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            named = zip(value._fields, value, strict=True)
            return type(value)(*(_mapped(part, change, field) for field, part in named))
        if name == "meta":
            return tuple((key, _of_comment(key, text, change)) for key, text in value)
        return tuple(_mapped(part, change, name) for part in value)
    if isinstance(value, frozenset):
        return frozenset(_mapped(part, change, name) for part in value)
    if isinstance(value, Mapping):  # sources by commit, path and line
        return {
            (commit, change(path, "path"), line): _mapped(part, change, name)
            for (commit, path, line), part in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        names = [row.name for row in fields(value)]
        return replace(value, **{field: _mapped(getattr(value, field), change, field) for field in names})
    return value


def _of_comment(key: str, text: str, change: Change) -> str:
    """A value of a fact's comment; of a source, which holds an oid, only the path is a text."""
    span = None
    if key == "src":
        span = parse_span(text)
    if span is None:
        return change(text, key)
    path = change(span.path, "path")
    if path == span.path:
        return text
    return render_span(span._replace(path=path))
