"""What a layer may take: a setting changes what it names and leaves the rest; relevance is what the weights say."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.context.layer_limits import DEFAULTS, Layer, Weights, shares
from gitmem.errors import BadConfig

TODAY = date(2026, 2, 5)


def test_every_layer_has_a_default_and_a_setting_changes_only_what_it_names() -> None:
    assert set(DEFAULTS) == set(Layer) and shares(()) == DEFAULTS
    assert (DEFAULTS[Layer.MEMORY].limit, DEFAULTS[Layer.EPISODE].limit, DEFAULTS[Layer.PINNED].budget) == (
        200,
        50,
        0,
    )
    made = shares(["memory limit=20", "memory budget=300", "episode off", "daily off", "daily on item=40"])
    assert (made[Layer.MEMORY].limit, made[Layer.MEMORY].budget, made[Layer.MEMORY].item) == (20, 300, 0)
    assert not made[Layer.EPISODE].on and made[Layer.EPISODE].limit == 50
    assert made[Layer.DAILY].on and made[Layer.DAILY].item == 40 and made[Layer.RULE] == DEFAULTS[Layer.RULE]


@pytest.mark.parametrize(
    "text", ["", "nonsense off", "memory limit=-1", "memory limit=x", "memory size=3", "memory maybe"]
)
def test_what_is_no_layer_or_no_setting_is_refused(text: str) -> None:
    with pytest.raises(BadConfig):
        shares([text])


def test_relevance_is_similarity_recency_and_importance_by_their_weights() -> None:
    plain = Weights()
    assert plain.relevance(1.0, TODAY, 1.0, TODAY) == pytest.approx(1.0)
    assert plain.relevance(0.5, TODAY, 0.5, TODAY) == pytest.approx(0.7 * 0.5 + 0.2 + 0.05)
    year = plain.relevance(0.5, date(2025, 2, 5), 0.5, TODAY)
    assert year == pytest.approx(0.35 + 0.2 * 2.718281828**-0.73 + 0.05)
    assert Weights(1, 0, 0).relevance(0.25, date(2020, 1, 1), 1.0, TODAY) == 0.25
    assert Weights(0, 0, 0).relevance(1.0, TODAY, 1.0, TODAY) == 0.0
    assert Weights(decay=-5).relevance(0, date(2020, 1, 1), 0, TODAY) <= 1.0
