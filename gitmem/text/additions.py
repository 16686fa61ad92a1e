"""Takes the words off a sentence that add it to the sentence before it: `And`, `Also`, `그리고`. Pure.

A sentence that becomes a line or a fact of its own has nothing before it, and says the same without these words.
"""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy
from gitmem.text.languages import LANGUAGES

_ADDING = lazy(rf"^(?:{'|'.join(each.ADDING_LEAD_INS for each in LANGUAGES)})", re.I)


def without_addition(text: str) -> str:
    """The sentence without the words at its beginning that add it to the one before it; any other text as it is."""
    return _ADDING.sub("", text, count=1)
