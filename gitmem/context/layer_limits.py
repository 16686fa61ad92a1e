"""The limits of each layer of a context and the weights of relevance: defaults, and their change by settings. Pure.

A setting changes only what it names: `memory limit=20` keeps the budget of that layer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Any

from gitmem.config import Config
from gitmem.errors import BadConfig
from gitmem.messages import Message

Count = Callable[[str], int]  # a text -> its tokens


class Layer(StrEnum):
    """The layers of a context, described in docs/context.md."""

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
    """The limits of a layer. `limit`: parts. `budget`: tokens of all parts. `item`: tokens of one part. 0: no limit."""

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
# Factors of relevance by layer.
SOURCE_WEIGHT = {Layer.PROCEDURE: 0.95, Layer.PROJECT: 0.85, Layer.DAILY: 0.8, Layer.HISTORY: 0.8, Layer.EPISODE: 0.70}


@dataclass(frozen=True, slots=True)
class Preset:
    """Limits of a whole context in characters. `warn`: above it a message tells the size. `most`: never exceeded."""

    warn: int
    most: int


PRESETS = {"compact": Preset(4_000, 6_000)}  # for hosts that cut longer contexts


def shares(settings: Iterable[str]) -> dict[Layer, Share]:
    """The limits of each layer: the defaults, changed by settings `LAYER [on|off] [limit=N] [budget=N] [item=N]`.

    Raises BadConfig for an unknown layer or setting.
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


_DEFAULTS = Config._field_defaults


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of similarity, recency and importance in relevance (mem.contextSimilarity and its siblings)."""

    similarity: float = _DEFAULTS["context_similarity"]
    recency: float = _DEFAULTS["context_recency"]
    importance: float = _DEFAULTS["context_importance"]
    decay: float = _DEFAULTS["context_decay"]  # per day

    def relevance(self, score: float, day: date | None, importance: float, today: date) -> float:
        """The weighted mean of `score`, exp(-decay x age in days) and `importance`, all 0..1. No day counts as
        today."""
        age = 0
        if day:
            age = max(0, (today - day).days)
        total = self.similarity + self.recency + self.importance
        recency = math.exp(-max(0.0, self.decay) * age)
        mixed = self.similarity * score + self.recency * recency + self.importance * importance
        if total > 0:
            return mixed / total
        return 0.0
