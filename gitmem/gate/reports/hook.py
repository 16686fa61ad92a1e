"""Writes a scan's report as the lines that a Git hook prints: the findings, and what to type next."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.remedies import ROTATE, remedy
from gitmem.gate.reports.finding_words import order
from gitmem.gate.reports.text import finding_lines
from gitmem.gate.scan import Report
from gitmem.gate.shell_word import shell_word
from gitmem.plural import counted

MAX_LINES = 20  # lines that a hook prints at most
MAX_REMEDIES = 3  # remedies that a refused commit shows
KEPT_MESSAGE = (
    'git commit -e -F "$(git rev-parse --git-path COMMIT_EDITMSG)"'  # also in a subfolder or linked work tree
)
# Rules that a `Memory-Rewrite` trailer answers.
TRAILER_RULES = ("log-rewritten", "memory-bulk-deletion", "merge-lost-fact")


@dataclass(frozen=True, slots=True)
class _HookTexts:
    """The texts of one hook. `refused`: the participle of what it refuses. `mend`: how to mend what is committed
    already, "" before the commit, where each finding has its own remedy. `allow_options`: options of the `git mem
    allow` command, with a space before each. `bypass`: the command that runs without the hook, "" when there is none.
    """

    refused: str
    mend: str
    allow_options: str
    bypass: str


_COMMIT = _HookTexts("committed", mend="", allow_options="", bypass="git commit --no-verify")
_APPLY = _HookTexts("applied", mend="", allow_options="", bypass="git -c core.hooksPath=/dev/null am")
# Hook -> its texts; every other hook guards a commit. A push needs --history: the file of the work tree may have
# changed since.
_TEXTS = {
    "applypatch-msg": _APPLY,
    "pre-applypatch": _APPLY,
    "pre-push": _HookTexts(
        "pushed",
        mend="git mem redact the files, then git rebase -i or git commit --amend",
        allow_options=" --history",
        bypass="git push --no-verify",
    ),
    "pre-receive": _HookTexts(
        "pushed",
        mend="rewrite the commits named above (git rebase -i), then push again",
        allow_options=" --history",
        bypass="",
    ),
}


def hook_lines(report: Report, hook: str, escape: Callable[[str], str]) -> list[str]:
    """What a hook prints: at most MAX_LINES lines with the findings and, when one blocks, how to mask, allow and
    bypass."""
    texts = _TEXTS.get(hook, _COMMIT)
    ranked = order(report.findings)
    blocking = [f for f in ranked if f.severity is Severity.BLOCK]
    advice = _advice(blocking, texts)
    reserved = 2 + bool(report.before) + len(advice)  # 2: the first line, and the line that counts hidden findings
    lines: list[str] = []
    shown = 0
    for finding in ranked:
        block = finding_lines(finding, escape)
        if finding.severity is not Severity.BLOCK:
            block = block[:1]
        if len(lines) + len(block) + reserved > MAX_LINES:
            break
        lines += block
        shown += 1
    hidden = len(ranked) - shown
    if hidden:
        lines.append(f"... and {hidden} more; git mem scan shows all of them")
    if blocking:
        lines.insert(0, f"git mem: {counted(len(blocking), 'finding')}, so nothing was {texts.refused}")
    old = sum(finding.severity is Severity.WARN for finding in report.before)
    if old:
        lines.append(f"git mem: {counted(old, 'warning')} stood there before this change: git mem scan")
    return [*lines, *advice]


def _advice(blocking: Sequence[Finding], texts: _HookTexts) -> list[str]:
    """How to mend, explain, allow or bypass blocking findings, a line each; [] without any."""
    if not blocking:
        return []
    lines = _remedies(blocking)
    if texts.mend:
        lines = [f"  mend:   {texts.mend}"]
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
    """How to mend blocking findings before the commit: a mask or another message, then up to MAX_REMEDIES remedies."""
    maskable = next((f for f in blocking if f.path != MESSAGE and not remedy(f)), None)
    lines = []
    if maskable is not None:
        lines.append(f"  mask:   git mem redact --staged {shell_word(maskable.path)}")
    if any(f.path == MESSAGE for f in blocking):
        lines.append(f"  mend:   change the message (it is kept: {KEPT_MESSAGE})")
    remedies = dict.fromkeys(
        f"  mend:   {f.rule}: {remedy(f)}" for f in blocking if remedy(f) and f.rule not in TRAILER_RULES
    )
    return [*lines, *list(remedies)[:MAX_REMEDIES]]
