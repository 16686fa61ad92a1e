"""Korean words in English: a note in Korean has `컨테이너` in one line and `container` in the next.

The words are those of `korean_english.txt`, counted in translated documentation (`tools/translations.py`); read once,
when a question first has Hangul. Knows nothing of where a word stands.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

_FILE = Path(__file__).with_name("korean_english.txt")


def english(word: str) -> tuple[str, ...]:
    """The stems, at most two, that stand for a Korean word without its particle or ending; none for one not known."""
    words, wanted = _words(), f"\n{word}\t".encode("utf-8", "replace")
    at = words.find(wanted)
    if at < 0:
        return ()
    return tuple(words[at + len(wanted) : words.index(b"\n", at + 1)].decode().split("\t"))


@cache
def _words() -> bytes:
    return _FILE.read_bytes()
