"""Cues: what in a line speaks for keeping it, and what against. A line's score is the plain sum of their weights.

Pure. Every cue has a name, so that `promote --explain` can say why a line was or was not proposed. Weights live beside
the patterns, in lexicon_en.py and lexicon_ko.py: about 2 decides alone, 1 needs a little company, 0.5 only helps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

THRESHOLD = 1.0  # of the sum: docs/promotion.md has the measurement
VETO = -2.0  # a cue this far against limits what all cues for a line may add up to: a hedged decision is none
CAP = 3.2
PARTICULAR = 0.7  # of the support for `fact`: from there on another kind names the type
LONG = 600  # characters of a line that are read: patterns stay cheap, and a longer line is no single fact


@dataclass(frozen=True, slots=True)
class Cue:
    """`kind` is the type of fact the cue speaks for, empty for what speaks for or against any."""

    name: str
    weight: float
    pattern: re.Pattern[str]
    kind: str = ""


def cue(name: str, weight: float, pattern: str, kind: str = "") -> Cue:
    """A cue from a verbose pattern: case is ignored, white space in the pattern too (write `\\ ` or `\\s`)."""
    return Cue(name, weight, re.compile(pattern, re.IGNORECASE | re.VERBOSE), kind)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the cues made of one text: the sum, the type with most support, the names that spoke, best first."""

    score: float
    kind: str
    cues: tuple[str, ...]
    against: tuple[str, ...]


def read(text: str, cues: Iterable[Cue]) -> Reading:
    """Sum the cues that occur in `text`; each counts once. The type is that of the most supported kind.

    What lasts in general (`fact`) names the type only where nothing more particular is about as well supported.
    """
    if len(text) > LONG:
        text = f"{text[: LONG // 2]} … {text[-LONG // 2 :]}"
    good = bad = worst = 0.0
    kinds: dict[str, float] = {}
    spoke: list[tuple[float, str]] = []
    for item in cues:
        if item.pattern.search(text):
            spoke.append((item.weight, item.name))
            if item.weight > 0:
                good += item.weight
                if item.kind:
                    kinds[item.kind] = kinds.get(item.kind, 0.0) + item.weight
            else:
                bad += item.weight
                worst = min(worst, item.weight)
    if worst <= VETO:
        good = min(good, CAP)
    named = max((w for name, w in kinds.items() if name != "fact"), default=0.0)
    if named >= 1.0 and named >= PARTICULAR * kinds.get("fact", 0.0):
        kinds.pop("fact", None)
    spoke.sort(key=lambda pair: -abs(pair[0]))
    kind = max(kinds, key=lambda name: kinds[name]) if kinds else ""
    return Reading(
        round(good + bad, 3), kind, tuple(n for w, n in spoke if w > 0), tuple(n for w, n in spoke if w < 0)
    )
