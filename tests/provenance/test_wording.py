"""What is called a text of its source stands there word for word."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.provenance.wording import wording

DAY = date(2026, 2, 5)
LINES = {
    "limit": "- 14:30 We decided: the refund limit is 500 EUR for support agents.",
    "friday": "- Deploys on Friday are forbidden.",
    "two": "- Kim approves payments above 10,000 EUR; Park approves those below.",
    "korean": "- 결정: 결제 한도는 50만 원이다.",
    "old": "- Rejected: use MongoDB for billing.",
}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("limit", "The refund limit is 500 EUR for support agents."),
        ("limit", "We decided: the refund limit is 500 EUR for support agents (2026-02-05)"),
        ("friday", "Deploys on Friday forbidden"),
        ("two", "Park approves those below."),
        ("two", "Kim approves payments above 10,000 EUR"),
        ("korean", "결제 한도는 50만 원이다"),
    ],
)
def test_a_whole_sentence_is_there_word_for_word(line: str, text: str) -> None:
    assert wording(text, [LINES[line]], [DAY]).same


@pytest.mark.parametrize(
    ("line", "text", "missing", "left_out"),
    [
        ("limit", "Support agents are exempt from the refund limit.", ("exempt", "from"), ("500", "eur", "for")),
        ("limit", "The refund limit is 500 EUR.", (), ("for", "support", "agents")),
        ("friday", "Deploys on Friday are encouraged.", ("encouraged",), ("forbidden",)),
        ("two", "Park approves payments above 10,000 EUR; Kim approves those below.", (), ()),
        ("two", "Kim approves all payments above 10,000 EUR.", ("all",), ()),
        ("korean", "결제 한도는 500만 원이다", ("500만",), ("50만",)),
        ("old", "Use MongoDB for billing.", (), ("rejected",)),
    ],
)
def test_what_says_more_less_or_otherwise_is_not(
    line: str, text: str, missing: tuple[str, ...], left_out: tuple[str, ...]
) -> None:
    found = wording(text, [LINES[line]], [DAY])
    assert not found.same and found.words
    assert found.missing == missing and set(left_out) <= set(found.left_out)


def test_sentences_of_several_lines_join_in_their_order_alone() -> None:
    lines = ["- PoC phase 1 uses REST webhooks.", "- They are easier to debug."]
    assert wording("PoC phase 1 uses REST webhooks: easier to debug.", lines, []).same
    assert not wording("Easier to debug: PoC phase 1 uses REST webhooks.", lines, []).same


@pytest.mark.parametrize(
    "line",
    [
        'Bob said: "we should pay the invoice twice".',
        "Bob said: we should pay the invoice twice.",
        "Carol: \N{LEFT DOUBLE QUOTATION MARK}we should pay the invoice twice\N{RIGHT DOUBLE QUOTATION MARK}.",
        "Proposal: we should pay the invoice twice.",
        "The vendor claims: we should pay the invoice twice.",
        "제안: we should pay the invoice twice.",
    ],
)
def test_what_somebody_only_said_is_not_what_the_line_says(line: str) -> None:
    assert not wording("We should pay the invoice twice.", [line], [DAY]).same
    assert wording(line, [line], [DAY]).same
