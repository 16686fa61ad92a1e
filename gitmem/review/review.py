"""Reviews a change of memory between two commits: changed facts, findings of the gate, provenance and warnings.

`review` returns one `Review` value. It holds the changed facts, the gate's findings in every version of the range, the
provenance verdict of each changed line of MEMORY.md, and the warnings (rival facts, file sizes, lost search answers and
so on). This module only reads the repository. Wherever the gate finds something in memory text, the review masks it.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from gitmem.config import Config
from gitmem.gate.blob_reading import BlobPlace, read_blobs
from gitmem.gate.commit_files import files_of_new_commits
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import FilesBefore
from gitmem.gate.examine import Source as Scanned
from gitmem.gate.existing_findings import findings_before
from gitmem.gate.files_before import files_before
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.redaction import redaction
from gitmem.gate.remedies import remedy
from gitmem.gate.scan import Report, scan, without_repeats
from gitmem.gate.tree_policies import daily_patterns, range_policy
from gitmem.git.objects import Commit
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.git.revision import CommitRange
from gitmem.memory.fact import cited_spans
from gitmem.paths import Layout
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine, shown_name
from gitmem.provenance.cited_sources import Source, SourceReader
from gitmem.provenance.grounding import Support
from gitmem.provenance.signatures import Signature
from gitmem.provenance.verify import CheckedFact, Verdict, verify
from gitmem.review.commit_diff import MergeBases, fact_changes, renames, with_facts_removed_by_merge
from gitmem.review.fact_diff import FactChange
from gitmem.review.forges.forge import Suggestion
from gitmem.review.masking import mask_strings
from gitmem.review.text_changes import OtherChanges, is_text, other_changes, with_texts_removed_by_merge
from gitmem.review.warnings.registry import WARNINGS
from gitmem.review.warnings.warning import Clock, Range, ReviewWarning

FactPlace = tuple[str, str, int]  # the commit in which a fact is read, its path, its line


class State(StrEnum):
    """The origin of a changed line of memory: a promotion from a log, a person, an agent, or a broken record."""

    PROMOTED = "promoted"
    SHARED = "shared"
    PERSON = "person"
    AGENT = "agent"
    EDITED = "edited"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """A changed line (1-based) and its provenance verdict.

    `message`: the flaws of a fact, each as `rule: words`, without `unrecorded`; "" for none. `support`: the value of
    the fact's `Support`, "" for a line that is not a fact; `words`: that support as a phrase. `edits`: (key, old value,
    new value) of each edit since the fact was recorded; `editor`: who made the edits, "" for none. `promoted`: a
    promotion, or an edit of a promoted fact, recorded the fact. `fails`: the line fails the review.
    """

    path: str
    line: int
    text: str
    state: State
    message: str
    commit: str
    author: str
    support: str = ""
    words: str = ""
    edits: tuple[tuple[str, str, str], ...] = ()
    editor: str = ""
    fails: bool = False
    promoted: bool = False


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """A line of a file at the head, in the form that `git mem redact` would write. `rules`: the rules that masked it;
    empty for a line that continues a mask begun on an earlier line."""

    path: str
    line: int
    text: str
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Review:
    """Everything a review found between the commits `base` ("" for none) and `head`.

    `changes`: facts that were added, removed, edited, moved to another file or that expired. `other`: changed lines
    that are not facts, and facts that only moved within a file. `lines`: the provenance verdict of each changed line.
    `notes`: checks that could not be made, and the summary of the signatures. `cited`: the source lines of each changed
    fact, by the commit, path and line of the fact. `masks`: lines that masking would change. `daily`: the path patterns
    of daily logs. `head_fingerprints`: fingerprints of the findings that are still in the files at the head, so not
    only in an earlier version.
    """

    base: str
    head: str
    changes: tuple[FactChange, ...]
    report: Report
    lines: tuple[LineVerdict, ...]
    warnings: tuple[ReviewWarning, ...] = ()
    notes: tuple[str, ...] = ()
    signatures: tuple[Signature, ...] = ()
    other: OtherChanges = field(default_factory=OtherChanges)
    cited: Mapping[FactPlace, tuple[Source, ...]] = field(default_factory=dict)
    masks: tuple[MaskedLine, ...] = ()
    daily: tuple[str, ...] = ()
    head_fingerprints: frozenset[str] = frozenset()

    def place_of(self, change: FactChange) -> FactPlace:
        """(commit, path, line) of a changed fact: at the head, or at the base for a removed fact."""
        return _place_of(change, self.base, self.head)

    @property
    def failed(self) -> bool:
        """Whether the review fails: the gate blocks, a line's provenance does not hold, or a warning `fails`."""
        blocked = self.report.blocked or any(line.fails for line in self.lines)
        return blocked or any(warning.fails for warning in self.warnings)


def review_commits(
    repo: Repository, config: Config, span: CommitRange, layout: Layout, now: datetime, clock: Clock
) -> Review:  # fmt: skip
    """The review of a range, under the settings of the commit `span.judge`. Raises Refused when the gate cannot read
    the range.

    A path counts as memory when the settings of the judge, the base or the head name it, so a change cannot hide a file
    by removing its path from the settings. When tip and judge have several merge bases, the review also lists what a
    merge would remove from the judge's branch by any of the other bases.
    """
    base, head, _ = span
    today = now.date()
    policy = range_policy(repo, span, today)
    found = without_repeats(scan(files_of_new_commits(repo, base, head, policy), policy))
    report = _set_base_findings_apart(repo, base, head, found, policy)
    extra = (glob for each in (layout, *policy.layouts) for glob in each.extra)
    layout = layout._replace(extra=tuple(dict.fromkeys(extra)))
    merges = _merge_bases(repo, span)
    changes = fact_changes(repo, base, head, layout, today)
    changes = with_facts_removed_by_merge(repo, changes, merges, layout, today)
    # The judge's patterns, so that a change cannot declare its own files to be logs.
    daily = daily_patterns(repo, span.judge or base or head)
    other = other_changes(repo, base, head, layout, daily)
    other = replace(other, texts=with_texts_removed_by_merge(repo, other.texts, merges, layout, daily))
    verdict = verify(repo, base, head, policy=True, globs=layout.extra)
    commits = Range(repo, config, base, head, changes, verdict.all_facts, daily, now, clock)
    warnings = tuple(check(commits) for check in WARNINGS)
    masks = tuple(_masked_lines(repo, head, found, policy))
    other, lines = _with_masked_lines(other, _line_verdicts(verdict), masks)
    unmasked = Review(
        base, head, tuple(changes),
        report=report,
        lines=tuple(lines),
        warnings=warnings,
        notes=(*verdict.notes, *(note for warning in warnings for note in warning.notes)),
        signatures=verdict.signatures,
        other=other,
        cited=_cited_sources(repo, base, head, [*changes, *other.placements], verdict.facts),
        masks=masks,
        daily=daily,
        head_fingerprints=_fingerprints_at(repo, head, report, policy),
    )  # fmt: skip
    return mask_strings(unmasked, policy)


def _with_masked_lines(
    other: OtherChanges, lines: Sequence[LineVerdict], masks: Sequence[MaskedLine]
) -> tuple[OtherChanges, list[LineVerdict]]:
    """`other` and `lines` with the text of each masked line replaced by its mask.

    A secret that spans several lines is only recognised in its whole file, not in one of its lines.
    """
    text_of = {(mask.path, mask.line): mask.text for mask in masks}
    texts = tuple(replace(row, text=text_of.get((row.path, row.line), row.text)) for row in other.texts)
    verdicts = [replace(row, text=text_of.get((row.path, row.line), row.text)) for row in lines]
    return replace(other, texts=texts), verdicts


def _merge_bases(repo: Repository, span: CommitRange) -> MergeBases:
    """The merge bases of tip and judge other than `base`; none when `base` or `judge` is ""."""
    bases: list[str] = []
    if span.base and span.judge:
        bases = [oid for oid in repo.merge_bases(span.judge, span.tip) if oid != span.base]
    return MergeBases(tuple(bases), span.tip, span.judge)


def _fingerprints_at(repo: Repository, head: str, report: Report, policy: Policy) -> frozenset[str]:
    """The fingerprints of all findings at `head` in the files that `report` names."""
    paths = {finding.path for finding in report.findings if finding.path != MESSAGE}
    if not paths:
        return frozenset()
    places = [BlobPlace(path, oid) for path, oid in repo.blobs(head, sorted(paths)).items()]
    found = scan(Scanned(read_blobs(repo, places, policy)), policy).findings
    return frozenset(finding.fingerprint for finding in found)


def _place_of(change: FactChange, base: str, head: str) -> FactPlace:
    """(commit, path, line) of a changed fact: at `head`, or at `base` for a removed fact."""
    if change.new:
        return head, change.path, change.fact.line
    return base, change.old_path or change.path, change.fact.line


def _cited_sources(
    repo: Repository, base: str, head: str, changes: Sequence[FactChange], checked: Sequence[CheckedFact]
) -> dict[FactPlace, tuple[Source, ...]]:
    """The source lines of every changed fact that cites any, by the place of the fact. The sources of the `checked`
    facts at the head are read already."""
    sources = {(head, row.path, row.fact.line): row.attribution.sources for row in checked if row.attribution.sources}
    readers: dict[str, SourceReader] = {}
    for change in changes:
        place = _place_of(change, base, head)
        commit, spans = place[0], cited_spans(change.fact.meta)
        if place not in sources and spans and commit:
            reader = readers.setdefault(commit, SourceReader(repo, commit))
            sources[place] = tuple(reader.read(change.fact, span) for span in spans)
    return sources


def _set_base_findings_apart(repo: Repository, base: str, head: str, report: Report, policy: Policy) -> Report:
    """`report` with the findings that `base` ("" for none) had already moved to `Report.before`. A renamed file is
    compared under its old name."""
    if not base or not report.findings:
        return report
    old_path_of = renames(repo, base, head, repo.changes(base, head))
    files = files_before(repo, [base], ())
    before = FilesBefore(lambda path: files.texts(old_path_of.get(path, path)))
    return report.with_before(findings_before(report.findings, before, policy))


def _masked_lines(repo: Repository, head: str, report: Report, policy: Policy) -> Iterator[MaskedLine]:
    """The lines at `head` that masking would change, in files with a finding that masking can mend.

    Skips files that are too large, that are no text, or that can only be masked as a whole.
    """
    paths = {f.path for f in report.findings if f.path != MESSAGE and not remedy(f)}
    if not paths:
        return
    for path, data in read_small_blobs(repo, sorted(repo.blobs(head, sorted(paths)).items())):
        if not is_text(data):
            continue
        text = data.decode("utf-8", "replace")
        redacted = redaction(text, path, policy)
        old_lines, new_lines = text.split("\n"), redacted.text.split("\n")
        if redacted.whole or len(old_lines) != len(new_lines):
            continue
        rules: dict[int, set[str]] = defaultdict(set)
        for mask in redacted.masks:
            rules[mask.line].add(mask.rule)
        for number, (old, new) in enumerate(zip(old_lines, new_lines, strict=True), 1):
            if old != new:
                yield MaskedLine(path, number, new.rstrip("\r"), frozenset(rules[number]))


MASK_START = "[redacted"


def suggestions(review: Review) -> list[Suggestion]:
    """Replacement texts for changed lines: the masked form of a line, and what the warnings suggest (a renamed path).

    Leaves out a line that belongs to a mask of several lines, and a text that a forge could not show or would misread
    (see `_can_be_suggested`).
    """
    continued = {(mask.path, mask.line) for mask in review.masks if not mask.rules}
    changed = {(change.path, change.new.line) for change in review.changes if change.new}
    changed |= {(text.path, text.line) for text in review.other.texts}
    masks = [
        Suggestion(mask.path, mask.line, mask.text)
        for mask in review.masks
        if (mask.path, mask.line) in changed
        and mask.rules
        and continued.isdisjoint([(mask.path, mask.line - 1), (mask.path, mask.line + 1)])
    ]
    masked_lines = {(mask.path, mask.line) for mask in review.masks}
    from_warnings = [
        suggestion
        for warning in review.warnings
        for suggestion in warning.suggestions()
        if (suggestion.path, suggestion.line) not in masked_lines and MASK_START not in suggestion.text
    ]
    return [row for row in (*masks, *from_warnings) if _can_be_suggested(row.text)]


def _can_be_suggested(text: str) -> bool:
    """Whether a forge can show every character of a line, and does not take the line for a command."""
    return (
        bool(text.strip())
        and not text.lstrip().startswith("/")  # GitLab runs it as a command: its fences have three marks at most
        and text.replace("\t", " ").isprintable()
        and "\ufffd" not in text
    )


def _line_verdicts(verdict: Verdict) -> list[LineVerdict]:
    """A row for each fact and each other line that `verify` checked, in order of path and line."""
    lines = [_fact_verdict(row) for row in verdict.facts]
    for row in verdict.prose:
        commit = row.commit
        if row.flaws:
            state = State.AGENT
        elif row.text.startswith("#") and _is_promotion(commit):
            state = State.PROMOTED
        elif by_machine(commit):
            state = State.AGENT
        else:
            state = State.PERSON
        text, author = row.text.strip(), shown_name(commit.author)
        lines.append(LineVerdict(row.path, row.line, text, state, "", commit.oid, author, fails=bool(row.flaws)))
    return sorted(lines, key=lambda line: (line.path, line.line))


def _fact_verdict(row: CheckedFact) -> LineVerdict:
    """The verdict of a fact that `verify` checked."""
    rules = {flaw.rule for flaw in row.flaws}
    attribution = row.attribution
    if rules - {"unrecorded", "edited"}:
        state = State.BROKEN
    elif rules:
        state = State.AGENT
    elif attribution.edit:
        state = State.EDITED
    elif attribution.promoted and attribution.support is Support.IN_SOURCE:
        state = State.PROMOTED
    elif attribution.promoted and attribution.support is Support.SHARES_WORDS:
        state = State.SHARED
    else:
        state = State.PERSON
    commit = row.commit
    assert commit is not None  # with a policy every fact has its commit
    edits: tuple[tuple[str, str, str], ...] = ()
    editor = ""
    if attribution.edit:
        edits, editor = tuple(attribution.edit.values(row.fact)), attribution.edit.by
    return LineVerdict(
        row.path, row.fact.line, row.fact.text, state,
        message="; ".join(f"{flaw.rule}: {flaw.message}" for flaw in row.flaws if flaw.rule != "unrecorded"),
        commit=commit.oid,
        author=shown_name(commit.author),
        support=attribution.support.value,
        words=attribution.words,
        edits=edits,
        editor=editor,
        fails=bool(rules),
        promoted=bool(attribution.records),
    )  # fmt: skip


def _is_promotion(commit: Commit) -> bool:
    """Whether a commit is a promotion: the headings in it were written for the promoted facts."""
    return bool(trailers.values(trailers.memory_trailers(commit.message), trailers.SOURCE))


def as_report(review: Review) -> Report:
    """The gate's report with the broken, unrecorded and edited lines and the warnings added as findings, for SARIF and
    annotations. The added findings quote no memory text."""
    more = []
    for line in review.lines:
        if line.state is State.BROKEN:
            more.append(_finding(line.path, line.line, "provenance", Severity.BLOCK, line.message))
        elif line.state is State.AGENT and line.fails:
            words = line.message or f"an agent added it in {line.commit[:12]}, and no promotion did"
            more.append(_finding(line.path, line.line, "unrecorded", Severity.BLOCK, words))
        elif line.state is State.EDITED:
            words = f"{line.words}: {', '.join(what for what, _, _ in line.edits)}"
            more.append(_finding(line.path, line.line, "edited", Severity.WARN, words))
    for warning in review.warnings:
        for remark in warning.remarks():
            more.append(_finding(remark.path, remark.line, remark.rule, SEVERITY_OF[remark.fails], remark.words))
    return replace(review.report, findings=(*review.report.findings, *more))


SEVERITY_OF = {True: Severity.BLOCK, False: Severity.WARN}  # by whether the review fails for it


def _finding(path: str, line: int, rule: str, severity: Severity, message: str) -> Finding:
    """A finding of the rule `review/RULE`, whose fingerprint does not depend on the line."""
    mark = hashlib.sha256(f"{rule}\0{path}\0{message}".encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Finding(f"review/{rule}", severity, path, line, 1, line, 1, message, fingerprint=mark)
