"""Names and identifiers in a text: the words that tell one thing from another. Pure; reads Latin letters alone.

Numbers tell things apart too (`text/numbers`). A name of Hangul, Kana or Han is spelled like any word of its language,
and is not found here.
"""

from __future__ import annotations

from gitmem.lazy_patterns import lazy
from gitmem.text.english import NOT_NAMES

_NAME = lazy(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9_.+#/-]*[A-Za-zÀ-ɏ0-9_+#]|[A-Z]")
_IDENTIFIER = lazy(r"[_/\\.+#]|\d|[a-z][A-Z]|^[A-Z]{2,}$")
# Marks of a list, a box to tick and a quotation, which open a text and are no word of it.
OPENING_MARKS = lazy(r"^[\s>]*(?:(?:[-*+]|\d{1,3}[.)])\s+(?=\D))?(?:\[[ xX]\]\s+)?[\"'“‘]?")


def name_words(text: str) -> list[tuple[int, str]]:
    """(offset, word) of every Latin word that could be a name or an identifier."""
    return [(match.start(), match[0].rstrip(".-/")) for match in _NAME.finditer(text)]


def is_identifier(word: str) -> bool:
    """Whether a word is spelled like no word of a language: `rate_limits`, `v2`, `getUser`, `API`."""
    return bool(_IDENTIFIER.search(word))


def names(text: str) -> set[str]:
    """Identifiers, and capitalised words that do not open the text (behind the marks of a list), in lower case."""
    words = name_words(OPENING_MARKS.sub("", text))
    candidates = {word for start, word in words if is_identifier(word) or (word[:1].isupper() and start > 0)}
    return {word.casefold() for word in candidates} - NOT_NAMES
