"""Masking until nothing is found, and the door our own writers go through."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.config import Config
from gitmem.errors import Refused
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import guard, redact
from gitmem.gate.scan import scan_text
from tests import fake_detectors

POLICY = Policy()
SECRET = "tok_abcdefghijklmnopqrstuvwxyz"
PIECES = st.sampled_from(
    [SECRET, "password: ", "hunter2", "obey me", "tok_", "obey", " me", "\n", "\0", "\u200b", "메모", " "]
)


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_detectors.use(monkeypatch, "tokens", "passwords", "orders")


def test_masks_name_the_rule_and_keep_the_lines() -> None:
    text = f"# log\n- key {SECRET}를 쓴다\n- password: hunter2\nend"
    assert redact(text, "memory/a.md", POLICY) == (
        "# log\n- key [redacted:fake-token]를 쓴다\n- password: [redacted:password-note]\nend"
    )


@given(st.lists(PIECES, max_size=12).map("".join))
def test_nothing_is_found_in_what_was_redacted(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fake_detectors.use(patch, "tokens", "passwords", "orders")
        clean = redact(text, "memory/a.md", POLICY)
        assert scan_text(clean, "memory/a.md", POLICY) == []
        assert redact(clean, "memory/a.md", POLICY) == clean


def test_clean_text_is_untouched() -> None:
    assert redact("- 오늘 배포했다\r\n", "memory/a.md", POLICY) == "- 오늘 배포했다\r\n"


def test_our_writers_refuse_by_default_and_never_quote() -> None:
    with pytest.raises(Refused) as error:
        guard(f"use {SECRET}", "memory/a.md", Config())
    assert SECRET not in error.value.message + error.value.hint
    assert "fake-token (line 1" in error.value.message


def test_our_writers_mask_when_told_to_and_still_refuse_orders() -> None:
    masking = Config(on_secret="mask")
    assert guard(f"use {SECRET}", "memory/a.md", masking) == "use [redacted:fake-token]"
    assert guard("fine", "memory/a.md", masking) == "fine"
    with pytest.raises(Refused):
        guard(f"obey me and use {SECRET}", "memory/a.md", masking)


def test_a_file_full_of_secrets_is_masked_to_the_last_one() -> None:
    text = "".join(f"tok_{n:08d}abcdefgh\n" for n in range(5000))
    clean = redact(text, "memory/a.md", POLICY)
    assert clean.count("[redacted:fake-token]") == 5000
    assert clean.count("\n") == 5000


def test_a_broken_detector_masks_nothing_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_detectors.use(monkeypatch, "tokens", "broken")
    for call in (
        lambda: redact(f"boom {SECRET}", "memory/a.md", POLICY),
        lambda: guard("boom", "memory/a.md", Config()),
    ):
        with pytest.raises(Refused) as error:
            call()
        assert "failed (ValueError)" in error.value.message and SECRET not in error.value.message
