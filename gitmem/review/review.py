"""The review of a memory change: what happens to facts from one commit to another, and what a reviewer should know.

One value holds it all: facts that change, findings of the gate in every version of the range, whether the provenance
of each changed line of MEMORY.md holds, facts that repeat or contradict others, sizes against budgets, questions that
search no longer answers. Reads only. Text of memory in it is masked where the gate finds something.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from gitmem.config import Config
from gitmem.gate import sources
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import Policy
from gitmem.gate.redaction import LINE, redaction
from gitmem.gate.scan import Report, once_each, scan_source
from gitmem.git.objects import REGULAR, Commit
from gitmem.git.protocol import Repository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact
from gitmem.memory.similarity import alike, contradicts, same, terms
from gitmem.paths import Layout, kind
from gitmem.provenance import trailers
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import by_machine
from gitmem.provenance.signatures import Signature
from gitmem.provenance.sources import facts_at
from gitmem.provenance.verify import Checked, Verdict, verify
from gitmem.review.commit_diff import LASTING, fact_changes
from gitmem.review.fact_diff import FactChange
from gitmem.review.settings_changes import SettingsChange, settings_changes

SIMILAR_SHOWN = 3  # of one fact that are named: the likest
TESTS = "memory/tests.jsonl"
QUESTIONS = 200  # of the tests file that are asked: a pull request must not make its own check long
HOST_BYTES = 25_000  # of MEMORY.md an agent's host loads


class State(StrEnum):
    """Where a changed line of memory comes from."""

    PROMOTED = "promoted"
    PERSON = "person"
    AGENT = "agent"
    EDITED = "edited"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class LineVerdict:
    """A changed line and its verdict; `message` says what is wrong with a broken one.

    Of a fact `support` and its `words` say what holds it up ("" for another line), `edits` are (what, before, now) of
    each change after its promotion, `editor` who made it. `fails`: a check says no.
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


@dataclass(frozen=True, slots=True)
class SimilarFact:
    """A fact of the change and the fact it repeats (or, `contradicts`, disagrees with)."""

    path: str
    line: int
    text: str
    other_path: str
    other_line: int
    other_text: str
    contradicts: bool


@dataclass(frozen=True, slots=True)
class Size:
    path: str
    lines: int
    bytes: int
    budget: int

    @property
    def over(self) -> bool:
        return self.lines > self.budget or self.bytes > HOST_BYTES


@dataclass(frozen=True, slots=True)
class Recall:
    """hit@5 over the questions both commits' tests have, and those whose answer came or went."""

    questions: int
    before: float
    after: float
    gained: tuple[str, ...]
    lost: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Review:
    base: str
    head: str
    changes: tuple[FactChange, ...]
    report: Report
    lines: tuple[LineVerdict, ...]
    similar_facts: tuple[SimilarFact, ...]
    sizes: tuple[Size, ...]
    recall: Recall | None
    notes: tuple[str, ...] = ()
    settings: tuple[SettingsChange, ...] = ()
    signatures: tuple[Signature, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether a check says no: the gate blocks, or provenance does not hold."""
        return self.report.blocked or any(line.fails for line in self.lines)


Clock = Callable[[], float]


def review(
    repo: Repository, config: Config, base: str, head: str, layout: Layout, now: datetime, clock: Clock
) -> Review:
    """Review what `head` brings beyond `base` (oids; "" for all of it). Raises Refused when the gate cannot read it.

    Paths that the base's settings name stay memory: a change that takes them out hides nothing it changes.
    """
    today = now.date()
    policy = sources.base_policy(repo, base, head, today)
    report = once_each(scan_source(sources.commits_beyond(repo, base, head, policy), policy))
    extra = (glob for each in (layout, *policy.layouts) for glob in each.extra)
    changes = fact_changes(repo, base, head, layout._replace(extra=tuple(dict.fromkeys(extra))), today)
    settings = settings_changes(repo, base, head)
    verdict = verify(repo, base, head, policy=True)
    lines, notes = verdicts(verdict), verdict.notes
    similar_facts = find_similar_facts(changes, [(path, fact) for path, _, fact in facts_at(repo, head)])
    recall = _recall(repo, config, base, head, now, clock) if base else None
    masked = _Masked(policy)
    masked.add(text for change in changes for fact in (change.old, change.new) if fact for text in [fact.text])
    masked.add(line.text for line in lines)
    masked.add(text for line in lines for _, old, new in line.edits for text in (old, new))
    masked.add(text for similar in similar_facts for text in (similar.text, similar.other_text))
    masked.add((*recall.gained, *recall.lost) if recall else ())
    masked.add(text for change in settings for text in (change.path, change.loosened))
    masked.mask_all()
    return Review(
        base, head,
        changes=tuple(masked.change(change) for change in changes),
        report=report,
        lines=tuple(masked.line(line) for line in lines),
        similar_facts=tuple(replace(r, text=masked[r.text], other_text=masked[r.other_text]) for r in similar_facts),
        sizes=tuple(_sizes(repo, config, head)),
        recall=masked.recall(recall),
        notes=notes,
        signatures=verdict.signatures,
        settings=tuple(replace(s, path=masked[s.path], loosened=masked[s.loosened]) for s in settings),
    )  # fmt: skip


def verdicts(verdict: Verdict) -> list[LineVerdict]:
    """A row for each fact and each other line that `verify` checked: one list of checks serves both."""
    found = [_fact_line(row) for row in verdict.facts]
    for row in verdict.prose:
        state = State.AGENT if row.flaws or by_machine(row.commit) else State.PERSON
        if not row.flaws and row.text.startswith("#") and _promotes(row.commit):
            state = State.PROMOTED
        found.append(
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
    return sorted(found, key=lambda line: (line.path, line.line))


def _fact_line(row: Checked) -> LineVerdict:
    rules = {flaw.rule for flaw in row.flaws}
    attribution = row.attribution
    if rules - {"unrecorded", "edited"}:
        state = State.BROKEN
    elif rules:
        state = State.AGENT
    elif attribution.edit:
        state = State.EDITED
    elif attribution.records and attribution.support is Support.IN_SOURCE:
        state = State.PROMOTED
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
    )  # fmt: skip


def _author(commit: Commit) -> str:
    return f"{commit.author.name} <{commit.author.email}>"


def _promotes(commit: Commit) -> bool:
    """Whether a commit is a promotion: its headings are made for its facts."""
    return bool(trailers.values(trailers.memory_trailers(commit.message), trailers.SOURCE))


def find_similar_facts(changes: Sequence[FactChange], existing: Sequence[tuple[str, Fact]]) -> list[SimilarFact]:
    """Facts that came or changed in long-term memory, beside the ones they repeat or contradict."""
    new = {(c.path, c.new.line): c for c in changes if c.new and kind(c.path) in LASTING and _says_new(c)}
    words = {(path, fact.line): terms(fact.text) for path, fact in existing}
    holding: dict[str, list[tuple[str, Fact]]] = defaultdict(list)
    for path, fact in existing:
        for word in words[path, fact.line]:
            holding[word].append((path, fact))
    found: list[SimilarFact] = []
    seen: set[frozenset[tuple[str, int]]] = set()
    for place, change in new.items():
        assert change.new is not None
        own = terms(change.new.text)
        shared: dict[tuple[str, int], int] = defaultdict(int)
        near: dict[tuple[str, int], tuple[str, Fact]] = {}
        for word in own:
            for path, fact in holding[word]:
                shared[path, fact.line] += 1
                near[path, fact.line] = (path, fact)
        mine: list[tuple[float, SimilarFact]] = []
        for other, count in shared.items():
            if other == place or frozenset((place, other)) in seen or count * 3 < len(own):
                continue
            path, fact = near[other]
            if change.new.get("supersedes") and fact.id.startswith(change.new.get("supersedes")):
                continue
            text = change.new.text
            contradicting = contradicts(text, fact.text)
            if contradicting or same(text, fact.text):
                pair = SimilarFact(
                    change.path, change.new.line, text, path, fact.line, fact.text, contradicts=contradicting
                )
                mine.append((alike(text, fact.text), pair))
        for _, pair in sorted(mine, key=lambda row: -row[0])[:SIMILAR_SHOWN]:
            seen.add(frozenset((place, (pair.other_path, pair.other_line))))
            found.append(pair)
    return sorted(found, key=lambda r: (not r.contradicts, r.path, r.line))


def _says_new(change: FactChange) -> bool:
    return change.old is None or change.new is None or change.old.id != change.new.id


def _sizes(repo: Repository, config: Config, head: str) -> Iterable[Size]:
    for entry in repo.entries(head, ["MEMORY.md", ".claude/MEMORY.md"]):
        if entry.mode == REGULAR:
            data = repo.read(entry.oid)
            yield Size(entry.path, len(blob_lines(data)), len(data), config.memory_lines)


def _recall(repo: Repository, config: Config, base: str, head: str, now: datetime, clock: Clock) -> Recall | None:
    texts = [_tests(repo, commit) for commit in (base, head)]
    if not all(texts):
        return None
    from gitmem.search import evaluation
    from gitmem.search.search import Query

    asked = [{row.query: row for row in evaluation.read(text)} for text in texts]
    both = [query for query in asked[0] if query in asked[1]][:QUESTIONS]
    if not both:
        return None
    runs = [
        evaluation.run(repo, config, [rows[query] for query in both], Query("", commit=commit), now, clock)
        for rows, commit in zip(asked, (base, head), strict=True)
    ]
    gained, lost = evaluation.gained_and_lost(runs[0], runs[1])
    before, after = (sum(r.figures["hit@5"] for r in rows) / len(both) for rows in runs)
    return Recall(len(both), before, after, tuple(gained), tuple(lost))


def _tests(repo: Repository, commit: str) -> str:
    for entry in repo.entries(commit, [TESTS]):
        if entry.path == TESTS and entry.mode == REGULAR and repo.sizes([entry.oid]).get(entry.oid, 0) <= 1 << 20:
            return repo.read(entry.oid).decode("utf-8", "replace")
    return ""


class _Masked:
    """Texts of memory as they may be shown: the gate reads all of them at once."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.shown: dict[str, str] = {}

    def add(self, texts: Iterable[str]) -> None:
        self.shown.update((text, text) for text in texts)

    def mask_all(self) -> None:
        texts = [text for text in self.shown if text]
        done = redaction("\n".join(texts) + "\n", "MEMORY.md", self.policy)
        whole = done.text.split("\n")[:-1]
        if done.whole or len(whole) != len(texts):
            alone = [redaction(text, "MEMORY.md", self.policy) for text in texts]
            whole = [LINE if one.whole else " ".join(one.text.split("\n")) for one in alone]
        self.shown.update(zip(texts, whole, strict=True))

    def __getitem__(self, text: str) -> str:
        return self.shown[text]

    def recall(self, recall: Recall | None) -> Recall | None:
        if recall is None:
            return None
        gained, lost = (tuple(self[query] for query in side) for side in (recall.gained, recall.lost))
        return replace(recall, gained=gained, lost=lost)

    def line(self, line: LineVerdict) -> LineVerdict:
        edits = tuple((what, self[old], self[new]) for what, old, new in line.edits)
        return replace(line, text=self[line.text], edits=edits)

    def change(self, change: FactChange) -> FactChange:
        old = change.old._replace(text=self[change.old.text]) if change.old else None
        new = change.new._replace(text=self[change.new.text]) if change.new else None
        return replace(change, old=old, new=new)


def as_report(found: Review) -> Report:
    """Everything a reviewer is told as findings, for SARIF and annotations: no text of memory in them."""
    more = []
    for change in found.settings:
        words = f"{change.what}: it decides how memory is checked" + (f"; {change.loosened}" if change.loosened else "")
        more.append(_finding(change.path, 1, "settings-changed", Severity.WARN, words))
    for line in found.lines:
        if line.state is State.BROKEN:
            more.append(_finding(line.path, line.line, "provenance", Severity.BLOCK, line.message))
        elif line.state is State.AGENT and line.fails:
            words = line.message or f"an agent added it in {line.commit[:12]}, and no promotion did"
            more.append(_finding(line.path, line.line, "unrecorded", Severity.BLOCK, words))
        elif line.state is State.EDITED:
            words = f"{line.words}: {', '.join(what for what, _, _ in line.edits)}"
            more.append(_finding(line.path, line.line, "edited", Severity.WARN, words))
    for similar in found.similar_facts:
        rule = "contradiction" if similar.contradicts else "near-duplicate"
        what = "contradicts" if similar.contradicts else "repeats"
        words = f"{what} the fact at {similar.other_path}:{similar.other_line}"
        more.append(_finding(similar.path, similar.line, rule, Severity.WARN, words))
    for size in found.sizes:
        if size.over:
            words = f"{size.lines} lines of {size.budget}, {size.bytes} bytes of {HOST_BYTES}: hosts read less"
            more.append(_finding(size.path, 1, "over-budget", Severity.WARN, words))
    if found.recall and found.recall.lost:
        words = f"search no longer answers {len(found.recall.lost)} of {found.recall.questions} questions"
        more.append(_finding(TESTS, 1, "recall", Severity.WARN, words))
    return replace(found.report, findings=(*found.report.findings, *more))


def _finding(path: str, line: int, rule: str, severity: Severity, message: str) -> Finding:
    import hashlib

    mark = hashlib.sha256(f"{rule}\0{path}\0{message}".encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Finding(f"review/{rule}", severity, path, line, 1, line, 1, message, fingerprint=mark)
