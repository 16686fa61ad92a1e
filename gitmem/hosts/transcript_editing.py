"""Edit a host's JSONL transcript: remove entries, shorten tool results, mask texts. Pure.

A line that is not edited stays byte for byte. A shortened tool result is the same entry with a shorter text; the
summary of removed entries is one entry in the host's own form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gitmem.hosts.entries import parse_object
from gitmem.hosts.neutral import SUMMARY_LEAD
from gitmem.hosts.transcript import Role, Turn
from gitmem.hosts.transcript_parser import form_of
from gitmem.json_values import parse_json


def compact_transcript(data: bytes, turns: Sequence[Turn], dropped: Iterable[Turn], summary: str) -> bytes:
    """The transcript without the lines whose turns are all in `dropped`. In place of the first of them is an entry with
    `summary`, unless that is "". `turns`: the turns that stay.

    The summary has the id of the last removed entry before the first remaining turn, so that it is that turn's parent.
    """
    lines = data.split(b"\n")
    removed = {turn.line for turn in dropped} - {turn.line for turn in turns}
    first = min((turn.line for turn in turns), default=len(lines) + 1)
    last = max((line for line in removed if line < first), default=0)
    before = parse_object(lines[last - 1] if last else b"")
    kept: list[bytes] = []
    has_summary = not summary
    for number, line in enumerate(lines, 1):
        if number not in removed:
            kept.append(line)
        elif not has_summary:
            like = parse_object(line)
            kept.append(_line(form_of(like).summary(like, before, SUMMARY_LEAD + summary)))
            has_summary = True
    return b"\n".join(kept)


def prune_transcript(data: bytes, before: Sequence[Turn], after: Sequence[Turn]) -> bytes:
    """The transcript with the tool results shortened as in `after`, which has the same turns as `before` in the same
    order (ValueError for another number). Only texts of tool results that differ are replaced."""
    lines = data.split(b"\n")
    for old, new in zip(before, after, strict=True):
        if old.text != new.text and old.role is Role.TOOL:
            lines[old.line - 1] = _shortened(lines[old.line - 1], new.answers, new.text)
    return b"\n".join(lines)


def _shortened(line: bytes, call: str, text: str) -> bytes:
    """The line with the result of the tool call `call` replaced by `text`."""
    entry = parse_json(line)
    form_of(entry).shorten(entry, call, text)
    return _line(entry)


def _line(entry: Any) -> bytes:
    """An entry as a line of JSON."""
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")


# Keys of values that are not words of a person or agent and must stay: ids, signatures, encoded data.
STRUCTURAL_KEY = re.compile(
    r"(?:.*(?:id|Id|ID|uuid|Uuid|hash|signature|timestamp)|data|encrypted_content|type|role|version|cwd|model|name)"
)
MIN_TEXT_CHARACTERS = 6  # a shorter text is not masked


def mask_transcript(data: bytes, clean: Callable[[str], str]) -> tuple[bytes, int]:
    """(the transcript with `clean` applied to every text, number of changed lines). An unchanged line stays byte for
    byte.

    Texts are the JSON strings of at least MIN_TEXT_CHARACTERS, except the values of STRUCTURAL_KEY. A line that is not
    JSON is one text. `clean` is called once for each text.
    """
    lines = data.split(b"\n")
    changed = 0
    seen: dict[str, str] = {}

    def cleaned(text: str) -> str:
        if len(text) < MIN_TEXT_CHARACTERS:
            return text
        if text not in seen:
            seen[text] = clean(text)
        return seen[text]

    for at, line in enumerate(lines):
        new = line
        try:
            entry = parse_json(line)
        except ValueError:
            if line.strip():
                new = cleaned(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        else:
            other = _with_texts(entry, cleaned)
            if other != entry:
                new = _line(other)
        changed += new != line
        lines[at] = new
    return b"\n".join(lines), changed


def _with_texts(value: Any, cleaned: Callable[[str], str], key: str = "") -> Any:
    """A JSON value with `cleaned` applied to its texts. `key`: the key of the value in its object."""
    if isinstance(value, str) and not STRUCTURAL_KEY.fullmatch(key):
        return cleaned(value)
    if isinstance(value, list):
        return [_with_texts(item, cleaned) for item in value]
    if isinstance(value, dict):
        return {key: _with_texts(item, cleaned, key) for key, item in value.items()}
    return value
