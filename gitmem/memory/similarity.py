"""What two texts have in common: for finding a lost source, an edited fact, a near-duplicate. Pure."""

from __future__ import annotations

import re

_TERM = re.compile(r"[^\W_]+")
_WIDE = re.compile("[\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7a3]")


def terms(text: str) -> set[str]:
    """What two texts can have in common: words and numbers, and pairs of letters where a script has no spaces."""
    found = set()
    for word in _TERM.findall(text.casefold()):
        if _WIDE.search(word):
            found |= {word[at : at + 2] for at in range(max(1, len(word) - 1))}
        else:
            found.add(word)
    return found


def likeness(a: set[str], b: set[str]) -> float:
    """Jaccard: the shared terms over all terms, 0..1; two empty sets have nothing in common."""
    both = len(a & b)
    return both / (len(a) + len(b) - both) if both else 0.0


_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_DENIES = re.compile(
    r"\b(?:not|never|no longer|don't|doesn't|won't|without)\b|않|안 |못 |말 것|없|금지|しない|ません|禁止|不再|不要",
    re.I,
)


def differ(a: str, b: str) -> bool:
    """Whether two texts on one matter disagree: one number is another, or only one of them denies.

    Two lines of one table (`unit 7 uses 91`, `unit 8 uses 92`) differ in more than one number: other matters.
    """
    mine, yours = set(_NUMBER.findall(a)), set(_NUMBER.findall(b))
    denial = bool(_DENIES.search(a)) != bool(_DENIES.search(b))
    return (denial and mine == yours) or (mine != yours and len(mine - yours) <= 1 and len(yours - mine) <= 1)
