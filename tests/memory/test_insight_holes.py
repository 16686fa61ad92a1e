"""A hole is a missing value of a pipeline; text with a meaning is no hole."""

from __future__ import annotations

import pytest

from gitmem.memory.insight_holes import MAX_HOLES, holes


@pytest.mark.parametrize(
    "text",
    [
        "margin ? in Q2", "margin: ??", "margin is $?", "growth (?)", "price 0.00", "price was $0.00 in May", "가격 0.00원",
        "drift 0,00 %", "-0.000 change", "cause unknown", "cause: Unknown, since May", "owner is unknown in Seoul", "출시일 미정",
        "출시일은 미정이다", "담당자: 미정, 5월", "원인은 알 수 없음", "rating: N/A", "rating n/a, price 3", "margin: , revenue 3",
        "margin =", "margin fell to % in Q2", "margin:  %", "paid € in May", "revenue null", "score NaN", "score: nan",
        "deadline TBD", "hello {{name}}", "{} rose", "${amount} due", "%s rose to 5", "%(name)s rose", "<company> rose",
        "name ____ signed", "sold [] units", "sold () units", 'called "" twice', "growth: -", "growth: —, price 3", "growth -",
        "発売日は未定", "原因不明", "价格待定", "価格: …",
    ],
)  # fmt: skip
def test_what_is_missing_is_found(text: str) -> None:
    assert holes(text)


@pytest.mark.parametrize(
    "text",
    [
        "margin fell to 3 % in Q2", "margin fell to 3% (4.00 in May)", "price 10.00", "price 0.001", "version 0.00.1 shipped",
        "price 100.00 € in May", "an unknown sender attacked 5 hosts", "12 unknown devices joined", "the share % of users rose",
        "Globex asked: why now? They pay 5", "see https://a.example/?q=1&b=2", "orders doubled - twice", "no outage in May",
        "장애 없음", "김미정이 승인했다", "미정 씨가 5월에 승인했다", "마진이 3 %로 내렸다", "flush() is called twice", "paid $5 of ¥ 700",
        "none of 3 customers left", "原因が不明瞭な点を直した", "売上は 5 % 増えた", "ratio 1:2", "x = 3", "costs US$ 5", "$AAPL rose by 5 %",
    ],
)  # fmt: skip
def test_what_says_something_is_no_hole(text: str) -> None:
    assert holes(text) == []


def test_holes_are_reported_with_their_field_and_their_number_is_limited() -> None:
    told = [str(hole) for hole in holes("margin: ?, revenue 0.00, owner:")]
    assert told == ["'?' behind 'margin'", "'0.00' behind 'revenue'", "no value behind 'owner'"]
    assert [str(hole) for hole in holes("{name} rose")] == ["'{name}' at the beginning"]
    assert [str(hole) for hole in holes("출시일: 미정")] == ["'미정' behind '출시일'"]
    assert len(holes("? " * 1_000)) == MAX_HOLES
