"""Fast checks on the bytes of a text that detectors make before they run regular expressions.

A regular expression costs about ten nanoseconds a character even where nothing matches; a table over bytes costs one.
The bytes have the offsets of the characters, with `?` for a character outside ASCII.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from gitmem.gate.detectors.spans import merge_spans


@lru_cache(maxsize=6)
def plain(text: str) -> bytes:
    """One byte for each character, `?` outside ASCII."""
    return text.encode("ascii", "replace")


@lru_cache(maxsize=6)
def utf8(text: str) -> bytes:
    """The UTF-8 bytes of a text, to check whether it holds characters outside ASCII."""
    return text.encode("utf-8", "surrogatepass")


def table(members: bytes) -> bytes:
    """A table for `bytes.translate`: the members become `1`, all other bytes `0`."""
    return kinds_table({b"1": members}, b"0")


def kinds_table(kinds: Mapping[bytes, bytes], other: bytes) -> bytes:
    """A table for `bytes.translate`. `kinds`: a mark of one byte -> the bytes that become it; the rest become
    `other`."""
    marks = bytearray(other * 256)
    for mark, members in kinds.items():
        for code in members:
            marks[code] = mark[0]
    return bytes(marks)


def class_of(*ranges: str) -> bytes:
    """A `table` of ASCII characters, given as ranges (`a-z`) and single characters."""
    members = bytearray()
    for part in ranges:
        members += bytes(range(ord(part[0]), ord(part[-1]) + 1))
    return table(bytes(members))


def has_byte(text: str, members: bytes) -> bool:
    """Whether one of the UTF-8 bytes of a text is a member of a `table`."""
    return b"1" in utf8(text).translate(members)


def has_run(text: str, members: bytes, least: int) -> bool:
    """Whether a text has `least` or more characters of a `table` in a row."""
    return b"1" * least in plain(text).translate(members)


def runs(text: str, members: bytes, least: int) -> Iterator[tuple[int, int]]:
    """The spans of all runs of `least` or more characters of a `table`."""
    marked = plain(text).translate(members)
    needle = b"1" * least
    start = marked.find(needle)
    while start >= 0:
        end = marked.find(b"0", start + least)
        if end < 0:
            end = len(marked)
        yield start, end
        start = marked.find(needle, end)


def places(text: str, words: tuple[str, ...]) -> list[int]:
    """The sorted offsets at which a word of `words` begins in a text, in the same case; an offset comes once for each
    word that begins there."""
    starts: list[int] = []
    for word in words:
        offset = text.find(word)
        while offset >= 0:
            starts.append(offset)
            offset = text.find(word, offset + 1)
    starts.sort()
    return starts


def present(text: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of `words` that occur in a text, in the same case, the ASCII ones first; these are searched in bytes,
    which is faster."""
    ascii_bytes = plain(text)
    words_present = [word for word in words if word.isascii() and word.encode() in ascii_bytes]
    if not text.isascii():
        words_present += [word for word in words if not word.isascii() and word in text]
    return tuple(words_present)


_CLUSTER = re.compile(rb"10{0,3}10{0,3}10{0,3}1")  # four digits at most three characters apart, in `DIGIT`


def numbered(text: str, before: int, after: int) -> str:
    """The parts of a text around its numbers, joined by line ends, with `before` and `after` characters beside each. A
    number has four or more digits, with at most three other characters between two of them.

    A word that is not in the result stands near no number. Offsets are not those of `text`.
    """
    clusters = _CLUSTER.finditer(plain(text).translate(DIGIT))
    spans = merge_spans((max(0, match.start() - before), match.end() + after) for match in clusters)
    return "\n".join([text[first:last] for first, last in spans])


CJK = table(bytes(range(0xE3, 0xEE)))  # the first bytes of kana, Han and Hangul
DIGIT = class_of("0-9")
LOWER = class_of("a-z")
UNBROKEN = class_of("!-~")
