"""Sentences of the flows in the reader's language: their errors, advice and findings, with the values they name.

A sentence that the table does not have stays as it is, and so do commands and text of memory.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from gitmem.ui.translation import KOREAN

JOINTS = ("; ", " + ")  # between sentences, and between what a detector names
DEPTH = 3  # sentences within a sentence
LONGEST = 600  # characters of a sentence that is looked for
_HOLE = re.compile(r"\{(n?)\}")  # {n} is a whole number


def said(language: str, sentence: str) -> str:
    """The sentence, line by line, in `language`."""
    if language != KOREAN:
        return sentence
    return "\n".join(_translated_line(line, DEPTH) for line in sentence.split("\n"))


def _translated_line(line: str, depth: int) -> str:
    if not depth or not line or len(line) > LONGEST:
        return line
    if (found := _table().get(line)) is not None:
        return found
    for pattern, words in _patterns():
        if match := pattern.fullmatch(line):
            return words.format(*(_translated_line(value, depth - 1) for value in match.groups()))
    for joint in JOINTS:
        if joint in line:
            return joint.join(_translated_line(part, depth - 1) for part in line.split(joint))
    return line


@cache
def _table() -> Mapping[str, str]:
    from gitmem.ui.korean_findings import FINDINGS
    from gitmem.ui.korean_flows import FLOWS

    return {**FLOWS, **FINDINGS}


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """The sentences with values, those that say most themselves first."""
    keys = sorted((key for key in _table() if _HOLE.search(key)), key=lambda key: -len(_HOLE.sub("", key)))
    return tuple((re.compile(_pattern(key)), _table()[key]) for key in keys)


def _pattern(key: str) -> str:
    literals, holes = _HOLE.split(key)[::2], _HOLE.split(key)[1::2]
    return "".join(
        f"{re.escape(literal)}{'([0-9,]+)' if hole else '(.+?)'}"
        for literal, hole in zip(literals, holes, strict=False)
    ) + re.escape(literals[-1])
