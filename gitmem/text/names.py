"""Find names and identifiers of Latin letters in a text. Pure.

`text/numbers` finds numbers. A name in Hangul, Kana or Han looks like any other word, so it is not found here.
"""

from __future__ import annotations

from gitmem.lazy_patterns import lazy
from gitmem.text.english import NOT_NAMES

_NAME = lazy(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ0-9_.+#/-]*[A-Za-zÀ-ɏ0-9_+#]|[A-Z]")
_IDENTIFIER = lazy(r"[_/\\.+#]|\d|[a-z][A-Z]|^[A-Z]{2,}$")
# Marks at the beginning of a text: list, checkbox, quotation.
OPENING_MARKS = lazy(r"^[\s>]*(?:(?:[-*+]|\d{1,3}[.)])\s+(?=\D))?(?:\[[ xX]\]\s+)?[\"'“‘]?")


def name_words(text: str) -> list[tuple[int, str]]:
    """(offset, word) of each Latin word that can be a name or an identifier, in order, without `.`, `-` and `/` at its
    end."""
    return [(match.start(), match[0].rstrip(".-/")) for match in _NAME.finditer(text)]


def is_identifier(word: str) -> bool:
    """Whether a word is an identifier by its spelling: `rate_limits`, `v2`, `getUser`, `API`."""
    return bool(_IDENTIFIER.search(word))


def names(text: str) -> set[str]:
    """The names in a text, in lower case: its identifiers, and its capitalised words except the first word of the text.
    Words of NOT_NAMES are left out."""
    words = name_words(OPENING_MARKS.sub("", text))
    candidates = {word for start, word in words if is_identifier(word) or (word[:1].isupper() and start > 0)}
    return {word.casefold() for word in candidates} - NOT_NAMES
