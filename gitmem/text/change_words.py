"""Whether a line says that something is no longer as it was, in English, Korean, Japanese and Chinese. Pure.

Its answer is kept by the index, a flag of `line_records`, so that no search has to look for words.
"""

from __future__ import annotations

import re
from itertools import chain

from gitmem.lazy_patterns import lazy
from gitmem.text import english, korean
from gitmem.text.languages import EASTERN

_PHRASES = (*english.CHANGE_PHRASES, *korean.CHANGE_PHRASES)
_WIDE = tuple(chain.from_iterable(each.CHANGE for each in EASTERN))
_WIDE_PATTERN = lazy("|".join(map(re.escape, _WIDE)))
_WORD = re.compile(r"\w+")
_COMMENT = lazy(r"<!--.*?-->", re.DOTALL)


def says_change(text: str) -> bool:
    """Whether a text says so, its comments apart."""
    if "<!--" in text:
        text = _COMMENT.sub("", text)
    lower = text.lower()
    if not english.CHANGE.isdisjoint(_WORD.findall(lower)) or any(phrase in lower for phrase in _PHRASES):
        return True
    return not lower.isascii() and _WIDE_PATTERN.search(lower) is not None
