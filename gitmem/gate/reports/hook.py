"""Writes a scan's report as the lines that a Git hook prints: the findings, and what to type next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.remedies import ROTATE, remedy
from gitmem.gate.reports.finding_words import order
from gitmem.gate.reports.text import finding_lines
from gitmem.gate.scan import Report
from gitmem.plural import counted
from gitmem.shell_word import shell_word

MAX_LINES = 20  # lines that a hook prints at most
MAX_MASKED_FILES = 5  # files that a refused commit names in the command that masks them
MAX_REMEDIES = 3  # rules whose remedy a refused commit shows
# Also in a subfolder or a linked work tree.
KEPT_MESSAGE = 'git commit -e -F "$(git rev-parse --git-path COMMIT_EDITMSG)"'
# Rules that a `Memory-Rewrite` trailer answers.
TRAILER_RULES = ("log-rewritten", "memory-bulk-deletion", "merge-lost-fact")


@dataclass(frozen=True, slots=True)
class _HookTexts:
    """The texts of one hook."""

    refused: str  # the participle of what the hook refuses
    remedy: str = ""  # for all that is committed already; "" before a commit, where each finding has its own remedy
    allow_options: str = ""  # options of the `git mem allow` command, with a space before each
    bypass: str = ""  # the command that runs without the hook; "" if there is none


_COMMIT = _HookTexts("committed", bypass="git commit --no-verify")
_APPLY = _HookTexts("applied", bypass="git -c core.hooksPath=/dev/null am")
# Hook -> its texts; every other hook guards a commit. A push needs --history: the file of the work tree may have
# changed since.
_TEXTS = {
    "applypatch-msg": _APPLY,
    "pre-applypatch": _APPLY,
    "pre-push": _HookTexts(
        "pushed",
        remedy="git mem redact the files, then git rebase -i or git commit --amend",
        allow_options=" --history",
        bypass="git push --no-verify",
    ),
    "pre-receive": _HookTexts(
        "pushed",
        remedy="rewrite the commits named above (git rebase -i), then push again",
        allow_options=" --history",
    ),
}


def hook_lines(report: Report, hook: str, escape: Callable[[str], str]) -> list[str]:
    """The lines that a hook prints, at most MAX_LINES: the findings that fit, how many warnings were there before the
    change and, if a finding blocks, what was refused and what to do. `hook`: its name; an unknown hook counts as one
    that guards a commit."""
    texts = _TEXTS.get(hook, _COMMIT)
    ranked = order(report.findings)
    blocking = [finding for finding in ranked if finding.severity is Severity.BLOCK]
    head_lines: list[str] = []
    tail_lines: list[str] = []
    old_warnings = sum(finding.severity is Severity.WARN for finding in report.before)
    if old_warnings:
        tail_lines += [f"git mem: {counted(old_warnings, 'warning')} stood there before this change: git mem scan"]
    if blocking:
        head_lines += [f"git mem: {counted(len(blocking), 'finding')}, so nothing was {texts.refused}"]
        tail_lines += _advice(blocking, texts)
    return [*head_lines, *_fitting_lines(ranked, MAX_LINES - len(head_lines) - len(tail_lines), escape), *tail_lines]


def _fitting_lines(ranked: Sequence[Finding], room: int, escape: Callable[[str], str]) -> list[str]:
    """The lines of the first findings, at most `room` lines, one of them kept for the number of findings left out. A
    finding that only warns takes one line."""
    lines: list[str] = []
    for shown, finding in enumerate(ranked):
        block = finding_lines(finding, escape)
        if finding.severity is not Severity.BLOCK:
            block = block[:1]
        if len(lines) + len(block) > room - 1:
            return [*lines, f"... and {len(ranked) - shown} more; git mem scan shows all of them"]
        lines += block
    return lines


def _advice(blocking: Sequence[Finding], texts: _HookTexts) -> list[str]:
    """What to do about blocking findings: their remedies, then how to explain, allow or bypass them, a line each."""
    lines = [f"  mend:   {texts.remedy}"]
    if not texts.remedy:
        lines = _remedies(blocking)
    if any(f.rule in TRAILER_RULES for f in blocking):
        lines.append("  say so: git commit --trailer 'Memory-Rewrite: why the past is changed'")
    allow = f"git mem allow {blocking[0].fingerprint}{texts.allow_options} --reason 'why'"
    lines.append(f"  allow:  {allow} (it is reviewed as its own change)")
    if texts.bypass:
        lines.append(f"  bypass: {texts.bypass} (CI scans the same range again)")
    if any(f.secret for f in blocking):
        lines.append(f"  {ROTATE}")
    return lines


def _remedies(blocking: Sequence[Finding]) -> list[str]:
    """The remedies of blocking findings before a commit: `git mem redact` for the files where it helps, at most
    MAX_MASKED_FILES, another message, then those of at most MAX_REMEDIES rules."""
    masked: dict[str, None] = {}
    message: list[str] = []
    of_rules: list[str] = []
    for finding in blocking:
        advice = remedy(finding)
        if finding.path == MESSAGE:
            message = [f"  mend:   change the message (it is kept: {KEPT_MESSAGE})"]
        elif not advice:
            masked[finding.path] = None
        line = f"  mend:   {finding.rule}: {advice}"
        if advice and finding.rule not in TRAILER_RULES and line not in of_rules:
            of_rules.append(line)
    redact = [" ".join(["  mask:   git mem redact --staged", *map(shell_word, islice(masked, MAX_MASKED_FILES))])]
    return [*(redact if masked else ()), *message, *of_rules[:MAX_REMEDIES]]
