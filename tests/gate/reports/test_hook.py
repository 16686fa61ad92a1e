"""What each hook prints when it refuses: how to mend, allow and bypass, in at most MAX_LINES lines."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.reports.hook import MAX_LINES, hook_lines
from gitmem.gate.scan import Report

TOKEN = Finding("github-token", Severity.BLOCK, "memory/a.md", 3, 1, 3, 9, "a token", "ghp_…", fingerprint="f1")


@pytest.mark.parametrize(
    ("hook", "refused", "mend", "options", "bypass"),
    [
        ("pre-commit", "committed", "  mask:   git mem redact --staged memory/a.md", "", "git commit --no-verify"),
        ("commit-msg", "committed", "  mask:   git mem redact --staged memory/a.md", "", "git commit --no-verify"),
        ("pre-applypatch", "applied", "  mask:   git mem redact --staged", "", "git -c core.hooksPath=/dev/null am"),
        ("pre-push", "pushed", "  mend:   git mem redact the files, then git", " --history", "git push --no-verify"),
        ("pre-receive", "pushed", "  mend:   rewrite the commits named above", " --history", ""),
    ],
)
def test_each_hook_says_what_can_be_done_there(hook: str, refused: str, mend: str, options: str, bypass: str) -> None:
    lines = hook_lines(Report((TOKEN,)), hook, str)
    assert lines[0] == f"git mem: 1 finding, so nothing was {refused}"
    assert [line for line in lines if line.startswith(mend)]
    assert [line for line in lines if line.startswith(f"  allow:  git mem allow f1{options} --reason")]
    bypasses = [line.removeprefix("  bypass: ").partition(" (")[0] for line in lines if "bypass" in line]
    assert bypasses == [bypass] * bool(bypass)


def test_a_finding_in_a_message_is_mended_in_the_message() -> None:
    finding = Finding("github-token", Severity.BLOCK, MESSAGE, 1, 1, 1, 9, "a token")
    lines = hook_lines(Report((finding,)), "commit-msg", str)
    assert lines[1].startswith("commit message:1:1: block github-token") and "change the message" in lines[2]


def test_a_file_and_a_message_are_both_mended() -> None:
    message = Finding("github-token", Severity.BLOCK, MESSAGE, 1, 1, 1, 9, "a token")
    lines = hook_lines(Report((TOKEN, message)), "commit-msg", str)
    assert any("git mem redact --staged" in line for line in lines) and any(
        "change the message" in line for line in lines
    )


def test_one_command_masks_all_files_that_a_mask_mends() -> None:
    others = [replace(TOKEN, path=path) for path in ("memory/b.md", "memory/c d.md", "memory/b.md")]
    lines = hook_lines(Report((TOKEN, *others)), "pre-commit", str)
    assert "  mask:   git mem redact --staged memory/a.md memory/b.md 'memory/c d.md'" in lines
    many = tuple(replace(TOKEN, path=f"memory/{number}.md") for number in range(9))
    (mask,) = [line for line in hook_lines(Report(many), "pre-commit", str) if "  mask:" in line]
    assert mask.endswith("memory/3.md memory/4.md")


def test_many_findings_leave_room_for_the_advice() -> None:
    lines = hook_lines(Report((TOKEN,) * 40, before=(TOKEN,)), "pre-commit", str)
    assert len(lines) <= MAX_LINES and any("more; git mem scan" in line for line in lines)
    assert lines[-1].startswith("  bypass:")


def test_warnings_alone_fill_the_lines() -> None:
    warning = replace(TOKEN, severity=Severity.WARN)
    lines = hook_lines(Report((warning,) * 40, before=(TOKEN,)), "pre-commit", str)
    assert len(lines) == MAX_LINES and lines[-1].startswith("... and 21 more; git mem scan")
