"""Limits hold: no text is longer than it may be, and all that finds no room is named in the text or counted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.context.assembly import Context, assemble
from gitmem.context.context_request import ContextRequest, Scope
from gitmem.context.layer_limits import Layer, limits_of_layers
from gitmem.context.layers import Recalled
from gitmem.context.packing import NO_ROOM
from gitmem.context.rendering import MISSING
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.hosts.transcript import Role, Transcript, Turn
from gitmem.memory.document import Document, parse
from gitmem.memory.templates import LANGUAGES, files
from gitmem.models.token_count import BUILT_IN, count_of

NOW = datetime(2026, 2, 5, 12, tzinfo=UTC)
COUNT = count_of(BUILT_IN)


def scope(files: Mapping[str, str]) -> Scope:
    def read(path: str) -> Document | None:
        return parse(files[path].encode(), path) if path in files else None

    return Scope("project", tuple(files), read, lambda _: Recalled(), commit="a" * 40)


def made(files: Mapping[str, str], **given: object) -> Context:
    return assemble([scope(files)], ContextRequest("", count_tokens=COUNT, **given), NOW)  # type: ignore[arg-type]


def pinned(number: int, words: str = "is kept for every visit of the clinic in the north of the town") -> str:
    rows = (f"- Note {at} {words}. <!-- mem pinned=true -->\n" for at in range(number))
    return "# Memory\n\n## Facts\n\n" + "".join(rows)


def counted(done: Context) -> int:
    """How many parts the limits say are left out."""
    said = (re.fullmatch(r".*: (\d+) of \d+ (?:parts|recent turns) left out", limit) for limit in done.limits)
    return sum(int(match.group(1)) for match in said if match)


def test_thirty_pinned_facts_are_all_there_and_may_take_the_whole_budget() -> None:
    done = made({"MEMORY.md": pinned(30)})
    assert sum(part.layer is Layer.PINNED for part in done.parts) == 30 and 430 < done.tokens <= 1600
    assert MISSING not in done.text and not done.limits


def test_pinned_facts_that_find_no_room_are_counted_in_the_text_and_in_the_limits() -> None:
    done = made({"MEMORY.md": pinned(300)})
    there = sum(part.layer is Layer.PINNED for part in done.parts)
    assert 60 < there < 300 and done.tokens <= 1600
    assert f"\n{MISSING}: {300 - there} of 300 pinned facts.\n" in done.text
    assert any(limit.endswith(f": {300 - there} of 300 parts left out") for limit in done.limits)


def test_many_pinned_facts_leave_room_for_the_beginning_of_each_instruction_file() -> None:
    instructions = {path: text for path, text in files("ko").items() if path in ("SOUL.md", "AGENTS.md")}
    instructions["SOUL.md"] += "- 말투에 대한 긴 안내가 이어진다.\n" * 200
    done = made({**instructions, "TOOLS.md": "# 도구\n\n- make check\n", "MEMORY.md": pinned(300)})
    assert "절대 저장하지 않는 것" in done.text and "남의 글에 든 지시" in done.text and "make check" in done.text
    assert re.search(rf"{MISSING}: \d+ of 300 pinned facts, SOUL.md after line \d+", done.text)
    assert done.tokens <= 1600


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_init_lays_out_arrives_whole_with_the_tools_and_is_as_short_in_either_language(language: str) -> None:
    laid = files(language)
    laid["TOOLS.md"] += "- the scanner is at port 9100\n"
    done = made(laid)
    for path in ("SOUL.md", "AGENTS.md", "TOOLS.md"):
        last = laid[path].strip().split("\n")[-1]
        assert last in done.text and not any(path in limit for limit in done.limits)
    for path, text in files("en").items():
        if path != "MEMORY.md":
            shorter = files(language)[path]
            assert COUNT(shorter) <= COUNT(text) and len(shorter) <= len(text)
    headings = [line for line in laid["AGENTS.md"].split("\n") if line.startswith("## ")]
    assert headings[0] in ("## Never store", "## 절대 저장하지 않는 것")


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_gate_finds_nothing_in_what_init_lays_out(language: str) -> None:
    for path, text in files(language).items():
        assert scan_text(text, path, Policy()) == []


def test_the_hard_limit_holds_with_all_that_stands_around_memory() -> None:
    laid = {**files("en"), "MEMORY.md": pinned(10)}
    for most in (1, 60, 150, 250, 300, 400, 700, 1200):
        done = made(laid, max_characters=most)
        assert len(done.text) <= most and counted(done) == sum(why in NO_ROOM for _, why in done.dropped)
    assert MISSING in done.text and done.parts
    done = made({"MEMORY.md": pinned(10, "is kept")}, max_characters=300)
    assert done.parts and re.search(r"\nLeft out: \d parts\.\n", done.text)


def test_the_hard_limit_cuts_turns_before_pinned_facts_and_says_how_many() -> None:
    turns = tuple(Turn(f"t{n}", (Role.USER, Role.ASSISTANT)[n % 2], f"We talk, part {n}. " * 9, n) for n in range(8))
    given = ContextRequest("", transcript=Transcript(turns), count_tokens=COUNT, max_characters=800)
    done = assemble([scope({"MEMORY.md": pinned(3)})], given, NOW)
    assert len(done.text) <= 800 and sum(part.layer is Layer.PINNED for part in done.parts) == 3
    left = [part.content for part in done.parts if part.layer is Layer.RECENT]
    assert 0 < len(left) < 8 and left[-1] == turns[-1].text
    assert f"limit of 800 characters: {8 - len(left)} of 8 recent turns left out" in done.limits


WORDS = st.sampled_from(
    ["the oven is serviced in May", "빵은 금요일에 굽는다", "パンは金曜日", "a" * 90, "keep `x=1` in <b>", "1"]
)
FACT = st.builds(lambda words, pin: f"- {words}{' <!-- mem pinned=true -->' if pin else ''}\n", WORDS, st.booleans())
FILE = st.lists(st.one_of(FACT, st.sampled_from(["## Facts\n", "\n", "Some text.\n\n"])), max_size=30).map("".join)
MEMORIES = st.fixed_dictionaries(
    {"MEMORY.md": FILE},
    optional=dict.fromkeys(("SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md", "memory/rules/한글.md", "memory/2026-02-05.md"), FILE),
)  # fmt: skip
TALK = st.lists(WORDS, max_size=5).map(
    lambda said: Transcript(tuple(Turn(f"t{n}", Role.USER, text * 3, n) for n, text in enumerate(said)))
)


@settings(max_examples=120, deadline=None)
@given(MEMORIES, TALK, st.integers(1, 700), st.integers(0, 1500), st.sampled_from([(), ("memory limit=3",)]))
def test_no_text_passes_its_limits_and_all_that_is_left_out_is_counted(
    memory: dict[str, str], talk: Transcript, budget: int, characters: int, layers: tuple[str, ...]
) -> None:
    given = ContextRequest(
        "",
        budget,
        transcript=talk,
        summary="it was said",
        count_tokens=COUNT,
        max_characters=characters,
        layer_limits=limits_of_layers(layers),
    )
    done = assemble([scope(memory)], given, NOW)
    assert len(done.text) <= (characters or len(done.text))
    beside = sum(
        part.tokens + COUNT('<recent who="user">\n</recent>') for part in done.parts if part.layer is Layer.RECENT
    )
    if any(part.layer is not Layer.RECENT for part in done.parts):
        assert COUNT(done.text) - beside <= budget
    missing = [part for part, why in done.dropped if why in NO_ROOM]
    assert counted(done) == len(missing)
    assert not done.parts or all(
        path in done.text for path in {part.path for part in done.parts if part.layer is Layer.PINNED}
    )
