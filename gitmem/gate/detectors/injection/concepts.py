"""Finds the concepts of the lexicon in a unit of text, outside its quotation marks."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module

from gitmem.gate.detectors.injection.lexicon import Concept
from gitmem.lazy_patterns import lazy

_HANGUL = lazy("[가-힣]")
_KANA = lazy("[ぁ-ヺー]")
_HAN = lazy("[一-鿿]")
_EUROPEAN = lazy(
    r"[а-яё]{3}|\b(?:las?|los|el|de|les?|des|du|une?|vos|die|der|das|den|alle|und|il|gli|tutte|os|todas?|toutes?|tous|bo qua|cac)\b"
)
_LETTERS = lazy(r"[a-z]+")
_EUROPEAN_WORDS = frozenset(  # with which `_EUROPEAN` begins where a text is ASCII
    [
        *("la", "las", "los", "el", "de", "le", "les", "des", "du", "un", "une", "vos", "die", "der", "das", "den"),
        *("alle", "und", "il", "gli", "tutte", "os", "toda", "todas", "toute", "toutes", "tous", "bo", "cac"),
    ]
)
_SOME_LATIN = lazy(r"[a-z]{2}|\d\.\d")
_QUOTE_SIGN = lazy("[\"'`「『«《]")
_QUOTED = lazy(
    "\"[^\"\n]{2,200}\"|(?<![\\w])'[^'\n]{2,200}'(?![a-z0-9])|`[^`\n]{2,200}`|「[^」\n]{2,200}」|『[^』\n]{2,200}』"
    "|«[^»\n]{2,200}»|《[^》\n]{2,200}》"
)


@cache
def _patterns(language: str) -> list[tuple[Concept, re.Pattern[str]]]:
    """The lexicon of a language, compiled."""
    lexicon = import_module(f"gitmem.gate.detectors.injection.lexicon.{language}").LEXICON
    return [(concept, re.compile(pattern)) for concept, pattern in lexicon.items()]


def languages(text: str) -> list[str]:
    """The names of the lexicons to search, by the scripts of the text. Latin text is also searched as another European
    language if it has words of one."""
    languages = []
    if _SOME_LATIN.search(text):
        languages.append("english")
    if text.isascii():
        if _EUROPEAN_WORDS.isdisjoint(_LETTERS.findall(text)):
            return languages
    elif _HANGUL.search(text):
        languages.append("korean")
    if _KANA.search(text):
        languages.append("japanese")
    elif _HAN.search(text):
        languages.append("chinese")
    if (not languages or languages == ["english"]) and _EUROPEAN.search(text):
        languages.append("european")
    return languages


def quotes(unit: str) -> list[tuple[int, int]]:
    """The ranges of a unit between quotation marks or backticks; [] when fewer than 12 characters stand outside them,
    since the quotation is then the text itself."""
    if not _QUOTE_SIGN.search(unit):
        return []
    quotations = [match.span() for match in _QUOTED.finditer(unit)]
    outside = len(unit) - sum(b - a for a, b in quotations)
    if outside >= 12:
        return quotations
    return []


def read(unit: str) -> dict[Concept, tuple[int, int]]:
    """The concepts of a unit of folded text: concept -> (start, end) of the first place found that does not begin in a
    quotation. A unit that is nearly all quotation (`quotes`) is read as a whole."""
    spans = quotes(unit)
    places: dict[Concept, tuple[int, int]] = {}
    for language in languages(unit):
        for concept, pattern in _patterns(language):
            if concept not in places:
                place = _first_outside(pattern, unit, spans)
                if place:
                    places[concept] = place
    return places


def _first_outside(pattern: re.Pattern[str], unit: str, spans: list[tuple[int, int]]) -> tuple[int, int] | None:
    """(start, end) of the first match of a pattern that begins in none of `spans`; None without one."""
    for match in pattern.finditer(unit):
        start, end = match.span()
        if not any([first <= start < last for first, last in spans]):
            return start, end
    return None
