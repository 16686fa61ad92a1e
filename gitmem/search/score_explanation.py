"""What a score was made of, for `--explain`: the lanes, each kind of evidence, each prior, the settings in force.

Changes no score, and is imported only where somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitmem.config import Config, git_name, keys, tunable
from gitmem.search.hits import Hit
from gitmem.search.weights import SHIPPED, SIZES, Ranking


def explained(hit: Hit, lanes: Mapping[str, Mapping[int, float]], ranking: Ranking) -> dict[str, Any]:
    """Each lane's rank and score of the hit's chunk, what each kind of evidence added, each prior, and what the order
    added: `score` is `fused` / `scale`, the priors and `order`.

    `lanes` are the scores of the chunks each lane found.
    """
    explanation: dict[str, Any] = {}
    for name, scores in lanes.items():
        ranks = sorted(scores, key=lambda c: (-scores[c], c))
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
    # What no weight explains: the line has an identifier of the question as a whole.
    exact = hit.raw - sum(weight * value for weight, value in zip(ranking.weights.values(), hit.evidence, strict=False))
    if exact > 0.01:
        explanation["evidence"]["exact"] = round(exact, 4)
    explanation["priors"] = {name: round(value, 4) for name, value in hit.priors if value}
    explanation["fused"] = round(hit.raw, 4)
    explanation["scale"] = round(hit.scale / ranking.similarity, 4)
    # A later word on a matter, or a line about the asked thing, is put above another: no evidence of its own.
    own = ranking.similarity * hit.raw / hit.scale + sum(value for _, value in hit.priors)
    explanation["order"] = round(hit.score - own, 4)
    return explanation


def settings_in_force(config: Config, ranking: Ranking) -> dict[str, Any]:
    """What a score was made with, for --explain: the settings a person may change, what they come to, and `changed`:
    those that are not as shipped, with what ships."""
    shipped = dict(keys())
    chosen = {git_name(name): getattr(config, name) for name in shipped if tunable(name)}
    constants = {name: value for name, value in ranking._asdict().items() if name not in ("weights", "priors")}
    settings: dict[str, Any] = {
        "keys": {name: list(value) if isinstance(value, tuple) else value for name, value in chosen.items()},
        "weights": {name: round(value, 4) for name, value in ranking.weights.items()},
        "priors": dict(ranking.priors),
        "constants": {"sizes": list(SIZES), **constants},
    }
    changed = {git_name(name): meta["default"] for name, meta in shipped.items() if tunable(name)}
    settings["changed"] = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in changed.items()
        if value != chosen[name]
    }
    for now, then in (
        (ranking.weights, SHIPPED.weights),
        (ranking.priors, SHIPPED.priors),
        (constants, SHIPPED._asdict()),
    ):
        settings["changed"] |= {name: then[name] for name, value in now.items() if value != then[name]}
    return settings
