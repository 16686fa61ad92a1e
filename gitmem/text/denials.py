"""Which words of a text turn what it says into its contrary, in English, Korean, Japanese and Chinese. Pure.

The words stand in the language modules as alternatives of a pattern: `DENIAL`, and `NO_DENIAL` for what only looks like
one. Whether two texts contradict each other is not decided here (`memory/similarity`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from types import ModuleType

from gitmem.text import english
from gitmem.text.languages import languages_in


@cache
def _pattern(listed: str, languages: tuple[ModuleType, ...]) -> re.Pattern[str]:
    """The words of one list of some languages; upper case is looked at in English alone."""
    words = ((each, getattr(each, listed, "")) for each in languages)
    return re.compile("|".join(f"(?i:{forms})" if each is english else forms for each, forms in words if forms))


def denials(text: str) -> frozenset[str]:
    """The words of a text that turn what it says into its contrary, in lower case."""
    lower = unicodedata.normalize("NFC", text).lower()
    languages = languages_in(lower)
    plain = _pattern("NO_DENIAL", languages).sub(" ", lower)
    return frozenset(" ".join(match.split()) for match in _pattern("DENIAL", languages).findall(plain))


def without_denials(text: str) -> str:
    """A text with white space in place of the words that deny, and of those that stand beside one."""
    languages = languages_in(text)
    return _pattern("DENIAL", languages).sub(" ", _pattern("BESIDE_DENIAL", languages).sub(" ", text))
