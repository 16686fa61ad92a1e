"""Translates Korean words to English, because a Korean note has `컨테이너` in one line and `container` in the next.

The words are in `korean_english.txt`, made from translated documentation by `tools/translations.py`. The file is read
once, at the first question with Hangul.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("korean_english.txt")


def english(word: str) -> tuple[str, ...]:
    """At most two English stems for a Korean word without particle or ending; () for an unknown word."""
    words, entry_start = _words(), f"\n{word}\t".encode("utf-8", "replace")
    offset = words.find(entry_start)
    if offset < 0:
        return ()
    return tuple(words[offset + len(entry_start) : words.index(b"\n", offset + 1)].decode().split("\t"))


@cache
def _words() -> bytes:
    return _FILE.read_bytes()
