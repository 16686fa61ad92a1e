"""Which sentence needs its neighbour to be understood: a reason, a consequence, an exception, or words that refer back.

A line of a daily log is one statement. It takes along a neighbouring sentence only if one of the two needs the other.
Words decide this, in four languages; a sentence that only stands beside another is never taken along. Pure.
"""

from __future__ import annotations

import re

from gitmem.text.languages import EASTERN, LANGUAGES

_REASON = re.compile(rf"^\W*(?:{'|'.join(each.REASON_LEAD_INS for each in LANGUAGES)})", re.I)
_REASON_END = re.compile(rf"(?:{'|'.join(each.REASON_ENDS for each in EASTERN)})\W*$")
_CONSEQUENCE = re.compile(rf"^\W*(?:{'|'.join(each.CONSEQUENCE_LEAD_INS for each in LANGUAGES)})", re.I)
_REFERS_BACK = re.compile(rf"^\W*(?:{'|'.join(each.REFERRING_LEAD_INS for each in LANGUAGES)})", re.I)
_EXCEPTION = re.compile("|".join(each.EXCEPTIONS for each in LANGUAGES), re.I)


def says_why(text: str) -> bool:
    """Whether a sentence begins with words that give a reason (`because`), or ends with them in Korean, Chinese or
    Japanese (`때문이다`). False for a question."""
    return bool(_REASON.match(text) or _REASON_END.search(text)) and not text.endswith(("?", "？"))


def is_consequence(text: str) -> bool:
    """Whether a sentence begins as the consequence of the one before it: `so we`, `그래서`."""
    return _CONSEQUENCE.match(text) is not None


def refers_back(text: str) -> bool:
    """Whether a sentence begins with words for something that was said before: `it`, `these`, `그 이상은`. False for a
    question."""
    return _REFERS_BACK.match(text) is not None and not text.endswith(("?", "？"))


def needs_previous(text: str) -> bool:
    """Whether a sentence is not understood without the one before it: it gives a reason, refers back, begins as a
    consequence, or has words of an exception anywhere."""
    is_addition = says_why(text) or refers_back(text) or _EXCEPTION.search(text) is not None
    return is_addition or is_consequence(text)
