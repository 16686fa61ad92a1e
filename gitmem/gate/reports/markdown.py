"""Writes a scan's report as Markdown, for a step summary or a comment. Text of memory cannot act as markup."""

from __future__ import annotations

import re
from collections.abc import Callable

from gitmem.gate.reports.finding_words import has_committed_secret, one_line, order, place_of, summary
from gitmem.gate.scan import Report

MAX_ROWS = 100  # findings that the table lists; the others are counted


def as_markdown(report: Report, escape: Callable[[str], str], title: str) -> str:
    """A heading with `title`, the summary, a table of the findings and a list of the skipped files. The table has
    MAX_ROWS rows at most and is left out without findings. `escape`: returns a text with the characters escaped that a
    terminal would obey."""
    lines = [f"### {title}", "", summary(report), ""]
    findings = order(report.findings)
    if findings:
        lines += ["| rule | place | what | excerpt |", "|---|---|---|---|"]
        for finding in findings[:MAX_ROWS]:
            place = code(one_line(place_of(finding, "at"), escape))
            cells = [finding.rule, place, one_line(finding.message, escape), ""]
            if finding.excerpt:
                cells[-1] = code(one_line(finding.excerpt, escape))
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        if len(findings) > MAX_ROWS:
            lines += ["", f"and {len(findings) - MAX_ROWS} more"]
        if has_committed_secret(report):
            lines += ["", "A secret that was pushed is known: rotate it first, then remove it from history."]
    lines += [f"- skipped {code(one_line(skip.path, escape))}: {skip.reason}" for skip in report.skipped]
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """`text` as inline code of Markdown, with a fence longer than any run of backticks in it."""
    fence = "`" * (max((len(run) for run in re.findall(r"`+", text)), default=0) + 1)
    if "`" in text:
        return f"{fence} {text} {fence}"
    return f"`{text}`"
