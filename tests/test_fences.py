"""Where fenced blocks open and close, against markdown-it-py, and in every reader of lines."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gitmem.fences import closes_fence, open_fence_after, opening_fence
from gitmem.hosts.pasted_text import without_pasted_text
from gitmem.index.line_records import FENCE
from gitmem.index.units import split
from gitmem.memory.document import parse
from gitmem.memory.facts import parse_lines
from gitmem.promotion.log_lines import candidates_of
from gitmem.promotion.proposal import Log

LINES = st.lists(
    st.sampled_from(
        ["```", "````", "~~~", "~~~~", "```py", "```a`b", "~~~``", "``", "```x```", "```\t", "text", "", "``` ```"]
    ),
    max_size=10,
)


@given(LINES)
def test_a_block_opens_and_closes_where_markdown_says(lines: list[str]) -> None:
    lines = [*lines, "end"]
    fenced, fence = [], ""
    for line in lines:
        before, fence = fence, open_fence_after(fence, line)
        fenced.append(bool(before or fence))
    expected = [False] * len(lines)
    for token in MarkdownIt("commonmark").parse("\n".join(lines)):
        if token.type == "fence" and token.map:
            for at in range(token.map[0], min(token.map[1], len(lines))):
                expected[at] = True
    assert fenced == expected


@pytest.mark.parametrize(
    ("text", "fence"),
    [
        ("```", "```"),
        ("`````sh", "`````"),
        ("~~~ `x`", "~~~"),
        ("```x```", ""),
        ("``x", ""),
        ("text ```", ""),
        ("", ""),
    ],
)
def test_backticks_within_a_sentence_open_nothing(text: str, fence: str) -> None:
    assert opening_fence(text) == fence


def test_a_longer_run_closes_and_a_shorter_or_another_one_does_not() -> None:
    assert closes_fence("  ````\t\r", "```")
    assert not any(closes_fence(text, "```") for text in ("``", "~~~", "```sh", "", "``` x"))


SENTENCE = "```npm test``` runs all of the tests."  # code within a sentence, spelled with three backticks
BELOW = "- Deploys need two approvals."


def promotable(lines: list[str]) -> list[int]:
    """The numbers of the lines of a daily log that promotion looks at."""
    log = Log("memory/2026-01-05.md", "", date(2026, 1, 5), tuple(lines), frozenset(range(1, len(lines) + 1)))
    return [candidate.number for candidate in candidates_of(log)]


def test_every_reader_of_lines_takes_code_within_a_sentence_for_text() -> None:
    lines = [SENTENCE, "", BELOW]
    assert [fact.text for fact in parse_lines(lines).facts] == [SENTENCE, "Deploys need two approvals."]
    assert parse("\n".join(lines).encode(), "MEMORY.md").fences == ()
    assert [unit.flags & FENCE for unit in split(lines)] == [0, 0]
    assert promotable(lines) == [1, 3]
    assert [passage.text for passage in without_pasted_text("\n".join(lines))] == ["\n".join(lines)]


def test_every_reader_of_lines_ends_a_block_at_the_same_line() -> None:
    lines = ["```", "- one", "```sh", "- two", "````", BELOW]
    block = "``` - one ```sh - two ````"
    assert [fact.text for fact in parse_lines(lines).facts] == [block, "Deploys need two approvals."]
    assert parse("\n".join(lines).encode(), "MEMORY.md").fences == ((1, 5),)
    assert [(unit.first, unit.last) for unit in split(lines)] == [(0, 4), (5, 5)]
    assert promotable(lines) == [6]
    assert [passage.text for passage in without_pasted_text("\n".join(lines))] == [BELOW]
