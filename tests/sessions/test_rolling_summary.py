"""The rolling summary: a turn at a time, the same whatever the steps, bounded, and never a secret."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.hosts.transcript import By, Role, Transcript, Turn
from gitmem.models.token_count import estimate
from gitmem.sessions import rolling_summary
from gitmem.sessions import state as running
from gitmem.sessions.rolling_summary import RollingSummary, add_turns, dump, load, render, resume

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"


def said(count: int, text: str = "We talk about the deploy window of the worker, number {}.") -> list[Turn]:
    return [Turn(f"t{n}", (Role.USER, Role.ASSISTANT)[n % 2], text.format(n), n + 1) for n in range(count)]


@given(st.lists(st.text(min_size=1, max_size=60), max_size=30), st.integers(0, 30), st.integers(0, 30))
def test_folding_in_steps_is_folding_at_once(texts: list[str], first: int, second: int) -> None:
    turns = [Turn(f"t{n}", Role.USER, text, n) for n, text in enumerate(texts)]
    one, two = sorted((first, second))
    steps = add_turns(add_turns(add_turns(RollingSummary(), turns[:one]), turns[one:two]), turns[two:])
    assert steps == add_turns(RollingSummary(), turns) == load(dump(steps))


def test_a_long_talk_takes_bounded_space_and_keeps_its_thread() -> None:
    turns = said(3_000, "Word{0} and stone{0} are of the deploy window. We decided that the invoice worker waits.")
    state = add_turns(RollingSummary(), turns)
    assert len(dump(state)) < 60_000 and state.turns == 3_000
    assert "invoice worker waits" in render(state) and estimate(render(state, 100)) <= 110


def test_focus_brings_its_sentences_first_and_small_talk_falls_away() -> None:
    turns = [
        *said(12),
        Turn("x", Role.USER, "The invoice must carry the tax number.", 99),
        Turn("y", Role.USER, "ok", 100),
    ]
    summary = add_turns(RollingSummary(), turns)
    assert "invoice" in render(summary, 30, "tax invoice")
    assert "- user: ok" not in render(summary) and render(add_turns(RollingSummary(), [])) == ""


def test_a_line_with_a_secret_is_in_no_state() -> None:
    state = add_turns(
        RollingSummary(), [Turn("a", Role.USER, f"We deploy at noon.\nThe deploy token is {TOKEN} for now.", 1)]
    )
    assert "noon" in render(state) and TOKEN.encode() not in dump(state) and "secret" not in render(state)


def test_only_new_turns_are_read_and_what_a_host_dropped_is_still_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    read: list[str] = []
    sentences = rolling_summary.sentences
    monkeypatch.setattr(rolling_summary, "sentences", lambda turn: read.append(turn.id) or sentences(turn))
    first = [Turn("z", Role.USER, "The zebra budget is seven apples.", 1), *said(20)]
    text = render(running.summary(tmp_path, Transcript(tuple(first), "s")))
    assert "zebra" in text and len(read) == 13
    assert render(running.summary(tmp_path, Transcript(tuple(first), "s"))) == text and len(read) == 13
    longer = [*first, *(replace(turn, id=f"n{turn.id}", text=f"Now {turn.text}") for turn in said(4))]
    running.summary(tmp_path, Transcript(tuple(longer), "s"))
    assert read[13:] == ["t12", "t13", "t14", "t15"]
    cut = longer[-6:]  # the host compacted: the beginning is gone
    assert "zebra" in render(running.summary(tmp_path, Transcript(tuple(cut), "s")), focus="zebra apples")
    files = list((tmp_path / "gitmem/sessions").iterdir())
    assert len(files) == 1 and files[0].stat().st_mode & 0o077 == 0
    files[0].write_bytes(b"{broken")
    assert "zebra" in render(running.summary(tmp_path, Transcript(tuple(first), "s")))


def test_asking_for_more_recent_turns_neither_repeats_them_nor_loses_the_state(tmp_path: Path) -> None:
    talk = Transcript(tuple(said(30, "Sentence number {} of the invoice worker.")), "s")
    running.summary(tmp_path, talk, keep=8)
    assert "number 10 " not in render(running.summary(tmp_path, talk, keep=20), 4_000)
    assert running.summary(tmp_path, talk, keep=8).turns == 22


def test_other_sessions_and_talks_without_a_name_are_kept_apart(tmp_path: Path) -> None:
    one, two = (Transcript(tuple(said(20, word + " {} is what we talk about.")), "") for word in ("Zebra", "Apple"))
    running.summary(tmp_path, one)
    assert "Zebra" not in render(running.summary(tmp_path, two)) and running.session_name(one) != running.session_name(
        two
    )


def test_an_earlier_summary_is_used_where_nothing_is_remembered_and_only_there() -> None:
    old = Turn("s", Role.USER, "- user: The zebra budget is seven apples.\n- assistant: Noted, seven apples.", 1, by=By.SUMMARY)  # fmt: skip
    turns = [old, *said(12)]
    text = render(resume(RollingSummary(), turns))
    assert "- user: The zebra budget is seven apples." in text and "- assistant: Noted" in text
    again = resume(resume(RollingSummary(), turns), turns)
    assert render(again) == text and "- user: - user" not in text


def test_a_folder_that_cannot_be_written_only_costs_the_work(tmp_path: Path) -> None:
    (tmp_path / "gitmem").write_text("in the way")
    assert "deploy" in render(running.summary(tmp_path, Transcript(tuple(said(20)), "s")))
