"""Other readings of a text: what its encoded stretches decode to, and its letters read as a puzzle would be.

A view is a decoded text with the place it came from. Nothing here judges. All work is bounded: at most
64 KB decoded in one stretch, 96 KB in one text, two levels deep; `CUT` says that a text-like stretch was
longer than that.
"""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from urllib.parse import unquote

from gitmem.detectors.lazy import lazy
from gitmem.detectors.words import KEY_WORDS, segment

LONGEST = 64 * 1024
_BUDGET = 96 * 1024
CUT = "cut short"
SPLIT = "split words"


@dataclass(frozen=True, slots=True)
class View:
    """`text` is what `raw[start:end]` says when read as `kind`; a kind of CUT carries no text."""

    kind: str
    start: int
    end: int
    text: str


_BASE64 = re.compile(r"(?<![\w+/=])[A-Za-z0-9+/_-]{16,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*={0,2}")
_BASE32 = re.compile(r"(?<![\w])[A-Z2-7]{24,}={0,6}")
_HEX = lazy(r"(?<![0-9A-Za-z])(?:0x)?(?:[0-9a-fA-F]{2}[ :,-]?(?:\\x|0x|%)?){10,}")
_ESCAPED = lazy(
    r"(?:\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{2,6}\}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})[ ]?){4,}"
)
_PERCENT = lazy(r"%[0-9A-Fa-f]{2}(?:[^\s\"'<>()%]{0,40}%[0-9A-Fa-f]{2}){2,8000}[^\s\"'<>()%]{0,40}")
_PRINTABLE = lazy(r"(?:=[0-9A-F]{2}[^\s=]{0,20}){4,}")
_ENTITY = lazy(r"(?:&(?:#\d{2,7}|#[xX][0-9a-fA-F]{2,6}|[a-zA-Z]{2,10});[^&\n]{0,20}){4,}")
_BINARY = lazy(r"(?<![01])(?:[01]{8}[ ,]?){5,}")
_DECIMAL = lazy(r"(?<![\d.])(?:\d{2,3}[ ,;]{1,2}){9,}\d{2,3}(?![\d.])")
_MORSE = lazy(r"(?<![.\-\w])(?:[.\-·–]{1,6}(?: ?/ ?| {1,3})){7,}[.\-·–]{1,6}")
_REGIONAL = lazy("(?:[\U0001f1e6-\U0001f1ff][\u200b\ufe0f ]?){6,}")
_MORSE_CODE = dict(
    zip(
        [
            ".-",
            "-...",
            "-.-.",
            "-..",
            ".",
            "..-.",
            "--.",
            "....",
            "..",
            ".---",
            "-.-",
            ".-..",
            "--",
            "-.",
            "---",
            ".--.",
            "--.-",
            ".-.",
            "...",
            "-",
            "..-",
            "...-",
            ".--",
            "-..-",
            "-.--",
            "--..",
        ],
        "abcdefghijklmnopqrstuvwxyz",
        strict=True,
    )
)


def _readable(data: bytes) -> str:
    """The bytes as text, or nothing where they are not text (an image, a key, random letters)."""
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if len(text) >= 6 and sum(char.isprintable() or char in "\n\t\r" for char in text) >= 0.95 * len(text):
            return text
    return ""


def _base64(run: str) -> str:
    letters = re.sub(r"[\s=]", "", run).translate(str.maketrans("-_", "+/"))
    if letters.isdigit() or (letters.islower() and letters.isalpha()) or (letters.isupper() and letters.isalpha()):
        return ""
    letters = letters[: LONGEST * 4 // 3 // 4 * 4]
    try:
        return _readable(base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True))
    except (binascii.Error, ValueError):
        return ""


def _base32(run: str) -> str:
    letters = run.rstrip("=")[: LONGEST // 5 * 8]
    try:
        return _readable(base64.b32decode(letters + "=" * (-len(letters) % 8)))
    except (binascii.Error, ValueError):
        return ""


def _hex(run: str) -> str:
    digits = re.sub(r"0x|\\x|[^0-9a-fA-F]", "", run[: 4 * LONGEST])
    return _readable(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _escaped(run: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = (
            int(match.group(1) or match.group(2) or match.group(3) or match.group(4), 16)
            if match.lastindex != 5
            else int(match.group(5), 8)
        )
        return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else " "

    pattern = r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{2,6})\}|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))"
    if re.match(r"\\x[89a-fA-F]", run):
        return _hex(run)
    return re.sub(pattern, one, run)


def _binary(run: str) -> str:
    bits = re.sub("[^01]", "", run)
    return _readable(bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits) - 7, 8)))


def _decimal(run: str) -> str:
    codes = [int(code) for code in re.findall(r"\d+", run)]
    return "".join(map(chr, codes)) if all(32 <= code < 127 for code in codes) else ""


def _morse(run: str) -> str:
    words = re.split(r" ?/ ?| {2,}", run.replace("·", ".").replace("–", "-"))
    return " ".join("".join(_MORSE_CODE.get(letter, "") for letter in word.split()) for word in words)


def _regional(run: str) -> str:
    letters = "".join(chr(ord(c) - 0x1F1E6 + 97) for c in run if 0x1F1E6 <= ord(c) <= 0x1F1FF)
    return segment(letters) or ""


_DECODERS: tuple[tuple[str, str, re.Pattern[str], Callable[[str], str]], ...] = (
    ("base64", "", _BASE64, _base64),
    ("base32", "", _BASE32, _base32),
    ("hexadecimal", "", _HEX, _hex),
    ("escapes", "\\", _ESCAPED, _escaped),
    ("percent encoding", "%", _PERCENT, unquote),
    ("quoted-printable", "=", _PRINTABLE, lambda run: unquote(run.replace("%", "%25").replace("=", "%"))),
    ("entities", "&", _ENTITY, html.unescape),
    ("binary digits", "0", _BINARY, _binary),
    ("character codes", "1", _DECIMAL, _decimal),
    ("Morse code", "-", _MORSE, _morse),
    ("regional letters", "\U0001f1e6", _REGIONAL, _regional),
)


_TAIL = lazy(r"[^\s\"'<>()%]{0,40}\Z")


# Stretches of the letters that numbers in any base, or dots and dashes, are written with: without one, none of them.
_DIGITS = lazy(r"[0-9a-fA-Fx%\\ ,;:]{20}")
_DASHES = lazy(r"[.\-·–/ ]{15}")
_HINTS = {"hexadecimal": _DIGITS, "binary digits": _DIGITS, "character codes": _DIGITS, "Morse code": _DASHES}


def decoded(raw: str) -> Iterator[View]:
    """The encoded stretches of a text, one level deep, those that decode to readable text."""
    budget = _BUDGET

    @cache
    def hinted(hint: re.Pattern[str]) -> bool:
        return hint.search(raw) is not None

    for kind, needs, pattern, decode in _DECODERS:
        if needs and (needs not in raw if needs.isascii() else max(raw, default="") < needs[0]):
            continue
        if kind in _HINTS and not hinted(_HINTS[kind]):
            continue
        for match in pattern.finditer(raw):
            start, end = match.span()
            if needs == "%":  # the letters before the first escape belong to it
                start -= len(_TAIL.search(raw, max(0, start - 40), start).group())  # type: ignore[union-attr]
            text = decode(raw[start:end])
            if not text or text == raw[start:end] or not any(char.isalpha() for char in text):
                continue
            if len(match.group()) > 4 * LONGEST or (kind == "base64" and len(match.group()) > LONGEST * 4 // 3 + 8):
                yield View(CUT, start, end, "")
            text = text[:LONGEST]
            yield View(kind, start, end, text)
            budget -= len(text)
            if budget <= 0:
                yield View(CUT, start, end, "")
                return


# --- letters as a puzzle -------------------------------------------------------------------------------

_LONG_KEYS = [word for word in KEY_WORDS if len(word) >= 5]


@cache
def _rotations() -> dict[str, int]:
    """Each longer key word moved on in the alphabet -> by how much. Built when a text is first read for it."""
    tables = {n: str.maketrans(_ALPHABET, _ALPHABET[n:] + _ALPHABET[:n]) for n in range(1, 26)}
    return {word.translate(table): n for n, table in tables.items() for word in _LONG_KEYS}


@cache
def _rotated() -> frozenset[str]:
    return frozenset(_rotations())


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_REVERSED = frozenset(word[::-1] for word in _LONG_KEYS) - frozenset(_LONG_KEYS)
_ATBASH_TABLE = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba")
_ATBASH = frozenset(word.translate(_ATBASH_TABLE) for word in _LONG_KEYS)
_REVERSED_CJK = lazy("시무|령명|시지|트프롬프|템스시|행실|제삭|略忽|令指|视无|視無|示指|除削|行実|行执|词示提")
_FLIPPED = {ord(k): v for k, v in zip("ɐqɔpǝɟƃɓɥᴉıɾʞlɯuodbɹsʇnʌʍxʎz", "abcdefgghiijklmnopqrstuvwxyz", strict=True)}
_FLIPPED_HINT = lazy("[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ]")
_WORD = lazy("[a-z]{5,24}")
_GLUED = lazy(r"[a-z]{20,200}")
_CHAINED = lazy(r"(?<![a-z])[a-z]{1,16}(?:[-_.+~|/:;,]{1,2}[a-z]{1,16}){3,40}")
_CELLS = lazy(r"(?:\|[^|\n]{1,18}){4}\|")  # cells of a word or two
# What may stand inside a word to split it: between any letters markup and emoji, between Latin ones also signs.
_INSIDE_HINT = lazy(
    "[^\\W\\d_](?=[*~\\\\<^|·`\U0001f300-\U0001faff\u2600-\u27bf])[^\\s\\w]{1,90}[^\\W\\d_]|[a-z]__[a-z]|[가-힣]\\.[가-힣]"
    "|[a-z]<[^<>\n]{1,60}>[a-z]|[a-z][\"'] ?\\+ ?[\"'][a-z]"
)
_INSIDE = lazy(
    r"(?<=[^\W\d_])(?:\*{1,3}|_{2}|~~|\\|<!--[^>\n]{0,80}-->|</?[a-zA-Z][^<>\n]{0,60}>|[\"'] ?\+ ?[\"']"
    r"|[\U0001f300-\U0001faff\u2600-\u27bf]|(?<=[가-힣])[.·^~](?=[가-힣])|(?<=[a-z])(?:[.^|·]|`|\{\}|\[\]|\(\))(?=[a-z]))"
    r"(?=[^\W\d_])"
)
_KEYBOARD_HINT = lazy("antlgk|audfud|wltl|tltmxpa|vmfhavmxm|qlalfqjsgh|rbclr|tkrwp|tlfgod|ghkrdls")
_KEYS = dict(
    zip(
        "rRseEfaqQtTdwWczxvgkoiOjpuPhynbml",
        "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎㅏㅐㅑㅒㅓㅔㅕㅖㅗㅛㅜㅠㅡㅣ",
        strict=True,
    )
)
_DIPHTHONGS = (
    ("ㅗㅏ", "ㅘ"),
    ("ㅗㅐ", "ㅙ"),
    ("ㅗㅣ", "ㅚ"),
    ("ㅜㅓ", "ㅝ"),
    ("ㅜㅔ", "ㅞ"),
    ("ㅜㅣ", "ㅟ"),
    ("ㅡㅣ", "ㅢ"),
)


def _keyboard(text: str) -> str:
    from gitmem.detectors.folding import compose_letters

    letters = "".join(_KEYS.get(c, _KEYS.get(c.lower(), c)) for c in text)
    for pair, one in _DIPHTHONGS:
        letters = letters.replace(pair, one)
    return re.sub("[ㄱ-ㅣ]+", lambda run: compose_letters(run.group()), letters)


def puzzles(folded: str) -> Iterator[View]:
    """Other readings of normalised text, line by line, offsets of `folded`; only where a sign of one shows."""
    for kind, sign, reading in _PUZZLES:
        done = 0
        for count, match in enumerate(sign(folded)):
            if match < done:
                continue
            start = folded.rfind("\n", 0, match) + 1
            end = folded.find("\n", match)
            end = done = len(folded) if end < 0 else end
            if end - start > _LONGEST_LINE:  # a part of a very long line
                start = max(start, match - 200)
                end = done = min(end, start + _LONGEST_LINE)
            line = folded[start:end]
            text = reading(line)
            if text and text != line:
                yield View(kind, start, end, text)
            if count > 2000:
                break
    yield from _acrostic(folded)


_LONGEST_LINE = 2 * 1024


def _acrostic(folded: str) -> Iterator[View]:
    if folded.count("\n") < 7:
        return
    letters = [m.group(1) for m in islice(_FIRST_LETTER.finditer(folded), 400)]
    if len(letters) >= 8:
        spelled = segment("".join(letter for letter in letters if letter.isascii()))
        if spelled:
            yield View("first letters of lines", 0, len(folded), spelled)


_FIRST_LETTER = lazy(r"^[ \t>*#0-9.)-]*([^\W\d_])", re.M)


def _by_words(known: Callable[[], frozenset[str]], least: int) -> Callable[[str], Iterator[int]]:
    """Offsets of the words of a text that are in a table, if at least so many are."""

    def signs(folded: str) -> Iterator[int]:
        shown = known() & _words(folded)
        if len(shown) >= least:
            yield from (m.start() for m in _WORD.finditer(folded) if m.group() in shown)

    return signs


@lru_cache(maxsize=4)
def _words(folded: str) -> frozenset[str]:
    return frozenset(_WORD.findall(folded))


def _by_pattern(pattern: re.Pattern[str]) -> Callable[[str], Iterator[int]]:
    return lambda folded: (match.start() for match in pattern.finditer(folded))


def _shifted(line: str) -> str:
    shifts = [_rotations()[word] for word in _WORD.findall(line) if word in _rotated()]
    if len(shifts) < 2 and (not shifts or len(line) > 60):
        return ""
    shift = max(set(shifts), key=shifts.count)
    return re.sub("[a-z]", lambda m: chr((ord(m.group()) - 97 - shift) % 26 + 97), line)


def _split(line: str) -> str:
    return _INSIDE.sub("", line)


_ROT13_HINT = re.compile(r"\b(?:gur|naq|lbhe?|guvf|jvgu|sebz|gung|rirel|jura|nyjnlf|arire|vafgehpgvbaf?|flfgrz)\b")


def _rot13(line: str) -> str:
    return codecs.encode(line, "rot13") if len(set(_ROT13_HINT.findall(line))) >= 2 else ""


_PUZZLES: tuple[tuple[str, Callable[[str], Iterator[int]], Callable[[str], str]], ...] = (
    ("letters shifted in the alphabet", _by_words(_rotated, 1), _shifted),
    ("rot13", _by_pattern(_ROT13_HINT), _rot13),
    ("reversed letters", _by_words(lambda: _REVERSED, 1), lambda line: line[::-1]),
    ("reversed words", _by_words(lambda: _REVERSED, 1), lambda line: " ".join(word[::-1] for word in line.split(" "))),
    (
        "reversed letters",
        _by_pattern(_REVERSED_CJK),
        lambda line: line[::-1] if len(_REVERSED_CJK.findall(line)) > 1 else "",
    ),
    ("mirrored alphabet", _by_words(lambda: _ATBASH, 2), lambda line: line.translate(_ATBASH_TABLE)),
    ("Korean typed on a Latin keyboard", _by_pattern(_KEYBOARD_HINT), _keyboard),
    ("letters upside down", _by_pattern(_FLIPPED_HINT), lambda line: line.translate(_FLIPPED)[::-1]),
    (SPLIT, _by_pattern(_INSIDE_HINT), _split),
    (
        "words without spaces",
        _by_pattern(_GLUED),
        lambda line: _GLUED.sub(lambda m: segment(m.group()) or m.group(), line),
    ),
    (
        "words joined by signs",
        _by_pattern(_CHAINED),
        lambda line: _CHAINED.sub(lambda m: re.sub(r"[^a-z]+", " ", m.group()), line),
    ),
    ("table cells", _by_pattern(_CELLS), lambda line: re.sub(r"\s{0,40}\|\s{0,40}", " ", line)),
)
