"""Explains the score of a hit for `--explain`: its lanes, evidence, priors and the settings. Changes no score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitmem.config import Config
from gitmem.config.settings import SETTINGS, git_name, tunable
from gitmem.json_values import json_value
from gitmem.search.hits import Hit
from gitmem.search.weights import SHIPPED, SIZES, Ranking


def explain_score(hit: Hit, lanes: Mapping[str, Mapping[int, float]], ranking: Ranking) -> dict[str, Any]:
    """JSON of the parts of a hit's score: rank and score of its chunk in each lane (None if the lane lacks it), the
    amount of each kind of evidence and of each prior, and `fused`, `scale` and `order`.

    The score of the hit is `fused` / `scale` plus the priors plus `order`. `lanes`: name of a lane -> chunk id ->
    score.
    """
    explanation: dict[str, Any] = {}
    for name, scores in lanes.items():
        ranks = sorted(scores, key=lambda chunk: (-scores[chunk], chunk))
        chunk = hit.chunk
        if chunk in scores:
            explanation[name] = {"rank": ranks.index(chunk) + 1, "score": round(scores[chunk], 4)}
        else:
            explanation[name] = None
    explanation["evidence"] = {
        name: round(weight * value, 4)
        for (name, weight), value in zip(ranking.weights.items(), hit.evidence, strict=False)
        if value
    }
    # What no weight accounts for comes from an identifier of the question that the line has as a whole.
    exact = hit.raw - sum(weight * value for weight, value in zip(ranking.weights.values(), hit.evidence, strict=False))
    if exact > 0.01:
        explanation["evidence"]["exact"] = round(exact, 4)
    explanation["priors"] = {name: round(value, 4) for name, value in hit.priors if value}
    explanation["fused"] = round(hit.raw, 4)
    explanation["scale"] = round(hit.scale / ranking.similarity, 4)
    # Later statements and lines about the thing that was asked for were moved above others.
    own_score = ranking.similarity * hit.raw / hit.scale + sum(value for _, value in hit.priors)
    explanation["order"] = round(hit.score - own_score, 4)
    return explanation


def settings_in_force(config: Config, ranking: Ranking) -> dict[str, Any]:
    """JSON of the settings in force for `--explain`: `keys` (settings of search), `weights`, `priors`, `constants`, and
    `changed`: name -> shipped value of each that differs."""
    chosen = {git_name(name): getattr(config, name) for name in SETTINGS if tunable(name)}
    constants = {name: value for name, value in ranking._asdict().items() if name not in ("weights", "priors")}
    settings: dict[str, Any] = {
        "keys": json_value(chosen),
        "weights": {name: round(value, 4) for name, value in ranking.weights.items()},
        "priors": dict(ranking.priors),
        "constants": {"sizes": list(SIZES), **constants},
    }
    changed = {git_name(name): Config._field_defaults[name] for name in SETTINGS if tunable(name)}
    settings["changed"] = json_value({name: value for name, value in changed.items() if value != chosen[name]})
    for used, shipped in (
        (ranking.weights, SHIPPED.weights),
        (ranking.priors, SHIPPED.priors),
        (constants, SHIPPED._asdict()),
    ):
        settings["changed"] |= {name: shipped[name] for name, value in used.items() if value != shipped[name]}
    return settings
