"""Explains the gate's verdict on one line: how the detectors read it, the evidence, the findings, and how each finding
could be made to pass. Pure.

Everything that is shown is masked: the line, its normalised form, and texts that are decoded from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from gitmem.errors import GitMemError, Refused
from gitmem.gate.detectors import registry
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.detectors.folding import normalise
from gitmem.gate.detectors.text import Evidence, Text
from gitmem.gate.examine import Inspection, finding_of, finding_of_failure, finding_of_match_limit, inspect
from gitmem.gate.excepted_findings import apply_exceptions
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import redact
from gitmem.gate.remedies import remedy
from gitmem.gate.reports.finding_words import one_line
from gitmem.gate.reports.text import finding_lines
from gitmem.json_values import json_keys, keys_of_class
from gitmem.messages import Message
from gitmem.shell_word import shell_word

MAX_SHOWN_CHARACTERS = 400  # characters of a text that are shown


OF_FINDING = " ".join(f"{key.name}=finding.{key.attribute}" for key in keys_of_class(Finding))


@json_keys(f"{OF_FINDING} exception passes=ways")
@dataclass(frozen=True, slots=True)
class ExplainedFinding:
    """A finding on the line. `exception`: the state of the exception for it as a sentence, "" for none. `passes`:
    whether an exception in force covers it. `ways`: sentences, each with one way to make the finding pass; () when it
    passes or its exception has ended.

    JSON: `exception`: "", `excepted until DAY`, `ended DAY` or a sentence. `passes`: what would make it pass.
    """

    finding: Finding
    exception: str
    ways: tuple[str, ...]
    passes: bool = False


class ReadText(NamedTuple):
    """A text that the detectors read for the line, masked. `how`: how it was obtained ("line", "without disguise", or
    the name of an encoding)."""

    how: str
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The gate's verdict on one line.

    `line`: its number, from 1. `scope`: the value of `Scope` of the file. `scanned`: whether the gate scans the file at
    all. `read`: the texts that the detectors read for the line. `evidence`: the values by which detectors decided.

    JSON: `read`: the line and, if they differ, how it reads without disguise and what is decoded from it; secrets are
    masked, and each text has at most 400 characters. `evidence`: the detectors' own figures.
    """

    path: str
    line: int
    scope: str
    scanned: bool
    read: tuple[ReadText, ...]
    evidence: tuple[Evidence, ...]
    findings: tuple[ExplainedFinding, ...]

    @property
    def blocks(self) -> bool:
        """Whether a finding blocks that no exception in force covers."""
        return any(explained.finding.severity is Severity.BLOCK and not explained.passes for explained in self.findings)


def explain(text: str, path: str, line: int, policy: Policy, more: Iterable[Finding] = ()) -> Explanation:
    """The explanation of one line. `more`: findings about the file's bytes (`examine.finding_of_non_text`).

    The findings are those of a scan of the file that touch the line or are about the file as a whole; a sentence that
    a scan reports only at another line counts too. Raises GitMemError when the text has no such line.
    """
    inspection = inspect(text, path, policy)
    starts = inspection.text.line_starts
    if not 0 < line <= len(starts):
        raise GitMemError(
            Message("'{}' has {} lines", path, len(starts)), f"git mem scan {shell_word(path)} shows the places"
        )
    start = starts[line - 1]
    end = len(text)
    if line < len(starts):
        end = starts[line] - 1
    findings = [*_on_the_line(inspection, start, end, policy), *_of_the_file(inspection, policy), *more]
    evidence: list[Evidence] = []
    if not inspection.failures:
        evidence = [e for e in registry.evidence(inspection.text) if e.start <= end and e.end > start]
    return Explanation(
        path,
        line,
        inspection.text.scope.value,
        policy.scans(path),
        tuple(_read(inspection, start, end, policy)),
        tuple(evidence),
        tuple(_explained(finding, policy) for finding in findings),
    )


def _on_the_line(inspection: Inspection, start: int, end: int, policy: Policy) -> Iterator[Finding]:
    """The findings that touch the line at start..end. A scan reports some sentences only at their first place; a
    repetition of such a sentence on this line counts too."""
    on_line = [match for match in inspection.matches if match.start <= end and max(match.end, match.start + 1) > start]
    yield from (finding_of(match, inspection, policy) for match in on_line)
    reported = {(match.rule, inspection.text.raw[match.start : match.end]) for match in inspection.matches}
    repeated = inspect(inspection.text.raw, inspection.text.path, policy, exhaustive=True, most=None)
    for match in repeated.matches:
        key = match.rule, inspection.text.raw[match.start : match.end]
        touches = match.start <= end and match.end > start
        is_apart = all(match.end <= other.start or match.start >= other.end for other in on_line)
        if touches and is_apart and key in reported:
            finding = finding_of(match, repeated, policy)
            yield replace(finding, message=f"{finding.message} (a scan tells it once, where it stands first)")


def _of_the_file(inspection: Inspection, policy: Policy) -> Iterator[Finding]:
    """The findings about the file as a whole: a detector that failed, or that reached the match limit."""
    path = inspection.text.path
    yield from (finding_of_failure(failure, path, policy) for failure in inspection.failures)
    if inspection.limit_reached:
        yield finding_of_match_limit(inspection.text.raw, path, policy)


def _read(inspection: Inspection, start: int, end: int, policy: Policy) -> Iterator[ReadText]:
    """The texts that detectors read for the line at start..end: the masked line, its normalised form if that differs,
    and each text that is decoded from it."""
    if inspection.limit_reached or inspection.failures:
        yield ReadText("line", "[not shown: not all of the text could be read for secrets]")
        return
    from gitmem.gate.detectors.injection.decoding import decoded

    shown = inspection.masked_line(start, end)
    yield ReadText("line", _excerpt(shown))
    plain, _ = normalise(shown)
    if plain != shown:
        yield ReadText("without disguise", _excerpt(plain))
    for view in decoded(inspection.text.raw):
        if view.start <= end and view.end > start and view.text:
            if any(first < view.end and last > view.start for first, last in inspection.secrets):
                yield ReadText(view.kind, "[not shown: a secret]")
            else:
                yield ReadText(view.kind, _excerpt(_masked(view.text, policy), around_instruction=True))


def _masked(text: str, policy: Policy) -> str:
    """A decoded text with its secrets masked; a note in its place when a detector fails."""
    try:
        return redact(text, "", policy, only_secrets=True)
    except Refused:
        return "[not shown: a detector failed on it]"


def _excerpt(text: str, around_instruction: bool = False) -> str:
    """At most MAX_SHOWN_CHARACTERS of a text: its beginning, or the part around the sentence most like an
    instruction."""
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    start = 0
    if around_instruction:
        from gitmem.gate.detectors.injection.sentence_judge import judge

        subject = Text(text)
        match = next(judge(subject), None)
        if match:
            start = max(0, subject.to_raw(match.start, match.end)[0] - MAX_SHOWN_CHARACTERS // 4)
    shown = text[start : start + MAX_SHOWN_CHARACTERS]
    if start + MAX_SHOWN_CHARACTERS < len(text):
        shown = f"{shown}…"
    if start:
        shown = f"…{shown}"
    return shown


def _explained(finding: Finding, policy: Policy) -> ExplainedFinding:
    """The finding with the severity that a scan would give it, the exception for it, and the ways to make it pass."""
    entry = policy.allow.covers(finding)
    counting = next(iter(apply_exceptions([finding], policy).counting), finding)
    if entry is not None:
        until = "without an end"
        if entry.until:
            until = entry.until.isoformat()
        if entry.expired(policy.today):
            return ExplainedFinding(counting, f"ended {until}", ())
        return ExplainedFinding(finding, f"excepted until {until}", (), passes=True)
    exception = ""
    if policy.allow.softens(finding, policy.today):
        exception = "its rule is excepted in this file; it came later"
    return ExplainedFinding(counting, exception, tuple(_ways(finding)))


def _ways(finding: Finding) -> Iterator[str]:
    """What would make a finding pass, the mildest way first."""
    if remedy(finding):
        yield remedy(finding)
    else:
        yield f"mask it: git mem redact {shell_word(finding.path)}"
    yield f"except it: git mem allow {finding.fingerprint} --reason 'why'"
    if finding.rule in registry.EXCEPTED_FOR_FILES:
        place = shell_word(finding.path)
        yield f"except the rule in this file: git mem allow --rule {finding.rule} --file {place} --reason 'why'"


def as_text(explanation: Explanation, escape: Callable[[str], str]) -> str:
    """The explanation as text: what was read, the evidence, the findings and how each could pass. `escape`: returns a
    text with the characters escaped that a terminal would obey."""
    lines = [one_line(f"{explanation.path}:{explanation.line}: read as {explanation.scope}", escape)]
    if not explanation.scanned:
        lines.append("the gate does not read this file: no commit of it is refused")
    lines += ["", "read"]
    lines += [f"  {how:17} {one_line(text, escape)}" for how, text in explanation.read]
    if explanation.evidence:
        lines += ["", "evidence"]
        for evidence in explanation.evidence:
            lines.append(f"  {evidence.rule}: " + ", ".join(f"{name} {value}" for name, value in evidence.values))
    title = "findings"
    if not explanation.findings:
        title = "no findings: the line passes"
    lines += ["", title]
    for explained in explanation.findings:
        lines += [f"  {line}" for line in finding_lines(explained.finding, escape)]
        if explained.exception:
            lines += [f"    {explained.exception}"]
        lines += [f"    to pass: {one_line(way, escape)}" for way in explained.ways]
    return "\n".join(lines) + "\n"
