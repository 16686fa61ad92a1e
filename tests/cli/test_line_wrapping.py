"""Lines are wrapped to the terminal's width and lose nothing but white space."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.cli.line_wrapping import PIECE, columns_of, wrap_text

LETTERS = st.text(st.sampled_from("ab 가나다 漢字、。かな—é\x1b[31m\x1b[m-:/"), max_size=200)


@given(LETTERS, st.integers(40, 100))
def test_wrapping_loses_nothing_and_no_line_is_wider_unless_it_is_one_word(text: str, width: int) -> None:
    shown = wrap_text(text + "\n", width)
    assert re.sub(r" |\n", "", shown) == re.sub(r" |\n", "", text)
    for line in shown.splitlines():
        words = [piece for piece in PIECE.findall(line) if piece.strip(" ")]
        assert columns_of(line) <= width or len(words) == 1


@pytest.mark.parametrize(
    ("line", "below"),
    [
        ("index     the path of the index, and a text that is longer than the terminal is wide", 10),
        ("    결제 콜백 멱등키는 order_id + pg_tid 조합으로 하기로 했고 재시도는 세 번까지만 한다", 4),
        ("  + a fact that was added and whose words go on until they are over the end", 4),
        ("- [ ] an action that somebody has to do, in more words than one line can hold", 6),
        ("a sentence without a label that goes on until it is wider than the terminal", 2),
    ],
)
def test_a_continued_line_stands_below_the_text_that_it_continues(line: str, below: int) -> None:
    first, *rest = wrap_text(line + "\n", 50).splitlines()
    assert rest and first == first.rstrip()
    assert {len(each) - len(each.lstrip()) for each in rest} == {below}


def test_korean_is_wrapped_between_words_and_japanese_between_letters() -> None:
    for each in wrap_text("결제 콜백 멱등키는 주문 번호와 결제 번호의 조합으로 하기로 했다\n", 40).splitlines():
        assert set(each.split()) <= set(
            ["결제", "콜백", "멱등키는", "주문", "번호와", "결제", "번호의", "조합으로", "하기로", "했다"]
        )
    japanese = wrap_text("決済のコールバックの冪等キーは注文番号と決済番号の組み合わせにすると決めた。\n", 40)
    assert len(japanese.splitlines()) == 2 and max(map(columns_of, japanese.splitlines())) > 36


def test_nothing_is_wrapped_where_there_is_no_terminal() -> None:
    line = "word " * 100
    assert wrap_text(line, 0) == line
