"""Which words of a text turn what it says into its contrary, in English, Korean, Japanese and Chinese. Pure.

The words stand in the language modules as alternatives of a pattern: `DENIAL`, and `NO_DENIAL` for what only looks like
one. Whether two texts contradict each other is not decided here (`memory/similarity`).
"""

from __future__ import annotations

import re
import unicodedata

from gitmem.lazy_patterns import lazy
from gitmem.text import english, japanese, korean
from gitmem.text.languages import LANGUAGES

_NO_DENIAL = lazy("|".join(each.NO_DENIAL for each in LANGUAGES))
_DENIAL = lazy("|".join(each.DENIAL for each in LANGUAGES), re.I)
# Stands beside a denial and says no more.
_BESIDE_DENIAL = lazy("|".join((english.BESIDE_DENIAL, korean.BESIDE_DENIAL, japanese.BESIDE_DENIAL)), re.I)


def denials(text: str) -> frozenset[str]:
    """The words of a text that turn what it says into its contrary, in lower case."""
    plain = _NO_DENIAL.sub(" ", unicodedata.normalize("NFC", text).lower())
    return frozenset(" ".join(match.split()) for match in _DENIAL.findall(plain))


def without_denials(text: str) -> str:
    """A text with white space in place of the words that deny, and of those that stand beside one."""
    return _DENIAL.sub(" ", _BESIDE_DENIAL.sub(" ", text))
