"""Decodes the encoded parts of a text: base64, hexadecimal, escapes and others. It judges nothing. `puzzles.py` reads
disguised letters.

A view is a decoded text with its place. At most 64 KB of one part and 96 KB of one text are decoded, one level deep. A
view of kind CUT stands for text beyond these limits.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_lowercase

from gitmem.gate.detectors.key_words import segment
from gitmem.gate.detectors.prefilter import class_of, runs, utf8
from gitmem.lazy_patterns import lazy

MAX_DECODED_CHARACTERS = 64 * 1024
_BUDGET = 96 * 1024  # decoded characters of a text
CUT = "cut short"


@dataclass(frozen=True, slots=True)
class View:
    """A decoded part of a text. `start`, `end`: its place in the raw text. `kind`: the name of the encoding. A view of
    kind CUT has the text ""; it marks a part that was not decoded to its end, because of a limit."""

    kind: str
    start: int
    end: int
    text: str


_BASE64 = lazy(r"(?<![A-Za-z0-9_+/=])[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}")
_BASE32 = lazy(r"(?<![A-Za-z0-9_])[A-Z2-7]{24,}={0,6}")
_HEX = lazy(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-fA-F]{2}[ :,-]?(?:\\x|0x|%)?){10,}")
_ESCAPED = lazy(
    r"(?:\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{2,6}\}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})[ ]?){4,}"
)
_PERCENT = lazy(r"%[0-9A-Fa-f]{2}(?:[^\s\"'<>()%]{0,40}%[0-9A-Fa-f]{2}){2,8000}[^\s\"'<>()%]{0,200}")
_PRINTABLE = lazy(r"(?:=[0-9A-F]{2}[^\s=]{0,20}){4,}")
_ENTITY = lazy(r"(?:&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6}|[a-zA-Z]{2,10});[^&\n]{0,20}){4,}")
_BINARY = lazy(r"(?<![01])(?:[01]{8}[ ,]?){5,}")
_DECIMAL = lazy(r"(?<![\d.])(?:\d{2,3}[ ,;]{1,2}){9,}\d{2,3}(?![\d.])")
_MORSE = lazy(r"(?<![.\-\w])(?:[.\-·–]{1,6}(?: ?/ ?| {1,3})){7,}[.\-·–]{1,6}")
_REGIONAL = lazy("(?:[\U0001f1e6-\U0001f1ff][\u200b\ufe0f ]?){6,}")
_MORSE_SIGNS = (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.."
)
_MORSE_CODE = dict(zip(_MORSE_SIGNS.split(), ascii_lowercase, strict=True))


def _readable(data: bytes) -> str:
    """The bytes as text; "" for fewer than six characters, and if they are not readable text (an image, a key, random
    letters)."""
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(text) >= 6 and sum(char.isprintable() or char in "\n\t\r" for char in text) >= 0.95 * len(text):
            return text
    return ""


def _base64(run: str) -> str:
    """A run of base64, plain or URL-safe, decoded; "" if it is malformed, unreadable, or only digits or letters of one
    case. Only the first MAX_DECODED_CHARACTERS are decoded."""
    letters = re.sub(r"[\s=]", "", run).translate(str.maketrans("-_", "+/"))
    if letters.isdigit() or (letters.islower() and letters.isalpha()) or (letters.isupper() and letters.isalpha()):
        return ""
    letters = letters[: MAX_DECODED_CHARACTERS * 4 // 3 // 4 * 4]
    try:
        return _readable(base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True))
    except ValueError:
        return ""


def _base32(run: str) -> str:
    """A run of base32 decoded; "" if it is malformed or unreadable. Only the first MAX_DECODED_CHARACTERS are
    decoded."""
    letters = run.rstrip("=")[: MAX_DECODED_CHARACTERS // 5 * 8]
    try:
        return _readable(base64.b32decode(letters + "=" * (-len(letters) % 8)))
    except ValueError:
        return ""


def _hex(run: str) -> str:
    """A run of hexadecimal digits decoded, whatever separates them; "" if it is unreadable. An odd last digit is
    dropped."""
    digits = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", run[: 4 * MAX_DECODED_CHARACTERS])
    return _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _escaped(run: str) -> str:
    """A run with its backslash escapes decoded; a code that is no character becomes a space. A run that begins with the
    escape of a byte over 0x7f is decoded as bytes, and gives "" if they are unreadable."""

    def one(match: re.Match[str]) -> str:
        base = 8 if match.group(5) else 16
        code = int(match[match.lastindex or 0], base)
        if code < 0x110000 and not 0xD800 <= code < 0xE000:
            return chr(code)
        return " "

    pattern = r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{2,6})\}|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
    if re.match(r"\\x[89a-fA-F]", run):
        return _hex(run)
    return re.sub(pattern, one, run)


def unquoted(run: str) -> str:
    """A text with its percent escapes decoded."""
    from urllib.parse import unquote  # not at the top: most texts have no escapes, and a hook waits for every import

    return unquote(run)


def _entities(run: str) -> str:
    from html import unescape

    return unescape(run)


def _binary(run: str) -> str:
    """A run of bits decoded eight at a time, whatever separates them; "" if it is unreadable. Bits left over are
    dropped."""
    bits = re.sub("[^01]", "", run)
    return _readable(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8)))


def _decimal(run: str) -> str:
    """The characters of decimal codes; "" if one of the codes is not printable ASCII."""
    codes = [int(code) for code in re.findall(r"\d+", run)]
    if not all(32 <= code < 127 for code in codes):
        return ""
    return "".join(map(chr, codes))


def _morse(run: str) -> str:
    """A run of Morse code as letters, its words separated by spaces; an unknown letter is left out."""
    words = re.split(r" ?/ ?| {2,}", run.replace("·", ".").replace("–", "-"))
    return " ".join("".join(_MORSE_CODE.get(letter, "") for letter in word.split()) for word in words)


def _regional(run: str) -> str:
    """Regional indicator letters as words; "" if they do not divide into words."""
    letters = "".join(chr(ord(c) - 0x1F1E6 + 97) for c in run if 0x1F1E6 <= ord(c) <= 0x1F1FF)
    return segment(letters) or ""


_DECODERS: tuple[tuple[str, str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("base64", "", _BASE64, _base64),
    ("base32", "", _BASE32, _base32),
    ("hexadecimal", "", _HEX, _hex),
    ("escapes", "\\", _ESCAPED, _escaped),
    ("percent encoding", "%", _PERCENT, unquoted),
    ("quoted-printable", "=", _PRINTABLE, lambda run: unquoted(run.replace("%", "%25").replace("=", "%"))),
    ("entities", "&", _ENTITY, _entities),
    ("binary digits", "0", _BINARY, _binary),
    ("character codes", "1", _DECIMAL, _decimal),
    ("Morse code", "-", _MORSE, _morse),
    ("regional letters", "\U0001f1e6", _REGIONAL, _regional),
)


_TAIL = lazy(r"[^\s\"'<>()%]{0,40}\Z")


# Kind -> (the characters of the encoding, minimum length of a run of them); `?` is any character that is not ASCII.
_HINTS = {
    "base64": (class_of("A-Z", "a-z", "0-9", *"+/_-"), 16),
    "base32": (class_of("A-Z", "2-7"), 24),
    "hexadecimal": (class_of("0-9", "a-f", "A-F", *"x%\\ ,:-"), 20),
    "binary digits": (class_of(*"01 ,"), 40),
    "character codes": (class_of("0-9", *" ,;"), 29),
    "Morse code": (class_of(*".-?/ "), 15),
}


def decoded(raw: str, *, exhaustive: bool = False) -> Iterator[View]:
    """The parts of a text that decode to readable text, one level deep. They come by encoding, then in the order of the
    text, and may overlap.

    A part that is too long to be decoded whole has a view of kind CUT too. After 96 KB of decoded text a view of kind
    CUT is the last one; with `exhaustive` each further part gives one.
    """
    budget = _BUDGET
    for kind, needs, pattern, decode in _DECODERS:
        may_match = needs in raw
        if not needs.isascii():  # regional indicators: their first bytes are enough
            may_match = b"\xf0\x9f\x87" in utf8(raw)
        if not may_match:
            continue
        for match in _stretches(kind, pattern, raw):
            start, end = match.span()
            if needs == "%":  # the letters before the first escape belong to the word
                start -= len(_TAIL.search(raw, max(0, start - 40), start).group())  # type: ignore[union-attr]
            text = decode(raw[start:end])
            if not text or text == raw[start:end] or not any(char.isalpha() for char in text):
                continue
            if len(match.group()) > 4 * MAX_DECODED_CHARACTERS or (
                kind == "base64" and len(match.group()) > MAX_DECODED_CHARACTERS * 4 // 3 + 8
            ):
                yield View(CUT, start, end, "")
            text = text[:MAX_DECODED_CHARACTERS]
            if budget > 0:
                yield View(kind, start, end, text)
                budget -= len(text)
            if budget <= 0:
                yield View(CUT, start, end, "")
                if not exhaustive:
                    return


def _stretches(kind: str, pattern: re.Pattern[str], raw: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern, searched only in runs of the characters in `_HINTS`, where the kind has any."""
    hint = _HINTS.get(kind)
    if hint is None:
        yield from pattern.finditer(raw)
        return
    searched_end = 0
    for first, last in runs(raw, *hint):
        start = max(first, searched_end)
        while start < last:
            match = pattern.search(raw, start, last + 8)
            if match is not None and kind == "base64":  # may continue over the next lines, beyond `last`
                match = pattern.match(raw, match.start())
            if match is None:
                break
            yield match
            start = searched_end = max(match.end(), start + 1)
