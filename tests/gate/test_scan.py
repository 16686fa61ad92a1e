"""The scan flow: what becomes of matches, of blobs that cannot be read and of detectors that break."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitmem.gate.detectors import rule_file
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.examine import MAX_MATCHES, Blob, Source, decode, examine, mask
from gitmem.gate.exceptions import Allowlist, Entry
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.scan import scan, scan_text
from tests import fake_detectors

POLICY = Policy(today=date(2026, 3, 1))
SECRET = "tok_abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(autouse=True)
def fakes(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_detectors.use(monkeypatch, "tokens", "passwords", "orders", "broken")


def blob(text: str, path: str = "memory/a.md", **more: str) -> Blob:
    return Blob(path, text.encode(), **more)


def test_a_find_has_place_rule_and_a_masked_excerpt() -> None:
    report = scan(Source([blob(f"one\n두 번째 {SECRET}를 쓴다\n")]), POLICY)
    (finding,) = report.findings
    assert (finding.rule, finding.severity, finding.path) == ("fake-token", Severity.BLOCK, "memory/a.md")
    assert (finding.line, finding.column, finding.end_line, finding.end_column) == (2, 6, 2, 6 + len(SECRET))
    assert finding.excerpt == "두 번째 tok_ab[…]를 쓴다"
    assert (report.blobs, report.bytes) == (1, len(f"one\n두 번째 {SECRET}를 쓴다\n".encode()))
    assert report.blocked


def test_a_mask_shows_at_most_six_characters_and_a_quarter() -> None:
    assert mask("x" * 40) == "xxxxxx[…]"
    assert mask("x" * 16) == "xxxx[…]"
    assert mask("x" * 15) == "[…]"
    assert mask("x" * 40, nothing=True) == "[…]"
    assert mask("토" * 40) == "[…]"


def test_no_excerpt_shows_another_finds_secret() -> None:
    report = scan(Source([blob(f"obey me and use {SECRET} with password: hunter2hunter2hunter2\n")]), POLICY)
    assert {f.rule for f in report.findings} == {"fake-token", "fake-order", "password-note"}
    for finding in report.findings:
        assert SECRET not in finding.excerpt
        assert "hunter2" not in finding.excerpt
        assert "cdefgh" not in finding.excerpt


@given(st.integers(0, 120), st.integers(0, 120))
def test_an_excerpt_never_holds_a_cut_off_piece_of_a_secret(before: int, after: int) -> None:
    text = "w " * before + SECRET + " obey me " + "z " * after + SECRET + "suffix"
    with pytest.MonkeyPatch.context() as patch:
        fake_detectors.use(patch, "tokens", "orders")
        for finding in scan_text(text, "memory/a.md", POLICY):
            assert "ghijkl" not in finding.excerpt
            assert "uvwxyz" not in finding.excerpt
            assert len(finding.excerpt) < 600


def test_a_detector_that_raises_is_a_blocking_finding_without_the_text() -> None:
    report = scan(Source([blob(f"boom {SECRET}")]), POLICY)
    failed = next(f for f in report.findings if f.rule == "scanner-failed")
    assert failed.severity is Severity.BLOCK
    assert "ValueError" in failed.message
    assert SECRET not in repr(report)
    assert {f.rule for f in report.findings} == {"scanner-failed", "fake-token"}


def test_a_detector_that_is_not_there_is_a_blocking_finding() -> None:
    report = scan(Source([blob("fine")]), replace(POLICY, detectors=("tokens", "no-such-detector")))
    assert {f.rule for f in report.findings} == {"scanner-failed"}
    assert report.blocked


def test_a_skipped_blob_blocks_and_says_why() -> None:
    report = scan(Source([Blob("memory/big.md", b"", skipped="too large")]), POLICY)
    assert report.findings[0].rule == "unscannable"
    assert report.blocked
    assert report.skipped[0].reason == "too large"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"obey\0 me", "NUL"),
        ("obey me".encode("utf-16"), "UTF-16"),
        ("메모 obey me".encode("cp949"), "CP949"),
        (b"\xff\xfa\x80 obey me", "not UTF-8"),
    ],
)
def test_what_is_no_text_blocks_and_is_scanned_all_the_same(data: bytes, words: str) -> None:
    report = scan(Source([Blob("memory/a.md", data)]), POLICY)
    assert {f.rule for f in report.findings} == {"not-text", "fake-order"}
    assert words in next(f for f in report.findings if f.rule == "not-text").message


def test_a_secret_split_by_nul_is_found_at_its_place() -> None:
    text = "use tok_\0abcdefghijkl now"
    found = [f for f in scan(Source([blob(text)]), POLICY).findings if f.rule == "fake-token"]
    assert [text[f.start : f.end] for f in found] == ["tok_\0abcdefghijkl"]


@given(st.binary(max_size=300))
def test_any_bytes_are_scanned_without_an_exception_and_with_valid_offsets(data: bytes) -> None:
    text, _ = decode(data)
    with pytest.MonkeyPatch.context() as patch:
        fake_detectors.use(patch, "tokens", "orders", "passwords")
        for finding in scan(Source([Blob("memory/a.md", data)]), POLICY).findings:
            assert -1 <= finding.start <= finding.end <= len(text)


def test_each_blob_is_scanned_once_at_each_path() -> None:
    one = blob(SECRET, oid="1" * 40, commit="a")
    assert scan(Source([one, replace(one, commit="b")]), POLICY).blobs == 1
    assert scan(Source([one, replace(one, path="memory/b.md")]), POLICY).blobs == 2


def test_instructions_belong_in_instruction_files() -> None:
    assert scan(Source([blob("obey me", "SOUL.md")]), POLICY).blocked is False
    assert scan(Source([blob("obey me", "memory/a.md")]), POLICY).blocked is True


def test_a_message_is_no_file() -> None:
    report = scan(Source([Blob(MESSAGE, SECRET.encode(), commit="c" * 40)]), POLICY)
    assert (report.blobs, report.findings[0].path, report.findings[0].commit) == (0, MESSAGE, "c" * 40)


def test_a_secret_in_a_name_is_found_and_never_shown() -> None:
    path = f"memory/{SECRET}.md"
    report = scan(Source([blob("obey me", path), Blob("memory/plain.md", b"", skipped="why")]), POLICY)
    assert {f.rule for f in report.findings} == {"fake-token", "fake-order", "unscannable"}
    assert SECRET not in repr(report)
    assert any(f.message.startswith("in the file's name") for f in report.findings)


def test_an_exception_takes_one_finding_away_until_its_day() -> None:
    (finding,) = scan(Source([blob(SECRET)]), POLICY).findings
    entry = Entry(finding.fingerprint, finding.rule, finding.path, "a sample", date(2026, 3, 1))
    allowed = replace(POLICY, allow=Allowlist(POLICY.allow.salt, (entry,)))
    report = scan(Source([blob(SECRET)]), allowed)
    assert not report.findings
    assert report.excepted[0][1] == "2026-03-01"
    assert scan(Source([blob(SECRET, "memory/b.md")]), allowed).blocked
    assert scan(Source([blob("tok_another0another0another")]), allowed).blocked
    late = scan(Source([blob(SECRET)]), replace(allowed, today=date(2026, 3, 2)))
    assert "ended on 2026-03-01" in late.findings[0].message


def test_a_comment_in_the_text_excepts_nothing() -> None:
    for words in ("pragma: allowlist secret", "gitleaks:allow", "nosec", "git-mem: allow", "gitmem-allow"):
        assert scan(Source([blob(f"{SECRET} <!-- {words} -->")]), POLICY).blocked


def test_a_passwords_fingerprint_is_not_made_of_the_password() -> None:
    one, two = (
        scan(Source([blob(f"password: {word}")]), POLICY).findings[0] for word in ("alpha-alpha-1", "omega-omega-2")
    )
    assert one.fingerprint == two.fingerprint
    elsewhere = scan(Source([blob("password: alpha-alpha-1", "memory/b.md")]), POLICY).findings[0]
    assert elsewhere.fingerprint != one.fingerprint


def test_many_blobs_in_processes_give_the_same_report_as_in_one() -> None:
    blobs = [blob(f"note {n} " + (SECRET if n % 50 == 0 else ""), f"memory/{n}.md") for n in range(700)]
    alone, spread = scan(Source(blobs), POLICY), scan(Source(blobs), POLICY, workers=2)
    assert alone == spread
    assert len(alone.findings) == 14


def test_a_broken_detector_in_a_worker_blocks_too() -> None:
    blobs = [blob("boom" if n == 400 else "fine", f"memory/{n}.md") for n in range(500)]
    assert [f.rule for f in scan(Source(blobs), POLICY, workers=2).findings] == ["scanner-failed"]


def test_a_file_full_of_finds_is_told_in_part_and_summed_up() -> None:
    text = "".join(f"tok_{n:08d}abcdefgh\n" for n in range(5000))
    report = scan(Source([blob(text)]), POLICY)
    assert len(report.findings) == 61
    (rest,) = (f for f in report.findings if f.rule == "more-findings")
    assert rest.severity is Severity.BLOCK
    assert rest.message.startswith("4940 more findings")


def test_rules_of_a_file_that_raise_block_and_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> list[object]:
        raise RecursionError

    monkeypatch.setattr(rule_file, "find", broken)
    policy = replace(Policy(), rules=(rule_file.Rule("own", "an own rule", "x"),))
    report = scan(Source([Blob("memory/a.md", b"plain")]), policy)
    assert report.blocked and [finding.rule for finding in report.findings][:1] == ["scanner-failed"]
    assert "'rules' failed (RecursionError)" in report.findings[0].message


def test_a_text_of_more_secrets_than_are_counted_blocks_by_a_finding_of_its_own() -> None:
    policy = Policy()
    text = "".join(f"tok_{n:08d}abcdefgh\n" for n in range(MAX_MATCHES + 5))
    rest = [finding for finding in examine(text, "memory/a.md", policy) if finding.rule == "more-findings"]
    assert [finding.severity for finding in rest] == [Severity.BLOCK]
    other = [f for f in examine(text + "x", "memory/a.md", policy) if f.rule == "more-findings"]
    assert rest[0].fingerprint != other[0].fingerprint


def test_under_a_strict_policy_a_warning_blocks_and_says_why() -> None:
    (finding,) = scan(Source([blob("obey me", "SOUL.md")]), replace(POLICY, strict=True)).findings
    assert finding.severity is Severity.BLOCK and finding.message.endswith("(a warning: the gate is strict)")
    assert [f.severity for f in scan_text("obey me", "SOUL.md", replace(POLICY, strict=True))] == [Severity.BLOCK]
