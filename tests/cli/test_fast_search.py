"""A plainly spelled search is read without click, and as click reads it."""

from __future__ import annotations

import json

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.cli.commands.search import command
from gitmem.cli.fast_search import OPTIONS, options_of
from gitmem.cli.search_output import Display, request_of
from gitmem.search.request import SearchRequest
from tests.harness import Repo

WORDS = ["why", "배포 규칙", "", "0", "5", "1000", "1001", "2026-03-01", "--", "-", "-5", "-n5", "--limit=3", "-h"]


def by_click(words: list[str]) -> tuple[SearchRequest, Display] | None:
    """What click makes of the words; None where it refuses them or shows the help."""
    try:
        context = command.make_context("search", list(words), help_option_names=["-h", "--help"])
    except (click.ClickException, click.exceptions.Exit):
        return None
    return request_of(context.params)


@given(st.lists(st.one_of(st.sampled_from([*OPTIONS, "--explain", "--lane", *WORDS]), st.text(max_size=4)), max_size=7))
@settings(max_examples=400, deadline=None)
def test_what_is_read_the_short_way_is_what_click_reads(words: list[str]) -> None:
    short = options_of(words)
    assert short is None or request_of(short) == by_click(words)


@pytest.mark.parametrize(
    "words",
    [
        ["webhooks"],
        ["why", "webhooks", "--json"],
        ["-n", "3", "배포 규칙", "--jsonl"],
        ["x", "--limit", "20", "--path", "a/*", "--path", "b", "--budget", "500"],
        ["x", "--at", "HEAD~1", "--type", "fact", "--tag", "t", "--since", "2026-01-01", "--until", "d", "--expired"],
    ],
)
def test_the_usual_spellings_are_read_the_short_way(words: list[str]) -> None:
    short = options_of(words)
    assert short is not None and request_of(short) == by_click(words)


@pytest.mark.parametrize("words", [[], ["--json"], ["x", "-n", "0"], ["x", "-n", "many"], ["x", "--nope"], ["-h"]])
def test_what_is_wrong_or_unusual_is_left_to_click(words: list[str]) -> None:
    assert options_of(words) is None


def test_every_option_of_the_short_way_is_one_of_the_command() -> None:
    declared = {spelling: option.name for option in command.params for spelling in option.opts}
    assert {spelling: field for spelling, (field, _) in OPTIONS.items()}.items() <= declared.items()


def test_both_ways_answer_the_same_and_refuse_alike(repo: Repo) -> None:
    repo.commit(files={"MEMORY.md": "# Memory\n\n- We chose webhooks.\n"})
    short, long = repo.mem("search", "webhooks", "--json"), repo.mem("search", "webhooks", "--json", "--lane=both")
    assert json.loads(short.stdout) == json.loads(long.stdout) and json.loads(short.stdout)["hits"]
    for words in (["x", "--at", "nowhere"], ["x", "--since", "someday"]):
        one, other = (repo.mem("search", *words, *more, check=False) for more in ((), ("--lane=both",)))
        assert (one.returncode, one.stdout, one.stderr) == (other.returncode, other.stdout, other.stderr)
        assert one.returncode in (2, 3) and one.stderr.startswith("git mem: ")
