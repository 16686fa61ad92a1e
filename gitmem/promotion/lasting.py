"""Whether a line of a log says what will hold: learned from log days of people who did not know the cues.

A logistic regression over what the cues say of a line together, which of them match, how long it is, whether it names a
value, and what it means (`static_embedder`). The cues and their weights were written from grammar; what is learned says
how far each is to be believed. `tools/train_lasting.py` makes `lasting.json`: a weight for each feature by its name,
and for each number of a vector.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from math import log
from operator import mul

from gitmem.promotion.cues import THRESHOLD, CueResult
from gitmem.search.evidence import table_of_words, vector_of
from gitmem.text.terms import latin_length

SCALE = 0.5  # of the log-odds, which so have about the range of a sum of cues
MOST = 3.0  # of a sum of cues, either way
ALONE = 2.0  # sum of cues from which a line is kept: "we decided to use PostgreSQL" is short, and decides
MANY = 4  # cues: more say no more
FOUND_OUT = 1.0  # ... a lesson ("it turned out that cron runs in local time"): short too, and seldom in log days
COLONS = frozenset(":：;；")


def features(text: str, result: CueResult) -> dict[str, float]:
    """What is known of a line, by name: about 0..1, sums of cues apart; what is not there is 0."""
    found = {
        "cues": max(-MOST, min(MOST, result.score)),
        "several": min(len(result.cues), MANY) / MANY,
        "length": log(1 + latin_length(text)) / 3,
        "value": float(not COLONS.isdisjoint(text)),
    }
    found.update((f"cue {name}", 1.0) for name in (*result.cues, *result.against))
    return found


def meaning(text: str) -> Sequence[float]:
    """What a line means, a vector of length 1; empty where the table cannot be read."""
    return vector_of(text, table_of_words()) or ()


def score(text: str, result: CueResult) -> float:
    """The line's score: `cues.THRESHOLD` where it is about as likely as not to be worth keeping, more where it is
    likelier, and no less for a line whose cues decide alone."""
    weights, of_numbers = _weights()
    odds = sum(weights.get(name, 0.0) * value for name, value in features(text, result).items())
    odds += sum(map(mul, of_numbers, meaning(text)))
    learned: float = THRESHOLD + SCALE * (odds + weights["any"])
    enough = FOUND_OUT if result.kind == "lesson" else ALONE
    return max(learned, THRESHOLD) if result.score >= enough else learned


@cache
def _weights() -> tuple[dict[str, float], Sequence[float]]:
    text = resources.files("gitmem.promotion").joinpath("lasting.json").read_text(encoding="utf-8")
    learned = json.loads(text)
    return learned["features"], learned["meaning"]
