"""Masks the secrets and personal data in the files and strings of a review, and hides lines with secrets elsewhere.

Text that gives orders to agents is not masked: the reviewer has to see what an agent would read. Only the fields of
UNMASKED_FIELDS are never masked.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from itertools import islice
from typing import Any, TypeVar

from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.quoting import without_secrets
from gitmem.gate.redaction import LINE, redaction
from gitmem.gate.remedies import remedy
from gitmem.gate.scan import Report
from gitmem.gate.withholding import NAME_RULES
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.memory.fact import parse_span, render_span
from gitmem.review.text_changes import is_text

# Fields with oids, ids, signature keys, rule names and states: a person wrote none of them.
UNMASKED_FIELDS = frozenset(
    ("base", "head", "commit", "blob", "id", "fingerprint", "head_fingerprints", "key", "rule", "rules", "support")
)
# Fields with names of people, who chose them to be seen.
NAME_FIELDS = frozenset(("author", "editor", "signer", "notes"))
Value = TypeVar("Value")
Change = Callable[[str, str], str]  # (text, name of its field) -> the text that replaces it


def mask_strings(value: Value, policy: Policy) -> Value:
    """A copy of `value` (dataclasses, tuples, lists, frozensets, mappings whose keys are (commit, path, line)) in which
    every string that holds a secret or personal data is masked.

    A gate `Report` in it is masked already and is not changed, nor are fields of UNMASKED_FIELDS. Fields of
    NAME_FIELDS keep the personal data that `withholding.NAME_RULES` names.
    """
    texts, people = Texts(), Texts()

    def group(name: str) -> Texts:
        return people if name in NAME_FIELDS else texts

    _mapped(value, lambda text, name: group(name).collect(text))
    texts.mask(policy, ())
    people.mask(policy, NAME_RULES)
    masked: Value = _mapped(value, lambda text, name: group(name).masked(text))
    return masked


def hide_secrets(value: Value) -> Value:
    """A copy of `value` (as for `mask_strings`) with each line that has a secret replaced by `quoting.HIDDEN` in every
    string of it. Secrets may be in memory because somebody committed them without the gate."""
    texts: dict[str, str] = {}
    _mapped(value, lambda text, _: texts.setdefault(text, text))
    lines = [line for text in texts for line in (*text.split("\n"), "")]  # an empty line parts each text from the next
    shown_lines = iter(without_secrets(lines))
    for text in texts:
        texts[text] = "\n".join(islice(shown_lines, text.count("\n") + 1))
        next(shown_lines)
    hidden: Value = _mapped(value, lambda text, _: texts[text])
    return hidden


class Texts:
    """Collects texts, masks them together and returns the masked form of each.

    `mask` scans all texts at once to see which ones change, then masks each of those alone, so that a secret in one
    text never masks a text beside it.
    """

    def __init__(self) -> None:
        self.masked_forms: dict[str, str] = {}

    def collect(self, text: str) -> str:
        """Remember a text for `mask`; returns it unchanged."""
        self.masked_forms[text] = text
        return text

    def mask(self, policy: Policy, leave: Collection[str]) -> None:
        """Work out the masked form of each collected text, without its secrets and personal data. Findings of the rules
        in `leave` stay visible.

        A masked text keeps its number of lines; one that can only be masked as a whole becomes as many masked lines.
        """
        texts = [text for text in self.masked_forms if text]
        joined = "\n\n".join(texts) + "\n"
        redacted = redaction(joined, "MEMORY.md", policy, only_secrets=True, leave=leave)
        old_lines, new_lines = joined.split("\n"), redacted.text.split("\n")
        is_unreliable = redacted.whole or len(old_lines) != len(new_lines)
        start = 0
        for text in texts:
            breaks = text.count("\n")
            end = start + breaks + 1
            if is_unreliable or old_lines[start:end] != new_lines[start:end]:
                alone = redaction(text, "MEMORY.md", policy, only_secrets=True, leave=leave)
                self.masked_forms[text] = alone.text
                if alone.whole or alone.text.count("\n") != breaks:
                    self.masked_forms[text] = "\n".join([LINE] * (breaks + 1))
            start = end + 1

    def masked(self, text: str) -> str:
        """The masked form of a collected text; before `mask` the text itself. Raises KeyError for a text that was not
        collected."""
        return self.masked_forms[text]


def _mapped(value: Any, change: Change, name: str = "") -> Any:
    """A copy of `value` with `change` applied to every string in it, except in a Report, an enum and fields of
    UNMASKED_FIELDS. `name`: the field that holds `value`."""
    if isinstance(value, Report | Enum) or name in UNMASKED_FIELDS:
        return value
    if isinstance(value, str):
        return change(value, name)
    if isinstance(value, tuple):
        if hasattr(value, "_fields"):
            parts = zip(value._fields, value, strict=True)
            return type(value)(*(_mapped(part, change, field) for field, part in parts))
        if name == "meta":
            return tuple((key, _mapped_meta_value(key, text, change)) for key, text in value)
        if name == "lines" and value and all(isinstance(line, str) for line in value):
            return tuple(change("\n".join(value), name).split("\n"))  # a secret may go over several lines
        return tuple(_mapped(part, change, name) for part in value)
    if isinstance(value, list):
        return [_mapped(part, change, name) for part in value]
    if isinstance(value, frozenset):
        return frozenset(_mapped(part, change, name) for part in value)
    if isinstance(value, Mapping):  # sources by commit, path and line
        return {
            (commit, change(path, "path"), line): _mapped(part, change, name)
            for (commit, path, line), part in value.items()
        }
    if is_dataclass(value) and not isinstance(value, type):
        parts_by_name = {field.name: getattr(value, field.name) for field in fields(value)}
        return replace(value, **{field: _mapped(part, change, field) for field, part in parts_by_name.items()})
    return value


def _mapped_meta_value(key: str, text: str, change: Change) -> str:
    """A value of a fact's comment with `change` applied; of a source only the path, not the oid, is changed."""
    span = parse_span(text) if key == "src" else None
    if span is None:
        return change(text, key)
    path = change(span.path, "path")
    return text if path == span.path else render_span(span._replace(path=path))


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """A line of a file at the head, in the form that `git mem redact` would write. `rules`: the rules that masked it;
    empty for a line that continues a mask begun on an earlier line."""

    path: str
    line: int
    text: str
    rules: frozenset[str] = frozenset()


def masked_lines(repo: Repository, head: str, report: Report, policy: Policy) -> Iterator[MaskedLine]:
    """The lines at `head` that masking would change, in files with a finding that masking can mend.

    Skips files that are too large, that are no text, or that can only be masked as a whole.
    """
    paths = {f.path for f in report.findings if f.path != MESSAGE and not remedy(f)}
    if not paths:
        return
    for path, data in read_small_blobs(repo, sorted(repo.blobs(head, sorted(paths)).items())):
        if not is_text(data):
            continue
        text = data.decode("utf-8", "replace")
        redacted = redaction(text, path, policy)
        old_lines, new_lines = text.split("\n"), redacted.text.split("\n")
        if redacted.whole or len(old_lines) != len(new_lines):
            continue
        rules: dict[int, set[str]] = defaultdict(set)
        for mask in redacted.masks:
            rules[mask.line].add(mask.rule)
        for number, (old, new) in enumerate(zip(old_lines, new_lines, strict=True), 1):
            if old != new:
                yield MaskedLine(path, number, new.rstrip("\r"), frozenset(rules[number]))
