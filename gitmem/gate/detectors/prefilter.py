"""Whether a text can hold a thing at all, asked of its bytes: what detectors ask before they read.

A regular expression costs some ten nanoseconds a character even where nothing matches; a table over bytes costs
one. The bytes are those of the characters at the same offsets, `?` where a character is not ASCII. Says only where
to look, never what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache


@lru_cache(maxsize=6)
def plain(text: str) -> bytes:
    """One byte a character."""
    return text.encode("ascii", "replace")


@lru_cache(maxsize=6)
def utf8(text: str) -> bytes:
    """The bytes of a text, to ask whether characters outside ASCII are in it at all."""
    return text.encode("utf-8", "surrogatepass")


def table(members: bytes) -> bytes:
    """For `bytes.translate`: 1 for the members, 0 for the rest."""
    return bytes(49 if code in members else 48 for code in range(256))


def kinds_table(kinds: Mapping[bytes, bytes], other: bytes) -> bytes:
    """A table for `bytes.translate`. `kinds`: a mark of one byte -> the bytes that become it; the rest become `other`."""
    marks = bytearray(other * 256)
    for mark, members in kinds.items():
        for code in members:
            marks[code] = mark[0]
    return bytes(marks)


def class_of(*ranges: str) -> bytes:
    """The ASCII characters of ranges (`a-z`) and single characters, as a table."""
    members = bytearray()
    for part in ranges:
        if len(part) == 3 and part[1] == "-":
            first, last = (part[0], part[2])
        else:
            first, last = (part, part)
        members += bytes(range(ord(first), ord(last) + 1))
    return table(bytes(members))


def has_byte(text: str, members: bytes) -> bool:
    """Whether one of the bytes of a text is of a class."""
    return b"1" in utf8(text).translate(members)


def has_run(text: str, members: bytes, least: int) -> bool:
    """Whether at least so many characters of a class stand in a row."""
    return b"1" * least in plain(text).translate(members)


def runs(text: str, members: bytes, least: int) -> Iterator[tuple[int, int]]:
    """The spans of the stretches of a class that are at least so long, each as long as it goes."""
    marked = plain(text).translate(members)
    needle = b"1" * least
    at = marked.find(needle)
    while at >= 0:
        end = marked.find(b"0", at + least)
        if end < 0:
            end = len(marked)
        yield at, end
        at = marked.find(needle, end)


def places(text: str, words: tuple[str, ...]) -> list[int]:
    """Where the words stand in a text, in order."""
    starts: list[int] = []
    for word in words:
        at = text.find(word)
        while at >= 0:
            starts.append(at)
            at = text.find(word, at + 1)
    starts.sort()
    return starts


def present(text: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the words that a text holds. ASCII words are looked for in bytes, which are searched faster."""
    ascii_bytes = plain(text)
    held = [word for word in words if word.isascii() and word.encode() in ascii_bytes]
    return tuple(held if text.isascii() else held + [word for word in words if not word.isascii() and word in text])


_CLUSTER = re.compile(rb"10{0,3}10{0,3}10{0,3}1")  # four digits and more that stand together, in `DIGIT`


def numbered(text: str, before: int, after: int) -> str:
    """The neighbourhoods of the numbers of four digits and more, with so many characters around them, joined by line ends.

    What it does not hold stands near no number: a smaller text to ask for words first. Offsets are not those of `text`.
    """
    parts: list[str] = []
    first = last = -1
    for match in _CLUSTER.finditer(plain(text).translate(DIGIT)):
        if last < 0 or match.start() - before > last:
            if last >= 0:
                parts.append(text[first:last])
            first = max(0, match.start() - before)
        last = match.end() + after
    if last >= 0:
        parts.append(text[first:last])
    return "\n".join(parts)


CJK = table(bytes(range(0xE3, 0xEE)))  # the first bytes of kana, Han and Hangul
DIGIT = class_of("0-9")
LOWER = class_of("a-z")
UNBROKEN = class_of("!-~")
