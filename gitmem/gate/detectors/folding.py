"""Normalises a text: disguised characters become plain ones, with a map back to the raw offsets.

Three kinds of step, cheapest first: a table for characters that map one to one (fullwidth, mathematical alphabets,
accents, typographic quotation marks), words in which scripts are mixed (Cyrillic and Greek letters that look like
Latin ones), and the steps that change the length (zero-width characters, conjoining Hangul, letters with blanks
between them), which alone need an offset map. Nothing here decides whether a text is good or bad.
"""

from __future__ import annotations

import re
import string
import unicodedata
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial

from gitmem.gate.detectors.key_words import segment
from gitmem.gate.detectors.prefilter import kinds_table, plain
from gitmem.lazy_patterns import lazy

# Characters that stand for themselves: most notes have no other, and cost one scan of this class.
_ODD = lazy("[^\t\n -~가-힣ぁ-ゖァ-ヺー一-鿿、-〃〈-】〔-〕、。–—…•·→←↔⇒✓✔✅❌×±°§≥≤≠’‘“”🌀-🩿]")
_ZERO_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_CSI = "\x1b\\[[0-9;:?]{0,32}[@-~]|\x1b[@-Z\\\\^_]"
_DROP = lazy(f"(?:{_CSI})|[{_ZERO_WIDTH}\u0300-\u036f\u0489\u1ab0-\u1aff\u20d0-\u20ff]+")
_JAMO = lazy("[\u1100-\u11ff\u3131-\u3163\ua960-\ua97c\ud7b0-\ud7fb]{2,4096}")
# A kana and the voicing mark behind it, as macOS writes the names of files.
_VOICED = lazy("[ぁ-ゖァ-ヺ][\u3099\u309a]")
_MIXED = lazy(
    "[A-Za-z]{0,64}[ɑɡɩɾʐꜱ\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u2c80-\u2cff]"
    "[A-Za-zɑɡɩɾʐꜱ\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u2c80-\u2cff]{0,64}"
)
_SCRIPTS_MEET = lazy("[A-Za-z][\u0370-\u052f\u0531-\u0587]|[\u0370-\u052f\u0531-\u0587][A-Za-z]")
_FOREIGN = lazy("[ɑɡɩɾʐꜱ\u0370-\u03ff\u0400-\u052f\u0531-\u0587\u13a0-\u13ff\u2c80-\u2cff]")
_SPACED_HINT = lazy("[\\s\"'(\\[>*_`:][^\\W\\d_](?:[ \t._*|/,+~·-]{1,3}[^\\W\\d_](?![^\\W\\d_])){3}")
_SPACED = lazy("(?<![^\\s\"'(\\[>*_`:])[^\\W\\d_](?:[ \t._*|/,+~·-]{1,3}[^\\W\\d_](?![^\\W\\d_])){3,400}")
_LATIN_LETTER = lazy("[A-Za-z]")
_MULTI = lazy("[\u2474-\u24b5\u3200-\u33ff\ufb00-\ufb06\u01c4-\u01cc\u01f1-\u01f3\u2025\u203c\u2047-\u2049]")

# Letters of other scripts that look like a Latin one. From the confusables of UTS 39, lower and upper case
# that matter in running text; the rest is covered by NFKC.
_LOOKALIKE = {
    char: latin
    for latin, chars in {
        "a": "аɑα", "b": "ьҍ", "c": "сϲ", "d": "ԁժ", "e": "еёєҽ", "f": "ẝ", "g": "ԍցɡ", "h": "һհ", "i": "іїιɩ",
        "j": "јϳ", "k": "κк", "l": "ӏا", "m": "м", "n": "ոηп", "o": "оοσօ", "p": "рρ", "q": "ԛզ", "r": "гɾ",
        "s": "ѕꜱ", "t": "тτ", "u": "υսμ", "v": "νѵ", "w": "ԝωѡш", "x": "хχ", "y": "уγүყ", "z": "ᴢʐ",
        "A": "АΑ", "B": "ВΒ", "C": "СϹ", "D": "Ꭰ", "E": "ЕΕЁ", "G": "Ԍ", "H": "НΗ", "I": "ІΙӀ", "J": "ЈͿ",
        "K": "КΚ", "M": "МΜ", "N": "Ν", "O": "ОΟ", "P": "РΡ", "S": "ЅՏ", "T": "ТΤ", "X": "ХΧ", "Y": "УΥҮ",
        "Z": "Ζ", "Q": "Ԛ", "W": "Ԝ",
    }.items()
    for char in chars
}  # fmt: skip
_SMALL_CAPS = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True))
_PLAIN_PUNCTUATION = dict(zip("‘’‛“”„′‐‑", "'''\"\"\"'--", strict=True))
_LETTERS = {"ß": "s", "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "e"}


@cache
def _one_to_one() -> dict[int, int | str]:
    """The table for `str.translate`; every entry is one character."""
    table: dict[int, int | str] = {}
    blocks = (
        (0x00A0, 0x0250), (0x02B0, 0x02B9), (0x1D00, 0x1DC0), (0x1E00, 0x1F00), (0x2000, 0x200B),
        (0x202F, 0x2030), (0x2070, 0x209D), (0x2100, 0x2150), (0x2160, 0x2180), (0x2460, 0x2474),
        (0x24B6, 0x24EB), (0x3000, 0x3001), (0xFE30, 0xFE6C), (0xFF01, 0xFFA0), (0x1D400, 0x1D800),
        (0x1F130, 0x1F14A),
    )  # fmt: skip
    for first, last in blocks:
        for code in range(first, last):
            char = chr(code)
            decomposed = unicodedata.normalize("NFKD", char)
            if (
                len(decomposed) > 1
                and decomposed[0].isascii()
                and all(unicodedata.combining(c) for c in decomposed[1:])
            ):
                decomposed = decomposed[0]
            if len(decomposed) == 1 and decomposed != char and unicodedata.category(decomposed) != "Mn":
                table[code] = decomposed
    for first in (0x1F150, 0x1F170):  # negative circled and squared capitals have no decomposition
        table.update({first + i: chr(65 + i) for i in range(26)})
    for source in (_SMALL_CAPS, _PLAIN_PUNCTUATION, _LETTERS):
        table.update({ord(k): v for k, v in source.items()})
    # a lone CR is a line end to a reader, any other control character a gap between words
    controls = (*range(0, 9), 11, 12, *range(14, 27), *range(28, 32), *range(127, 160))
    table.update({code: " " for code in controls})
    table[0x85] = table[0x2028] = table[0x2029] = "\n"
    return table


class OffsetMap:
    """A map from offsets of a rewritten text to the text before: pieces (start in the rewritten text, start and end
    before, copied?) in order. A copied piece has the same characters in both."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._pieces: list[tuple[int, int, bool]] = []

    def add(self, start: int, before: int, before_end: int, *, copied: bool) -> None:
        """Append a piece: its start in the rewritten text, its start and end in the text before, whether it was copied.
        The pieces have to come in the order of their offsets."""
        self._starts.append(start)
        self._pieces.append((before, before_end, copied))

    def _at(self, offset: int) -> tuple[int, int]:
        """The half-open range before of a character of the rewritten text: one character in a copied piece, otherwise
        the whole piece. An offset behind a copied piece counts as the end of the piece."""
        if not self._starts:
            return offset, offset + 1
        index = max(0, bisect_right(self._starts, offset) - 1)
        before, before_end, copied = self._pieces[index]
        if copied:
            before = min(before + offset - self._starts[index], before_end)
            before_end = before + 1
        return before, before_end

    def to_raw(self, start: int, end: int) -> tuple[int, int]:
        """The half-open range of the text before that a half-open range of the rewritten text comes from.

        A piece that was not copied counts as a whole. An empty range gives an empty one; a map without pieces gives the
        same range back.
        """
        first, _ = self._at(start)
        _, last = self._at(max(start, end - 1))
        if end <= start:
            return first, first
        return first, max(last, first + 1)


@dataclass(frozen=True)
class Rewriting:
    """One step of a normalisation: each match of `pattern` in `text` was replaced by the result of `write`."""

    text: str
    pattern: re.Pattern[str]
    write: Callable[[re.Match[str]], str]

    @cached_property
    def offsets(self) -> OffsetMap:
        """The map back to `text`, made when the first offset is asked for."""
        offsets = OffsetMap()
        copied_end = length = 0
        for match in self.pattern.finditer(self.text):
            written = self.write(match)
            if written == match.group():
                continue
            first, last = match.span()
            if first > copied_end:
                offsets.add(length, copied_end, first, copied=True)
                length += first - copied_end
            if written:
                offsets.add(length, first, last, copied=False)
                length += len(written)
            copied_end = last
        offsets.add(length, copied_end, len(self.text), copied=True)
        return offsets


def normalise(raw: str) -> tuple[str, list[Rewriting]]:
    """(normalised text, the steps that moved characters, in order). No step when offsets of the text are those of `raw`.

    Linear in the length of the text; plain text costs one scan.
    """
    text = raw
    rewritings: list[Rewriting] = []

    def rewrite(pattern: re.Pattern[str], write: Callable[[re.Match[str]], str]) -> None:
        nonlocal text
        rewritten = pattern.sub(write, text)
        if rewritten != text:
            rewritings.append(Rewriting(text, pattern, write))
            text = rewritten

    is_plain_ascii = text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
    if not is_plain_ascii and _ODD.search(text):
        if text.isascii():
            text = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]", " ", text)
        else:
            text = text.translate(_one_to_one())
        if "\r" in text:
            text = re.sub("\r(?!\n)", "\n", text)
        for pattern, write in _STEPS:
            rewrite(pattern, write)
        if _FOREIGN.search(text):
            shortest = _SHORTEST_DISGUISE
            if _SCRIPTS_MEET.search(text):
                shortest = 1
            text = _MIXED.sub(partial(_unmask, shortest=shortest), text)
    elif "’" in text or "“" in text or "‘" in text:
        text = text.translate(_QUOTES)
    if _may_be_spaced(text) and _SPACED_HINT.search("\n" + text):
        rewrite(_SPACED, _join_letters)
    return text, rewritings


_SHORTEST_DISGUISE = 5  # letters of a word of look-alike letters, in a text without a word that mixes scripts
# `a`: a letter (`plain` writes a character outside ASCII as `?`); a space: a separator of spaced letters; `0`: the rest.
_APART = kinds_table({b"a": string.ascii_letters.encode() + b"?", b" ": b" \t._*|/,+~-"}, b"0")


def _may_be_spaced(text: str) -> bool:
    """A fast test: whether two letters in a row stand alone, or the text has `·`. True for every text with a word that
    has blanks between its letters, and for some others."""
    if "·" in text:
        return True
    marks = plain(text).translate(_APART)
    return b" a a " in marks or b" a  a " in marks or b" a   a " in marks


_QUOTES = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"'})


def _unmask(match: re.Match[str], shortest: int) -> str:
    """A word of mixed scripts, or of at least `shortest` look-alike letters, as the Latin word that it imitates. A word
    with a letter that imitates no Latin one stays."""
    word = match.group()
    if word.isascii():
        return word
    folded = "".join(_LOOKALIKE.get(c, c) for c in word)
    if folded.isascii() and (_LATIN_LETTER.search(word) or len(word) >= shortest):
        return folded
    return word


_INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"


def _recompose(match: re.Match[str]) -> str:
    """Hangul letters written one by one, as syllables; laughter and crying (`ㅋㅋㅋ`, `ㅠㅠ`) stay."""
    run = match.group()
    composed = unicodedata.normalize("NFC", run)
    if "\u3131" <= run[0] <= "\u3163" or any("\u3131" <= c <= "\u3163" for c in run):
        if not any(c in _VOWELS for c in run) or len(run) < 3:
            return run
        composed = compose_letters(run)
    return composed


def compose_letters(run: str) -> str:
    """Compatibility letters (`ㅁㅜㅅㅣ`) as syllables (`무시`), greedily; a character that begins no syllable stays."""
    letters: list[str] = []
    index = 0
    while index < len(run):
        letter = run[index]
        if letter in _INITIALS and index + 1 < len(run) and run[index + 1] in _VOWELS:
            final = 0
            step = 2
            begins_next = index + 3 < len(run) and run[index + 3] in _VOWELS
            if index + 2 < len(run) and run[index + 2] in _FINALS and not begins_next:
                final = _FINALS.index(run[index + 2])
                step = 3
            code = 0xAC00 + (_INITIALS.index(letter) * 21 + _VOWELS.index(run[index + 1])) * 28 + final
            letters.append(chr(code))
            index += step
        else:
            letters.append(letter)
            index += 1
    return "".join(letters)


def _join_letters(match: re.Match[str]) -> str:
    """`i g n o r e a l l` -> `ignore all`; Hangul, Kana and Han letters with blanks between them are joined. A short
    run, and one that does not divide into words, stays."""
    run = match.group()
    if len(run) < 9:
        return run
    words = [re.sub(r"[\W_]+", "", word) for word in re.split(r"[ \t]{2,}| ?[|/] ?", run)]
    letters = "".join(words)
    if not letters.isascii():
        if len(letters) >= 5:
            return letters
        return run
    cut = segment(letters.lower())
    if cut is not None:
        return cut
    if len(words) > 1 and len(letters) >= 4 * len(words):
        return " ".join(words)
    return run


_STEPS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_DROP, lambda match: ""),
    (_MULTI, lambda match: unicodedata.normalize("NFKC", match.group())),
    (_JAMO, _recompose),
    (_VOICED, lambda match: unicodedata.normalize("NFC", match.group())),
)
