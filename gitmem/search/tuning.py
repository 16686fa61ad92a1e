"""Replaces constants of ranking by a person's settings."""

from __future__ import annotations

from gitmem.config import Config
from gitmem.errors import BadConfig
from gitmem.messages import Message
from gitmem.search.weights import BY_MODEL, LEXICAL, MEANING, NUMBERS, PRIORS, SHIPPED, VECTOR, WEIGHTS, WORDS, Ranking


def in_force(config: Config) -> Ranking:
    """The constants of ranking with the settings in their place. Raises BadConfig for an unknown name in
    `mem.searchWeight`."""
    weights, priors = dict(WEIGHTS), dict(PRIORS)
    priors["recent"], priors["importance"] = config.search_recency, config.search_importance
    numbers: dict[str, float] = {}
    for text in config.search_weight:
        name, value = _weight_named(text)
        for table in (weights, priors):
            if name in table:
                table[name] = value
        if name in NUMBERS:
            numbers[name] = type(getattr(SHIPPED, name))(value)
    meaning = (*MEANING, *BY_MODEL)
    for names, share, shipped in ((WORDS, config.search_lexical, LEXICAL), (meaning, config.search_vector, VECTOR)):
        if share != shipped:
            weights.update({name: weights[name] * share / shipped for name in names})
    return SHIPPED._replace(
        weights=weights,
        priors=priors,
        pool=config.search_pool,
        similarity=config.search_similarity,
        decay=config.search_decay,
        floor=config.search_floor,
        **numbers,  # type: ignore[arg-type]
    )


def named(name: str) -> bool:
    """Whether `mem.searchWeight` takes this name."""
    return name in WEIGHTS or name in PRIORS or name in NUMBERS


def names() -> str:
    """All names that `mem.searchWeight` takes, for a message."""
    return ", ".join([*WEIGHTS, *PRIORS, *NUMBERS])


def _weight_named(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not named(name) or not -1000 <= number <= 1000:
        raise BadConfig(
            Message("mem.searchWeight: '{}' is no weight", text), Message("NAME=VALUE with a NAME of {}", names())
        )
    return name, number
