"""The units of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.index import line_records
from gitmem.index.units import split
from gitmem.text.terms import terms


def test_a_bullet_with_its_continuation_is_one_unit_and_so_is_a_fence() -> None:
    text = "# H\n\n- one\n  more\n- two: why?\n\n```\na\n\n- b\n```\n| x | y |\n|---|---|\n| 1 | 2 |\nlast"
    units = split(text.split("\n"))
    assert [(unit.first, unit.last) for unit in units] == [
        (0, 0),
        (2, 3),
        (4, 4),
        (6, 10),
        (11, 11),
        (13, 13),
        (14, 14),
    ]
    assert (
        units[0].flags & line_records.HEADING
        and units[3].flags & line_records.FENCE
        and units[4].flags & line_records.ROW
    )
    assert units[2].flags & line_records.ASKS and units[2].label == 1


def test_an_unclosed_fence_ends_with_the_chunk() -> None:
    assert [(unit.first, unit.last) for unit in split(["a", "```", "b", "", "c"])] == [(0, 0), (1, 4)]


@pytest.mark.parametrize("line", ["We met yesterday.", "2023-05-07", "지난주에 정했다", "5月に決めた"])
def test_a_line_that_says_when_is_known(line: str) -> None:
    assert split([line])[0].flags & line_records.TIME


@pytest.mark.parametrize(
    "line", ["배포는 오전 11시 이전에만", "close at 5pm", "deploy before 11:00 only", "17時まで", "매주 화요일"]
)
def test_a_line_that_says_at_what_hour_or_weekday_is_known(line: str) -> None:
    assert split([line])[0].flags & line_records.TIME


@pytest.mark.parametrize(
    "line", ["3시간 걸린다", "the port is 8080:80", "db.py:12:30 raises", "ratio 1:100", "v2.5 pmap", "30am"]
)
def test_a_duration_a_port_or_a_place_in_a_file_is_no_time(line: str) -> None:
    assert not split([line])[0].flags & line_records.TIME


def test_the_script_of_a_line_is_known() -> None:
    scripts = line_records.HANGUL | line_records.HAN_KANA
    assert split(["배포는 GitHub Actions로 한다"])[0].flags & scripts == line_records.HANGUL
    assert split(["デプロイは手動で行う"])[0].flags & scripts == line_records.HAN_KANA
    assert not split(["deploy with 배포 as the word for it"])[0].flags & scripts


@given(st.lists(st.text(alphabet="ab가나 #-*`|:>?\t1.", max_size=12), max_size=12))
def test_every_word_is_in_one_unit_in_order(text: list[str]) -> None:
    units = split(text)
    assert [word for unit in units for word in unit.words] == terms("\n".join(text))
    assert all(a.last < b.first for a, b in pairwise(units))
