"""What of a daily log may be promoted: whole statements and sentences, each with its lines and what it is about."""

from __future__ import annotations

from datetime import date

import pytest

from gitmem.memory.statements import read
from gitmem.promotion.log_lines import candidates_of, line_origins
from gitmem.promotion.proposal import Log, Op, Operation
from gitmem.promotion.rules_model import LABELS, RulesModel
from gitmem.provenance.cited_text import cited_text


def log(text: str) -> Log:
    """A log of these lines, all of them new."""
    lines = tuple(text.split("\n"))
    return Log("memory/2026-03-01.md", "a" * 40, date(2026, 3, 1), lines, frozenset(range(1, len(lines) + 1)))


def offered(text: str) -> list[Operation]:
    """What `rules` proposes of a log."""
    return [made for made in RulesModel().propose([log(text)], []).operations if made.op is not Op.SKIP]


def test_a_wrapped_item_is_one_candidate_and_cites_all_its_lines() -> None:
    (one,) = offered("# 2026-03-01\n\n- We decided that the ferry is painted\n  each spring, by the yard in Hals.\n")
    assert one.text == "We decided that the ferry is painted each spring, by the yard in Hals."
    assert (one.sources[0].start_line, one.sources[0].end_line) == (3, 4)


def test_a_paragraph_is_read_sentence_by_sentence_with_the_lines_of_each() -> None:
    text = (
        "The talk about the new ferry went on for most of the morning and was loud. In\n"
        "the end we decided to paint it each spring, because salt eats the hull. Lunch\n"
        "was late."
    )
    found = candidates_of(log(text), LABELS)
    assert [(each.number, each.end) for each in found] == [(1, 1), (1, 2), (2, 3)]
    assert [each.text for each in offered(text)] == [
        "In the end we decided to paint it each spring, because salt eats the hull."
    ]


def test_lines_that_each_say_a_thing_are_not_joined() -> None:
    found = candidates_of(
        log("09:10 walked the dog\n09:30 we decided to sell the old boat\n10:00 rain all day"), LABELS
    )
    assert [each.text for each in found] == ["walked the dog", "we decided to sell the old boat", "rain all day"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("## 09:00 - round\n\n- Harbour\n  - we decided to open at six\n", "Harbour: we decided to open at six"),
        ("## Ferry Tern\n\n- We decided to use Kevlar ropes\n", "Ferry Tern: We decided to use Kevlar ropes"),
        ("## Ferry Tern\n\n- We decided to paint the Tern ferry\n", "We decided to paint the Tern ferry"),
        ("## 10:00 - ferry\n\n- We decided to buy ropes of Kevlar\n", "We decided to buy ropes of Kevlar"),
        ("## 10:00 - ferry\n\n- We decided to raise the fare to 12\n", "ferry: We decided to raise the fare to 12"),
        ("## 10:00 - 여객선\n\n- 요금은 12로 하기로 결정했다\n", "여객선: 요금은 12로 하기로 결정했다"),
        ("## Key decisions\n\n- We decided to raise the fare to 12\n", "We decided to raise the fare to 12"),
        ("## 오늘의 결정 사항\n\n- 요금은 12로 하기로 결정했다\n", "요금은 12로 하기로 결정했다"),
        ("## 連絡船\n\n- 運賃は12に変更することで合意した\n", "連絡船: 運賃は12に変更することで合意した"),
    ],
)
def test_a_fact_begins_with_its_topic_where_the_text_does_not_say_it(text: str, fact: str) -> None:
    assert [each.text for each in offered(text)] == [fact]


def test_an_origin_is_inherited_from_parents_quotations_and_fences() -> None:
    text = "- from the web <!-- mem origin=web -->\n  - below it\n    wrapped\n- own\n\n> quoted\n\n```\ncode\n```"
    lines = text.splitlines()
    origins = line_origins(read(lines))
    assert len(origins) == len(lines)
    assert [bool(origin) for origin in origins] == [True, True, True, False, False, True, False, True, True, True]


def test_what_stands_below_a_machines_heading_is_no_source_at_any_depth() -> None:
    assert candidates_of(log("## Heartbeat\n\n### Inbox\n\n- We decided to use REST\n"), LABELS) == []


def test_what_lines_say_has_their_headings_and_parents() -> None:
    lines = ["## Round", "- Harbour", "  - open at", "    six", "- Yard"]
    said = cited_text(read(lines), lines, 3, 4)
    assert said.said == ("open at six",)
    assert said.trail == ("Round", "Harbour")
    assert cited_text(read(lines), lines, 3, 3).said == ("open at",)
