"""What fits a context: pinned facts first, long-term memory its share, the summary last, nothing said twice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.context.layer_limits import Layer, limits_of_layers
from gitmem.context.layers import Part, override_key, with_pieces
from gitmem.context.packing import (
    MAX_BUDGET_TOKENS,
    OVER,
    OVER_LAYER,
    OVER_LAYER_LIMIT,
    REPEATED,
    Measure,
    Selection,
    fit,
    smallest_budget,
    whole_memories,
)
from gitmem.context.pieces import pieces
from gitmem.context.session_contents import without_copies
from gitmem.memory.document import parse


def part(layer: Layer, text: str, relevance: float = 0.5, line: int = 1, path: str = "memory/a.md") -> Part:
    return Part(layer, path, text, relevance, path, line, line + text.count("\n"), tokens=len(text.split()))


def fitted(parts: list[Part], total: int = 100, *settings: str) -> Selection:
    return fit(parts, total, measured(*settings))


def measured(*settings: str) -> Measure:
    return Measure(limits_of_layers(settings), lambda text: len(text.split()), lambda _: "open close")


def dropped(done: Selection, why: str) -> list[str]:
    return [part.content for part, reason in done.dropped if reason == why]


def test_the_most_relevant_that_fit_are_kept_and_the_rest_is_dropped_with_the_reason() -> None:
    words = [f"w{n} x{n} y{n} z{n} " * 5 for n in range(6)]
    done = fitted([part(Layer.PROJECT, word, n / 10, 9 * n, f"n{n}.md") for n, word in enumerate(words)], 50)
    assert [p.relevance for p in done.kept] == [0.5, 0.4] and len(dropped(done, OVER)) == 4
    assert done.limits == ["budget of 50 tokens: 4 of 6 parts left out"]


def test_pinned_facts_are_served_before_long_files_which_are_cut_at_a_line() -> None:
    soul = part(Layer.PINNED, "\n".join("one line of six words here" for _ in range(20)), 1.0, 1, "SOUL.md")
    fact = part(Layer.PINNED, "allergic to penicillin", 1.0, 7, "MEMORY.md")
    done = fitted([soul, fact], 200, "pinned budget=30")
    assert [p.path for p in done.kept] == ["SOUL.md", "MEMORY.md"] and done.kept[0].end_line == 3
    assert done.limits == ["pinned: SOUL.md cut after line 3; 30 tokens are too few"]
    nothing = fitted([soul, fact], 3)
    assert not nothing.kept and "left out" in nothing.limits[0]


def test_long_term_memory_has_a_share_whatever_a_search_finds_and_gives_back_what_it_does_not_need() -> None:
    found = [part(Layer.PROJECT, f"n{n} found text here " * 4, 0.8, 9 * n, f"n{n}.md") for n in range(20)]
    facts = [part(Layer.MEMORY, f"fact{n} of memory", 0.2, n, "MEMORY.md") for n in range(3)]
    done = fitted(found + facts, 100)
    assert sum(p.layer is Layer.MEMORY for p in done.kept) == 3
    assert sum(p.layer is Layer.PROJECT for p in done.kept) == len(fitted(found, 100).kept) - 1 == 4


def test_instruction_files_leave_a_share_to_the_parts_that_answer_and_take_back_what_these_do_not_need() -> None:
    files = [
        part(Layer.PINNED, "\n".join("one line of six words here" for _ in range(40)), 1.0, 1, name)
        for name in ("SOUL.md", "AGENTS.md")
    ]
    answer = part(Layer.DAILY, "the answer is forty two words long " * 2, 0.3)
    fact = part(Layer.PINNED, "allergic to penicillin", 1.0, 7, "MEMORY.md")
    done = fitted([*files, fact, answer], 100)
    assert answer in done.kept and fact in done.kept
    assert sum(p.tokens for p in done.kept if p.path in ("SOUL.md", "AGENTS.md")) >= 66  # of 95: an answer takes 16
    many = [part(Layer.DAILY, f"n{n} found text here " * 4, 0.8, 9 * n, f"n{n}.md") for n in range(20)]
    done = fitted([*files, fact, *many], 100)
    assert sum(p.layer is Layer.DAILY for p in done.kept) == 1  # a quarter, not more
    assert not fitted([*files, fact, answer], 5).kept[1:]  # pinned facts may take all of it
    whole = whole_memories([*files, fact], [part(Layer.MEMORY, "a fact", 0.2, 9, "MEMORY.md")], 100, measured())
    assert whole == {"project"}


@pytest.mark.parametrize(("above", "needed", "found"), [
    (0, 1, 1), (100, 101, 101), (100, 5_000, 5_000), (100, MAX_BUDGET_TOKENS, MAX_BUDGET_TOKENS),
    (MAX_BUDGET_TOKENS - 2, MAX_BUDGET_TOKENS - 1, MAX_BUDGET_TOKENS - 1), (100, MAX_BUDGET_TOKENS + 1, 0),
])  # fmt: skip
def test_the_smallest_budget_is_found_up_to_the_largest_one(above: int, needed: int, found: int) -> None:
    fact = part(Layer.PINNED, "a fact", 1.0, 1, "MEMORY.md")
    assert smallest_budget(lambda total: Selection(kept=[fact] if total >= needed else []), above) == found


def test_a_layer_keeps_its_own_limit_and_budget() -> None:
    facts = [part(Layer.MEMORY, f"fact{n} of memory alone", 0.5, n, "MEMORY.md") for n in range(5)]
    assert len(fitted(facts, 100, "memory limit=2").kept) == 2
    assert len(dropped(fitted(facts, 100, "memory limit=2"), OVER_LAYER_LIMIT)) == 3
    assert len(fitted(facts, 100, "memory budget=12").kept) == 1
    assert len(dropped(fitted(facts, 100, "memory budget=12"), OVER_LAYER)) == 4


def test_the_summary_takes_what_is_left_and_is_cut_first() -> None:
    summary = part(Layer.SUMMARY, "a b c\nd e f\ng h i", 0.9, 0, "")
    note = part(Layer.PROJECT, "some words of a note", 0.1)
    assert [p.content for p in fitted([summary, note], 15).kept] == ["a b c\nd e f", "some words of a note"]
    gone = fitted([summary, note], 8)
    assert [p.layer for p in gone.kept] == [Layer.PROJECT] and "summary: left out" in gone.limits


def test_what_says_the_same_is_kept_once_but_never_where_a_number_or_a_denial_differs() -> None:
    first = part(Layer.PROJECT, "the limit is 100 requests a minute for each key", 0.9, 1, "a.md")
    again = part(Layer.DAILY, "The limit is 100 requests a minute, for each key!", 0.5, 1, "b.md")
    other = part(Layer.DAILY, "the limit is 200 requests a minute for each key", 0.4, 1, "c.md")
    denied = part(Layer.DAILY, "the limit is not 100 requests a minute for each key", 0.4, 1, "d.md")
    done = fitted([first, again, other, denied])
    assert [p.path for p in done.kept] == ["a.md", "c.md", "d.md"] and dropped(done, REPEATED) == [again.content]
    lines = part(Layer.DAILY, "limit is 100 requests", 0.3, 1, "a.md")
    assert dropped(fitted([first, lines]), REPEATED) == [lines.content]


def test_a_part_that_says_more_than_a_better_one_is_kept() -> None:
    first = part(Layer.DAILY, "- Bosses are 60 MB each and are not pooled.", 0.9, 1, "a.md")
    more = part(
        Layer.EPISODE, f"{first.content}\n- pools of the others are filled, not grown, at level load", 0.5, 1, "b.md"
    )
    assert fitted([first, more]).kept == [first, more]
    assert dropped(fitted([replace(more, relevance=0.9), replace(first, relevance=0.5)]), REPEATED) == [first.content]


SAME_WORDS = [  # two facts of the same words about two things
    ("The API port is 8080 <!-- mem type=fact about=Falcon -->", "The API port is 8080 <!-- mem about=Osprey -->"),
    ("billing: the retry limit is 3", "shipping: the retry limit is 3"),
    ("결제: 재시도 횟수는 3회", "정산: 재시도 횟수는 3회"),
    ("Ferry Tern: the fare is 3 euros", "Ferry Lark: the fare is 3 euros"),
]
SAME_FACT = [
    ("the API port is 8080 <!-- mem about=Falcon -->", "Falcon: the API port is 8080"),
    ("Falcon: the API port is 8080", "the API port is 8080 <!-- mem about=Falcon -->"),
    ("Decision: the API port is 8080", "We use 8080 as the API port: the API port is 8080"),
    ("the API port is 8080", "the API port is 8080 <!-- mem about=Falcon -->"),
]


def facts_of(*texts: str) -> list[Part]:
    """A part for each fact of a MEMORY.md, the first the most relevant."""
    document = parse(
        "\n".join(["# Memory", "", "## Facts", "", *(f"- {text}" for text in texts)]).encode(), "MEMORY.md"
    )
    parts = [with_pieces(part(Layer.MEMORY, "", 0.5, 1, "MEMORY.md"), [piece]) for piece in pieces(document)]
    return [replace(each, relevance=0.9 - at / 10) for at, each in enumerate(parts)]


@pytest.mark.parametrize("texts", SAME_WORDS)
def test_the_same_words_about_two_things_are_both_kept(texts: tuple[str, str]) -> None:
    for found in (facts_of(*texts), facts_of(*reversed(texts))[::-1]):
        assert len(fitted(found).kept) == 2
        assert None not in [rest for _, rest in without_copies(found)]


@pytest.mark.parametrize(("other", "repeated"), [pair[::-1] for pair in SAME_FACT])
def test_the_same_words_about_one_thing_are_kept_once(other: str, repeated: str) -> None:
    assert len(fitted(facts_of(other, repeated)).kept) == 1


def test_a_fact_that_names_its_thing_is_kept_beside_one_that_does_not() -> None:
    vague, named = (f"{topic}외부 호출 재시도 횟수는 3회로 하고 간격은 10초로 한다" for topic in ("", "결제: "))
    assert len(fitted(facts_of(vague, named)).kept) == 2


def test_a_topic_in_a_comment_is_no_key_by_which_a_narrower_scope_hides_a_fact() -> None:
    texts = ("The API port is 8080", "The database is on db1", "Deploy window: 11", "Deploy window: before 12")
    keys = [override_key(each)[0] for each in facts_of(*(f"{text} <!-- mem about=Falcon -->" for text in texts))]
    assert keys == ["", "", "fact:falcon deploy window", "fact:falcon deploy window"]
