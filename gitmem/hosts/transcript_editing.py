"""Edit a host's JSONL transcript: remove entries, shorten tool results, mask texts. Pure.

A line that is not edited stays byte for byte. A shortened tool result is the same entry with a shorter text; the
summary of removed entries is one entry in the host's own form.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Any

from gitmem.hosts.entries import parse_object
from gitmem.hosts.neutral import SUMMARY_LEAD
from gitmem.hosts.transcript import Role, Turn
from gitmem.hosts.transcript_parser import form_of
from gitmem.json_values import parse_json


def compact_transcript(data: bytes, turns: Sequence[Turn], dropped: Iterable[Turn], summary: str) -> bytes:
    """The transcript without the lines whose turns are all in `dropped`. In place of the first of them is an entry with
    `summary`, unless that is "". `turns`: the turns that stay.
    """
    lines = dict(enumerate(data.split(b"\n"), 1))  # numbered as in `Turn.line`
    kept_numbers = {turn.line for turn in turns}
    removed_numbers = {turn.line for turn in dropped} - kept_numbers
    summary_number: int | None = None  # the line that the summary takes the place of
    if summary and removed_numbers:
        summary_number = min(removed_numbers)

    result: list[bytes] = []
    for number, line in lines.items():
        if number == summary_number:
            last_removed = _last_before_kept(lines, removed_numbers, kept_numbers)
            result.append(_summary_line(line, last_removed, summary))
        elif number not in removed_numbers:
            result.append(line)
    return b"\n".join(result)


def _last_before_kept(lines: Mapping[int, bytes], removed: Set[int], kept: Set[int]) -> bytes:
    """The last removed line before the first kept one; without kept lines, the last removed line. b"" if every removed
    line comes later. `removed`, `kept`: numbers of lines."""
    if kept:
        first_kept = min(kept)
        removed = {number for number in removed if number < first_kept}
    if not removed:
        return b""
    return lines[max(removed)]


def _summary_line(replaced: bytes, last_removed: bytes, summary: str) -> bytes:
    """The line of a summary, in the form of the line that it replaces.

    An entry names its parent by the parent's id. The summary gets the id of the entry `last_removed`, which the first
    kept turn names, so that the chain of parents stays whole. With b"" the host's form decides the id.
    """
    like = parse_object(replaced)
    last = parse_object(last_removed)
    return _line(form_of(like).summary(like, last, SUMMARY_LEAD + summary))


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
    """An entry as a line of JSON. Half of an emoji, which JSON can spell as an escape and UTF-8 cannot, becomes `?`."""
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")


MIN_TEXT_CHARACTERS = 6  # a shorter text is not masked
# Keys of strings that a host reads by itself and that must stay as they are: a masked id or signature makes the
# transcript useless to the host, and masked data cannot be decoded.
STRUCTURAL_NAMES = frozenset({"data", "encrypted_content", "type", "role", "version", "cwd", "model", "name"})
# Ends of such keys, as in `sessionId` and `parentUuid`. They also protect a key such as `paid`: hosts use many names
# for ids, and words of a person stand at keys such as `text` and `content`.
STRUCTURAL_ENDS = ("id", "Id", "ID", "uuid", "Uuid", "hash", "signature", "timestamp")


@dataclass(frozen=True, slots=True)
class MaskedTranscript:
    """A transcript after masking. `changed_lines`: the number of lines that differ from the original."""

    data: bytes
    changed_lines: int


def mask_transcript(data: bytes, clean: Callable[[str], str]) -> MaskedTranscript:
    """The transcript with `clean` applied to every text. An unchanged line stays byte for byte.

    Texts are the JSON strings of at least MIN_TEXT_CHARACTERS, except the values of keys that a host needs unchanged
    (ids, hashes, signatures, times, types, roles, encoded data). A line that is not JSON is one text. `clean` is called
    once for each text.
    """
    clean_once = cache(clean)  # hosts repeat texts, and `clean` scans for secrets

    def clean_text(text: str) -> str:
        if len(text) < MIN_TEXT_CHARACTERS:
            return text
        return clean_once(text)

    result: list[bytes] = []
    changed_lines = 0
    for line in data.split(b"\n"):
        masked = _masked_line(line, clean_text)
        result.append(masked)
        if masked != line:
            changed_lines += 1
    return MaskedTranscript(b"\n".join(result), changed_lines)


def _masked_line(line: bytes, clean_text: Callable[[str], str]) -> bytes:
    """The line with `clean_text` applied to its texts; the same bytes if that changes none."""
    if not line.strip():
        return line
    try:
        entry = parse_json(line)
    except ValueError:  # "surrogateescape": bytes that are not UTF-8 must come out as they went in
        return clean_text(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    masked = _with_clean_texts(entry, clean_text)
    if masked == entry:
        return line
    return _line(masked)


def _with_clean_texts(value: Any, clean_text: Callable[[str], str]) -> Any:
    """A JSON value with `clean_text` applied to its strings, except the strings at structural keys.

    A structural key protects only a string that is its value. A list or an object there is masked like any other,
    since hosts put a person's words there: Copilot's `data` is an object with the message.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_with_clean_texts(item, clean_text) for item in value]
    if isinstance(value, dict):
        cleaned: dict[str, Any] = {}
        for key, item in value.items():
            if isinstance(item, str) and (key in STRUCTURAL_NAMES or key.endswith(STRUCTURAL_ENDS)):
                cleaned[key] = item
            else:
                cleaned[key] = _with_clean_texts(item, clean_text)
        return cleaned
    return value  # a number, true, false or null
