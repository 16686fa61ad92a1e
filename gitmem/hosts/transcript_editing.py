"""A host's transcript with fewer or shorter entries: the lines of a JSONL file, changed as little as can be.

Pure. A kept entry is its own line, byte for byte, unless a secret in it is masked; a pruned tool result is the same
entry with a shorter text; a summary is one entry in the form the host writes itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from gitmem.hosts.neutral import SUMMARY_LEAD
from gitmem.hosts.transcript import Role, Turn
from gitmem.hosts.transcript_parser import form_of


def compacted(data: bytes, turns: Sequence[Turn], dropped: Iterable[Turn], summary: str) -> bytes:
    """The transcript without the lines of which every turn is dropped, the summary standing where they began.

    The summary has the id of the last of them before the turns that stay, whose parent it then is.
    """
    lines = data.split(b"\n")
    gone = {turn.line for turn in dropped} - {turn.line for turn in turns}
    first = min((turn.line for turn in turns), default=len(lines) + 1)
    last = max((line for line in gone if line < first), default=0)
    out: list[bytes] = []
    is_summed_up = not summary
    for number, line in enumerate(lines, 1):
        if number not in gone:
            out.append(line)
        elif not is_summed_up:
            like, before = _object(line), _object(lines[last - 1]) if last else {}
            out.append(_line(form_of(like).summary(like, before, SUMMARY_LEAD + summary)))
            is_summed_up = True
    return b"\n".join(out)


def _object(line: bytes) -> Mapping[str, Any]:
    try:
        entry = json.loads(line)
    except ValueError:
        return {}
    if not isinstance(entry, dict):
        return {}
    return entry


def pruned(data: bytes, before: Sequence[Turn], after: Sequence[Turn]) -> bytes:
    """The transcript with the tool results that `after` shortens; every other line byte for byte."""
    lines = data.split(b"\n")
    for old, new in zip(before, after, strict=True):
        if old.text != new.text and old.role is Role.TOOL:
            lines[old.line - 1] = _shortened(lines[old.line - 1], new.answers, new.text)
    return b"\n".join(lines)


def _shortened(line: bytes, call: str, text: str) -> bytes:
    entry = json.loads(line)
    form_of(entry).shorten(entry, call, text)
    return _line(entry)


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "replace")


# What hosts tell entries apart by, sign, or encode: no words of anybody, and not to be changed.
STRUCTURE = re.compile(
    r"(?:.*(?:id|Id|ID|uuid|Uuid|hash|signature|timestamp)|data|encrypted_content|type|role|version|cwd|model|name)"
)
MIN_TEXT_CHARACTERS = 6  # characters of a text that is looked at


def masked(data: bytes, clean: Callable[[str], str]) -> tuple[bytes, int]:
    """The transcript with every text as `clean` makes it, and how many entries that changed; the others byte for byte.

    Texts are what was said, what tools were given and what they gave back. A line that is no JSON is one text.
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
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            text = line.decode("utf-8", "surrogateescape")
            if line.strip():
                new = cleaned(text).encode("utf-8", "surrogateescape")
            else:
                new = line
        else:
            other = _walked(entry, cleaned)
            if other == entry:
                new = line
            else:
                new = json.dumps(other, ensure_ascii=False).encode("utf-8", "replace")
        changed += new != line
        lines[at] = new
    return b"\n".join(lines), changed


def _walked(value: Any, cleaned: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return cleaned(value)
    if isinstance(value, list):
        return [_walked(item, cleaned) for item in value]
    if isinstance(value, dict):
        return {
            key: item if isinstance(item, str) and STRUCTURE.fullmatch(key) else _walked(item, cleaned)
            for key, item in value.items()
        }
    return value
