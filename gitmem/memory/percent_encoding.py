"""Percent-encode the values that comments of facts and trailers of commits hold (docs/format.md). Pure.

Only characters that would end a value or its comment are encoded, so that a person can read the rest in any language.
A text may hold bytes that are not UTF-8 in the form that `os.fsdecode` gives them; such a byte is encoded as itself.
"""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

_UNSAFE = lazy(
    r"""
    [%\s\x00-\x1F\x7F]   # `%` begins an encoded byte; white space ends a value
    | [\uD800-\uDFFF]    # a byte that is not UTF-8, or half of a UTF-16 pair
    | (?<=-) [->]        # `-->` would end the comment, and HTML 4 allowed no `--` in one
    """,
    re.VERBOSE,
)
_ENCODED_BYTE = lazy(rb"%([0-9A-Fa-f]{2})")
# Surrogates other than U+DC80 to U+DCFF, in which `os.fsdecode` keeps bytes. JSON can spell one, UTF-8 cannot.
_NOT_IN_UTF8 = lazy(r"[\uD800-\uDC7F\uDD00-\uDFFF]")


def encode(value: str, also: str = "") -> str:
    """Percent-encode the UTF-8 bytes of `%`, white space, control characters and the punctuation marks of `also`.

    A `-` or `>` that follows a `-` is encoded too, so that no value can end the comment.
    """
    encoded = _UNSAFE.sub(_encoded_character, value)
    for mark in also:
        encoded = encoded.replace(mark, f"%{ord(mark):02X}")
    return encoded


def decode(value: str) -> str:
    """Undo `encode`. A `%` without two hex digits after it stays as it is."""
    if "%" not in value:
        return value
    # Several encoded bytes may be one character, so they become bytes first and characters together.
    return _ENCODED_BYTE.sub(_decoded_byte, utf8(value)).decode("utf-8", "surrogateescape")


def utf8(text: str) -> bytes:
    """A text as UTF-8, with the bytes that `os.fsdecode` kept as they were. Any other lone surrogate becomes U+FFFD."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return _NOT_IN_UTF8.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8", "surrogateescape")


def _encoded_character(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in utf8(match[0]))


def _decoded_byte(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode("ascii"))
