"""Texts of memory in Markdown: shown as they are, and nothing in them acts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.memory.facts import parse
from gitmem.review.markup import (
    MAX_UNFOLDED_CHARACTERS,
    comment_words,
    cut_as_code,
    details_block,
    difference,
    escaped_message,
)
from gitmem.review.statement_diff import word_diff

HOSTILE = (
    "`` @team [x](javascript:alert(1)) <img src=x> www.evil.example ![i](http://evil.example/x.png) --> ~~a~~ | b",
    "</details><script>alert(1)</script>", "```\n::error::x", "  \u202e reversed \x1b[31m", "`", "#1 GH-1 a@b.example",
)  # fmt: skip


@given(st.text(), st.text())
def test_the_pieces_of_a_difference_are_both_texts(old: str, new: str) -> None:
    pieces = word_diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.sign != "+") == old
    assert "".join(piece.text for piece in pieces if piece.sign != "-") == new or all(
        piece.sign != "=" or not any(c.isalnum() for c in piece.text) for piece in pieces
    )


def test_a_difference_shows_the_words_that_changed() -> None:
    assert difference("The port is 80 here", "The port is 81 here")[0] == "`The port is` ~~`80`~~ **`81`** `here`"
    assert difference("배포는 11시 전에", "배포는 10시 전에")[0] == "`배포는` ~~`11시`~~ **`10시`** `전에`"
    assert difference("公開は十時", "公開は九時")[0] == "`公開は` ~~`十`~~ **`九`** `時`"
    assert difference("all of it", "something else now")[0] == "`all of it` → `something else now`"


def test_a_change_within_a_long_text_is_shown_with_what_stands_beside_it() -> None:
    before, after = "calm words " * 60, "more words " * 60
    text, rest = difference(f"{before}never {after}", f"{before}always {after}")
    assert "~~`never`~~ **`always`**" in text and len(text) < MAX_UNFOLDED_CHARACTERS and "always" in rest


def test_a_long_text_is_cut_between_words_and_the_rest_of_it_is_kept() -> None:
    text = "one two three " * 100
    first, rest = cut_as_code(text)
    assert "(1,400 characters)" in first and len(first) < 340
    assert (first.split("`")[1] + rest.strip("`")).split() == text.split()
    assert cut_as_code("") == ("(nothing)", "")


def test_what_weighs_most_in_a_comment_is_bold() -> None:
    (fact,) = parse(
        b"- a <!-- mem type=decision pinned=true origin=web until=2030-01-01 src=x#L1 my|key=<b> -->\n"
    ).facts
    words = comment_words(fact)
    assert words == "decision, **pinned**, **origin web**, until `2030-01-01`, my\\|key `<b>`"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_no_markup_when_rendered(text: str) -> None:
    cmarkgfm = pytest.importorskip("cmarkgfm")
    options = cmarkgfm.cmark.Options.CMARK_OPT_UNSAFE
    first, rest = cut_as_code(text)
    long, more = cut_as_code(text + " padding" * 60)
    changed = difference(f"the same words before {text}", f"the same words before, and now {text}")[0]
    page = "\n".join(
        [
            f"- {first} ({escaped_message(text)})",
            f"  - {changed}",
            f"- {long}",
            "",
            f"  {details_block('the rest', more)}",
            rest,
        ]
    )
    html = cmarkgfm.github_flavored_markdown_to_html(page, options)
    outside = re.sub(r"<code>.*?</code>", "", html, flags=re.S)
    tags = set(re.findall(r"<(/?[a-z]+)", outside))
    assert not tags - {"ul", "/ul", "li", "/li", "p", "/p", "details", "/details", "summary", "/summary", "del", "/del",
                       "strong", "/strong"}, tags  # fmt: skip
    assert outside.count("</details>") == 1 and "\u202e" not in html and "\x1b" not in html


@pytest.mark.parametrize(
    "word", ["!12", "%7", "~bug", "$3", "&4", '~"to do"', "[epic:3]", "memory/!12.md", "#1", "@dana"]
)
def test_no_forge_makes_a_reference_of_our_words(word: str) -> None:
    text = escaped_message(f"in {word} there")
    outside = re.sub(r"(`+).*?\1", "", text)
    assert not re.search(r"[!%~$&#@][\w\"]|\[\w+:", outside) and text.startswith("in `")


def test_our_own_signs_stay_words() -> None:
    assert escaped_message("5 % of 10 lines, 3 & more!") == "5 % of 10 lines, 3 \\& more\\!"


def test_brackets_and_stops_around_a_word_that_would_act_are_outside_its_code() -> None:
    assert escaped_message("is changed (blob 4bcbfa1700d3)") == "is changed (blob `4bcbfa1700d3`)"
    assert escaped_message("good (dana@example.com); ask @team.") == "good (`dana@example.com`); ask `@team`."
