"""Other readings of a text that detectors scan beside the raw one: normalised, with strings joined, as rendered,
unescaped.

Each reading maps its finds back to offsets of the raw text. A reading that equals the text is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple, TypeVar

from gitmem.gate.detectors.escapes import Plain, without_escapes
from gitmem.gate.detectors.joined_strings import without_seams
from gitmem.gate.detectors.rendered_text import as_rendered
from gitmem.gate.detectors.spans import Spans
from gitmem.gate.detectors.text import Text
from gitmem.lazy_patterns import lazy

_Find = TypeVar("_Find")
Found = tuple[str, int, int]  # a rule, and the half-open range of its find
# What normalisation takes out of, or turns into, plain ASCII inside a word: invisible characters, fullwidth and
# mathematical letters and digits, circled, raised and lowered ones, ligatures, Greek and Cyrillic look-alikes. And the
# letters of Hangul and the voicing marks of kana that a decomposed text (NFD) has: the words of the rules are composed.
_DISGUISE = lazy(
    "["
    "\u00a0\u00ad\u2010\u2011\u2212\u0300-\u052f\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\u1100-\u11ff\u3099\u309a\ua960-\ua97c\ud7b0-\ud7fb"
    "\u017f\u1d2c-\u1d6a\u2070-\u209c\u212a\u2160-\u217f\u24b6-\u24ea\ufb00-\ufb06\uff10-\uff19\uff21-\uff3a"
    "\uff41-\uff5a\U0001d400-\U0001d7ff\U0001f130-\U0001f149\U0001fbf0-\U0001fbf9\U000e0000-\U000e0fff]"
)

_DECOMPOSED = lazy("[\u1100-\u11ff\u3099\u309a]")


@lru_cache(maxsize=4)
def disguised(text: str) -> bool:
    """A fast test: whether the normalised text may contain a secret that the raw text does not."""
    return not text.isascii() and _DISGUISE.search(text) is not None


class Reading(NamedTuple):
    """A string to scan. `lines`: the lines of `subject` that the string has, with their offsets; None when the
    string is all of the normalised text. `normalised`: whether they are lines of the normalised text and not of
    the raw one."""

    text: str
    subject: Text
    lines: Plain | None
    normalised: bool

    def finds(
        self, finds: Iterable[_Find], span: Callable[[_Find], tuple[int, int]]
    ) -> Iterator[tuple[int, int, _Find]]:
        """(start, end in the raw text, find) of each find; `span`: returns the range of a find in the string."""
        if self.lines is None:
            for find in finds:
                yield (*self.subject.to_raw(*span(find)), find)
            return
        for start, end, find in self.lines.finds(finds, span):
            if self.normalised:
                start, end = self.subject.to_raw(start, end)
            yield start, end, find


def _of_lines(text: Text, lines: Plain | None, *, normalised: bool = False) -> list[Reading]:
    """The reading of these lines of a text; none for None."""
    if lines is None:
        return []
    return [Reading(lines.text, text, lines, normalised)]


def of_secrets(text: Text) -> list[Reading]:
    """The readings to scan for secrets: the normalised text if it can show a disguised secret, lines with their strings
    joined, and lines as a page shows them. A reading that the text has not is left out."""
    joined = _of_lines(text, without_seams(text.raw))
    if not disguised(text.raw) or text.norm == text.raw:
        return [*joined, *_of_lines(text, as_rendered(text.raw))]
    whole = Reading(text.norm, text, None, normalised=True)
    return [whole, *joined, *_of_lines(text, as_rendered(text.norm), normalised=True)]


def of_passwords(text: Text) -> list[Reading]:
    """The readings to scan for passwords: those of `of_secrets`, and lines without escapes."""
    return [*of_secrets(text), *_of_lines(text, without_escapes(text.raw))]


def of_personal_data(text: Text) -> list[Reading]:
    """The readings to scan for personal data: the normalised text if the raw one is decomposed, and lines as a page
    shows them. A reading that the text has not is left out."""
    readings = _of_lines(text, as_rendered(text.raw))
    if not text.raw.isascii() and _DECOMPOSED.search(text.raw) is not None:
        return [Reading(text.norm, text, None, normalised=True), *readings]
    return readings


def _range(find: Found) -> tuple[int, int]:
    return find[1:]


def find_in_all(
    find_all: Callable[[str], Iterable[_Find]],
    text: Text,
    others: list[Reading],
    span: Callable[[_Find], tuple[int, int]],
) -> Iterator[tuple[int, int, _Find]]:
    """Apply `find_all` to the raw text and to its other readings: yields (start, end in the raw text, find).

    `span`: returns the range of a find in the string that `find_all` was given. Of finds that overlap only the longest
    is yielded; without other readings it is the first, and `find_all` runs only as far as the caller reads.
    """
    claimed = Spans()
    raw_finds = ((*span(find), find) for find in find_all(text.raw))
    finds: Iterable[tuple[int, int, _Find]] = raw_finds
    if others:
        other_finds = [reading.finds(find_all(reading.text), span) for reading in others]
        finds = sorted(chain(raw_finds, *other_finds), key=lambda find: find[0] - find[1])
    yield from (find for find in finds if claimed.claim(find[0], find[1]))


def rules_in_all(find_all: Callable[[str], Iterable[Found]], text: Text, others: list[Reading]) -> Iterator[Found]:
    """Apply `find_all`, which yields (rule, start, end), to the raw text and to the readings `others`: yields the same,
    with offsets in the raw text. Of finds that overlap only the longest is yielded (`find_in_all`)."""
    yield from ((rule, start, end) for start, end, (rule, _, _) in find_in_all(find_all, text, others, _range))
