"""A shorter transcript keeps its thread: recent turns, paired tools, the sentences that tell most."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.hosts.transcript import Role, Turn
from gitmem.models.token_count import estimate
from gitmem.sessions.compaction import CLEARED, compact, compaction_reason, full_window_reason, prune, trim

NOW = datetime(2026, 2, 5, 12, tzinfo=UTC)


def said(count: int, text: str = "We talk about the deploy window of the worker, number {}.") -> list[Turn]:
    return [Turn(f"t{n}", (Role.USER, Role.ASSISTANT)[n % 2], text.format(n), n + 1) for n in range(count)]


def test_the_last_eight_turns_stay_verbatim() -> None:
    turns = said(20)
    done = compact(turns)
    assert done.kept == tuple(turns[-8:]) and len(done.dropped) == 12
    assert compact(said(5)).dropped == ()


roles = st.sampled_from(["user", "assistant", "call"])


@given(st.lists(roles, max_size=40), st.integers(1, 10))
def test_a_tool_call_and_its_result_are_never_parted(kinds: list[str], keep: int) -> None:
    turns: list[Turn] = []
    for n, kind in enumerate(kinds):
        if kind == "call":
            turns.append(Turn(f"a{n}", Role.ASSISTANT, "", n, calls=(f"c{n}",)))
            turns.append(Turn(f"r{n}", Role.TOOL, "out", n, answers=f"c{n}"))
        else:
            turns.append(Turn(f"t{n}", Role(kind), f"sentence number {n}", n))
    done = compact(turns, keep=keep)
    calls = {call for turn in done.kept for call in turn.calls}
    assert calls == {turn.answers for turn in done.kept if turn.answers}
    assert sorted(done.kept + done.dropped, key=turns.index) == turns


@pytest.mark.parametrize(("window", "full_at"), [(4_096, 2_048), (8_192, 4_096), (24_000, 12_000), (128_000, 96_000)])
def test_a_small_window_is_not_nearly_full_from_the_first_turn_on(window: int, full_at: int) -> None:
    assert not full_window_reason([Turn("a", Role.USER, "x", 1)], window)
    per_token = 100_000 / estimate("x" * 100_000)
    for tokens, full in ((full_at - 20, False), (full_at + 20, True)):
        assert bool(full_window_reason([Turn("a", Role.USER, "x" * int(tokens * per_token), 1)], window)) is full


def test_compaction_is_due_by_turns_tokens_or_window() -> None:
    assert compaction_reason(said(5)) == "" and compaction_reason(said(13)) == "13 turns"
    assert "tokens" in compaction_reason([Turn("a", Role.USER, "x" * 30_000, 1)])
    assert compaction_reason([Turn("a", Role.USER, "x" * 4_000, 1)], window=1_200) and not compaction_reason(
        said(5), window=200_000
    )


def test_old_tool_output_is_trimmed_and_the_last_three_assistant_turns_keep_theirs() -> None:
    long = "h" * 3_000 + "m" * 3_000 + "t" * 3_000
    old = NOW - timedelta(hours=1)
    turns = []
    for n in range(5):
        turns.append(Turn(f"a{n}", Role.ASSISTANT, "do", n, at=old, calls=(f"c{n}",)))
        turns.append(Turn(f"r{n}", Role.TOOL, long, n, at=old, answers=f"c{n}"))
    soft = prune(turns, now=NOW)
    assert [len(t.text) < 4_000 for t in soft if t.role is Role.TOOL] == [True, True, False, False, False]
    assert "6000 characters" in soft[1].text and prune(turns, now=NOW, hard=True)[1].text == CLEARED
    assert prune(turns, now=old) == turns and trim("short") == "short"


def test_korean_counts_a_token_a_syllable() -> None:
    assert estimate("한국어") == 3 and estimate("abcdefgh") == 2


def test_the_parts_of_one_answer_are_one_turn() -> None:
    old = NOW - timedelta(hours=1)
    turns = []
    for n in range(4):  # as Claude Code writes them: words, then each call, in entries of their own
        turns.append(Turn(f"w{n}", Role.ASSISTANT, f"answer {n}", 9 * n, at=old, answer=f"m{n}"))
        turns.append(Turn(f"x{n}", Role.ASSISTANT, "", 9 * n + 1, at=old, calls=(f"c{n}",), answer=f"m{n}"))
        turns.append(Turn(f"y{n}", Role.ASSISTANT, "", 9 * n + 2, at=old, calls=(f"d{n}",), answer=f"m{n}"))
        turns.append(Turn(f"r{n}", Role.TOOL, "x" * 9_000, 9 * n + 3, at=old, answers=f"c{n}"))
        turns.append(Turn(f"s{n}", Role.TOOL, "x" * 9_000, 9 * n + 4, at=old, answers=f"d{n}"))
    sizes = [len(turn.text) for turn in prune(turns, now=NOW) if turn.role is Role.TOOL]
    assert sizes[:2] < [4_000, 4_000] and sizes[2:] == [9_000] * 6
    assert compact(turns, keep=2).kept == tuple(turns[-10:])
