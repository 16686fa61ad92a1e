"""Find the words that negate a text, in English, Korean, Japanese and Chinese. Pure.

The language modules have the words as regular expressions: `DENIAL`, and `NO_DENIAL` for words that only look like one.
`memory/similarity` decides whether two texts contradict each other.
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
    """One pattern for a list of several languages. `listed`: the name of the list in their modules, such as `DENIAL`; a
    module may lack it. Case is ignored in English only."""
    words = ((language, getattr(language, listed, "")) for language in languages)
    return re.compile("|".join(f"(?i:{forms})" if language is english else forms for language, forms in words if forms))


def denials(text: str) -> frozenset[str]:
    """The words of a text that negate it, in lower case; empty for a text that denies nothing."""
    lower = unicodedata.normalize("NFC", text).lower()
    languages = languages_in(lower)
    plain = _pattern("NO_DENIAL", languages).sub(" ", lower)
    return frozenset(" ".join(match.split()) for match in _pattern("DENIAL", languages).findall(plain))


def without_denials(text: str) -> str:
    """The text with a space in place of every match of DENIAL and of BESIDE_DENIAL ("any more", "longer"), also where
    nothing is negated.

    Unlike `denials`, it does not spare phrases of NO_DENIAL ("no doubt" loses "no").
    """
    languages = languages_in(text)
    return _pattern("DENIAL", languages).sub(" ", _pattern("BESIDE_DENIAL", languages).sub(" ", text))
