"""One difference of two states of a fact: the page, the comment and the terminal say the same of the same change."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.changed_facts import change_lines
from gitmem.memory.facts import parse
from gitmem.review.fact_diff import FactChange, Op, compare_facts
from gitmem.review.markup import difference
from gitmem.review.statement_diff import has_nothing_common, readable_diff, statement_diff, text_diff
from gitmem.ui.pages.compare import row_of


def change(old: str, new: str) -> FactChange:
    before, after = (parse(f"- {text}\n".encode()).facts for text in (old, new))
    (found,) = compare_facts({"MEMORY.md": before}, {"MEMORY.md": after}, date(2026, 3, 1))
    return found


CHANGES = [
    ("the port is 80 here", "the port is 81 here"),
    ("배포는 11시 전에 한다", "배포는 10시 전에 한다"),
    ("公開は十時です", "公開は九時です"),
    ("deploy before noon <!-- mem type=rule -->", "deploy before noon <!-- mem type=decision pinned=true -->"),
    (
        "the oil of press 3 is changed in May <!-- mem type=rule tags=a -->",
        "the oil of press 3 is changed in June <!-- mem type=fact tags=b -->",
    ),
]


@pytest.mark.parametrize(("old", "new"), CHANGES)
def test_page_comment_and_terminal_mark_the_same_words_and_keys(old: str, new: str) -> None:
    one = replace(change(old, new), op=Op.CHANGED)
    assert one.old is not None and one.new is not None
    found = statement_diff(one.old, one.new)
    row = row_of(one)
    assert (row.pieces, row.keys) == (found.pieces, found.keys)
    words = [piece.text for piece in found.pieces if piece.sign != "="]
    comment, terminal = difference(one.old.text, one.new.text)[0], "".join(change_lines([one], False))
    assert all(word.strip() in comment and f"{word}" in terminal for word in words)
    assert terminal.count("{+") == terminal.count("+}") == sum(piece.sign == "+" for piece in found.pieces)
    assert all(key in terminal for key, _, _ in found.keys) and ("; also" in terminal) == bool(found.keys)


def test_keys_that_differ_have_both_values_and_repeated_ones_stand_together() -> None:
    (one,) = parse(b"- a <!-- mem type=rule tags=x tags=y pinned=true -->\n").facts
    (other,) = parse(b"- a <!-- mem type=rule tags=x tags=z until=2026-03-01 -->\n").facts
    assert statement_diff(one, other).keys == (
        ("tags", "x y", "x z"),
        ("pinned", "true", ""),
        ("until", "", "2026-03-01"),
    )


def test_two_texts_with_little_in_common_stand_one_after_the_other_everywhere() -> None:
    pieces = text_diff("all of it", "something else now")
    assert has_nothing_common(pieces) and [piece.text for piece in pieces] == ["all of it", "something else now"]


@given(st.text(), st.text())
def test_the_difference_is_the_readable_one_or_both_texts_whole(old: str, new: str) -> None:
    pieces = text_diff(old, new)
    assert "".join(piece.text for piece in pieces if piece.sign != "+") == old
    if old != new:
        assert has_nothing_common(pieces) == (readable_diff(old, new) is None)
