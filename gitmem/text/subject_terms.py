"""Finds the words of a question or a heading that say what it is about, and leaves out stop words. Pure.

Questions and headings share one rule, so that a question that repeats a heading is recognised.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from gitmem.text import chinese, english, japanese, korean
from gitmem.text.terms import HAN_KANA, HANGUL, MAX_TERM_CHARACTERS, nfkc, split_token, tokens, without_ending

# Words without a subject; letter pairs for scripts without spaces.
STOP = english.STOP_WORDS
STOP_KOREAN = korean.STOP_WORDS
STOP_PAIRS = chinese.STOP_PAIRS | japanese.STOP_PAIRS
MAX_CACHED_TEXTS = 4_000
MAX_CACHED_TOKENS = 8_000  # the lines of a search share most of their words


def terms_of_token(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    """(search terms of a token, whether the token is a stop word). `token`, `script`: a pair of `terms.tokens`.
    Cached."""
    if len(token) <= MAX_TERM_CHARACTERS:
        return _remembered_telling(token, script)
    return _telling(token, script)


def _telling(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    """`terms_of_token` without its cache: (search terms of a token, whether it is a stop word). A stop word has its
    terms too. They are fewer than those of `split_token`: of Hangul without its ending, of Kana and Han as
    `meaningful_pairs`."""
    if script == HANGUL:
        word = without_ending(token)
        return tuple(a + b for a, b in pairwise(word)) or (word,), token in STOP_KOREAN
    if script == HAN_KANA:
        return meaningful_pairs(token)
    return split_token(token, script), token.lower().replace("'", "").replace("’", "") in STOP


_remembered_telling = lru_cache(maxsize=MAX_CACHED_TOKENS)(_telling)


def meaningful_pairs(token: str) -> tuple[tuple[str, ...], bool]:
    """(pairs of neighbouring letters that carry meaning in a run of Kana and Han, whether there are none). Pairs of
    Hiragana and of STOP_PAIRS carry none; without any other all pairs are returned, for one letter the letter."""
    pairs = [a + b for a, b in pairwise(token)] or [token]
    found = [pair for pair in pairs if not all("ぁ" <= c <= "ゖ" or c == "ー" for c in pair) and pair not in STOP_PAIRS]
    return tuple(found or pairs), not found


def telling_terms(text: str) -> frozenset[str]:
    """The search terms of a text without stop words."""
    found = (terms_of_token(token, script) for token, script in tokens(nfkc(text)))
    return frozenset(term for parts, stop in found if not stop for term in parts)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def distinct_term_count(text: str) -> int:
    """The number of different search terms of a text, read as a question; of a text with stop words only, the number of
    these."""
    found: set[str] = set()
    dropped: set[str] = set()
    for token, script in tokens(nfkc(text)):
        parts, stop = terms_of_token(token, script)
        (dropped if stop else found).update(parts)
    return len(found or dropped)
