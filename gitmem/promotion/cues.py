"""Cues: what in a line speaks for keeping it, and what against, and the plain sum of their weights: the score of what
is said in a talk, and what the learned score of a line of a log begins with (`promotion/lasting`).

Pure. Every cue has a name, so that `promote --explain` can say why a line was or was not proposed. Weights live beside
the patterns, in a module of `promotion/lexicon/` for each language: about 2 decides alone, 1 needs a little company,
0.5 only helps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

THRESHOLD = 0.8  # of the score: docs/promotion.md has the measurement
VETO = -2.0  # a cue this far against limits what all cues for a line may add up to: a hedged decision is none
VETOED_AT_MOST = 3.0
SPECIFIC_SHARE = 0.7  # of the weight for `fact` from which another kind names the type
CHARACTERS_READ = 600  # characters of a line that are read: patterns stay cheap, and a longer line is no single fact


@dataclass(frozen=True, slots=True)
class Cue:
    """`kind` is the type of fact the cue speaks for, empty for what speaks for or against any."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""


def cue(name: str, weight: float, pattern: str, kind: str = "") -> Cue:
    """A cue from a verbose pattern (write `\\ ` or `\\s` for white space), whatever its case.

    Lines are read in lower case, so the pattern is put there too: half the time that `re.IGNORECASE` takes.
    """
    return Cue(name, weight, re.compile(_CAPITAL.sub(lambda m: m[0].lower(), pattern), re.VERBOSE), kind)


_CAPITAL = re.compile(r"(?<!\\)[A-Z]")  # not the letter of `\S` or `\W`


@dataclass(frozen=True, slots=True)
class CueResult:
    """The cues of one text: their sum, the type with most weight, the names of those that matched, best first."""

    score: float
    kind: str
    cues: tuple[str, ...]
    against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CueSet:
    """Cues of one language, those against first: a line they rule out is not read further."""

    against: tuple[Cue, ...]
    favouring: tuple[Cue, ...]

    def __add__(self, other: CueSet) -> CueSet:
        return CueSet(self.against + other.against, self.favouring + other.favouring)


def cue_set(cues: Iterable[Cue]) -> CueSet:
    """The cues as a set, order kept within each half."""
    listed = tuple(cues)
    return CueSet(tuple(c for c in listed if c.weight < 0), tuple(c for c in listed if c.weight >= 0))


def match_cues(text: str, cues: CueSet) -> CueResult:
    """Sum the cues that occur in `text`; each counts once. The type is that of the most supported kind.

    What lasts in general (`fact`) names the type only where nothing more particular is about as well supported.
    """
    if len(text) > CHARACTERS_READ:
        text = f"{text[: CHARACTERS_READ // 2]} … {text[-CHARACTERS_READ // 2 :]}"
    text = text.lower()
    against = [item for item in cues.against if item.pattern.search(text)]
    deducted = sum(item.weight for item in against)
    vetoed = any(item.weight <= VETO for item in against)
    against.sort(key=lambda item: item.weight)
    names = tuple(item.name for item in against)
    if vetoed and deducted + VETOED_AT_MOST < THRESHOLD:
        return CueResult(round(deducted, 3), "", (), names)
    favouring = [item for item in cues.favouring if item.pattern.search(text)]
    added = sum(item.weight for item in favouring)
    kinds: dict[str, float] = {}
    for item in favouring:
        if item.kind:
            kinds[item.kind] = kinds.get(item.kind, 0.0) + item.weight
    named = max((w for name, w in kinds.items() if name != "fact"), default=0.0)
    if named >= 1.0 and named >= SPECIFIC_SHARE * kinds.get("fact", 0.0):
        kinds.pop("fact", None)
    favouring.sort(key=lambda item: -item.weight)
    kind = ""
    if kinds:
        kind = max(kinds, key=lambda name: kinds[name])
    score = (min(added, VETOED_AT_MOST) if vetoed else added) + deducted
    return CueResult(round(score, 3), kind, tuple(item.name for item in favouring), names)
