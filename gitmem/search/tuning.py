"""Replaces constants of ranking by a person's settings."""

from __future__ import annotations

from gitmem.config import Config
from gitmem.errors import BadConfig
from gitmem.messages import Message
from gitmem.search.weights import BY_MODEL, LEXICAL, MEANING, NUMBERS, PRIORS, SHIPPED, VECTOR, WEIGHTS, WORDS, Ranking


def configured_ranking(config: Config) -> Ranking:
    """The constants of ranking: the shipped ones, changed by the settings. Raises BadConfig for an unknown name or a
    bad value in `mem.searchWeight`."""
    weights, priors = dict(WEIGHTS), dict(PRIORS)
    priors["recent"], priors["importance"] = config.search_recency, config.search_importance
    numbers: dict[str, float] = {}
    for text in config.search_weight:
        name, value = _parse_weight(text)
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


def is_constant(name: str) -> bool:
    """Whether `mem.searchWeight` accepts this name of a constant."""
    return name in WEIGHTS or name in PRIORS or name in NUMBERS


def constant_names() -> str:
    """All names that `mem.searchWeight` accepts, joined by commas, for a message."""
    return ", ".join([*WEIGHTS, *PRIORS, *NUMBERS])


def _parse_weight(text: str) -> tuple[str, float]:
    """(name, value) of `NAME=VALUE`. Raises BadConfig for an unknown name, and for a value that is no number from -1000
    to 1000."""
    name, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not is_constant(name) or not -1000 <= number <= 1000:
        raise BadConfig(
            Message("mem.searchWeight: '{}' is no weight", text),
            Message("NAME=VALUE with a NAME of {}", constant_names()),
        )
    return name, number
