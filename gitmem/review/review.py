"""The review of a memory change: what happens to facts from one commit to another, and what a reviewer should know.

One value holds it all: facts that change, findings of the gate in every version of the range, whether the provenance
of each changed line of MEMORY.md holds, facts that repeat or contradict others, sizes against budgets, questions that
search no longer answers. Reads only. Text of memory in it is masked where the gate finds something.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from itertools import chain

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate import sources
from gitmem.gate.detectors.finding import Finding, Severity
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.gate.redaction import redaction
from gitmem.gate.report import remedy
from gitmem.gate.scan import Report, once_each, scan_source
from gitmem.git.objects import REGULAR, Commit
from gitmem.git.protocol import Repository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact
from gitmem.memory.similarity import alike, contradicts, matter, same, terms
from gitmem.paths import LIMIT, Layout, kind
from gitmem.plural import counted
from gitmem.provenance import trailers
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import by_machine
from gitmem.provenance.signatures import Signature
from gitmem.provenance.sources import Source
from gitmem.provenance.verify import Checked, Verdict, verify
from gitmem.review.citations import Place, citations
from gitmem.review.commit_diff import LASTING, fact_changes
from gitmem.review.fact_diff import FactChange
from gitmem.review.forges.protocol import Suggestion
from gitmem.review.masking import masked
from gitmem.review.settings_changes import SettingsChange, settings_changes
from gitmem.review.text_changes import OtherChanges, is_text, other_changes

SIMILAR_SHOWN = 3  # of one fact that are named: the likest
NEAREST = 50  # facts with the most words in common that are compared with one: a change of thousands alike ends too
TESTS = "memory/tests.jsonl"
LOST = 5  # lines of one question that is no longer answered
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
    each change since, `editor` who made it; `promoted` says that a promotion recorded it. `fails`: a check says no.
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
class Rival:
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
class LostLine:
    """A line that answered `question` at the base: its text there, and where that text stands now (0: nowhere)."""

    question: str
    path: str
    line: int
    text: str
    now: int


@dataclass(frozen=True, slots=True)
class Recall:
    """hit@5 over the questions both commits' tests have, and those whose answer came or went."""

    questions: int
    before: float
    after: float
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    lost_lines: tuple[LostLine, ...] = ()


@dataclass(frozen=True, slots=True)
class MaskedLine:
    """A line of a file at the head as `git mem redact` would write it, and the rules whose finds it masks."""

    path: str
    line: int
    text: str
    rules: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Review:
    """`changes` are facts that came, went or say something else, `other` what else of the files an agent reads changes;
    `cited` has the source lines of the facts by commit, path and line, `daily` the patterns of daily logs."""

    base: str
    head: str
    changes: tuple[FactChange, ...]
    report: Report
    lines: tuple[LineVerdict, ...]
    rivals: tuple[Rival, ...]
    sizes: tuple[Size, ...]
    recall: Recall | None
    notes: tuple[str, ...] = ()
    settings: tuple[SettingsChange, ...] = ()
    signatures: tuple[Signature, ...] = ()
    other: OtherChanges = field(default_factory=OtherChanges)
    cited: Mapping[Place, tuple[Source, ...]] = field(default_factory=dict)
    masks: tuple[MaskedLine, ...] = ()
    daily: tuple[str, ...] = ()

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
    layout = layout._replace(extra=tuple(dict.fromkeys(extra)))
    changes = fact_changes(repo, base, head, layout, today)
    daily = sources.daily_patterns(repo, base or head)  # of the base: no change makes its own files logs
    other = other_changes(repo, base, head, layout, daily)
    verdict = verify(repo, base, head, policy=True)
    lines = verdicts(verdict)
    rivals = find_rivals(changes, verdict.standing)
    recall, unasked = _recall(repo, config, base, head, now, clock)
    whole = Review(
        base, head,
        changes=tuple(changes),
        report=report,
        lines=tuple(lines),
        rivals=tuple(rivals),
        sizes=tuple(_sizes(repo, config, head)),
        recall=recall,
        notes=(*verdict.notes, *unasked),
        signatures=verdict.signatures,
        settings=tuple(settings_changes(repo, base, head)),
        other=other,
        cited=citations(repo, base, head, [*changes, *other.placements], verdict.facts),
        masks=tuple(_masked_lines(repo, head, report, policy)),
        daily=daily,
    )  # fmt: skip
    return masked(whole, policy)


def _masked_lines(repo: Repository, head: str, report: Report, policy: Policy) -> Iterator[MaskedLine]:
    """The lines that masking mends, of files that stand at `head` as the finding saw them."""
    wanted = {f.path for f in report.findings if f.path != MESSAGE and not remedy(f)}
    oids = repo.blobs(head, sorted(wanted)) if wanted else {}
    for path, oid in sorted(oids.items()):
        if repo.sizes([oid]).get(oid, LIMIT + 1) > LIMIT:
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
    """The lines that the change brings and that a mask mends, as what should stand there instead.

    None where that holds what a page does not show (a control character, a byte that is no text) or nothing at all, and
    none for a part of what one mask takes of several lines.
    """
    parts = {(mask.path, mask.line) for mask in review.masks if not mask.rules}
    brought = {(change.path, change.new.line) for change in review.changes if change.new}
    brought |= {(text.path, text.line) for text in review.other.texts}
    return [
        Suggestion(mask.path, mask.line, mask.text)
        for mask in review.masks
        if (mask.path, mask.line) in brought
        and mask.rules
        and parts.isdisjoint([(mask.path, mask.line - 1), (mask.path, mask.line + 1)])
        and mask.text.strip()
        and not mask.text.lstrip().startswith("/")  # a command, for GitLab, which knows no longer fence than three
        and mask.text.replace("\t", " ").isprintable()
        and "\ufffd" not in mask.text
    ]


def verdicts(verdict: Verdict) -> list[LineVerdict]:
    """A row for each fact and each other line that `verify` checked: one list of checks serves both."""
    lines = [_fact_line(row) for row in verdict.facts]
    for row in verdict.prose:
        state = State.AGENT if row.flaws or by_machine(row.commit) else State.PERSON
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
        promoted=bool(attribution.records),
    )  # fmt: skip


def _author(commit: Commit) -> str:
    return f"{commit.author.name} <{commit.author.email}>"


def _promotes(commit: Commit) -> bool:
    """Whether a commit is a promotion: its headings are made for its facts."""
    return bool(trailers.values(trailers.memory_trailers(commit.message), trailers.SOURCE))


def find_rivals(changes: Sequence[FactChange], existing: Sequence[tuple[str, Fact]]) -> list[Rival]:
    """Facts that came or changed in long-term memory, beside the ones they repeat or contradict."""
    new = {(c.path, c.new.line): c for c in changes if c.new and kind(c.path) in LASTING and _says_new(c)}
    holding: dict[str, list[int]] = defaultdict(list)  # term -> places in `existing`
    matters = [len(matter(fact.text)) for _, fact in existing]
    first: dict[str, int] = {}  # fact id -> its first place: of equal facts one is named
    for number, (_, fact) in enumerate(existing):
        if first.setdefault(fact.id, number) != number:
            continue
        for term in terms(fact.text):
            holding[term].append(number)
    rivals: list[Rival] = []
    seen: set[frozenset[tuple[str, int]]] = set()
    for place, change in new.items():
        assert change.new is not None
        own, own_matter = terms(change.new.text), len(matter(change.new.text))
        shared = Counter(chain.from_iterable(holding[term] for term in own))
        text = change.new.text
        near: list[tuple[float, str, Fact]] = []
        for number, count in shared.most_common(NEAREST):
            # Half of the matter in common is three times what is shared against both; shared numbers only add to it.
            if count * 3 < max(len(own), own_matter + matters[number]):
                continue
            path, fact = existing[number]
            if (path, fact.line) == place or frozenset((place, (path, fact.line))) in seen:
                continue
            if change.new.get("supersedes") and fact.id.startswith(change.new.get("supersedes")):
                continue
            near.append((alike(text, fact.text), path, fact))
        told = 0
        for _, path, fact in sorted(near, key=lambda row: -row[0]):
            contradicting = contradicts(text, fact.text)
            if contradicting or same(text, fact.text):
                told += 1
                seen.add(frozenset((place, (path, fact.line))))
                rivals.append(
                    Rival(change.path, change.new.line, text, path, fact.line, fact.text, contradicts=contradicting)
                )
            if told == SIMILAR_SHOWN:
                break
    return sorted(rivals, key=lambda r: (not r.contradicts, r.path, r.line))


def _says_new(change: FactChange) -> bool:
    return change.old is None or change.new is None or change.old.id != change.new.id


def _sizes(repo: Repository, config: Config, head: str) -> Iterable[Size]:
    for entry in repo.entries(head, ["MEMORY.md", ".claude/MEMORY.md"]):
        if entry.mode == REGULAR:
            data = repo.read(entry.oid)
            yield Size(entry.path, len(blob_lines(data)), len(data), config.memory_lines)


def _recall(
    repo: Repository, config: Config, base: str, head: str, now: datetime, clock: Clock
) -> tuple[Recall | None, tuple[str, ...]]:
    """What search finds at both ends, None where they share no question; and what of the base's questions was not
    asked: a change that takes a question out, or breaks their file, hides nothing by it."""
    texts = [_tests(repo, commit) for commit in (base, head)] if base else []
    if not any(texts):
        return None, ()
    from gitmem.search import evaluation
    from gitmem.search.search import Query

    try:
        asked = [{row.query: row for row in evaluation.read(text)} if text else {} for text in texts]
    except GitMemError as error:
        return None, (f"{TESTS}: {error.message}",)
    both = [query for query in asked[0] if query in asked[1]]
    gone = len(asked[0]) - len(both)
    notes = (f"{TESTS} no longer asks {gone} of {counted(len(asked[0]), 'question')}",) if gone else ()
    both = both[:QUESTIONS]
    if not both:
        return None, notes
    runs = [
        evaluation.run(repo, config, [rows[query] for query in both], Query("", commit=commit), now, clock)
        for rows, commit in zip(asked, (base, head), strict=True)
    ]
    gained, lost = evaluation.gained_and_lost(runs[0], runs[1])
    before, after = (sum(r.figures["hit@5"] for r in rows) / len(both) for rows in runs)
    places = [(query, place) for query in lost for place in asked[0][query].relevant]
    lines = tuple(_lost_lines(repo, base, head, places))
    return Recall(len(both), before, after, tuple(gained), tuple(lost), lines), notes


def _lost_lines(
    repo: Repository, base: str, head: str, places: Sequence[tuple[str, tuple[str, int, int]]]
) -> Iterator[LostLine]:
    """The lines that answered at `base`: each that is not blank, at most LOST of one question."""
    paths = sorted({path for _, (path, _, _) in places})
    oids = [repo.blobs(commit, paths) for commit in (base, head)]
    sizes = repo.sizes([oid for side in oids for oid in side.values()])
    texts = {oid: blob_lines(repo.read(oid)) for oid, size in sizes.items() if size <= LIMIT}
    told: Counter[str] = Counter()
    for question, (path, first, last) in places:
        before = texts.get(oids[0].get(path, ""), [])
        after = texts.get(oids[1].get(path, ""), [])
        for number in range(first, min(last, len(before)) + 1):
            text = before[number - 1]
            if text.strip() and told[question] < LOST:
                told[question] += 1
                yield LostLine(question, path, number, text.strip(), after.index(text) + 1 if text in after else 0)


def _tests(repo: Repository, commit: str) -> str:
    for entry in repo.entries(commit, [TESTS]):
        if entry.path == TESTS and entry.mode == REGULAR and repo.sizes([entry.oid]).get(entry.oid, 0) <= 1 << 20:
            return repo.read(entry.oid).decode("utf-8", "replace")
    return ""


def as_report(review: Review) -> Report:
    """Everything a reviewer is told as findings, for SARIF and annotations: no text of memory in them."""
    more = []
    for change in review.settings:
        words = f"{change.what}: it decides how memory is checked" + (f"; {change.loosened}" if change.loosened else "")
        more.append(_finding(change.path, 1, "settings-changed", Severity.WARN, words))
    for line in review.lines:
        if line.state is State.BROKEN:
            more.append(_finding(line.path, line.line, "provenance", Severity.BLOCK, line.message))
        elif line.state is State.AGENT and line.fails:
            words = line.message or f"an agent added it in {line.commit[:12]}, and no promotion did"
            more.append(_finding(line.path, line.line, "unrecorded", Severity.BLOCK, words))
        elif line.state is State.EDITED:
            words = f"{line.words}: {', '.join(what for what, _, _ in line.edits)}"
            more.append(_finding(line.path, line.line, "edited", Severity.WARN, words))
    for similar in review.rivals:
        rule = "contradiction" if similar.contradicts else "near-duplicate"
        what = "contradicts" if similar.contradicts else "repeats"
        words = f"{what} the fact at {similar.other_path}:{similar.other_line}"
        more.append(_finding(similar.path, similar.line, rule, Severity.WARN, words))
    for size in review.sizes:
        if size.over:
            words = f"{size.lines} lines of {size.budget}, {size.bytes} bytes of {HOST_BYTES}: hosts read less"
            more.append(_finding(size.path, 1, "over-budget", Severity.WARN, words))
    if review.recall and review.recall.lost:
        words = f"search no longer answers {len(review.recall.lost)} of {review.recall.questions} questions"
        more.append(_finding(TESTS, 1, "recall", Severity.WARN, words))
    return replace(review.report, findings=(*review.report.findings, *more))


def _finding(path: str, line: int, rule: str, severity: Severity, message: str) -> Finding:
    import hashlib

    mark = hashlib.sha256(f"{rule}\0{path}\0{message}".encode("utf-8", "surrogateescape")).hexdigest()[:20]
    return Finding(f"review/{rule}", severity, path, line, 1, line, 1, message, fingerprint=mark)
