"""Finds where in a text a secret can stand at all, the words for a password, and where a value ends; all detectors
of secrets share the result.

A value that a machine made is an unbroken run of ASCII with a digit, ten characters or longer. Notes have few of
these, so rules that need context read only the lines around them. Results are cached for the last texts, since
several detectors scan the same one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gitmem.gate.detectors.masks import without_masks
from gitmem.gate.detectors.prefilter import DIGIT, UNBROKEN, plain, runs
from gitmem.gate.detectors.secrets.features import is_tangled, is_words
from gitmem.gate.detectors.secrets.rule_tables import label_pattern, patterns, word_list
from gitmem.lazy_patterns import lazy

_MAX_STRETCH = 20_000  # characters of an unbroken run that are read as one
_REACH = 400  # characters before a value in which its name can stand
_LONGEST_WORD = 400  # letters of a word that are judged


WORD = lazy(label_pattern("password"))
# In other languages: looked for apart, where one of `FOREIGN` stands, since they would slow `WORD` down.
FOREIGN = word_list("rare password word")
FOREIGN_WORD = lazy("|".join([f"{word}l? " if word.endswith("de") else word for word in FOREIGN]))
CLOSE = {"「": "」", "『": "』", "“": "”", "‘": "’", "(": ")"}


class Found(NamedTuple):
    """A secret at `text[start:end]`. `what`: its name in words, "" for the one in `decision.REASONS`. `certain`: whether
    its checksum is right."""

    rule: str
    start: int
    end: int
    what: str = ""
    certain: bool = False


class Candidates(NamedTuple):
    """Where secrets can stand in one text; all spans are half-open offsets.

    `low`: the text in lower case, the words of masks replaced by blanks, offsets unchanged. `hot`: unbroken runs of at
    least 16 ASCII characters, with or without a digit, in which a token may begin. `runs`: the parts of `hot` that have
    only characters of a token and a digit. `near`: each run that may be a value (at least 10 characters), with the text
    before it on its line, or from the line above where the run stands alone or answers a question; at most 400
    characters before the run. Spans that touch are joined.
    """

    low: str
    runs: tuple[tuple[int, int], ...]
    hot: tuple[tuple[int, int], ...]
    near: tuple[tuple[int, int], ...]


def lowered(text: str) -> str:
    """`text` in lower case with unchanged offsets; the few letters that become longer stay as they are."""
    result = text.lower()
    if len(result) == len(text):
        return result
    unchanged = {c: c for c in set(text) if len(c.lower()) > 1}
    return "".join(unchanged.get(c) or c.lower() for c in text)


def _stretches(text: str, digits: bytes) -> list[tuple[int, int]]:
    """The spans of unbroken runs of 10 characters or more with a digit, of 16 or more without; at most _MAX_STRETCH
    each. `digits`: the text with `1` for each digit."""
    spans = list(runs(text, UNBROKEN, 16))
    marked = plain(text).translate(UNBROKEN)
    end = -1
    offset = digits.find(b"1")
    while offset >= 0:
        start = marked.rfind(b"0", max(0, end), offset) + 1 or max(0, end)
        end = marked.find(b"0", offset)
        if end < 0:
            end = len(marked)
        if 10 <= end - start < 16:
            spans.append((start, end))
        offset = digits.find(b"1", end)
    spans.sort()
    if all([end - start <= _MAX_STRETCH for start, end in spans]):
        return spans
    pieces = [(cut, min(end, cut + _MAX_STRETCH)) for start, end in spans for cut in range(start, end, _MAX_STRETCH)]
    return [(start, end) for start, end in pieces if end - start >= 10]


@lru_cache(maxsize=4)
def candidates(text: str) -> Candidates:
    """The parts of a text in which secrets can stand, so that detectors need not read the rest. Linear in its
    length."""
    spans: list[tuple[int, int]] = []
    near: list[tuple[int, int]] = []
    hot: list[tuple[int, int]] = []
    digits = plain(text).translate(DIGIT)
    for start, end in _stretches(text, digits):
        numbered = digits.find(b"1", start, end) >= 0
        if not numbered:
            if end - start < 16:
                continue
            letters = patterns.letter_run.search(text, start, end)
            if letters:
                hot.append((start, end))
            words = letters is None or is_words(letters.group()[:_LONGEST_WORD])
            if words and len(set(patterns.odd_bracket.findall(text, start, end))) < 5:
                continue
        if end - start >= 16:
            if not hot or hot[-1][0] < start:
                hot.append((start, end))
            if numbered:
                spans += [
                    run.span()
                    for run in patterns.token_run.finditer(text, start, end)
                    if digits.find(b"1", *run.span()) >= 0
                ]
        least = max(0, start - _REACH)
        first = text.rfind("\n", least, start) + 1
        if first and not text[first:start].strip(" \t\"'`"):
            first = text.rfind("\n", least, first - 1) + 1  # alone on its line: its name stands on the line above
        elif first > 1 and text[max(least, first - 3) : first].rstrip().endswith("?"):
            first = text.rfind("\n", least, first - 1) + 1  # the answer to a question
        first = max(first, least)
        if near and first <= near[-1][1] + 1:
            near[-1] = (near[-1][0], end)
        else:
            near.append((first, end))
    return Candidates(without_masks(lowered(text)), tuple(spans), tuple(hot), tuple(near))


def end_of_password(text: str, start: int, limit: int, quote: str) -> tuple[int, bool]:
    """(end of the value that begins at `start`, at most `limit`; whether the end is sure). It is sure at a closing
    quotation mark, not at a parenthesis, and for a tangled value without quotation marks (`is_tangled`). `quote`: the
    opening marks, "" for none."""
    if quote:
        close = CLOSE.get(quote[-1], quote[-1])
        end = text.find(close, start, min(len(text), limit + 1))
        if end >= 0 and close != ")":
            return end, True
    elif is_tangled(text[start:limit]):
        return start + len(text[start:limit].rstrip("\"'`;,")), True
    end = limit
    if stop := patterns.password_end.search(text, start, limit):
        end = stop.start()
    while (end - start > 1 and text[end - 1] in ".,:)(") or (end - start > 1 and text[end - 1] == "*" and "*" in quote):
        end -= 1
    return end, False


def end_of_secret(text: str, start: int, limit: int, quote: str) -> int:
    """The offset at which the value that begins at `start` ends; never above `limit`. A value in quotes ends before the
    mark `quote` ("" for none). Without a closing mark it ends at the first character that no unquoted value holds, else
    at `limit`, and final `.:!?*` are left out. A tangled value without quotes (`is_tangled`) ends at `limit`, or before
    the quotes, commas and semicolons at its end."""
    if quote:
        end = text.find(quote, start, limit)
        if end >= 0:
            return end
    elif is_tangled(text[start:limit]):
        return start + len(text[start:limit].rstrip("\"'`;,"))
    end = limit
    if stop := patterns.secret_end.search(text, start, limit):
        end = stop.start()
    while end > start and text[end - 1] in ".:!?*":
        end -= 1
    return end
