"""Aligns the tokens of two texts: finds pairs of tokens with the same meaning, and tokens that only one text has.
Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from gitmem.memory.relation.reading import LANGUAGES, Reading, read
from gitmem.memory.relation.tokens import DATE, ID, NAME, NUMBER, TIME, WORD, Token

VALUES = (NUMBER, DATE, TIME)


class Alignment(NamedTuple):
    """Two texts with their tokens paired.

    `pairs`: (index in `old.content`, index in `new.content`, degree of sameness 0 to 1), in order. `left_old`,
    `left_new`: indexes of the tokens without a partner. `partial_old`, `partial_new`: index of such a token, if it is
    not Latin -> the share of its letters that are in letter pairs of the other text.
    """

    old: Reading
    new: Reading
    pairs: tuple[tuple[int, int, float], ...]
    left_old: tuple[int, ...]
    left_new: tuple[int, ...]
    partial_old: dict[int, float]
    partial_new: dict[int, float]


def align(old_text: str, new_text: str) -> Alignment:
    """Pair the tokens of an earlier and a later text: equal ones first, then the most similar ones."""
    old, new = read(old_text), read(new_text)
    pairs: list[tuple[int, int, float]] = []
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    candidates = []
    places = places_of(new.content)
    for i, token in enumerate(old.content):
        for j in places.of(token):
            if degree := sameness(token, new.content[j]):
                candidates.append((-degree, i if degree == 1 else abs(i - j), i, j, degree))
    for _, _, i, j, degree in sorted(candidates):
        if i not in taken_old and j not in taken_new:
            pairs.append((i, j, degree))
            taken_old.add(i)
            taken_new.add(j)
    left_old = tuple(i for i in range(len(old.content)) if i not in taken_old)
    left_new = tuple(j for j in range(len(new.content)) if j not in taken_new)
    partial_old = {i: _covered(old.content[i].stem, new.letters) for i in left_old if not old.content[i].stem.isascii()}
    partial_new = {j: _covered(new.content[j].stem, old.letters) for j in left_new if not new.content[j].stem.isascii()}
    return Alignment(old, new, tuple(sorted(pairs)), left_old, left_new, partial_old, partial_new)


class Places(NamedTuple):
    """An index of the tokens of a text, so that a token need not be compared with all of them.

    `size`: the number of tokens. `values`: positions of numbers, days, times and identifiers. `wide`: positions of
    words in other scripts than Latin. `known`: key of a token (its form, its stem, its first letters) -> positions.
    """

    size: int
    values: tuple[int, ...]
    wide: tuple[int, ...]
    known: dict[str, list[int]]

    def of(self, token: Token) -> Iterable[int]:
        """The positions of all tokens for which `sameness` with `token` may be above 0."""
        if token.kind in VALUES or token.kind == ID:
            return range(self.size)
        positions = {*self.values, *(() if token.stem.isascii() else self.wide)}
        return positions.union(*(self.known.get(key, ()) for key in _keys(token)))


def places_of(content: Sequence[Token]) -> Places:
    """The index (`Places`) of the tokens of a text."""
    positions: dict[str, list[int]] = {}
    for position, token in enumerate(content):
        for key in _keys(token):
            positions.setdefault(key, []).append(position)
    values = tuple(position for position, token in enumerate(content) if token.kind in VALUES or token.kind == ID)
    wide = tuple(position for position, token in enumerate(content) if not token.stem.isascii())
    return Places(len(content), values, wide, positions)


def _keys(token: Token) -> tuple[str, ...]:
    """The keys of a token: two words with the same meaning share one of them."""
    return f"= {token.norm}", f"stem {token.stem}", f"begins {token.stem[:5]}"


def sameness(a: Token, b: Token) -> float:
    """The degree to which two tokens mean the same, 0 to 1: 1 for equal tokens, less for a number in words or another
    form of a word, 0 for other tokens."""
    if a.norm == b.norm and (a.kind == b.kind or a.kind not in VALUES):
        return 1.0
    if a.kind in VALUES or b.kind in VALUES or a.kind == ID or b.kind == ID:
        return _same_value(a, b)
    if a.dim == b.dim == "version":
        return 0.0  # two versions of one name are two values
    if a.stem and a.stem == b.stem:
        return 0.95
    return _same_word(a, b)


def _same_value(a: Token, b: Token) -> float:
    """`sameness` of a number, day, time or identifier and another token."""
    kinds = {a.kind, b.kind}
    if kinds == {NUMBER}:
        is_close = abs(a.value - b.value) <= 1e-9 * max(abs(a.value), abs(b.value), 1e-9)
        return float(is_close and (a.dim == b.dim or not a.dim or not b.dim))
    same_value = a.value == b.value
    if kinds == {NUMBER, ID} and (a.designated or b.designated):
        return 0.8 * (same_value and a.value != 0)
    if kinds == {NUMBER, TIME}:
        return 0.7 * same_value
    if kinds & set(VALUES):
        return 0.0
    if kinds == {ID} and a.designated and b.designated:
        lacks_noun = a.norm[0] == ":" or b.norm[0] == ":"
        return 0.9 * (same_value and a.value != 0 and lacks_noun)
    if a.stem and a.stem == b.stem:
        return 0.95
    short, long = sorted((a.norm, b.norm), key=len)
    if len(short) >= 4 and re.search(rf"(?<![a-z0-9]){re.escape(short)}(?![a-z0-9])", long):
        return 0.7
    return 0.0


def _same_word(a: Token, b: Token) -> float:
    """`sameness` of two words or names with different stems."""
    stem, other_stem = a.stem, b.stem
    if stem.isascii() and other_stem.isascii():
        begin_alike = len(stem) >= 5 and len(other_stem) >= 5 and stem[:5] == other_stem[:5]
        return 0.6 * (begin_alike and a.kind == b.kind == WORD)
    if stem.isascii() or other_stem.isascii() or len(stem) < 2 or len(other_stem) < 2 or a.kind == b.kind == NAME:
        return 0.0
    short, long = sorted((stem, other_stem), key=len)
    if short in long:
        return 0.75
    if short[:2] == long[:2] and len(short) > 2:
        return 0.5
    return 0.0


def _covered(word: str, letters: str) -> float:
    """The share of a word's letters that are in a letter pair of another text, 0 to 1; 0 for a single letter.
    `letters`: the letters of the other text."""
    if len(word) < 2:
        return 0.0
    hit = [False] * len(word)
    for i in range(len(word) - 1):
        if word[i : i + 2] in letters:
            hit[i] = hit[i + 1] = True
    return sum(hit) / len(word)


def near(a: str, b: str) -> bool:
    """Whether two different words look so similar that they probably name two things: 0418 and 0481, 한소라 and 한보라.

    True if they have the same letters in another order, or differ in one letter (another, one more or one less); the
    second way does not count for ASCII words of up to three letters.
    """
    longest = max(len(a), len(b))
    if a == b or not a or not b:
        return False
    if sorted(a) == sorted(b):
        return True
    if abs(len(a) - len(b)) > 1 or longest < 2 or (longest < 4 and a.isascii()):
        return False
    head = 0
    while head < min(len(a), len(b)) and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < min(len(a), len(b)) - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    return longest - head - tail <= 1 and head + tail >= 1


def near_places(words: Sequence[str], other_words: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(position in `words`, position in `other_words`) of every two words that are `near`. The time grows with the
    number of words, not with the number of pairs."""
    positions: dict[str, list[int]] = {}
    for j, word in enumerate(other_words):
        for key in _forms(word):
            positions.setdefault(key, []).append(j)
    for i, word in enumerate(words):
        for j in sorted(set[int]().union(*(positions.get(key, ()) for key in _forms(word)))):
            if near(word, other_words[j]):
                yield i, j


@lru_cache(maxsize=1 << 12)
def _forms(word: str) -> frozenset[str]:
    """The keys of a word: two words that are `near` share one. They are its sorted letters, the word itself, and the
    word without each of its letters."""
    without = (word[:i] + word[i + 1 :] for i in range(len(word)))
    return frozenset((f"letters {''.join(sorted(word))}", f"word {word}", *(f"word {shorter}" for shorter in without)))


def value_type(token: Token) -> str:
    """The type of a token: "number" and its dimension, "ordinal" for a designated identifier, else its kind. Only
    tokens of the same type can be two values of one property."""
    if token.kind == NUMBER:
        return f"number {token.dim}"
    if token.kind == ID and token.designated:
        return "ordinal"
    return token.kind


@cache
def _contrasts() -> dict[str, list[tuple[int, str]]]:
    """Word -> (number of the class, the word) for each contrast class that has the word. A contrast class is a list of
    words that exclude each other, such as "staging" and "production"."""
    classes: dict[str, list[tuple[int, str]]] = {}
    lines = [line for module in LANGUAGES.values() for line in module.CONTRASTS]
    for number, line in enumerate(lines):
        for word in line:
            classes.setdefault(word, []).append((number, word))
    return classes


def names_kin(token: Token) -> bool:
    """Whether a token names a relative: its first contrast class is that of "mother"."""
    return any(number == _contrasts()["mother"][0][0] for number, _ in classes_of(token)[:1])


@lru_cache(maxsize=1 << 10)
def _members(text: str) -> frozenset[tuple[int, str]]:
    """The members of contrast classes, in other scripts than Latin, that a text has anywhere."""
    wide = ((word, pairs) for word, pairs in _contrasts().items() if len(word) > 1 and not word.isascii())
    return frozenset(pair for word, pairs in wide if word in text for pair in pairs)


def classes_of(token: Token) -> list[tuple[int, str]]:
    """(number of the class, the word) for each contrast class that has the token. A contrast class is a list of words
    that exclude each other (staging, production)."""
    return _contrasts().get(token.norm) or _contrasts().get(token.stem) or []


def wide_contrasts(old: str, new: str) -> int:
    """The number of contrast classes (lists of words that exclude each other) of which both texts have members in other
    scripts than Latin, but none in common."""
    old_members, new_members = _members(old), _members(new)
    members: dict[int, tuple[set[str], set[str]]] = {}
    for side, pairs in enumerate((old_members, new_members)):
        for number, word in pairs:
            members.setdefault(number, (set(), set()))[side].add(word)
    return sum(bool(of_old and of_new and not of_old & of_new) for of_old, of_new in members.values())
