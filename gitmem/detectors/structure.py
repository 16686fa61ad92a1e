"""What the sentences of a text do: cut it into units, and name the concepts and words of each.

A unit is what is judged as one: a line, or one or two sentences of a long line. This room says which
concepts of the lexicon occur in a unit, whether inside quotation marks, and which words and characters
stand there; it does not weigh them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import pairwise

from gitmem.detectors.lexicon import Concept
from gitmem.detectors.words import repair

LONGEST_UNIT = 600
_HANGUL = re.compile("[가-힣]")
_KANA = re.compile("[ぁ-ヺー]")
_HAN = re.compile("[一-鿿]")
_EUROPEAN = re.compile(
    r"[а-яё]{3}|\b(?:las?|los|el|de|les?|des|du|une?|vos|die|der|das|den|alle|und|il|gli|tutte|os|todas?|toutes?|tous|bo qua|cac)\b"
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]{0,2}\s+|(?<=[。！？])|(?<=[다요라함음오까])\.\s*|\s[-–—]{1,2}\s")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[a-z0-9@$!|]*[a-z][a-z0-9@$|'-]*|[а-яё]+")
_CJK_RUN = re.compile("[가-힣ぁ-ヺー一-鿿々]+")
_QUOTED = re.compile(
    "\"[^\"\n]{2,200}\"|(?<![\\w])'[^'\n]{2,200}'(?![a-z0-9])|`[^`\n]{2,200}`|「[^」\n]{2,200}」|『[^』\n]{2,200}』"
    "|«[^»\n]{2,200}»|《[^》\n]{2,200}》"
)


@dataclass(frozen=True, slots=True)
class Unit:
    """A stretch of folded text judged as one, at `start:end` of it."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a unit holds: concept -> (start, end) of its first place, those only quoted, and the features."""

    concepts: dict[Concept, tuple[int, int]]
    quoted: dict[Concept, tuple[int, int]]
    features: frozenset[str]


@cache
def _patterns(language: str) -> tuple[tuple[Concept, re.Pattern[str]], ...]:
    lexicon = import_module(f"gitmem.detectors.lexicon.{language}").LEXICON
    return tuple((concept, re.compile(pattern)) for concept, pattern in lexicon.items())


def languages(text: str) -> list[str]:
    """The lexicons that can match, by script; Latin text is also tried as another European language."""
    found = ["english"]
    if _HANGUL.search(text):
        found.append("korean")
    if _KANA.search(text):
        found.append("japanese")
    elif _HAN.search(text):
        found.append("chinese")
    if len(found) == 1 and _EUROPEAN.search(text):
        found.append("european")
    return found


def units(folded: str) -> Iterator[Unit]:
    """The units of a text: each line; of a line of several sentences also each one and each two in a row."""
    start = 0
    short: list[tuple[int, int]] = []
    size = len(folded)
    previous: tuple[int, int] | None = None
    while start <= size:
        end = folded.find("\n", start)
        if end < 0:
            end = size
        first, last = start, end
        while first < last and folded[first] in " \t\r>#*-|":
            first += 1
        while last > first and folded[last - 1].isspace():
            last -= 1
        if last - first >= 4:
            yield from _of_line(folded, first, last)
            # a sentence broken over two lines
            if previous and first == start and last - previous[0] <= LONGEST_UNIT:
                gap = folded[previous[1] - 1]
                if gap not in ".!?。！？:|" and previous[1] - previous[0] >= 24 and folded[first].isalpha():
                    yield Unit(previous[0], last, folded[previous[0] : last])
            previous = (first, last)
        else:
            previous = None
        if 0 < last - first <= 14:
            short.append((first, last))
        elif last > first or len(short) > 200:
            yield from _of_short_lines(folded, short)
            short = []
        start = end + 1
    yield from _of_short_lines(folded, short)


def _of_short_lines(folded: str, lines: list[tuple[int, int]]) -> Iterator[Unit]:
    """A sentence written one word a line."""
    if len(lines) >= 4:
        for i in range(0, len(lines), 12):
            part = lines[i : i + 24]
            yield Unit(part[0][0], part[-1][1], " ".join(folded[a:b] for a, b in part))


def _of_line(folded: str, start: int, end: int) -> Iterator[Unit]:
    line = folded[start:end]
    if len(line) <= LONGEST_UNIT:
        yield Unit(start, end, line)
    if len(line) < 40:
        return
    cuts = [0]
    for match in _SENTENCE_END.finditer(line):
        if match.end() - cuts[-1] >= 12:
            cuts.append(match.end())
    if len(cuts) == 1 and len(line) <= LONGEST_UNIT:
        return
    cuts.append(len(line))
    pieces: list[tuple[int, int]] = []
    for a, b in pairwise(cuts):
        while b - a > LONGEST_UNIT:  # no sentence end for long: overlapping windows
            pieces.append((a, a + LONGEST_UNIT))
            a += LONGEST_UNIT * 3 // 4
        pieces.append((a, b))
    for i, (a, b) in enumerate(pieces):
        yield Unit(start + a, start + b, line[a:b])
        if i and b - pieces[i - 1][0] <= LONGEST_UNIT and len(pieces) > 2:
            yield Unit(start + pieces[i - 1][0], start + b, line[pieces[i - 1][0] : b])


def read(unit: str) -> Reading:
    """The concepts and features of one unit of folded text (at most a few hundred characters)."""
    quotes = [match.span() for match in _QUOTED.finditer(unit)]
    outside = len(unit) - sum(b - a for a, b in quotes)
    if outside < 12:  # the whole unit is quoted: then it is the text itself
        quotes = []
    concepts: dict[Concept, tuple[int, int]] = {}
    quoted: dict[Concept, tuple[int, int]] = {}
    for language in languages(unit):
        for concept, pattern in _patterns(language):
            if concept in concepts:
                continue
            for match in pattern.finditer(unit):
                place = match.span()
                if any(a <= place[0] < b for a, b in quotes):
                    quoted.setdefault(concept, place)
                else:
                    concepts[concept] = place
                    break
    return Reading(concepts, quoted, frozenset(_features(unit, quotes, concepts, quoted)))


def _features(
    unit: str,
    quotes: list[tuple[int, int]],
    concepts: dict[Concept, tuple[int, int]],
    quoted: dict[Concept, tuple[int, int]],
) -> Iterator[str]:
    names = sorted(concept.name for concept in concepts)
    for i, name in enumerate(names):
        yield f"={name}"
        for other in names[i + 1 :]:
            yield f"={name}+{other}"
    for concept in quoted:
        if concept not in concepts:
            yield f"='{concept.name}"
    for a, b in reversed(quotes):
        unit = unit[:a] + " ‹› " + unit[b:]
    if quotes:
        yield "=quote"
    if "?" in unit[-3:] or "？" in unit[-3:]:
        yield "=question"
    if len(unit) > 160:
        yield "=long"
    if len(unit) < 24:
        yield "=short"
    previous = "^"
    before = ""
    for match in _WORD.finditer(unit):
        word = match.group().strip("'-|!")
        if len(word) > 24:
            word = "#"
        elif len(word) > 4:
            word = repair(word)
        yield word
        yield f"{previous} {word}"
        if before:
            yield f"{before} _ {word}"
        before, previous = previous, word
    for match in _CJK_RUN.finditer(_SPACE.sub("", unit)):
        run = match.group()
        for size in (2, 3, 4):
            for i in range(len(run) - size + 1):
                yield run[i : i + size]
