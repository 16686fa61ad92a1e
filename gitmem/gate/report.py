"""Writes a scan's report as text, JSON, SARIF 2.1.0, GitHub annotations or Markdown. Pure: a report in, text out.

All that comes from a repository is escaped for its target; excerpts are masked already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gitmem.gate.changes.rules import RULES
from gitmem.gate.detectors import registry
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE
from gitmem.gate.scan import IN_NAME, Report
from gitmem.json_values import json_object, json_value
from gitmem.plural import counted

ROTATE = "a real secret is rotated first: see docs/leaked-secret.md of git-mem"
ANNOTATIONS = 10  # annotations of each kind that GitHub shows for a step
HOOK_LINES = 20  # lines that a hook prints at most
REMEDIES_SHOWN = 3  # remedies that a refused commit shows
REASONED = ("log-rewritten", "memory-bulk-deletion", "merge-lost-fact")  # rules that a `Memory-Rewrite` trailer answers
SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


# By rule: what a person must do about a finding that no mask mends; of detectors, and about a change or a whole file.
REMEDIES = registry.REMEDIES | {
    "not-text": "convert it to UTF-8, or keep it out of memory: git rm --cached FILE",
    "unscannable": "what cannot be read cannot pass: resolve, fetch or shorten it, or git rm --cached FILE",
    "scanner-failed": "a bug of the detector named: report it; --no-verify passes the hook, CI scans again",
    "symlink": "put the file itself there: git rm --cached FILE",
    "submodule": "put the files themselves there: git rm --cached FILE",
    "path-control": "give it another name: git mv",
    "path-windows": "give it another name: git mv",
    "path-long": "give it a shorter name: git mv",
    "path-twin": "give one of the two another name: git mv",
    "protected-file": "take the change out, or have it reviewed: git mem allow",
    "settings-loosened": "put them back, or have it reviewed: git mem allow",
    "layout-narrowed": "name them in [memory] paths: git mem init --adopt; or have it reviewed: git mem allow",
    "encoding-attribute": "take it out of .gitattributes, or name files that are not scanned",
    "stored-in-clear": "git-crypt unlock, then git add --renormalize the file; git-crypt status lists all such files",
    "log-rewritten": "put the lines back, or say why: git commit --trailer 'Memory-Rewrite: why'",
    "merge-lost-fact": "put the facts back, or say why: git commit --trailer 'Memory-Rewrite: why'",
    "memory-bulk-deletion": "put the facts back, or say why: git commit --trailer 'Memory-Rewrite: why'",
}


def remedy(finding: Finding) -> str:
    """What a person must do about a finding that `git mem redact` cannot mend, "" for one that it can."""
    if finding.message.startswith(IN_NAME):
        return "give the file another name: git mv"
    return REMEDIES.get(finding.rule, "")


def order(findings: Sequence[Finding]) -> list[Finding]:
    """The findings that block, then those that warn, each by path and place."""
    return sorted(findings, key=lambda f: (f.severity is Severity.WARN, f.path, f.line, f.column, f.rule))


def as_value(report: Report) -> dict[str, Any]:
    """The JSON value of docs/json.md."""
    return {
        "findings": [finding_value(finding) for finding in order(report.findings)],
        "scanned": {"blobs": report.blobs, "bytes": report.bytes},
        "skipped": json_value(report.skipped),
        "accepted": [finding_value(finding) for finding in order(report.accepted)],
    }


def finding_value(finding: Finding) -> dict[str, Any]:
    """One finding of docs/json.md."""
    return json_object(finding, "rule severity path line column end_line end_column message excerpt commit fingerprint")


def as_text(report: Report, escape: Callable[[str], str], *, accepted: bool = False) -> str:
    """A block of lines for each finding, then a summary line. `accepted`: whether findings of the baseline are listed
    too."""
    lines: list[str] = []
    if accepted:
        for finding in order(report.accepted):
            first, *rest = finding_lines(finding, escape)
            lines += [f"accepted: {first}", *rest]
    for finding in order(report.findings):
        lines += finding_lines(finding, escape)
        if remedy(finding):
            lines += [f"    mend: {remedy(finding)}"]
    return "\n".join([*lines, *_rotate(report), summary(report)]) + "\n"


def _rotate(report: Report) -> list[str]:
    """The advice to rotate secrets that a commit holds, since history keeps them; [] when no commit holds one."""
    if not any(finding.commit and finding.secret for finding in report.findings):
        return []
    return [f"what is committed stays in history: {ROTATE}"]


def finding_lines(finding: Finding, escape: Callable[[str], str]) -> list[str]:
    """`path:line:column: severity rule: message`, then the excerpt and the fingerprint; each escaped and on one
    line."""
    if finding.path == MESSAGE:
        place = "commit message"
    else:
        place = finding.path
    at = ""
    if finding.commit:
        at = f" [{finding.commit[:12]}]"
    head = f"{place}:{finding.line}:{finding.column}: {finding.severity.value} {finding.rule}: {finding.message}{at}"
    lines = [one_line(head, escape)]
    if finding.excerpt:
        lines.append("    " + one_line(finding.excerpt, escape))
    if finding.fingerprint:
        lines.append(f"    fingerprint {finding.fingerprint}")
    return lines


def one_line(text: str, escape: Callable[[str], str]) -> str:
    """The escaped text on one line: line ends become `\\n`, tabs become blanks."""
    return escape(text).replace("\n", "\\n").replace("\t", " ")


def summary(report: Report) -> str:
    """One line: how many findings block and warn, how much was scanned, how much is excepted or accepted."""
    blocks = sum(finding.severity is Severity.BLOCK for finding in report.findings)
    warns = len(report.findings) - blocks
    counts = "clean"
    if report.findings:
        counts = f"{blocks} blocking, {warns} warning"
    excepted = ""
    if report.allowed:
        excepted = f", {len(report.allowed)} excepted"
    if report.accepted:
        excepted += f", {len(report.accepted)} accepted at adoption (--all shows them)"
    return f"{counts}: {counted(report.blobs, 'file')}, {counted(report.bytes, 'byte')} scanned{excepted}"


def blocking_words(report: Report) -> str:
    """One line with the rule, place, commit and message of three blocking findings at most, and how many more there
    are."""
    worst = [finding for finding in order(report.findings) if finding.severity is Severity.BLOCK]
    words = []
    for finding in worst[:3]:
        if finding.path == MESSAGE:
            place = finding.path
        else:
            place = f"{finding.path}:{finding.line}"
        if finding.commit:
            place += f" in {finding.commit[:12]}"
        words.append(f"{finding.rule} ({place}: {finding.message})")
    listed = ", ".join(words)
    if len(worst) > 3:
        return f"{listed} and {len(worst) - 3} more"
    return listed


def hook_lines(report: Report, hook: str, escape: Callable[[str], str]) -> list[str]:
    """What a hook prints: at most HOOK_LINES lines with the findings and, when one blocks, how to mask, allow and
    bypass."""
    ranked = order(report.findings)
    worst = [f for f in ranked if f.severity is Severity.BLOCK]
    advice = _advice(worst, hook)
    lines: list[str] = []
    shown = 0
    for finding in ranked:
        block = finding_lines(finding, escape)
        if finding.severity is not Severity.BLOCK:
            block = block[:1]
        if len(lines) + len(block) + len(advice) + 2 + bool(report.before) > HOOK_LINES:
            break
        lines += block
        shown += 1
    hidden = len(ranked) - shown
    if hidden:
        lines.append(f"... and {hidden} more; git mem scan shows all of them")
    done = "committed"
    if hook in ("pre-push", "pre-receive"):
        done = "pushed"
    if worst:
        lines.insert(0, f"git mem: {len(worst)} finding{'s'[: len(worst) != 1]}, so nothing was {done}")
    old = sum(finding.severity is Severity.WARN for finding in report.before)
    if old:
        lines.append(f"git mem: {counted(old, 'warning')} stood there before this change: git mem scan")
    return [*lines, *advice]


def _advice(worst: Sequence[Finding], hook: str) -> list[str]:
    """How to mend, explain, allow or bypass blocking findings, a line each; [] without any."""
    if not worst:
        return []
    first = next((f for f in worst if f.path != MESSAGE and not remedy(f)), None)
    lines = []
    if hook == "pre-receive":
        lines.append("  mend:   rewrite the commits named above (git rebase -i), then push again")
    elif hook == "pre-push":
        lines.append("  mend:   git mem redact the files, then git rebase -i or git commit --amend")
    elif first is not None:
        lines.append(f"  mask:   git mem redact --staged {shell_word(first.path)}")
    elif any(f.path == MESSAGE for f in worst):
        lines.append("  mend:   change the message (it is kept: git commit -e -F .git/COMMIT_EDITMSG)")
    if hook not in ("pre-receive", "pre-push"):
        mends = dict.fromkeys(f"  mend:   {f.rule}: {remedy(f)}" for f in worst if remedy(f) and f.rule not in REASONED)
        lines += list(mends)[:REMEDIES_SHOWN]
    if any(f.rule in REASONED for f in worst):
        lines.append("  say so: git commit --trailer 'Memory-Rewrite: why the past is changed'")
    where = ""
    if hook in ("pre-push", "pre-receive"):  # the file of the work tree may have changed since
        where = " --history"
    lines.append(
        f"  allow:  git mem allow {worst[0].fingerprint}{where} --reason 'why' (it is reviewed as its own change)"
    )
    if hook != "pre-receive":
        verb = "commit"
        if hook == "pre-push":
            verb = "push"
        lines.append(f"  bypass: git {verb} --no-verify (CI scans the same range again)")
    if any(f.secret for f in worst):
        return [*lines, f"  {ROTATE}"]
    return lines


def shell_word(text: str) -> str:
    """`text` as one word of a POSIX shell: quoted, control characters escaped, `./` before a leading dash."""
    if text.startswith("-"):
        text = f"./{text}"
    if not text.isprintable():
        return "$'" + "".join(_ansi_c(c) for c in text) + "'"
    plain = all(c.isalnum() or c in "_./@%+=:,-" for c in text)
    if plain and text:
        return text
    return "'" + text.replace("'", "'\"'\"'") + "'"


def _ansi_c(c: str) -> str:
    if c in "\\'":
        return "\\" + c
    if c.isprintable():
        return c
    return "".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape"))


# -- SARIF ---------------------------------------------------------------------------------------------------


RESULTS = 25_000  # results in a file: GitHub refuses one with more, and shows the first 5,000
DESCRIBED = 1_024  # characters of a rule's description that GitHub accepts
MESSAGE_FILE = ".git/COMMIT_EDITMSG"  # the place of a finding in a message, since GitHub refuses results without one


def as_sarif(report: Report, version: str) -> str:
    """SARIF 2.1.0 (OASIS) within the limits of GitHub's code scanning, with stable fingerprints.

    A finding in a commit message has MESSAGE_FILE as its place and names its commit. Above RESULTS findings the rest,
    warnings first, is left out and counted in a notification.
    """
    ranked = order(report.findings)
    first: dict[str, Finding] = {}
    for finding in ranked[:RESULTS]:
        first.setdefault(finding.rule, finding)
    notes = [f"skipped {_safe(s.path)}: {_safe(s.reason)}" for s in report.skipped]
    if len(ranked) > RESULTS:
        notes.append(f"{len(ranked) - RESULTS} more findings do not fit into this file: git mem scan lists them")
    driver = {"name": "git-mem", "version": version, "rules": [_rule(finding) for finding in first.values()]}
    numbers = {rule: number for number, rule in enumerate(first)}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, numbers[finding.rule]) for finding in ranked[:RESULTS]],
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": [{"level": "warning", "message": {"text": note}} for note in notes],
            }
        ],
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, ensure_ascii=True, indent=1) + "\n"


def _rule(finding: Finding) -> dict[str, Any]:
    """SARIF's description of the rule of a finding: what it looks for and what to do about it."""
    words = RULES.get(finding.rule) or finding.message.partition(" (")[0]
    mend = remedy(finding) or "git mem redact FILE masks it"
    help_text = f"Mend: {mend}. Let it pass: git mem allow FINGERPRINT --reason 'why', as a change of its own."
    if finding.secret:
        help_text += f" {ROTATE.capitalize()}."
    return {
        "id": finding.rule,
        "name": finding.rule,
        "shortDescription": {"text": finding.rule.replace("-", " ").capitalize()},
        "fullDescription": {"text": _safe(words)[:DESCRIBED]},
        "help": {"text": help_text},
        "defaultConfiguration": {"level": _level(finding)},
    }


def _level(finding: Finding) -> str:
    if finding.severity is Severity.BLOCK:
        return "error"
    return "warning"


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    from urllib.parse import quote

    text = finding.message
    if finding.excerpt:
        text = f"{text}: {finding.excerpt}"
    in_message = finding.path == MESSAGE
    if in_message:
        where = MESSAGE_FILE
    else:
        where = quote(finding.path, safe="/", errors="surrogateescape")
    region = {
        "startLine": finding.line, "startColumn": finding.column,
        "endLine": finding.end_line, "endColumn": max(finding.end_column, 1),
    }  # fmt: skip
    place: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": where}, "region": region}}
    if in_message:
        place["logicalLocations"] = [{"name": "commit message", "kind": "resource"}]
        text = f"commit message: {text}"
    value: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _level(finding),
        "message": {"text": _safe(text)},
        "locations": [place],
        "partialFingerprints": {"gitMem/v1": finding.fingerprint},
    }
    if finding.commit:
        value["properties"] = {"commit": finding.commit}
    return value


def _safe(text: str) -> str:
    """`text` with lone surrogates, which JSON readers refuse, as `\\udcXX`."""
    return text.encode("utf-8", "backslashreplace").decode()


# -- GitHub --------------------------------------------------------------------------------------------------


def as_annotations(report: Report, escape: Callable[[str], str]) -> str:
    """GitHub workflow commands for ANNOTATIONS findings of each severity at most, then the summary; no text of memory
    can be read as a command."""
    lines: list[str] = []
    for severity, verb in ((Severity.BLOCK, "error"), (Severity.WARN, "warning")):
        ranked = [finding for finding in order(report.findings) if finding.severity is severity]
        lines += [_annotation(verb, finding, escape) for finding in ranked[:ANNOTATIONS]]
        if len(ranked) > ANNOTATIONS:
            lines.append(f"{len(ranked) - ANNOTATIONS} more {verb}s are in the report")
    return "\n".join([*lines, *_rotate(report), summary(report)]) + "\n"


def _annotation(verb: str, finding: Finding, escape: Callable[[str], str]) -> str:
    words = one_line(finding.message, escape)
    if finding.excerpt:
        words += ": " + one_line(finding.excerpt, escape)
    if finding.commit:
        words += f" [{finding.commit[:12]}]"
    words += f" (fingerprint {finding.fingerprint})"
    fields = {"title": finding.rule}
    if finding.path != MESSAGE:
        fields |= {"file": finding.path, "line": str(finding.line), "endLine": str(finding.end_line)}
        if finding.line == finding.end_line:
            fields |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    else:
        words = "commit message: " + words
    return workflow_command(verb, fields, words, escape)


def workflow_command(verb: str, fields: Mapping[str, str], words: str, escape: Callable[[str], str]) -> str:
    """One command of a GitHub workflow, without a line end; `words` and `fields` are escaped, so that they hold no
    other."""
    place = ",".join(f"{key}={_property(one_line(value, escape))}" for key, value in fields.items())
    return f"::{verb} {place}::{_data(one_line(words, escape))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# -- Markdown ------------------------------------------------------------------------------------------------

ROWS = 100  # findings that a step summary lists; the others are counted


def as_markdown(report: Report, escape: Callable[[str], str], title: str) -> str:
    """A Markdown table for a step summary or a comment; text of memory is escaped, so that it holds no markup."""
    lines = [f"### {title}", "", summary(report), ""]
    findings = order(report.findings)
    if findings:
        lines += ["| rule | place | what | excerpt |", "|---|---|---|---|"]
        for finding in findings[:ROWS]:
            if finding.path == MESSAGE:
                place = "commit message"
            else:
                place = f"{finding.path}:{finding.line}"
            if finding.commit:
                place += f" at {finding.commit[:12]}"
            cells = [finding.rule, code(one_line(place, escape)), one_line(finding.message, escape), ""]
            if finding.excerpt:
                cells[-1] = code(one_line(finding.excerpt, escape))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if len(findings) > ROWS:
            lines += ["", f"and {len(findings) - ROWS} more"]
        if any(finding.commit and finding.secret for finding in findings):
            lines += ["", "A secret that was pushed is known: rotate it first, then remove it from history."]
    lines += [f"- skipped {code(one_line(skip.path, escape))}: {skip.reason}" for skip in report.skipped]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """`text` as inline code of Markdown, with a fence longer than any run of backticks in it."""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    if "`" in text:
        return f"{fence} {text} {fence}"
    return f"`{text}`"
