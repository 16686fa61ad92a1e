"""Which words of a text tell what it is about: of a question those that are looked for, of a heading those that a
question for it has. Pure; one rule for both, so that a question that is a heading is known as one.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from gitmem.text import chinese, english, japanese, korean
from gitmem.text.terms import HAN_KANA, HANGUL, MAX_TERM_CHARACTERS, compatible, cut, tokens, without_ending

# Words that say nothing of a subject, and of those without spaces pairs of letters.
STOP = english.STOP_WORDS
STOP_KOREAN = korean.STOP_WORDS
STOP_PAIRS = chinese.STOP_PAIRS | japanese.STOP_PAIRS
HEADINGS_REMEMBERED = 4_000
TOKENS_REMEMBERED = 8_000  # of LONGEST characters at most: the lines of a search share most of their words


def telling(token: str, script: str) -> tuple[tuple[str, ...], bool]:
    """The terms by which one of `terms.tokens` is looked for, and whether it says nothing of a subject."""
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


_remembered_telling = lru_cache(maxsize=TOKENS_REMEMBERED)(_telling)


def pairs_of(token: str) -> tuple[tuple[str, ...], bool]:
    """The pairs of a run of Kana and Han that tell something, and whether none does: those of Hiragana only are grammar
    where others exist."""
    pairs = [a + b for a, b in pairwise(token)] or [token]
    found = [pair for pair in pairs if not all("ぁ" <= c <= "ゖ" or c == "ー" for c in pair) and pair not in STOP_PAIRS]
    return tuple(found or pairs), not found


@lru_cache(maxsize=HEADINGS_REMEMBERED)
def telling_count(text: str) -> int:
    """How many different terms are looked for where this text is the question."""
    found: set[str] = set()
    dropped: set[str] = set()
    for token, script in tokens(compatible(text)):
        parts, stop = telling(token, script)
        (dropped if stop else found).update(parts)
    return len(found or dropped)
