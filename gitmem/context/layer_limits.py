"""The limits of a context: of each layer, and of the whole text for a preset (`compact`); also the weights of
relevance. Each has defaults, and settings change them. Pure.

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
    """The layers of a context, each a kind of memory. PINNED: instruction files and pinned facts. RECENT: the last
    turns. SUMMARY: of older turns. WORKING: working values. INCLUDED: passages that the request names. MERGED: lines of
    a model that condense parts. RULE, PROCEDURE: files of rules and of skills. MEMORY: facts of MEMORY.md. PROJECT:
    notes. EPISODE: episodes and the archive. DAILY: logs. HISTORY: commits."""

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
class LayerLimits:
    """The limits of a layer. `on`: whether it is used. `max_parts`: number of parts. `tokens`: of all parts together.
    `part_tokens`: of one part. 0 for no limit."""

    on: bool = True
    max_parts: int = 0
    tokens: int = 0
    part_tokens: int = 0


RECALLED_PART_TOKENS = 150  # tokens of one recalled part
DEFAULTS: Mapping[Layer, LayerLimits] = {
    Layer.PINNED: LayerLimits(),
    Layer.RECENT: LayerLimits(max_parts=8, tokens=800),
    Layer.SUMMARY: LayerLimits(tokens=200),
    Layer.WORKING: LayerLimits(max_parts=20, tokens=150, part_tokens=60),
    Layer.INCLUDED: LayerLimits(max_parts=20),
    Layer.MERGED: LayerLimits(),
    Layer.RULE: LayerLimits(max_parts=20),
    Layer.PROCEDURE: LayerLimits(max_parts=5),
    Layer.MEMORY: LayerLimits(max_parts=200),
    Layer.PROJECT: LayerLimits(max_parts=24, part_tokens=RECALLED_PART_TOKENS),
    Layer.EPISODE: LayerLimits(max_parts=50, part_tokens=RECALLED_PART_TOKENS),
    Layer.DAILY: LayerLimits(max_parts=24, part_tokens=RECALLED_PART_TOKENS),
    Layer.HISTORY: LayerLimits(max_parts=6, tokens=300, part_tokens=80),
}
# Factors of relevance by layer.
SOURCE_WEIGHT = {Layer.PROCEDURE: 0.95, Layer.PROJECT: 0.85, Layer.DAILY: 0.8, Layer.HISTORY: 0.8, Layer.EPISODE: 0.70}


MAX_DIGITS = 9  # of a number in a setting
SETTING_FIELDS = {"limit": "max_parts", "budget": "tokens", "item": "part_tokens"}  # word of a setting -> field


@dataclass(frozen=True, slots=True)
class Preset:
    """Limits of a whole context in characters. `warn_characters`: above it a message tells the size. `max_characters`:
    the context is never longer."""

    warn_characters: int
    max_characters: int


PRESETS = {"compact": Preset(4_000, 6_000)}  # for hosts that cut longer contexts


def limits_of_layers(settings: Iterable[str]) -> dict[Layer, LayerLimits]:
    """The limits of each layer: the defaults, changed by settings `LAYER [on|off] [limit=N] [budget=N] [item=N]`.

    Raises BadConfig for an unknown layer or setting.
    """
    limits = dict(DEFAULTS)
    for text in settings:
        name, *words = text.split() or [""]
        if name not in tuple(Layer):
            raise _bad_setting(text, f"no layer '{name}'")
        layer = Layer(name)
        for word in words:
            key, _, value = word.partition("=")
            if word in ("on", "off"):
                limits[layer] = replace(limits[layer], on=word == "on")
            elif key in SETTING_FIELDS and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
                changed: dict[str, Any] = {SETTING_FIELDS[key]: int(value)}
                limits[layer] = replace(limits[layer], **changed)
            else:
                raise _bad_setting(text, f"'{word}' is not on, off, limit=N, budget=N or item=N")
    return limits


def _bad_setting(text: str, why: str) -> BadConfig:
    return BadConfig(
        Message("mem.contextLayer '{}': {}", text, why), Message("one of {}, as in 'memory limit=50'", ", ".join(Layer))
    )


_DEFAULTS = Config._field_defaults


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of similarity, recency and importance in the relevance of a part: the settings mem.contextSimilarity,
    mem.contextRecency, mem.contextImportance and mem.contextDecay."""

    similarity: float = _DEFAULTS["context_similarity"]
    recency: float = _DEFAULTS["context_recency"]
    importance: float = _DEFAULTS["context_importance"]
    decay: float = _DEFAULTS["context_decay"]  # per day

    def relevance(self, score: float, day: date | None, importance: float, today: date) -> float:
        """The weighted mean, 0..1, of `score`, exp(-decay x age in days) and `importance`, which are 0..1 too.

        `day`: of the statement; None and a later day count as today. The mean is 0 if all weights are 0.
        """
        age = max(0, (today - day).days) if day else 0
        total = self.similarity + self.recency + self.importance
        recency = math.exp(-max(0.0, self.decay) * age)
        mixed = self.similarity * score + self.recency * recency + self.importance * importance
        return mixed / total if total > 0 else 0.0
