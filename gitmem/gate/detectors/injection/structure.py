"""Cuts a text into units, and reads the concepts and words of each unit.

A unit is a piece of text that is judged as one: a line, or one or two sentences of a long line. This module finds the
concepts of the lexicon in a unit, whether they are in quotation marks, and the features of its words. It gives them no
weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from gitmem.gate.detectors.injection.lexicon import Concept
from gitmem.gate.detectors.injection.weights import Ceiling, Weights, load
from gitmem.gate.detectors.key_words import repair
from gitmem.lazy_patterns import lazy

LONGEST_UNIT = 360  # characters
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
_SENTENCE_END = lazy(r"(?<=[.!?])[\"')\]]{0,2}\s+|(?<=[。！？])|(?<=[다요라함음오까])\.\s*|\s[-–—]{1,2}\s")
_SPACE = lazy(r"\s+")
_WORD = lazy(r"[a-z0-9@$!|]*[a-z][a-z0-9@$|'-]*|[а-яё]+")
_QUICK_WORD = lazy(r"[a-zа-яё][a-zа-яё']+")
_QUICK_ASCII = lazy(r"[a-z][a-z']+")  # the same where nothing else can stand, in half of the time
_SOME_LATIN = lazy(r"[a-z]{2}|\d\.\d")
_QUOTE_SIGN = lazy("[\"'`「『«《]")
_CJK_RUN = lazy("[가-힣ぁ-ヺー一-鿿々]+")
_QUOTED = lazy(
    "\"[^\"\n]{2,200}\"|(?<![\\w])'[^'\n]{2,200}'(?![a-z0-9])|`[^`\n]{2,200}`|「[^」\n]{2,200}」|『[^』\n]{2,200}』"
    "|«[^»\n]{2,200}»|《[^》\n]{2,200}》"
)


_MARKS = " \t\r>#*|-"  # what opens a line and belongs to no sentence


class Unit(NamedTuple):
    """A piece of folded text that is judged as one. `start`, `end`: its offsets."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a unit. `concepts`: concept -> (start, end) of its first place. `quoted`: the same for concepts
    that are only in quotation marks. `features`: names of the features, for the lexicon's linear model."""

    concepts: dict[Concept, tuple[int, int]]
    quoted: dict[Concept, tuple[int, int]]
    features: frozenset[str]


Pattern = tuple[Concept, str, str]  # with its name; compiled when it is first tried: a hook's few lines try few


@cache
def _patterns(language: str) -> dict[str, Pattern]:
    """The lexicon of a language: name of a concept -> (concept, name, pattern)."""
    lexicon = import_module(f"gitmem.gate.detectors.injection.lexicon.{language}").LEXICON
    return {concept.name: (concept, concept.name, text) for concept, text in lexicon.items()}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_HEADING = lazy(r"\n\[([a-z]+)\]\n")
Pieces = dict[str, list[tuple[str, tuple[str, ...]]]]  # beginning -> (concept, whole pieces; none: it is one itself)


@cache
def _anchors(language: str) -> tuple[Pieces, Pieces, frozenset[str]]:
    """The table of anchors.txt for one language: (pieces whose key has three characters, pieces with a shorter key,
    concepts without any piece). A concept's pattern can match only a unit that contains one of its pieces
    (`tools/train.py lexicon_anchors` makes the file)."""
    three: Pieces = {}
    short: Pieces = {}
    always: list[str] = []
    text = Path(__file__).with_name("anchors.txt").read_text(encoding="utf-8")
    rows = _HEADING.split(text)
    for line in rows[rows.index(language) + 1].split("\n"):
        key, _, row = line.partition("\t")
        name, *rests = row.split("\t")
        if key:
            whole = tuple([key + rest for rest in rests])
            (three if len(key) == 3 else short).setdefault(key, []).append((name, whole))
        elif name:
            always.append(name)
    return three, short, frozenset(always)


def candidates(unit: str) -> list[Pattern]:
    """The patterns that may match a unit: of the lexicons of its languages, those with a piece that the unit contains
    and those without any piece."""
    chosen: list[Pattern] = []
    holds = unit.__contains__
    for language in languages(unit):
        three, short, always = _anchors(language)
        names = set(always)
        for entries in (*_rows_in_unit(unit, three, 3), *_rows_in_unit(unit, short, 2)):
            for name, pieces in entries:
                if name not in names and (not pieces or any(map(holds, pieces))):
                    names.add(name)
        patterns = _patterns(language)
        chosen += [patterns[name] for name in sorted(names, key=_order(language).__getitem__)]
    return chosen


@cache
def _order(language: str) -> dict[str, int]:
    return {name: place for place, name in enumerate(_patterns(language))}


def _rows_in_unit(unit: str, pieces: Pieces, size: int) -> list[list[tuple[str, tuple[str, ...]]]]:
    """The rows of `pieces` whose key is in the unit. `size`: the most characters of a key."""
    if len(pieces) < max(len(unit), _MAX_SHORT_LINES):  # those of one character stand among few
        return [pieces[key] for key in pieces if key in unit]
    runs = zip(*[unit[i:] for i in range(size)], strict=False)
    return [pieces[key] for key in pieces.keys() & map("".join, runs)]


_MAX_SHORT_LINES = 16


def languages(text: str) -> list[str]:
    """The names of the lexicons to search, by the scripts of the text. Latin text is also searched as another European
    language if it has words of one."""
    if _SOME_LATIN.search(text):
        languages = ["english"]
    else:
        languages = []
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


def units(folded: str) -> Iterator[Unit]:
    """The units of all lines of a text."""
    for line in lines(folded):
        yield from units_of(folded, line)


class Line(NamedTuple):
    """A line, or some very short lines in a row (`pieces`), at `start:end` of the text.

    `pieces`: (start, end) of each short line, () for a single line. `joined`: the offsets at which the lines before
    begin whose sentence this line continues, the first one first; () if it continues none.
    """

    start: int
    end: int
    joined: tuple[int, ...] = ()
    pieces: tuple[tuple[int, int], ...] = ()

    def says(self, folded: str) -> str:
        """The text of the line; the texts of its pieces with blanks between them."""
        if self.pieces:
            return " ".join(folded[a:b] for a, b in self.pieces)
        return folded[self.start : self.end]


def lines(folded: str) -> Iterator[Line]:
    """The lines of a text that have at least four characters, without list and quotation marks at their beginning. Four
    or more lines in a row of at most 14 characters also make lines with `pieces`, after the last one of them."""
    short: list[tuple[int, int]] = []
    broken: list[tuple[int, int]] = []  # the lines before, each going on with the sentence of the one before it
    at = 0
    for line in folded.split("\n"):
        start, body = at, line.lstrip(_MARKS)
        at += len(line) + 1
        first = start + len(line) - len(body)
        last = first + len(body.rstrip())
        size = last - first
        if size >= 4:
            if broken and not _goes_on(folded, broken[-1][1], first, folded[start:first]):
                broken = []
            while broken and not _together(broken, last):
                broken.pop(0)
            yield Line(first, last, tuple([begin for begin, _ in broken]))
            broken.append((first, last))
        else:
            broken = []
        if 0 < size <= 14:
            short.append((first, last))
        elif size or len(short) > 200:
            yield from _of_short_lines(short)
            short = []
    yield from _of_short_lines(short)


def _goes_on(folded: str, previous: int, first: int, marks: str) -> bool:
    """Whether the line whose text begins at offset `first` continues the sentence of the line that ends at `previous`.
    An item of a list does not. `marks`: the signs before the line's text."""
    return not marks.strip(_INDENT) and folded[previous - 1] not in ".!?。！？:|" and folded[first].isalpha()


def _together(broken: list[tuple[int, int]], last: int) -> bool:
    """Whether the lines `broken` and the line that ends at `last` are read as one: two lines, or more lines that are
    narrow."""
    return last - broken[0][0] <= (LONGEST_UNIT if len(broken) == 1 else _NARROW)


_INDENT = " \t\r>"
_NARROW = LONGEST_UNIT // 2  # characters of more than two lines that are read as one


def units_of(folded: str, line: Line) -> Iterator[Unit]:
    """The units of a line: the line itself, if it has at most LONGEST_UNIT characters; of several sentences also each
    one and each two in a row; and the line joined with the lines whose sentence it continues."""
    if line.pieces:
        yield Unit(line.start, line.end, line.says(folded))
        return
    yield from _of_line(folded, line.start, line.end)
    if line.joined:
        begin = line.joined[0]
        yield Unit(begin, line.end, folded[begin : line.end])


def _of_short_lines(places: list[tuple[int, int]]) -> Iterator[Line]:
    """A line for each 24 of these short lines in a row, overlapping by half: a sentence may be written one word a line.
    No line for fewer than four."""
    if len(places) >= 4:
        for i in range(0, len(places), 12):
            part = places[i : i + 24]
            yield Line(part[0][0], part[-1][1], pieces=tuple(part))


def _of_line(folded: str, start: int, end: int) -> Iterator[Unit]:
    """The units of a line: the line itself if it is short enough, each sentence, and each pair of neighbouring
    sentences. A sentence over LONGEST_UNIT becomes overlapping windows."""
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


def without_markup(unit: str) -> str:
    """The text of a unit of folded text as a rendered page shows it: without the markup that separates single words.

    The function removes emphasis, brackets, tags, footnotes, numbers attached to a word, and quotation marks or
    backticks around one or two words; a longer quotation stays, since it is talked about. It removes signs after each
    word, or after each two or three words, if there are four in a row, and signs that break a Japanese or Chinese
    sentence into pieces of a few characters. A link is replaced by its text, and the addresses of all links are put at
    the end.
    """
    if not unit.isascii() and _BROKEN.search(unit):
        unit = _BREAK.sub("", unit)
    if _MARKUP.search(unit) is None and not _is_separated(unit):
        return unit
    if "](" in unit:
        addresses = _LINK.findall(unit)
    else:
        addresses = []
    if addresses:
        unit = _LINK.sub(r"\1", unit)
    unit = _DECORATION.sub("", _TAG.sub("", unit) if "<" in unit else unit)
    if _QUOTE_SIGN.search(unit):
        unit = _QUOTED_WORD.sub(r"\1", unit)
    if _is_separated(unit):
        unit = _SEPARATOR.sub(" ", unit)
    if addresses:
        return " ".join([unit, *dict.fromkeys([address for _, address in addresses])])
    return unit


def _is_separated(unit: str) -> bool:
    return len(_SEPARATION.findall(unit)) >= 4 and _SEPARATED.search(unit) is not None


_MARKUP = lazy(r"[*`\"~{}\[\]<>_'\\「『«《]|[a-z]\d")
_LINK = lazy(r"\[([^\[\]\n]{1,200})\]\([ \t<]{0,4}([^()\s<>]{0,400})[^()\n]{0,200}\)")
_TAG = lazy(r"</?[a-z][^<>\n]{0,200}>")
_DECORATION = lazy(  # begins with its sign and looks back, so that a search passes over letters
    r"[*~{}\[\]<>_\\\d](?:(?<=\[)\^?\d{1,3}\]|(?<=[*~{}\[\]<>])[*~{}\[\]<>]*|(?<=(?<![^\W_])_)_*|(?<=_)_*(?![^\W_])"
    r"|(?<=(?<!\S)\\)\\*|(?<=[a-z]{2}\d)\d{0,2}(?![\w.]))"
)
_SEPARATION = lazy(r"[,;:/|.…–—-][ \t]")  # how each part of the next ends: counting these costs a twentieth of it
# Behind each word, or but for commas behind each two or three. Of the first word its last letter is enough to see that it
# is there: a search that began at each of its letters would read what follows as often.
_SEPARATED = lazy(
    r"[^\W\d_][ \t]?[,;:/|.…–—-]{1,3}[ \t]{1,3}(?:[^\W\d_]{1,24}[ \t]?[,;:/|.…–—-]{1,3}[ \t]{1,3}){3}"
    r"|[^\W\d_][ \t]?[;:/|.…–—-]{1,3}[ \t]{1,3}"
    r"(?:(?:[^\W\d_]{1,24}[ \t]){0,2}[^\W\d_]{1,24}[ \t]?[;:/|.…–—-]{1,3}[ \t]{1,3}){3}"
)
_BROKEN = lazy(  # its first character is the last of a piece, see `_SEPARATED`
    r"[ぁ-ヺー一-鿿][\s.,;:/|…–—_-]{1,4}(?:[ぁ-ヺー一-鿿]{1,4}[\s.,;:/|…–—_-]{1,4}){3}(?=[ぁ-ヺー一-鿿])"
)
_BREAK = lazy(r"(?<=[ぁ-ヺー一-鿿])[\s.,;:/|…–—_-]{1,4}(?=[ぁ-ヺー一-鿿])")
_SEPARATOR = lazy(r"[ \t]?[,;:/|.…–—-]{1,3}[ \t]{1,3}")
_QUOTED_WORD = lazy(
    r"[\"'`「『«《]+((?:[a-zа-яё0-9.,:;!?/_-]{1,24} ?){1,2}|[^\x00-\x7f]{1,6})[\"'`」』»》]+(?![a-zа-яё])"
)


def quotes(unit: str) -> list[tuple[int, int]]:
    """The quoted ranges of a unit; [] when nearly the whole unit is quoted, since the quotation is then the text
    itself."""
    if _QUOTE_SIGN.search(unit):
        quotations = [match.span() for match in _QUOTED.finditer(unit)]
    else:
        quotations = []
    outside = len(unit) - sum(b - a for a, b in quotations)
    if outside >= 12:
        return quotations
    return []


def read(unit: str) -> Reading:
    """Read one unit of folded text (at most a few hundred characters)."""
    spans = quotes(unit)
    reading = complete(unit, spans, words(unit, spans), candidates(unit))
    assert reading is not None
    return reading


def complete(
    unit: str,
    spans: list[tuple[int, int]],
    of_words: list[str],
    patterns: list[Pattern],
    ceiling: Ceiling | None = None,
    least: float = 0.0,
) -> Reading | None:
    """Find the concepts of a unit and make all its features.

    `spans`: its quoted ranges. `of_words`: the result of `words`. `patterns`: the result of `candidates`. `ceiling`: an
    upper bound of the score that sinks while concepts are looked for; None as soon as it is below `least`.
    """
    concepts: dict[Concept, tuple[int, int]] = {}
    quoted: dict[Concept, tuple[int, int]] = {}
    tried: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        tried.setdefault(pattern[1], []).append(pattern)
    names = list(tried)
    if ceiling is not None:  # what can add most first: where it is missing, the rest need not be looked for
        ranks = load().ranks
        names.sort(key=lambda name: -ranks.get(name, 0.0))
    for name in names:
        concept = tried[name][0][0]
        for _, _, words_of in tried[name]:
            for match in _compiled(words_of).finditer(unit):
                place = match.span()
                if spans and any([a <= place[0] < b for a, b in spans]):
                    quoted.setdefault(concept, place)
                else:
                    concepts[concept] = place
                    break
            if concept in concepts:
                break
        if ceiling is not None:
            if concept in concepts:
                ceiling.found(name)
            else:
                ceiling.missing(name, concept in quoted)
            if ceiling.value < least:
                return None
    if ceiling is not None:
        concepts = {tried[name][0][0]: concepts[tried[name][0][0]] for name in tried if tried[name][0][0] in concepts}
    names = sorted([concept.name for concept in concepts])
    features = of_words + [f"={name}" for name in names]
    features += [f"={name}+{other}" for i, name in enumerate(names) for other in names[i + 1 :]]
    features += [f"='{concept.name}" for concept in quoted if concept not in concepts]
    return Reading(concepts, quoted, frozenset(features))


def words(unit: str, spans: list[tuple[int, int]]) -> list[str]:
    """The features of a unit that need no lexicon: words outside quotation marks, pairs of words, and pieces of CJK
    runs."""
    unit = _unquoted(unit, spans)
    row = _row(unit)
    features = _of_form(unit, spans) + row[1:]
    features += [f"{before} {word}" for before, word in pairwise(row)]
    features += [f"{before} _ {word}" for before, word in zip(row, row[2:], strict=False)]
    return features + _cjk_pieces(unit)


def score_of_words(unit: str, spans: list[tuple[int, int]], learned: Weights) -> float:
    """The lexicon's score of `words(unit, spans)`. Pairs of words that have no weight are not made."""
    unit = _unquoted(unit, spans)
    row = _row(unit)
    firsts, last = learned.firsts, len(row) - 1
    features = {*_of_form(unit, spans), *row[1:], *_cjk_pieces(unit)}
    for at, word in enumerate(row):
        if word in firsts:
            if at < last:
                features.add(f"{word} {row[at + 1]}")
            if at + 1 < last:
                features.add(f"{word} _ {row[at + 2]}")
    return learned.score(features)


def _unquoted(unit: str, spans: list[tuple[int, int]]) -> str:
    """The unit with ` ‹› ` in place of each span; `spans` in order."""
    for a, b in reversed(spans):
        unit = unit[:a] + " ‹› " + unit[b:]
    return unit


def _row(unit: str) -> list[str]:
    return ["^", *[_word(raw) for raw in _WORD.findall(unit)]]


def _of_form(unit: str, spans: list[tuple[int, int]]) -> list[str]:
    """Features of the form of a unit: `=quote`, `=question`, `=long` and `=short`, as they apply."""
    if spans:
        features = ["=quote"]
    else:
        features = []
    if "?" in unit[-3:] or "？" in unit[-3:]:
        features.append("=question")
    if len(unit) > 160:
        features.append("=long")
    if len(unit) < 24:
        features.append("=short")
    return features


def _cjk_pieces(unit: str) -> list[str]:
    """The pairs, triples and quadruples of neighbouring characters in the CJK runs of a unit, spaces ignored; repeats
    stay."""
    features: list[str] = []
    if not unit.isascii() and _CJK_RUN.search(unit):
        for run in _CJK_RUN.findall(_SPACE.sub("", unit)):
            for size in (2, 3, 4):
                features += [run[i : i + size] for i in range(len(run) - size + 1)]
    return features


@lru_cache(maxsize=1 << 13)
def _word(raw: str) -> str:
    """A word as a feature: with misspellings repaired; `#` for a run of letters that is too long for a word."""
    word = raw.strip("'-|!")
    if len(word) > 24:
        return "#"
    if len(word) > 4:
        return repair(word)
    return word


def tokens(line: str) -> set[str]:
    """The words of at least two letters and the CJK pairs of a folded line, quoted or not, for the prefilter."""
    if line.isascii():
        return set(_QUICK_ASCII.findall(line))
    signs = set(_QUICK_WORD.findall(line))
    if _CJK_RUN.search(line):
        for run in _CJK_RUN.findall(_SPACE.sub("", line)):
            signs.update(map("".join, pairwise(run)))
    return signs
