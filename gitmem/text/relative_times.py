"""Tells whether a text names a time that is counted from the day on which the text was said: `next month`, `어제`.

Such a text says something else on another day. A day of the week alone ("deploys on Fridays") is no such time, since it
mostly means every week.
"""

from __future__ import annotations

from itertools import chain

from gitmem.lazy_patterns import lazy
from gitmem.text import english
from gitmem.text.day_spans import find_spans_up_to_now, find_times_ago
from gitmem.text.languages import EASTERN, LANGUAGES

_ENGLISH_NAMES = (*chain.from_iterable(english.NEAR_DAYS.values()), *english.TIMES_BACK.values())
_EASTERN_NAMES = tuple(
    chain.from_iterable(
        names for each in EASTERN for table in (each.NEAR_DAYS, each.TIMES_BACK) for names in table.values()
    )
)
_NAMED = lazy(
    "|".join(
        (
            rf"\b(?:{'|'.join(_ENGLISH_NAMES)})\b",
            *_EASTERN_NAMES,
            *(each.TIMES_AHEAD for each in LANGUAGES),
            *(each.FROM_NOW_ON for each in LANGUAGES),
        )
    ),
)


def counts_from_its_day(text: str) -> bool:
    """Whether a text names a time that counts from the day on which it was said (`next month`, `어제`). A day of
    the week alone does not count."""
    lower = text.lower()
    return (
        _NAMED.search(lower) is not None
        or next(find_times_ago(lower), None) is not None
        or next(find_spans_up_to_now(lower), None) is not None
    )
