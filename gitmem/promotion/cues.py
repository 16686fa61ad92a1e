"""Matches a line with cues: patterns that show whether the line is worth keeping. Pure.

A cue has a name, which `promote --explain` shows, and a weight: positive for keeping the line, negative against it. The
sum of the weights is the score of a spoken turn (`dialogue`) and one feature of the score of a log line (`lasting`).
The cues of each language are in a module of `promotion/lexicon/`. A weight of 2 decides alone, 1 needs another cue, 0.5
only helps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

THRESHOLD = 0.8  # least score of a line that is proposed; docs/promotion.md has the measurement
VETO = -2.0  # a cue with at most this weight limits the sum of the positive weights, as in a hedged decision
MAX_VETOED_SUM = 3.0  # that limit
DECIDING_WEIGHT = 2.0  # least weight of a cue that states the type of its line alone
MIN_SPECIFIC_SHARE = 0.7  # least share of the weight for `fact` with which another kind becomes the type
MAX_CHARACTERS = 600  # characters of a line that are read: patterns stay cheap, and a longer line is no single fact


@dataclass(frozen=True, slots=True)
class Cue:
    """One cue. `name`: what `promote --explain` shows. `weight`: positive for keeping a line, negative against it.
    `kind`: the type of fact that it indicates, "" for none. `pattern`: is searched for in lower-case text."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""


def cue(name: str, weight: float, pattern: str, kind: str = "") -> Cue:
    """A cue from a verbose regular expression, in which white space is written `\\ ` or `\\s`. `name`, `weight`,
    `kind`: as in `Cue`.

    The pattern is put in lower case, because lines are too; this takes half the time of `re.IGNORECASE`.
    """
    return Cue(name, weight, re.compile(_CAPITAL.sub(lambda m: m[0].lower(), pattern), re.VERBOSE), kind)


_CAPITAL = re.compile(r"(?<!\\)[A-Z]")  # not the letter of `\S` or `\W`


@dataclass(frozen=True, slots=True)
class CueResult:
    """The result of matching one text. `score`: the sum of weights. `kind`: the type with most weight, "" for none.
    `cues`, `against`: names of the matched cues with positive and with negative weight, the strongest first."""

    score: float
    kind: str
    cues: tuple[str, ...]
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CueSet:
    """Cues of one or more languages. `against`: cues with negative weight, which are matched first, because they may
    rule a line out. `favouring`: the others."""

    against: tuple[Cue, ...]
    favouring: tuple[Cue, ...]

    def __add__(self, other: CueSet) -> CueSet:
        return CueSet(self.against + other.against, self.favouring + other.favouring)


def cue_set(cues: Iterable[Cue]) -> CueSet:
    """Divide cues into those against keeping a line and the others; each half keeps their order."""
    listed = tuple(cues)
    return CueSet(tuple(item for item in listed if item.weight < 0), tuple(item for item in listed if item.weight >= 0))


def match_cues(text: str, cues: CueSet) -> CueResult:
    """Sum the weights of the cues that occur in `text`; each cue counts once. Of a text longer than MAX_CHARACTERS only
    the first and the last half of that number are read.

    When a cue at or below VETO matches, the positive weights count MAX_VETOED_SUM at most; a text that cannot reach
    THRESHOLD then has no positive cues and no kind in the result. The kind is the one with most weight, but `fact`
    gives way to another kind with a weight of 1 or more and MIN_SPECIFIC_SHARE of its weight.
    """
    if len(text) > MAX_CHARACTERS:
        text = f"{text[: MAX_CHARACTERS // 2]} … {text[-MAX_CHARACTERS // 2 :]}"
    text = text.lower()
    against = [item for item in cues.against if item.pattern.search(text)]
    deducted = sum(item.weight for item in against)
    vetoed = any(item.weight <= VETO for item in against)
    against.sort(key=lambda item: item.weight)
    names = tuple(item.name for item in against)
    if vetoed and deducted + MAX_VETOED_SUM < THRESHOLD:
        return CueResult(round(deducted, 3), "", (), names)
    favouring = [item for item in cues.favouring if item.pattern.search(text)]
    favoured = sum(item.weight for item in favouring)
    kinds: dict[str, float] = {}
    for item in favouring:
        if item.kind:
            kinds[item.kind] = kinds.get(item.kind, 0.0) + item.weight
    most_specific = max((weight for name, weight in kinds.items() if name != "fact"), default=0.0)
    if most_specific >= 1.0 and most_specific >= MIN_SPECIFIC_SHARE * kinds.get("fact", 0.0):
        kinds.pop("fact", None)
    favouring.sort(key=lambda item: -item.weight)
    kind = ""
    if kinds:
        kind = max(kinds, key=lambda name: kinds[name])
    score = (min(favoured, MAX_VETOED_SUM) if vetoed else favoured) + deducted
    return CueResult(round(score, 3), kind, tuple(item.name for item in favouring), names)
