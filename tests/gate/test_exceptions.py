"""The exceptions file: read, written, and what a fingerprint is."""

from __future__ import annotations

import tomllib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.errors import BadConfig
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.exceptions import Allowlist, Entry, fingerprint, parse, with_entry

ENTRY = Entry("ab" * 10, "github-token", "memory/메모.md", 'a sample; "not real"', date(2027, 1, 1))


def found(rule: str = "github-token", path: str = "memory/메모.md", print_: str = "ab" * 10) -> Finding:
    return Finding(rule, Severity.BLOCK, path, 1, 1, 1, 1, "words", fingerprint=print_)


def test_what_is_written_is_read_back() -> None:
    text = with_entry("", ENTRY, "salt")
    assert parse(text) == Allowlist("salt", (ENTRY,))
    again = with_entry(text, Entry("cd" * 10, "r", "p", "why"), "other")
    assert parse(again).salt == "salt"
    assert len(parse(again).entries) == 2
    assert again.startswith(text.rstrip("\n"))


@given(st.text(min_size=1).filter(str.strip))
def test_any_reason_stays_one_valid_toml_string(reason: str) -> None:
    text = with_entry("", Entry("ab", "rule", "path", reason), "s")
    assert tomllib.loads(text)["allow"][0]["reason"] == reason


def test_an_exception_covers_one_rule_at_one_path() -> None:
    allow = Allowlist("salt", (ENTRY,))
    assert allow.covers(found()) == ENTRY
    assert allow.covers(found(rule="aws-key")) is None
    assert allow.covers(found(path="memory/other.md")) is None
    assert allow.covers(found(print_="cd" * 10)) is None


def test_the_last_day_still_counts() -> None:
    assert not ENTRY.expired(date(2027, 1, 1))
    assert ENTRY.expired(date(2027, 1, 2))


@pytest.mark.parametrize(
    "text",
    [
        "salt = 3",
        "allow = 3",
        "[[allow]]\nfingerprint = 'x'",
        "[[allow]]\nfingerprint='x'\nrule='r'\npath='p'\nreason='  '",
        "[[allow]]\nfingerprint='x'\nrule='r'\npath='p'\nreason='w'\nuntil=3",
        "not toml",
        "a=" + "[" * 100_000,
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_and_not_an_empty_list(text: str) -> None:
    with pytest.raises(BadConfig):
        parse(text)


def test_fingerprints_depend_on_salt_rule_and_text_and_not_on_unicode_form() -> None:
    one = fingerprint("s", "r", "가나")
    assert one == fingerprint("s", "r", "\u1100\u1161\u1102\u1161")
    assert len({one, fingerprint("t", "r", "가나"), fingerprint("s", "q", "가나"), fingerprint("s", "r", "가")}) == 4
    assert len(one) == 20
    fingerprint("s", "r", "\udcff")
