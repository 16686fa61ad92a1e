"""The review of a memory change: what happens to facts from one commit to another, and what a reviewer should know.

One value holds it all: facts that change, findings of the gate in every version of the range, whether the provenance
of each changed line of MEMORY.md holds, facts that repeat or contradict others, sizes against budgets, questions that
search no longer answers. Reads only. Text of memory in it is masked where the gate finds something.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from gitmem.config import Config
from gitmem.gate import sources
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.examine import Before
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.redaction import redaction
from gitmem.gate.report import remedy
from gitmem.gate.scan import Report, held_before, once_each, scan, scan_source, set_apart
from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.git.revision import CommitRange
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Layout
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine, named
from gitmem.provenance.cited_sources import Source
from gitmem.provenance.grounding import Support
from gitmem.provenance.signatures import Signature
from gitmem.provenance.verify import Checked, Verdict, verify
from gitmem.review.citations import Place, citations
from gitmem.review.commit_diff import MergeBases, fact_changes, with_facts_taken_out
from gitmem.review.fact_diff import FactChange
from gitmem.review.forges.forge import Suggestion
from gitmem.review.masking import masked
from gitmem.review.renames import renames
from gitmem.review.text_changes import OtherChanges, is_text, other_changes, with_texts_taken_out
from gitmem.review.warnings.registry import WARNINGS
from gitmem.review.warnings.warning import Clock, Range, ReviewWarning


class State(StrEnum):
    """Where a changed line of memory comes from."""

    PROMOTED = "promoted"
    SHARED = "shared"
    PERSON = "person"
    AGENT = "agent"
    EDITED = "edited"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """A changed line and its verdict; `message` says what is wrong with a broken one.

    Of a fact `support` and its `words` say what holds it up ("" for another line), `edits` are (what, before, now) of
    each change since, `editor` who made it; `promoted` says that a promotion, or an edit of one, recorded it. `fails`:
    a check says no.
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
    """A line of a file at the head as `git mem redact` would write it, and the rules whose finds it masks."""

    path: str
    line: int
    text: str
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Review:
    """`changes` are facts that came, went or say something else, `other` what else of the files an agent reads changes.

    `cited` has the source lines of the facts by commit, path and line, `daily` the patterns of daily logs. `standing`
    are the fingerprints of what is found in files as they are at the head, and not in an earlier version alone.
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
    cited: Mapping[Place, tuple[Source, ...]] = field(default_factory=dict)
    masks: tuple[MaskedLine, ...] = ()
    daily: tuple[str, ...] = ()
    standing: frozenset[str] = frozenset()

    def place_of(self, change: FactChange) -> Place:
        """The commit, path and line of a changed fact: at the head, or at the base for a fact that was removed."""
        if change.new:
            return self.head, change.path, change.fact.line
        return self.base, change.old_path or change.path, change.fact.line

    @property
    def failed(self) -> bool:
        """Whether a check says no: the gate blocks, provenance does not hold, or a warning is to fail."""
        blocked = self.report.blocked or any(line.fails for line in self.lines)
        return blocked or any(warning.fails for warning in self.warnings)


def review(
    repo: Repository, config: Config, span: CommitRange, layout: Layout, now: datetime, clock: Clock
) -> Review:  # fmt: skip
    """The review of a range, held to the settings of its judge. Raises Refused when the gate cannot read it.

    Paths that the judge's or the base's settings name are memory: a change that takes them out hides nothing it
    changes. Where tip and judge merged each other, what the merge takes out of the judge's branch is told, whichever
    merge base has it.
    """
    base, head, _ = span
    today = now.date()
    policy = sources.range_policy(repo, span, today)
    found = once_each(scan_source(sources.commits_beyond(repo, base, head, policy), policy))
    report = _apart_from_base(repo, base, head, found, policy)
    extra = (glob for each in (layout, *policy.layouts) for glob in each.extra)
    layout = layout._replace(extra=tuple(dict.fromkeys(extra)))
    merges = _merge_bases(repo, span)
    changes = fact_changes(repo, base, head, layout, today)
    changes = with_facts_taken_out(repo, changes, merges, layout, today)
    daily = sources.daily_patterns(repo, span.judge or base or head)  # of the judge: no change makes its own files logs
    other = other_changes(repo, base, head, layout, daily)
    other = replace(other, texts=with_texts_taken_out(repo, other.texts, merges, layout, daily))
    verdict = verify(repo, base, head, policy=True, globs=layout.extra)
    lines = verdicts(verdict)
    commits = Range(repo, config, base, head, changes, verdict.standing, daily, now, clock)
    warnings = tuple(check(commits) for check in WARNINGS)
    masks = tuple(_masked_lines(repo, head, found, policy))
    other, lines = with_masks(other, lines, masks)
    whole = Review(
        base, head, tuple(changes),
        report=report,
        lines=tuple(lines),
        warnings=warnings,
        notes=(*verdict.notes, *(note for warning in warnings for note in warning.notes)),
        signatures=verdict.signatures,
        other=other,
        cited=citations(repo, base, head, [*changes, *other.placements], verdict.facts),
        masks=masks,
        daily=daily,
        standing=_standing(repo, head, report, policy),
    )  # fmt: skip
    return masked(whole, policy)


def with_masks(
    other: OtherChanges, lines: Sequence[LineVerdict], masks: Sequence[MaskedLine]
) -> tuple[OtherChanges, list[LineVerdict]]:
    """The lines that stand in a secret of several lines as their file's mask has them: alone nothing tells."""
    shown = {(mask.path, mask.line): mask.text for mask in masks}
    texts = tuple(replace(row, text=shown.get((row.path, row.line), row.text)) for row in other.texts)
    verdicts = [replace(row, text=shown.get((row.path, row.line), row.text)) for row in lines]
    return replace(other, texts=texts), verdicts


def _merge_bases(repo: Repository, span: CommitRange) -> MergeBases:
    """The merge bases of tip and judge besides `base`; none where `base` or `judge` is ""."""
    if span.base and span.judge:
        bases = repo.merge_bases(span.judge, span.tip)
    else:
        bases = []
    return MergeBases(tuple(oid for oid in bases if oid != span.base), span.tip, span.judge)


def _standing(repo: Repository, head: str, report: Report, policy: Policy) -> frozenset[str]:
    """The fingerprints of all that is found in the files of the report as they are at `head`."""
    paths = {finding.path for finding in report.findings if finding.path != MESSAGE}
    if paths:
        places = [sources.BlobPlace(path, oid) for path, oid in repo.blobs(head, sorted(paths)).items()]
    else:
        places = []
    found = scan(sources.read(repo, places, policy), policy).findings
    return frozenset(finding.fingerprint for finding in found)


def _apart_from_base(repo: Repository, base: str, head: str, report: Report, policy: Policy) -> Report:
    """The report with what the files of `base` ("" for none) hold already set apart, under their former names too."""
    if not base or not report.findings:
        return report
    former = renames(repo, base, head, repo.changes(base, head))
    files = sources.before_of(repo, [base], ())
    before = Before(lambda path: files.texts(former.get(path, path)))
    return set_apart(report, held_before(report.findings, before, policy))


def _masked_lines(repo: Repository, head: str, report: Report, policy: Policy) -> Iterator[MaskedLine]:
    """The lines that masking mends, of files that stand at `head` as the finding saw them."""
    wanted = {f.path for f in report.findings if f.path != MESSAGE and not remedy(f)}
    if wanted:
        oids = repo.blobs(head, sorted(wanted))
    else:
        oids = {}
    for path, oid in sorted(oids.items()):
        if repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) > MAX_MEMORY_FILE_BYTES:
            continue
        data = repo.read(oid)
        if not is_text(data):
            continue
        text = data.decode("utf-8", "replace")
        done = redaction(text, path, policy)
        before, after = text.split("\n"), done.text.split("\n")
        if done.whole or len(before) != len(after):
            continue
        rules: dict[int, set[str]] = defaultdict(set)
        for mask in done.masks:
            rules[mask.line].add(mask.rule)
        for number, (was, now) in enumerate(zip(before, after, strict=True), 1):
            if was != now:
                yield MaskedLine(path, number, now.rstrip("\r"), frozenset(rules[number]))


def suggestions(review: Review) -> list[Suggestion]:
    """The lines that the change brings and that a mask mends, and those that follow a rename, as what should stand
    there instead.

    None where that holds what a page does not show (a control character, a byte that is no text) or nothing at all, and
    none for a part of what one mask takes of several lines.
    """
    parts = {(mask.path, mask.line) for mask in review.masks if not mask.rules}
    brought = {(change.path, change.new.line) for change in review.changes if change.new}
    brought |= {(text.path, text.line) for text in review.other.texts}
    masks = [
        Suggestion(mask.path, mask.line, mask.text)
        for mask in review.masks
        if (mask.path, mask.line) in brought
        and mask.rules
        and parts.isdisjoint([(mask.path, mask.line - 1), (mask.path, mask.line + 1)])
    ]
    masked_lines = {(mask.path, mask.line) for mask in review.masks}
    renames = [
        one
        for warning in review.warnings
        for one in warning.suggestions()
        if (one.path, one.line) not in masked_lines and MASKED not in one.text
    ]
    return [row for row in (*masks, *renames) if _shows(row.text)]


MASKED = "[redacted"


def _shows(text: str) -> bool:
    """Whether a page shows all that a line holds, and no forge takes it for a command."""
    return (
        bool(text.strip())
        and not text.lstrip().startswith("/")  # a command, for GitLab, which knows no longer fence than three
        and text.replace("\t", " ").isprintable()
        and "\ufffd" not in text
    )


def verdicts(verdict: Verdict) -> list[LineVerdict]:
    """A row for each fact and each other line that `verify` checked: one list of checks serves both."""
    lines = [_fact_line(row) for row in verdict.facts]
    for row in verdict.prose:
        if row.flaws or by_machine(row.commit):
            state = State.AGENT
        else:
            state = State.PERSON
        if not row.flaws and row.text.startswith("#") and _promotes(row.commit):
            state = State.PROMOTED
        lines.append(
            LineVerdict(
                row.path,
                row.line,
                row.text.strip(),
                state,
                "",
                row.commit.oid,
                _author(row.commit),
                fails=bool(row.flaws),
            )
        )
    return sorted(lines, key=lambda line: (line.path, line.line))


def _fact_line(row: Checked) -> LineVerdict:
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
    return LineVerdict(
        row.path, row.fact.line, row.fact.text, state,
        message="; ".join(f"{flaw.rule}: {flaw.message}" for flaw in row.flaws if flaw.rule != "unrecorded"),
        commit=commit.oid,
        author=_author(commit),
        support=attribution.support.value,
        words=attribution.words,
        edits=tuple(attribution.edit.values(row.fact)) if attribution.edit else (),
        editor=attribution.edit.by if attribution.edit else "",
        fails=bool(rules),
        promoted=bool(attribution.records),
    )  # fmt: skip


def _author(commit: Commit) -> str:
    return named(commit.author)


def _promotes(commit: Commit) -> bool:
    """Whether a commit is a promotion: its headings are made for its facts."""
    return bool(trailers.values(trailers.memory_trailers(commit.message), trailers.SOURCE))


def as_report(review: Review) -> Report:
    """Everything a reviewer is told as findings, for SARIF and annotations: no text of memory in them."""
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
        more += [_finding(path, line, rule, Severity.WARN, words) for path, line, rule, words in warning.remarks()]
    return replace(review.report, findings=(*review.report.findings, *more))


def _finding(path: str, line: int, rule: str, severity: Severity, message: str) -> Finding:
    import hashlib

    mark = hashlib.sha256(f"{rule}\0{path}\0{message}".encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Finding(f"review/{rule}", severity, path, line, 1, line, 1, message, fingerprint=mark)
