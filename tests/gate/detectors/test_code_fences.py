"""What a page shows as code, and what only looks so."""

from __future__ import annotations

import pytest

from gitmem.gate.detectors.code_fences import fenced, shown_code


def inside(text: str) -> list[str]:
    return [text[start:end].strip() for start, end in fenced(text)]


def test_closed_blocks_are_shown() -> None:
    assert inside("a\n```sh\none\n```\nb\n~~~~\ntwo\n```\n~~~~\n") == ["one", "two\n```"]


@pytest.mark.parametrize(
    "text", ["```\nopen", "<!--\n```\n-->\n<!-- order -->\n```\n", "<!-- ends nowhere\n```\none\n```\n"]
)
def test_a_block_that_is_open_or_begins_in_a_comment_is_none(text: str) -> None:
    assert inside(text) == []


def test_a_comment_inside_a_block_is_code() -> None:
    assert inside("```\n<!-- shown -->\n```\n") == ["<!-- shown -->"]


def test_backticks_show_what_is_between_them() -> None:
    text = "Use `<template>` and ``a b``.\n"
    code = shown_code(text)
    assert code.has(text.index("<template>"))
    assert code.has(text.index("a b"))
    assert not code.has(text.index("and"))
    assert not code.is_fenced(text.index("<template>"))
