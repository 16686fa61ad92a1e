"""Reviews a change of memory between two commits: changed facts, findings of the gate, provenance and warnings.

`review` returns one `Review` value. It holds the changed facts, the gate's findings in every version of the range, the
provenance verdict of each changed line of MEMORY.md, and the warnings (rival facts, file sizes, lost search answers and
so on). This module only reads the repository. Wherever the gate finds something in memory text, the review masks it.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime

from gitmem.config import Config
from gitmem.gate.blob_reading import BlobPlace, files_before, read_blobs
from gitmem.gate.commit_files import files_of_new_commits
from gitmem.gate.examine import FilesBefore
from gitmem.gate.examine import Source as Scanned
from gitmem.gate.existing_findings import findings_before
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.scan import Report, scan, without_repeats
from gitmem.gate.tree_policies import daily_patterns, range_policy
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange
from gitmem.memory.arrivals import LASTING
from gitmem.memory.fact import Fact, cited_spans
from gitmem.paths import Layout, kind
from gitmem.provenance.cited_sources import Source, SourceReader
from gitmem.provenance.signatures import Signature
from gitmem.provenance.verify import CheckedFact, verify
from gitmem.review.commit_diff import MergeBases, fact_changes, renames, with_facts_removed_by_merge
from gitmem.review.fact_diff import FactChange
from gitmem.review.line_verdicts import LineVerdict, line_verdicts
from gitmem.review.masking import MaskedLine, mask_strings, masked_lines
from gitmem.review.text_changes import OtherChanges, other_changes, with_texts_removed_by_merge
from gitmem.review.warnings.registry import WARNINGS
from gitmem.review.warnings.warning import Clock, Range, ReviewWarning

FactPlace = tuple[str, str, int]  # the commit in which a fact is read, its path, its line


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
    scanned = without_repeats(scan(files_of_new_commits(repo, base, head, policy), policy))
    report = _set_base_findings_apart(repo, base, head, scanned, policy)
    extra = (glob for source_layout in (layout, *policy.layouts) for glob in source_layout.extra)
    layout = layout._replace(extra=tuple(dict.fromkeys(extra)))
    merges = _merge_bases(repo, span)
    changes = fact_changes(repo, base, head, layout, today)
    changes = with_facts_removed_by_merge(repo, changes, merges, layout, today)
    # The judge's patterns, so that a change cannot declare its own files to be logs.
    daily = daily_patterns(repo, span.judge or base or head)
    other = other_changes(repo, base, head, layout, daily)
    other = replace(other, texts=with_texts_removed_by_merge(repo, other.texts, merges, layout, daily))
    verdict = verify(repo, base, head, policy=True, globs=layout.extra)
    since = _facts_since(repo, span, layout, today, {fact.id for _, fact in verdict.all_facts})
    commits = Range(repo, config, base, head, changes, verdict.all_facts, daily, now, clock, span.judge, since)
    warnings = tuple(check(commits) for check in WARNINGS)
    masks = tuple(masked_lines(repo, head, scanned, policy))
    other, lines = _with_masked_lines(other, line_verdicts(verdict), masks)
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


def _facts_since(
    repo: Repository, span: CommitRange, layout: Layout, today: date, known_ids: Container[str]
) -> list[tuple[str, Fact]]:
    """(path, fact) of long-term memory that the target branch has gained since the base, without those whose id is
    `known_ids`. A merge into the target keeps them, and the head lacks them."""
    if span.judge in ("", span.base):
        return []
    changes = fact_changes(repo, span.base, span.judge, layout, today, authors=False)
    return [
        (change.path, change.new)
        for change in changes
        if change.new and kind(change.path) in LASTING and change.new.id not in known_ids
        and (change.old is None or change.old.id != change.new.id)
    ]  # fmt: skip


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
    findings = scan(Scanned(read_blobs(repo, places, policy)), policy).findings
    return frozenset(finding.fingerprint for finding in findings)


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
    base_files = FilesBefore(lambda path: files.texts(old_path_of.get(path, path)))
    return report.with_before(findings_before(report.findings, base_files, policy))
