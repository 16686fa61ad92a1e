"""Where in a text a secret can stand at all: one scan that every detector of secrets shares.

What a machine made has a digit in it and is long: unbroken ASCII of ten characters and more with a digit. Notes
have few of those, so all that needs context is read only on their lines. Remembered for the last texts, since
several detectors look at the same one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from gitmem.detectors.lazy import lazy
from gitmem.detectors.placeholders import is_words

_UNBROKEN = lazy(r"[!-~]{10,20000}")
_DIGIT = lazy(r"[0-9]")
_LETTERS = lazy(r"[A-Za-z]{14,}")  # a token of letters alone: rare, and without a place in `runs`
_RUN = lazy(r"[0-9A-Za-z_.~+/=:|$@%-]{16,20000}")
_ODD = lazy(r"[{}\[\]()<>$?*]")


# What normalisation takes out of, or turns into, plain ASCII inside a word: invisible characters, fullwidth and
# mathematical letters and digits, Greek and Cyrillic look-alikes.
_DISGUISE = lazy(
    "["
    "\u00a0\u00ad\u2010\u2011\u2212\u0300-\u052f\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\uff10-\uff19\uff21-\uff3a"
    "\uff41-\uff5a\U0001d400-\U0001d7ff\U000e0000-\U000e0fff]"
)


def disguised(text: str) -> bool:
    """Whether the normalised text can hold a secret that the raw one does not."""
    return not text.isascii() and _DISGUISE.search(text) is not None


class Candidates(NamedTuple):
    """`low` is the text in lower case, same offsets; `runs` the spans that can hold a token; `hot` the unbroken
    stretches around them, one a line; `lines` the spans of lines (joined where they touch) with a candidate."""

    low: str
    runs: tuple[tuple[int, int], ...]
    hot: str
    lines: tuple[tuple[int, int], ...]


def lowered(text: str) -> str:
    """`text` in lower case with every offset unchanged (a few letters grow when lowered)."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


@lru_cache(maxsize=4)
def candidates(text: str) -> Candidates:
    """Linear in the length of the text."""
    runs: list[tuple[int, int]] = []
    lines: list[tuple[int, int]] = []
    hot: list[str] = []
    done = -1
    for match in _UNBROKEN.finditer(text):
        word = match.group()
        if not _DIGIT.search(word):
            if len(word) < 16:
                continue
            letters = _LETTERS.search(word)
            if letters:
                hot.append(word)
            if (letters is None or is_words(letters.group())) and len(set(_ODD.findall(word))) < 5:
                continue
        start, end = match.span()
        if end - start >= 16:
            hot.append(word)
            runs += [run.span() for run in _RUN.finditer(text, start, end) if _DIGIT.search(text, *run.span())]
        if start < done:
            continue
        first = text.rfind("\n", 0, start) + 1
        if first and not text[first:start].strip(" \t\"'`"):
            first = text.rfind("\n", 0, first - 1) + 1  # alone on its line: what names it stands above
        last = text.find("\n", end)
        done = len(text) if last < 0 else last
        if lines and first <= lines[-1][1] + 1:
            lines[-1] = (lines[-1][0], done)
        else:
            lines.append((first, done))
    return Candidates(lowered(text), tuple(runs), "\n".join(hot), tuple(lines))
