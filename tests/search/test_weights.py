"""The constants of ranking and the settings in their place."""

from __future__ import annotations

import pytest

from gitmem.config import Config
from gitmem.config.loading import load
from gitmem.errors import BadConfig
from gitmem.search.tuning import configured_ranking
from gitmem.search.weights import BY_MODEL, LEXICAL, MEANING, SHIPPED, VECTOR, WEIGHTS, WORDS


def given(**settings: str) -> Config:
    return load([(f"mem.{key}", value, "global") for key, value in settings.items()])


def test_without_settings_the_ranking_is_the_one_that_ships() -> None:
    assert configured_ranking(Config()) == SHIPPED


def test_the_shares_of_words_and_meaning_scale_their_weights_and_no_others() -> None:
    ranking = configured_ranking(given(searchLexical="0.3", searchVector="0.7"))
    for name, weight in WEIGHTS.items():
        factor = 0.3 / LEXICAL if name in WORDS else 0.7 / VECTOR if name in (*MEANING, *BY_MODEL) else 1
        assert ranking.weights[name] == pytest.approx(weight * factor)


def test_the_shares_that_ship_are_what_the_weights_come_to() -> None:
    words, meaning = sum(WEIGHTS[n] for n in WORDS), sum(WEIGHTS[n] for n in MEANING)
    assert pytest.approx(words / (words + meaning), abs=0.005) == LEXICAL and LEXICAL + VECTOR == 1


def test_any_constant_can_be_set_by_name_and_keeps_its_kind() -> None:
    config = load([("mem.searchWeight", text, "global") for text in ("label=0", "past=0.3", "joined=2", "b=0.5")])
    ranking = configured_ranking(config)
    assert ranking.weights["label"] == 0 and ranking.priors["past"] == 0.3
    assert ranking.joined == 2 and isinstance(ranking.joined, int) and ranking.b == 0.5


@pytest.mark.parametrize("text", ["nonsense=1", "label", "label=x", "label=nan", "label=1e9", "weights=1", "=1", ""])
def test_a_weight_that_names_nothing_is_refused_with_the_names_there_are(text: str) -> None:
    with pytest.raises(BadConfig) as error:
        configured_ranking(given(searchWeight=text))
    assert "label" in error.value.hint


def test_what_is_weighed_last_stands_last_whatever_is_set() -> None:
    for config in (Config(), Config(search_weight=("match0=3", "label=1"), search_vector=0.5)):
        # `scoring.with_matches` puts them there.
        assert [*configured_ranking(config).weights][-2:] == ["match0", "match1"]
