"""Two statements are about one topic, about two, or nobody can tell, however each of them names its topic."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory.topics import TopicMatch, compare_topics, may_be_one_topic, statement_topic

SAME, RELATED, ANOTHER, UNKNOWN = TopicMatch


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("Orders", "Orders", SAME),
        ("Orders", "orders service", RELATED),
        ("orders service", "Orders", SAME),
        ("Order", "Orders", RELATED),
        ("Orders", "Billing", ANOTHER),
        ("Orders service", "Billing service", ANOTHER),
        ("Ferry Tern", "Ferry Lark", ANOTHER),
        ("Room A12", "Room A14", ANOTHER),
        ("Project Heron release", "Project Egret release", ANOTHER),
        ("Fleet, Kestrel, engine", "Fleet, Plover, engine", ANOTHER),
        ("Fleet, Kestrel, engine", "Fleet, Kestrel", SAME),
        ("Project Heron release 2026-03-01", "Project Heron release 2026-03-08", SAME),
        ("서울 지점 난방 설비", "부산 지점 난방 설비", ANOTHER),
        ("주문", "주문 서비스", RELATED),
        ("결제 팀", "결제팀", SAME),
        ("주문 서비스", "결제 서비스", ANOTHER),
        ("注文", "課金", ANOTHER),
        ("订单服务", "计费服务", ANOTHER),
        ("", "Billing", UNKNOWN),
        ("Orders", "", UNKNOWN),
    ],
)
def test_two_topics_are_compared_by_their_words(earlier: str, later: str, expected: TopicMatch) -> None:
    assert compare_topics(statement_topic("", about=earlier), statement_topic("", about=later)) is expected


TEXT = "the retry limit is 3"
FORMS = [
    statement_topic(f"Orders: {TEXT}", ("Memory", "Facts")),
    statement_topic(f"**Orders**: {TEXT}"),
    statement_topic(TEXT, ("Memory", "Orders")),
    statement_topic(TEXT, ("Acme memory", "Services", "Orders")),
    statement_topic(TEXT, ("Memory", "Orders", "Decisions")),
    statement_topic(TEXT, ("Memory", "Decisions", "Orders"), "Orders"),
]


@pytest.mark.parametrize("one", FORMS)
@pytest.mark.parametrize("other", FORMS)
def test_a_topic_is_the_same_in_every_form(one: object, other: object) -> None:
    assert compare_topics(one, other) is SAME  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMS)
def test_another_topic_is_another_in_every_form(form: object) -> None:
    for other in (
        statement_topic("Billing: the retry limit is now 7", ("Platform sync",)),
        statement_topic("the retry limit is now 7", ("Acme platform", "Billing")),
        statement_topic("the retry limit is now 7", about="Billing"),
    ):
        assert compare_topics(form, other) is ANOTHER  # type: ignore[arg-type]
        assert not may_be_one_topic(form, other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "trail"),
    [
        ("the retry limit is now 7", ()),
        ("Decision: the retry limit is now 7", ("2026-03-01",)),
        ("the retry limit is now 7", ("Acme memory",)),
        ("the retry limit is now 7", ("Acme", "Decisions")),
        ("the retry limit is now 7", ("Dev log 2026-03-01", "standup")),
        ("the retry limit is now 7", ("Phase 2: what was done",)),
    ],
)
def test_a_statement_without_a_topic_may_be_about_anything(text: str, trail: tuple[str, ...]) -> None:
    for form in FORMS:
        assert compare_topics(form, statement_topic(text, trail)) is UNKNOWN
        assert may_be_one_topic(form, statement_topic(text, trail))


def test_a_thing_in_the_comment_does_not_hide_that_before_the_colon() -> None:
    known = statement_topic("Kestrel, engine: the oil is changed at 90 hours", about="Fleet")
    for text, about, expected in (
        ("Kestrel, engine: the oil is changed at 140 hours", "Fleet", SAME),
        ("Plover, engine: the oil is changed at 140 hours", "Fleet", ANOTHER),
        ("the engine oil of the Kestrel is changed at 140 hours", "Fleet", SAME),
    ):
        assert compare_topics(known, statement_topic(text, about=about)) is expected


def test_a_property_before_a_colon_is_no_other_topic() -> None:
    known = statement_topic("the API port is 8080", ("Falcon",))
    assert compare_topics(known, statement_topic("API port: 9090")) is SAME


@given(*[st.tuples(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3))] * 2)
def test_two_topics_are_two_in_both_orders(one: tuple[str, list[str]], other: tuple[str, list[str]]) -> None:
    topics = [statement_topic(text, tuple(trail)) for text, trail in (one, other)]
    found = {compare_topics(*pair) for pair in (topics, reversed(topics))}
    assert len(found) == 1 or found == {SAME, RELATED}
    assert may_be_one_topic(*topics) == may_be_one_topic(*reversed(topics))
