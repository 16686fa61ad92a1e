"""Cuts text into pieces: BERT's uncased word pieces for alphabets, character n-grams for Hangul, Kana and Han. Pure.

The caller passes the table of pieces as `find`, a function from a piece to its row, -1 for an unknown piece. So the
runtime (a hash table in a file) and the training tool (a dict) cut text in the same way.
"""

import re
import unicodedata
from collections.abc import Callable
from itertools import chain

MARK = "▁"  # marks the beginning of a Hangul word, because particles follow a noun and do not begin it
CONTINUED = "##"  # BERT's mark of a piece inside a word
WORD_LIMIT = 100  # maximum characters of a word, as in BERT; a longer run (a line of base64) is cut into several
PIECES_PER_LETTER = 3  # maximum rows from `rows_of` for each letter of a word

Find = Callable[[str], int]
# (word, start) -> (row of the longest piece that begins at `start`, -1 for none; index after that piece).
FindLongest = Callable[[str, int], tuple[int, int]]

_RUN = f"{{1,{WORD_LIMIT}}}"
_ASCII = re.compile(f"[a-z0-9]{_RUN}")
_RUNS = re.compile(f"h{_RUN}|k{_RUN}|[la]{_RUN}")  # over `_SCRIPT`s: a class of 30,000 characters takes 5 ms to compile
_IS_KATAKANA = re.compile("[ァ-ヺー]{3}").fullmatch
_ACCENTS = re.compile("[\u0300-\u036f]")  # only these: the voicing marks of Kana and the Hangul jamo are letters


class _Scripts(dict[int, str]):
    """Code point -> "h" Hangul, "k" Kana or Han, "a" accented, "l" another letter or digit, " " anything else."""

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
            script = "l" if character.isalnum() else " "
        self[number] = script
        return script


_SCRIPT = _Scripts()


class _Words(dict[str, tuple[str, ...]]):
    """A cache: text between white space -> its words."""

    def __missing__(self, piece: str) -> tuple[str, ...]:
        bare = piece.strip(_EDGES)
        if bare.isdigit() and bare.isascii() and len(bare) <= WORD_LIMIT:
            return (bare,)  # not cached: numbers are rarely repeated
        pieces = self[bare] if bare != piece else tuple(_split_words(piece))
        if len(piece) <= WORD_LIMIT:
            if len(self) >= _MAX_CACHED:
                self.clear()
            self[piece] = pieces
        return pieces


_EDGES = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"  # ASCII punctuation, stripped at both ends
_MAX_CACHED = 30_000
_words = _Words()


def words(text: str) -> list[str]:
    """The words of a text: runs of letters of one kind of script, in NFKC and lower case, without Latin accents and
    punctuation."""
    return list(chain.from_iterable(map(_words.__getitem__, text.split())))


def _split_words(text: str) -> list[str]:
    """The words of a text in lower case, split where scripts change; outside ASCII normalised (NFKC), and without
    accents if it has Latin letters."""
    text = text.lower()
    if text.isascii():
        return _ASCII.findall(text)
    text = unicodedata.normalize("NFKC", text).lower()
    scripts = text.translate(_SCRIPT)
    if "a" in scripts:
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
        scripts = text.translate(_SCRIPT)
    return [text[run.start() : run.end()] for run in _RUNS.finditer(scripts)]


def ngrams(word: str) -> list[str]:
    """Every n-gram of a word: of Hangul 2 and 3 characters, with MARK before the first; of Kana and Han 1 and 2; of
    Katakana also 3."""
    if "가" <= word[0] <= "힣":
        word = MARK + word
        return [word[i : i + n] for n in (2, 3) for i in range(len(word) - n + 1)]
    pieces = list(word) + [word[i : i + 2] for i in range(len(word) - 1)]
    return pieces + [g for i in range(len(word) - 2) if _IS_KATAKANA(g := word[i : i + 3])]


def is_gram_word(word: str) -> bool:
    """Whether a word is cut into n-grams and not into word pieces."""
    return _SCRIPT[ord(word[0])] in "hk"


def rows_of(word: str, find: Find, find_longest: FindLongest | None = None) -> list[int]:
    """The rows of the pieces of one word: n-grams, or for an alphabet the longest match at each position, as in BERT.
    Unknown parts are left out. `find_longest`: a faster `longest_piece` over the same table."""
    if not word.isascii() and is_gram_word(word):
        return [row for gram in ngrams(word) if (row := find(gram)) >= 0]
    rows, start = [], 0
    while start < len(word):
        if find_longest is not None:
            row, start = find_longest(word, start)
        else:
            row, start = longest_piece(word, start, find)
        if row >= 0:
            rows.append(row)
    return rows


def longest_piece(word: str, start: int, find: Find) -> tuple[int, int]:
    """The longest known piece of a word that begins at `start`: (its row, the index after it); (-1, start + 1) if there
    is none."""
    prefix = CONTINUED if start else ""
    for end in range(len(word), start, -1):
        row = find(prefix + word[start:end])
        if row >= 0:
            return row, end
    return -1, start + 1
