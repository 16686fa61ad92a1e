"""Which words of a question or a heading say what it is about. Pure.

Questions and headings share one rule, so that a question that repeats a heading is recognised.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from gitmem.text import chinese, english, japanese, korean
from gitmem.text.terms import HAN_KANA, HANGUL, MAX_TERM_CHARACTERS, compatible, cut, tokens, without_ending

# Words without a subject; letter pairs for scripts without spaces.
STOP = english.STOP_WORDS
STOP_KOREAN = korean.STOP_WORDS
STOP_PAIRS = chinese.STOP_PAIRS | japanese.STOP_PAIRS
MAX_CACHED_TEXTS = 4_000
MAX_CACHED_TOKENS = 8_000  # the lines of a search share most of their words


def telling(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    """The search terms of a token of `terms.tokens`, and whether it is a stop word."""
    if len(token) <= MAX_TERM_CHARACTERS:
        return _remembered_telling(token, script)
    return _telling(token, script)


def _telling(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    if script == HANGUL:
        word = without_ending(token)
        return tuple(a + b for a, b in pairwise(word)) or (word,), token in STOP_KOREAN
    if script == HAN_KANA:
        return pairs_of(token)
    return cut(token, script), token.lower().replace("'", "").replace("’", "") in STOP


_remembered_telling = lru_cache(maxsize=MAX_CACHED_TOKENS)(_telling)


def pairs_of(token: str) -> tuple[tuple[str, ...], bool]:
    """The letter pairs of a run of Kana and Han that carry meaning, and whether none does.

    Pairs of Hiragana alone are grammar if the run has other pairs.
    """
    pairs = [a + b for a, b in pairwise(token)] or [token]
    found = [pair for pair in pairs if not all("ぁ" <= c <= "ゖ" or c == "ー" for c in pair) and pair not in STOP_PAIRS]
    return tuple(found or pairs), not found


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def telling_count(text: str) -> int:
    """The number of different search terms of a text, taken as a question."""
    found: set[str] = set()
    dropped: set[str] = set()
    for token, script in tokens(compatible(text)):
        parts, stop = telling(token, script)
        (dropped if stop else found).update(parts)
    return len(found or dropped)
