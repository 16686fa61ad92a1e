"""Text to pieces: BERT's uncased word pieces for alphabets, character n-grams for Hangul, Kana and Han.

Pure: it knows no table. `find` maps a piece to its row and answers -1 for one that is not there, so the
runtime (a hash table in a mapped file) and the training tool (a dict) cut text in exactly the same way.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import chain

MARK = "▁"  # stands before the first syllable of a Hangul word: particles follow a noun, they do not begin it
CONTINUED = "##"  # BERT's mark of a piece inside a word
WORD_LIMIT = 100  # BERT's own limit; a longer run is cut, so that one line of base64 costs no more than prose
PIECES_PER_LETTER = 3  # the most that `rows_of` can answer for a word, per letter of it

Find = Callable[[str], int]
# The row of the longest piece with which a word goes on from a letter, -1 for none, and the letter behind that piece.
FindLongest = Callable[[str, int], tuple[int, int]]

_RUN = f"{{1,{WORD_LIMIT}}}"
_ASCII = re.compile(f"[a-z0-9]{_RUN}")
_RUNS = re.compile(f"h{_RUN}|k{_RUN}|[la]{_RUN}")  # over `_SCRIPT`s: a class of 30,000 characters takes 5 ms to compile
_IS_KATAKANA = re.compile("[ァ-ヺー]{3}").fullmatch
_ACCENTS = re.compile("[\u0300-\u036f]")  # only these: the voicing marks of Kana and the Hangul jamo are letters


class _Scripts(dict[int, str]):
    """A character's number -> h Hangul, k Kana or Han, a accented, l another letter or digit, else a space."""

    def __missing__(self, number: int) -> str:
        character = chr(number)
        if "가" <= character <= "힣":
            script = "h"
        elif (
            "ぁ" <= character <= "ゖ"
            or "ァ" <= character <= "ヺ"
            or character in "ー々〆〇"
            or "㐀" <= character <= "䶿"
            or "一" <= character <= "鿿"
            or "\uf900" <= character <= "\ufaff"
            or "\U00020000" <= character <= "\U0003134f"
        ):
            script = "k"
        elif _ACCENTS.search(unicodedata.normalize("NFD", character)):
            script = "a"
        else:
            script = " "
            if character.isalnum():
                script = "l"
        self[number] = script
        return script


_SCRIPT = _Scripts()


class _Words(dict[str, tuple[str, ...]]):
    """What stands between white space -> its words: none reaches across white space, and most come again."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        bare = piece.strip(_EDGES)
        if bare.isdigit() and bare.isascii() and len(bare) <= WORD_LIMIT:
            return (bare,)  # numbers seldom come again: not worth remembering
        if bare != piece:
            pieces = self[bare]
        else:
            pieces = tuple(_split_words(piece))
        if len(piece) <= WORD_LIMIT:
            if len(self) >= _KNOWN:
                self.clear()
            self[piece] = pieces
        return pieces


_EDGES = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"  # separators at either end
_KNOWN = 30_000
_words = _Words()


def words(text: str) -> list[str]:
    """Runs of one kind of letter, lower case, NFKC, without Latin accents; punctuation separates and is dropped."""
    return list(chain.from_iterable(map(_words.__getitem__, text.split())))


def _split_words(text: str) -> list[str]:
    text = text.lower()
    if text.isascii():
        return _ASCII.findall(text)
    text = unicodedata.normalize("NFKC", text).lower()
    scripts = text.translate(_SCRIPT)
    if "a" in scripts:
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
        scripts = text.translate(_SCRIPT)
    return [text[run.start() : run.end()] for run in _RUNS.finditer(scripts)]


def grams(word: str) -> list[str]:
    """Every n-gram a word of Hangul (2 and 3 with the mark) or of Kana and Han (1, 2; Katakana also 3) has."""
    if "가" <= word[0] <= "힣":
        word = MARK + word
        return [word[i : i + n] for n in (2, 3) for i in range(len(word) - n + 1)]
    pieces = list(word) + [word[i : i + 2] for i in range(len(word) - 1)]
    return pieces + [g for i in range(len(word) - 2) if _IS_KATAKANA(g := word[i : i + 3])]


def is_gram_word(word: str) -> bool:
    """Whether the word is cut into n-grams rather than word pieces."""
    return _SCRIPT[ord(word[0])] in "hk"


def rows_of(word: str, find: Find, find_longest: FindLongest | None = None) -> list[int]:
    """The rows of one of `words`: longest match first for an alphabet, as BERT does; unknown parts have none.
    `find_longest` is what a table has that is quicker than a `find` for each length."""
    if not word.isascii() and is_gram_word(word):
        return [row for gram in grams(word) if (row := find(gram)) >= 0]
    rows, start = [], 0
    while start < len(word):
        if find_longest is not None:
            row, start = find_longest(word, start)
        else:
            row, start = longest(word, start, find)
        if row >= 0:
            rows.append(row)
    return rows


def longest(word: str, start: int, find: Find) -> tuple[int, int]:
    """As `FindLongest`."""
    prefix = ""
    if start:
        prefix = CONTINUED
    for end in range(len(word), start, -1):
        row = find(prefix + word[start:end])
        if row >= 0:
            return row, end
    return -1, start + 1
