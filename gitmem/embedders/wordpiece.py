"""Text to pieces: BERT's uncased word pieces for alphabets, character n-grams for Hangul, Kana and Han.

Pure: it knows no table. `find` maps a piece to its row and answers -1 for one that is not there, so the
runtime (a hash table in a mapped file) and the training tool (a dict) cut text in exactly the same way.
"""

import re
import unicodedata
from collections.abc import Callable

MARK = "▁"  # stands before the first syllable of a Hangul word: particles follow a noun, they do not begin it
CONTINUED = "##"  # BERT's mark of a piece inside a word
WORD_LIMIT = 100  # BERT's own limit; a longer run is cut, so that one line of base64 costs no more than prose
PIECES_PER_LETTER = 3  # the most that `rows_of` can answer for a word, per letter of it

_HANGUL = "가-힣"
_KATAKANA = "ァ-ヺー"
_HAN_KANA = "ぁ-ゖァ-ヺー々〆〇㐀-䶿一-鿿豈-\ufaff\U00020000-\U0003134f"
_RUN = f"{{1,{WORD_LIMIT}}}"
_ASCII = re.compile(f"[a-z0-9]{_RUN}")
_WORD = re.compile(f"[{_HANGUL}]{_RUN}|[{_HAN_KANA}]{_RUN}|[^\\W_{_HANGUL}{_HAN_KANA}]{_RUN}")
_IS_KATAKANA = re.compile(f"[{_KATAKANA}]{{3}}").fullmatch
_ACCENTS = re.compile("[\u0300-\u036f]")  # only these: the voicing marks of Kana and the Hangul jamo are letters

Find = Callable[[str], int]


def words(text: str) -> list[str]:
    """Runs of one kind of letter, lower case, NFKC, without Latin accents; punctuation separates and is dropped."""
    text = text.lower()
    if text.isascii():
        return _ASCII.findall(text)
    text = unicodedata.normalize("NFKC", text).lower()
    if not _plain(text):
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    return _WORD.findall(text)


# Text without any letter that can carry a Latin, Greek or Cyrillic accent: most Korean, Japanese, Chinese text.
_plain = re.compile("[\\x00-\\x7f\u2000-\u2fff\u3000-\u9fff가-힣\uff00-\uffef]*").fullmatch


def grams(word: str) -> list[str]:
    """Every n-gram a word of Hangul (2 and 3 with the mark) or of Kana and Han (1, 2; Katakana also 3) has."""
    if "가" <= word[0] <= "힣":
        word = MARK + word
        return [word[i : i + n] for n in (2, 3) for i in range(len(word) - n + 1)]
    found = list(word) + [word[i : i + 2] for i in range(len(word) - 1)]
    return found + [g for i in range(len(word) - 2) if _IS_KATAKANA(g := word[i : i + 3])]


def is_gram_word(word: str) -> bool:
    """Whether the word is cut into n-grams rather than word pieces."""
    return "가" <= word[0] <= "힣" or _starts_han_kana(word) is not None


_starts_han_kana = re.compile(f"[{_HAN_KANA}]").match


def rows_of(word: str, find: Find) -> list[int]:
    """The rows of one of `words`: longest match first for an alphabet, as BERT does; unknown parts have none."""
    if not word.isascii() and is_gram_word(word):
        return [row for gram in grams(word) if (row := find(gram)) >= 0]
    rows, start = [], 0
    while start < len(word):
        prefix = CONTINUED if start else ""
        for end in range(len(word), start, -1):
            row = find(prefix + word[start:end])
            if row >= 0:
                rows.append(row)
                start = end
                break
        else:
            start += 1
    return rows
