"""Reads disguised letters: shifted, reversed, split, joined, upside down, or typed on another keyboard.

It judges nothing. Each line is read as a puzzle only if it has a sign of that kind of puzzle.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache, lru_cache
from itertools import islice

from gitmem.gate.detectors.injection.decoding import View
from gitmem.gate.detectors.key_words import KEY_WORDS, segment
from gitmem.gate.detectors.prefilter import CJK, LOWER, has_byte, has_run, table
from gitmem.lazy_patterns import lazy

SPLIT = "split words"
ACROSTIC = "first letters of lines"
JOINED, GLUED, CELLS = "words joined by signs", "words without spaces", "table cells"
READABLE = frozenset({JOINED, CELLS})  # kinds whose words a person can read as they are

_LONG_KEYS = [word for word in KEY_WORDS if len(word) >= 5]


@cache
def _rotations() -> dict[str, int]:
    """Each longer key word shifted in the alphabet -> the shift (1 to 25). Built at the first use."""
    tables = {n: str.maketrans(_ALPHABET, _ALPHABET[n:] + _ALPHABET[:n]) for n in range(1, 26)}
    return {word.translate(table): n for n, table in tables.items() for word in _LONG_KEYS}


_ALPHABET = "abcdefghijklmnopqrstuvwxyz"
_REVERSED = frozenset(word[::-1] for word in _LONG_KEYS) - frozenset(_LONG_KEYS)
_ATBASH_TABLE = str.maketrans("abcdefghijklmnopqrstuvwxyz", "zyxwvutsrqponmlkjihgfedcba")
_ATBASH = frozenset(word.translate(_ATBASH_TABLE) for word in _LONG_KEYS)
_REVERSED_CJK = lazy("시무|령명|시지|트프롬프|템스시|행실|제삭|略忽|令指|视无|視無|示指|除削|行実|行执|词示提")
_FLIPPED = {ord(k): v for k, v in zip("ɐqɔpǝɟƃɓɥᴉıɾʞlɯuodbɹsʇnʌʍxʎz", "abcdefgghiijklmnopqrstuvwxyz", strict=True)}
_FLIPPED_BYTES = table(b"\xc6\xc7\xc9\xca\xe1")  # first bytes of the characters in `_FLIPPED_HINT`
_FLIPPED_HINT = lazy("[ɐɔǝɟƃɥᴉɾʞɯɹʇʌʍʎ]")
_WORD = lazy("[a-z]{5,24}")
_ANY_WORD = lazy("[a-z]{3,24}")
_GLUED = lazy(r"[a-z]{20,200}")
_CHAIN = r"(?<![a-z])[a-z]{1,16}(?:[-_.+~|/:;,]{1,2}[a-z]{1,16}){3,40}"
_CHAINED = lazy(_CHAIN)
_CHAINED_HINT = lazy(r"[-_.+~|/:;,](?<=[a-z].)[-_.+~|/:;,]?(?:[a-z]{1,16}[-_.+~|/:;,]{1,2}){2}[a-z]")
_CELLS = lazy(r"(?:\|[^|\n]{1,18}){4}\|")  # cells of a word or two
# Characters that split a word: between any letters markup and emoji, between Latin letters also signs.
# The hint begins with the sign and looks back, because signs are rarer than letters.
_INSIDE_HINT = lazy(
    "[*~\\\\<^|·`_.\"'\U0001f300-\U0001faff\u2600-\u27bf](?:(?<=[^\\W\\d_][*~\\\\<^|·`\U0001f300-\U0001faff\u2600-\u27bf])"
    "[^\\s\\w]{0,89}[^\\W\\d_]|(?<=[a-z]_)_[a-z]|(?<=[가-힣]\\.)[가-힣]|(?<=[a-z]<)[^<>\n]{1,60}>[a-z]|(?<=[a-z][\"'])"
    " ?\\+ ?[\"'][a-z])"
)
_INSIDE = lazy(
    r"(?<=[^\W\d_])(?:\*{1,3}|_{2}|~~|\\|<!--[^>\n]{0,80}-->|</?[a-zA-Z][^<>\n]{0,60}>|[\"'] ?\+ ?[\"']"
    r"|[\U0001f300-\U0001faff\u2600-\u27bf]|(?<=[가-힣])[.·^~](?=[가-힣])|(?<=[a-z])(?:[.^|·]|`|\{\}|\[\]|\(\))(?=[a-z]))"
    r"(?=[^\W\d_])"
)
_TYPED = ("antlgk", "audfud", "wltl", "tltmxpa", "vmfhavmxm", "qlalfqjsgh", "rbclr", "tkrwp", "tlfgod", "ghkrdls")
_KEYBOARD_HINT = lazy("|".join(_TYPED))
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
    """Text typed on the wrong keyboard, as Korean: each Latin letter becomes the jamo of its key, and jamo become
    syllables."""
    from gitmem.gate.detectors.folding import compose_letters

    letters = "".join(_KEYS.get(c, _KEYS.get(c.lower(), c)) for c in text)
    for pair, diphthong in _DIPHTHONGS:
        letters = letters.replace(pair, diphthong)
    return re.sub("[ㄱ-ㅣ]+", lambda run: compose_letters(run.group()), letters)


def puzzles(folded: str, *, exhaustive: bool = False) -> Iterator[View]:
    """The texts that lines of folded text give when their letters are read otherwise (shifted, reversed, joined), as
    views with offsets in `folded`; the first letters of lines are one view of kind ACROSTIC over the whole text.

    Each of the first MAX_SEPARATE_READINGS texts of a kind is a view of its own, with `exhaustive` each of all. The
    others share views of several lines, because judging a view takes longer than reading it.
    """
    for kind, sign, reading in _PUZZLES:
        readings = _readings(folded, sign, reading)
        for start, end, text in islice(readings, None if exhaustive else MAX_SEPARATE_READINGS):
            yield View(kind, start, end, text)
        yield from _shared_views(kind, readings)
    yield from _acrostic(folded)


MAX_SEPARATE_READINGS = 2000  # readings of a kind with a view each; a long text by people has fewer


def _readings(
    folded: str, sign: Callable[[str], Iterator[int]], reading: Callable[[str], str]
) -> Iterator[tuple[int, int, str]]:
    """(start, end, reading) of each line with a sign whose reading differs from the line. A very long line is read in
    parts around the signs."""
    read_end = 0
    for offset in sign(folded):
        if offset < read_end:
            continue
        start = folded.rfind("\n", 0, offset) + 1
        end = folded.find("\n", offset)
        if end < 0:
            end = len(folded)
        read_end = end
        if end - start > _LONGEST_LINE:  # a part of a very long line
            start = max(start, offset - 200)
            end = read_end = min(end, start + _LONGEST_LINE)
        line = folded[start:end]
        text = reading(line)
        if text and text != line:
            yield start, end, text


def _shared_views(kind: str, readings: Iterator[tuple[int, int, str]]) -> Iterator[View]:
    """Views that each join consecutive readings, a line each, over at most about _LONGEST_LINE characters of the
    text."""
    first, last = 0, 0
    texts: list[str] = []
    for start, end, text in readings:
        if texts and end - first > _LONGEST_LINE:
            yield View(kind, first, last, "\n".join(texts))
            texts = []
        if not texts:
            first = start
        last = end
        texts.append(text)
    if texts:
        yield View(kind, first, last, "\n".join(texts))


_LONGEST_LINE = 2 * 1024


def _acrostic(folded: str) -> Iterator[View]:
    """The words that the first letters of the lines spell, as one view of the whole text; nothing for fewer than eight
    lines or if they spell no words."""
    if folded.count("\n") < 7:
        return
    places = first_letters(folded)
    if len(places) >= 8:
        spelled = segment("".join(folded[offset] for offset in places if folded[offset].isascii()))
        if spelled:
            yield View(ACROSTIC, 0, len(folded), spelled)


def first_letters(folded: str) -> list[int]:
    """Offsets of the first letter of each line after its list markers, at most 400. A line that begins with anything
    but a letter is left out."""
    places: list[int] = []
    line_start = 0
    for line in folded.split("\n"):
        first = line_start + len(line) - len(line.lstrip(_BULLETS))
        if folded[first : first + 1].isalpha() and first < line_start + len(line):
            places.append(first)
        line_start += len(line) + 1
    return places[:400]


_BULLETS = " \t>*#0123456789.)-"


def _by_words(known_words: Callable[[], Collection[str]], least: int) -> Callable[[str], Iterator[int]]:
    """A function that yields the offsets of a text's words in the table `known_words`, if at least `least` different ones are
    there."""

    def signs(folded: str) -> Iterator[int]:
        shown = _strange(folded)
        if shown:
            shown = shown.intersection(known_words())
        if len(shown) >= least:
            yield from (m.start() for m in _WORD.finditer(folded) if m.group() in shown)

    return signs


@lru_cache(maxsize=4)
def _strange(folded: str) -> frozenset[str]:
    """The words of a text that are a disguised form of a key word; longer words are read in pieces of 24 letters."""
    return _disguises().intersection(_ANY_WORD.findall(folded))


@cache
def _disguises() -> frozenset[str]:
    return frozenset(_rotations()) | _REVERSED | _ATBASH | _ROT13_WORDS


def _by_pattern(pattern: re.Pattern[str], may: Callable[[str], bool] = bool) -> Callable[[str], Iterator[int]]:
    """A function that yields the offsets of a pattern in a text. `may`: a faster test that is false for a text without
    a match."""
    return lambda folded: (match.start() for match in pattern.finditer(folded)) if may(folded) else iter(())


def _shifted(line: str) -> str:
    """A line with its letters shifted back by the commonest shift of its key words; "" if it has none, or only one in
    more than 60 characters."""
    shifts = [_rotations()[word] for word in _WORD.findall(line) if word in _rotations()]
    if len(shifts) < 2 and (not shifts or len(line) > 60):
        return ""
    shift = max(set(shifts), key=shifts.count)
    return re.sub("[a-z]", lambda m: chr((ord(m.group()) - 97 - shift) % 26 + 97), line)


def _split_joined_words(line: str) -> str:
    """A line with its joined words separated; then the words of each address, as paragraphs of their own because they
    are no part of the sentence."""
    addresses: list[str] = []

    def apart(match: re.Match[str]) -> str:
        if match.group(1):
            addresses.append(match.group(1))
            return match.group()
        return _SIGNS.sub(" ", match.group())

    parts = [_CHAINED_OR_ADDRESS.sub(apart, line)]
    if parts[0] == line:  # only words of addresses are joined
        parts.clear()
    for address in addresses:
        words = _CHAINED.findall(address)
        if words:
            parts.append(" ".join([_SIGNS.sub(" ", chain) for chain in words]))
    return "\n\n".join(parts)


def joined_words(kind: str, line: str) -> str:
    """Only the words of a line that a reading of this kind (JOINED or GLUED) separates, with spaces between."""
    if kind == GLUED:
        return " ".join([segment(run) or "" for run in _GLUED.findall(line)])
    return " ".join([_SIGNS.sub(" ", chain) for chain in _CHAINED.findall(line)])


_SIGNS = lazy("[^a-z]+")
_CHAINED_OR_ADDRESS = lazy(r"(?<![a-z])(?:[a-z][a-z+]{1,10}://|www\.)([^\s<>\"')\]]+)|" + _CHAIN)


_ROT13_WORDS = frozenset(
    [
        "gur", "naq", "lbh", "lbhe", "guvf", "jvgu", "sebz", "gung", "rirel", "jura", "nyjnlf", "arire",
        "vafgehpgvba", "vafgehpgvbaf", "flfgrz",
    ]
)  # fmt: skip
_ROT13_HINT = lazy(rf"\b(?:{'|'.join(sorted(_ROT13_WORDS))})\b")


def _rot13(line: str) -> str:
    """The line in rot13; "" if it has fewer than two different hints."""
    if len(set(_ROT13_HINT.findall(line))) >= 2:
        return codecs.encode(line, "rot13")
    return ""


_PUZZLES: tuple[tuple[str, Callable[[str], Iterator[int]], Callable[[str], str]], ...] = (
    ("letters shifted in the alphabet", _by_words(_rotations, 1), _shifted),
    ("rot13", _by_pattern(_ROT13_HINT, lambda folded: not _strange(folded).isdisjoint(_ROT13_WORDS)), _rot13),
    ("reversed letters", _by_words(lambda: _REVERSED, 1), lambda line: line[::-1]),
    ("reversed words", _by_words(lambda: _REVERSED, 1), lambda line: " ".join(word[::-1] for word in line.split(" "))),
    (
        "reversed letters",
        _by_pattern(_REVERSED_CJK, lambda folded: has_byte(folded, CJK)),
        lambda line: line[::-1] if len(_REVERSED_CJK.findall(line)) > 1 else "",
    ),
    ("mirrored alphabet", _by_words(lambda: _ATBASH, 2), lambda line: line.translate(_ATBASH_TABLE)),
    (
        "Korean typed on a Latin keyboard",
        _by_pattern(_KEYBOARD_HINT, lambda folded: any([piece in folded for piece in _TYPED])),
        _keyboard,
    ),
    (
        "letters upside down",
        _by_pattern(_FLIPPED_HINT, lambda folded: has_byte(folded, _FLIPPED_BYTES)),
        lambda line: line.translate(_FLIPPED)[::-1],
    ),
    (SPLIT, _by_pattern(_INSIDE_HINT), lambda line: _INSIDE.sub("", line)),
    (
        GLUED,
        _by_pattern(_GLUED, lambda folded: has_run(folded, LOWER, 20)),
        lambda line: _GLUED.sub(lambda m: segment(m.group()) or m.group(), line),
    ),
    (JOINED, _by_pattern(_CHAINED_HINT), _split_joined_words),
    (
        CELLS,
        _by_pattern(_CELLS, lambda folded: folded.count("|") > 4),
        lambda line: re.sub(r"\s{0,40}\|\s{0,40}", " ", line),
    ),
)
