"""What a layer may take: a setting changes what it names and leaves the rest; relevance is what the weights say."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.context.layer_limits import DEFAULTS, Layer, Weights, limits_of_layers
from gitmem.errors import BadConfig

TODAY = date(2026, 2, 5)


def test_every_layer_has_a_default_and_a_setting_changes_only_what_it_names() -> None:
    assert set(DEFAULTS) == set(Layer) and limits_of_layers(()) == DEFAULTS
    assert (DEFAULTS[Layer.MEMORY].max_parts, DEFAULTS[Layer.EPISODE].max_parts, DEFAULTS[Layer.PINNED].tokens) == (
        200,
        50,
        0,
    )
    made = limits_of_layers(["memory limit=20", "memory budget=300", "episode off", "daily off", "daily on item=40"])
    assert (made[Layer.MEMORY].max_parts, made[Layer.MEMORY].tokens, made[Layer.MEMORY].part_tokens) == (20, 300, 0)
    assert not made[Layer.EPISODE].on and made[Layer.EPISODE].max_parts == 50
    assert made[Layer.DAILY].on and made[Layer.DAILY].part_tokens == 40 and made[Layer.RULE] == DEFAULTS[Layer.RULE]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense off",
        "memory limit=-1",
        "memory limit=x",
        "memory size=3",
        "memory maybe",
        "memory limit=1234567890",
        "memory on limit=1 limit=2 limit=3 limit=4 limit=5 limit=6 maybe",
    ],
)
def test_what_is_no_layer_or_no_setting_is_refused(text: str) -> None:
    with pytest.raises(BadConfig):
        limits_of_layers([text])


def test_relevance_is_similarity_recency_and_importance_by_their_weights() -> None:
    plain = Weights()
    assert plain.relevance(1.0, TODAY, 1.0, TODAY) == pytest.approx(1.0)
    assert plain.relevance(0.5, TODAY, 0.5, TODAY) == pytest.approx(0.7 * 0.5 + 0.2 + 0.05)
    year = plain.relevance(0.5, date(2025, 2, 5), 0.5, TODAY)
    assert year == pytest.approx(0.35 + 0.2 * 2.718281828**-0.73 + 0.05)
    assert Weights(1, 0, 0).relevance(0.25, date(2020, 1, 1), 1.0, TODAY) == 0.25
    assert Weights(0, 0, 0).relevance(1.0, TODAY, 1.0, TODAY) == 0.0
    assert Weights(decay=-5).relevance(0, date(2020, 1, 1), 0, TODAY) <= 1.0
