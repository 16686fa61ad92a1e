"""Finds keys of wallets: Bitcoin keys in the wallet import format, and seed phrases (BIP-39) of twelve to twenty-four
words of a list.

A seed phrase is searched near a name for one in English, Korean, Japanese and Chinese; its words stand in a row, are
numbered, or stand one a line. Words of the list with a right checksum are a seed phrase anywhere near such a name;
with a wrong checksum (a typing error) only right behind it. The list (`seed_words.txt`) is read only for a text with
such a row of words.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from functools import cache

from gitmem.gate.detectors.prefilter import places, present
from gitmem.gate.detectors.secrets.features import wallet_key
from gitmem.gate.detectors.secrets.rule_tables import lines, patterns, word_list
from gitmem.gate.detectors.spans import merge_spans

_HINTS = word_list("wallet hint")
_LENGTHS = (24, 21, 18, 15, 12)
_MAX_CHARACTERS_TO_ROW = 100  # characters behind a name within which the row begins
_MAX_ROW_CHARACTERS = 30 * 24  # of a row
_REACH = _MAX_CHARACTERS_TO_ROW + _MAX_ROW_CHARACTERS
_MAX_CHECKED_ROWS = 200  # rows whose check sums are computed; in a text of more a row of words of the list is enough


@cache
def _places() -> dict[str, int]:
    """Word of the list -> its position. Raises OSError or ValueError when the list cannot be read."""
    words = [word for _, line in lines("seed_words.txt") for word in line.split()]
    if len(words) != 2048:
        raise ValueError("seed_words.txt: not 2048 words")
    return {word: place for place, word in enumerate(words)}


def is_checked(words: list[str]) -> bool:
    """Whether these 12, 15, 18, 21 or 24 words in lower case have a right BIP-39 checksum (SHA-256, one bit for three
    words).

    Raises KeyError for a word that is not in the English BIP-39 list, OSError or ValueError if the list cannot be read.
    """
    from hashlib import sha256

    bits = "".join(f"{_places()[word]:011b}" for word in words)
    checksum_bits = len(words) // 3
    entropy = int(bits[:-checksum_bits], 2).to_bytes((len(bits) - checksum_bits) // 8)
    return f"{sha256(entropy).digest()[0]:08b}"[:checksum_bits] == bits[-checksum_bits:]


def _in_row(row: list[re.Match[str]], *, is_named: bool, check: bool) -> tuple[int, int] | None:
    """The span of a seed phrase in a row of words, or None.

    It is the longest run of 12 to 24 words of the list, with a valid checksum if `check`. Otherwise, if the words before
    it name a seed phrase (`is_named`), it is the whole row when at most a sixth of its words are not of the list.
    """
    is_listed = [word.group() in _places() for word in row]
    if sum(is_listed) < _LENGTHS[-1]:
        return None
    for length in _LENGTHS:
        for index in range(len(row) - length + 1):
            some = row[index : index + length]
            if all(is_listed[index : index + length]) and (not check or is_checked([word.group() for word in some])):
                return some[0].start(), some[-1].end()
    if is_named and is_listed.count(False) * 6 <= len(is_listed):
        return row[0].start(), row[-1].end()
    return None


def seed_phrases(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """The spans of the seed phrases of a text; `lowered`: the text in lower case."""
    numbered = [offset for offset in places(lowered, ("1. ", "1) ")) if patterns.numbered_words.match(text, offset)]
    hints = sorted([*places(lowered, present(lowered, _HINTS)), *numbered])
    judged = 0
    for first, last in merge_spans((hint, min(len(text), hint + _REACH)) for hint in hints):
        for match in patterns.word_row.finditer(text, first, last):
            start, end = match.span()
            nearest = bisect_left(hints, start - _MAX_CHARACTERS_TO_ROW)
            if nearest == len(hints) or hints[nearest] >= end:
                continue
            judged += 1
            is_named = patterns.seed_phrase_before.search(lowered, max(0, start - 60), start) is not None
            row = list(patterns.lower_word.finditer(text, start, end))
            span = _in_row(row, is_named=is_named, check=judged <= _MAX_CHECKED_ROWS)
            if span is not None:
                yield span


def bitcoin_keys(text: str, runs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The spans of the Bitcoin keys with a right checksum in the `runs` of a text."""
    for start, end in runs:
        for match in patterns.bitcoin_key.finditer(text, max(0, start - 1), end + 1) if end - start >= 51 else ():
            if wallet_key(match.group()):
                yield match.span()
