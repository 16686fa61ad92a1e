"""What each layer of a context may take, and how relevance is made: the defaults, and what a setting changes of them.

Pure. A setting changes what it names and leaves the rest (`memory limit=20` keeps that layer's budget).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any

from gitmem.errors import BadConfig
from gitmem.messages import Message

Count = Callable[[str], int]  # the tokens of a text


class Layer(StrEnum):
    """The layers of a context; what each is, docs/context.md says."""

    PINNED = "pinned"
    RECENT = "recent"
    SUMMARY = "summary"
    WORKING = "working"
    INCLUDED = "included"
    MERGED = "merged"
    RULE = "rule"
    PROCEDURE = "procedure"
    MEMORY = "memory"
    PROJECT = "project"
    EPISODE = "episode"
    DAILY = "daily"
    HISTORY = "history"


@dataclass(frozen=True, slots=True)
class Share:
    """A layer's switch, the parts it may have, the tokens of all of them and of one; 0 for no bound of its own."""

    on: bool = True
    limit: int = 0
    budget: int = 0
    item: int = 0


ITEM = 150  # tokens of one recalled part
DEFAULTS: Mapping[Layer, Share] = {
    Layer.PINNED: Share(),
    Layer.RECENT: Share(limit=8, budget=800),
    Layer.SUMMARY: Share(budget=200),
    Layer.WORKING: Share(limit=20, budget=150, item=60),
    Layer.INCLUDED: Share(limit=20),
    Layer.MERGED: Share(),
    Layer.RULE: Share(limit=20),
    Layer.PROCEDURE: Share(limit=5),
    Layer.MEMORY: Share(limit=200),
    Layer.PROJECT: Share(limit=24, item=ITEM),
    Layer.EPISODE: Share(limit=50, item=ITEM),
    Layer.DAILY: Share(limit=24, item=ITEM),
    Layer.HISTORY: Share(limit=6, budget=300, item=80),
}
# How much a hit in each kind of source weighs: a procedure was written to be followed, an episode is of one session.
SOURCE_WEIGHT = {Layer.PROCEDURE: 0.95, Layer.PROJECT: 0.85, Layer.DAILY: 0.8, Layer.HISTORY: 0.8, Layer.EPISODE: 0.70}


@dataclass(frozen=True, slots=True)
class Preset:
    """Characters of a whole context: from `warn` on it is said, `most` is never passed."""

    warn: int
    most: int


PRESETS = {"compact": Preset(4_000, 6_000)}  # for hosts that cut what is longer


def shares(settings: Iterable[str]) -> dict[Layer, Share]:
    """What each layer may take: the defaults as `LAYER [on|off] [limit=N] [budget=N] [item=N]` change them, in order.

    Raises BadConfig for what is no layer or no such setting.
    """
    limits = dict(DEFAULTS)
    for text in settings:
        name, *words = text.split()[:8] or [""]
        if name not in tuple(Layer):
            raise _bad(text, f"no layer '{name}'")
        layer = Layer(name)
        for word in words:
            key, _, value = word.partition("=")
            if word in ("on", "off"):
                limits[layer] = replace(limits[layer], on=word == "on")
            elif key in ("limit", "budget", "item") and value.isascii() and value.isdigit():
                changed: dict[str, Any] = {key: int(value[:9])}
                limits[layer] = replace(limits[layer], **changed)
            else:
                raise _bad(text, f"'{word}' is not on, off, limit=N, budget=N or item=N")
    return limits


def _bad(text: str, why: str) -> BadConfig:
    return BadConfig(
        Message("mem.contextLayer '{}': {}", text, why), Message("one of {}, as in 'memory limit=50'", ", ".join(Layer))
    )


@dataclass(frozen=True, slots=True)
class Weights:
    """How similarity, recency and importance make a relevance (mem.contextSimilarity and its siblings)."""

    similarity: float = 0.7
    recency: float = 0.2
    importance: float = 0.1
    decay: float = 0.002  # per day: half after a year

    def relevance(self, score: float, day: date | None, importance: float, today: date) -> float:
        """`score` 0..1, exp(-decay x days) and importance, weighed; no day counts as today's."""
        age = 0
        if day:
            age = max(0, (today - day).days)
        total = self.similarity + self.recency + self.importance
        recency = math.exp(-max(0.0, self.decay) * age)
        mixed = self.similarity * score + self.recency * recency + self.importance * importance
        if total > 0:
            return mixed / total
        return 0.0
