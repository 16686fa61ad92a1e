"""The `<!-- mem ... -->` comment: parsing returns what was written, for any values."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.git.objects import Span
from gitmem.memory import facts
from gitmem.memory.fact import (
    fact_id,
    id_of_hash,
    normalise,
    parse_comment,
    parse_span,
    render_comment,
    render_span,
    text_hash,
    worst_origin,
)
from gitmem.memory.percent_encoding import decode, encode

LINE = "- PoC phase 1 uses REST webhooks: easier to debug. <!-- mem type=decision src=memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f -->"


def test_a_fact_line_gives_text_and_keys() -> None:
    text, meta = parse_comment(LINE[2:])
    assert text == "PoC phase 1 uses REST webhooks: easier to debug."
    assert meta == (("type", "decision"), ("src", "memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f"))
    assert f"- {text} {render_comment(meta)}" == LINE


def test_the_id_ignores_marker_comment_white_space_and_decomposition() -> None:
    assert fact_id(LINE) == fact_id("PoC  phase 1 uses\tREST webhooks: easier to debug.")
    assert fact_id("* 한글") == fact_id("- 한글") and len(fact_id("x")) == 12
    assert normalise("- a  b <!-- mem type=fact -->") == "a b"


def test_other_comments_stay_part_of_the_text() -> None:
    for line in ("a <!-- note -->", "a <!-- mem type=fact --> b", "a <!-- memo x=1 -->", "-->", "a <!--mem x=1-->"):
        assert parse_comment(line) == (line, ())


keys = st.text("abcdefgh_-.", min_size=1, max_size=8).filter(lambda key: key != "src" and "--" not in key)


@given(st.lists(st.tuples(keys, st.text(min_size=1, max_size=30).filter(lambda v: max(v) < "\ud800")), min_size=1))
def test_any_value_comes_back(meta: list[tuple[str, str]]) -> None:
    comment = render_comment(meta)
    assert comment.count("-->") == 1 and "\n" not in comment
    assert parse_comment(f"text {comment}") == ("text", tuple(meta))


@given(
    st.text(min_size=1, max_size=40).filter(lambda v: max(v) < "\ud800" and v.strip() == v),
    st.integers(1, 999),
    st.integers(0, 50),
)
def test_any_path_comes_back_from_a_span(path: str, start: int, more: int) -> None:
    span = Span(path, start, start + more, "1a2b3c4d5e6f")
    written = render_span(span)
    assert " " not in written and parse_span(written) == span
    assert parse_comment(f"t {render_comment([('src', written)])}")[1] == (("src", written),)


def test_what_is_no_span_is_refused() -> None:
    for value in ("", "memory/a.md", "a.md#L0", "a.md#L5-L2", "a.md#Lx@12ab", "#L1"):
        assert parse_span(value) is None


@pytest.mark.parametrize(
    ("values", "worst"),
    [
        ((), ""),
        (("",), ""),
        (("user",), "user"),
        (("Web",), "web"),
        (("TOOL", "user"), "tool"),
        (("user", "agent"), "agent"),
        (("user, web",), "web"),
        (("user|tool",), "tool"),
        (("ｗｅｂ",), "web"),
        (("w\u0435b",), "web"),  # a Cyrillic letter: no origin at all
        (("the internet",), "web"),
        (("user.",), "web"),
    ],
)
def test_of_several_origins_the_worst_counts_and_what_is_none_is_the_worst(values: tuple[str, ...], worst: str) -> None:
    assert worst_origin(*values) == worst
    assert worst_origin(*reversed(values)) == worst


def test_a_comment_with_several_origins_has_the_worst_of_them() -> None:
    for comment in ("origin=web origin=user", "origin=user origin=web", "Origin=Web", "origin=user ORIGIN=web"):
        assert facts.parse(f"- a fact <!-- mem {comment} -->\n".encode()).facts[0].origin == "web", comment


def test_one_id_for_a_fact_whoever_computes_it() -> None:
    text = "Rate limit is 600 requests per minute"
    fact = facts.parse(f"- {text} <!-- mem type=rule -->\n".encode()).facts[0]
    assert fact.id == fact_id(text) == fact_id(f"- {text}") == id_of_hash(text_hash(text))
    assert len(fact.id) == 12 and text_hash(text).startswith(fact.id)


def test_no_value_can_end_its_comment() -> None:
    assert encode("a--b") == "a-%2Db" and encode("a->b") == "a-%3Eb"
    assert encode("-") == "-" and encode("a>b") == "a>b"
    assert encode("\udc80") == "%80"


def test_a_lone_surrogate_that_is_no_byte_becomes_the_replacement_character() -> None:
    assert encode("a\ud800b") == "a%EF%BF%BDb" and decode(encode("\udfff\udc80")) == "\ufffd\udc80"
    assert decode("\ud800%20") == "\ufffd "
    assert text_hash("\ud800") == text_hash("\ufffd")


def test_bytes_that_are_not_utf8_come_back() -> None:
    assert encode("a\udce9.md") == "a%E9.md" and decode("a%E9.md") == "a\udce9.md"
    assert decode("%ED%95%9C글%zz") == "한글%zz"
