"""Names and identifiers are what a capital or a spelling tells apart."""

from __future__ import annotations

import pytest

from gitmem.text.names import is_identifier, names


def test_identifiers_and_capitalised_words_are_names() -> None:
    assert names("The Stripe API of rate_limits, v2") == {"stripe", "api", "rate_limits", "v2"}


def test_a_word_that_opens_a_text_or_names_a_day_is_no_name() -> None:
    assert names("- Deploys wait on Monday, never in May") == set()


@pytest.mark.parametrize("word", ["rate_limits", "v2", "getUser", "API", "a/b.py", "C++"])
def test_what_is_spelled_like_no_word_is_an_identifier(word: str) -> None:
    assert is_identifier(word)


@pytest.mark.parametrize("word", ["Stripe", "limits", "don"])
def test_a_word_is_no_identifier(word: str) -> None:
    assert not is_identifier(word)
