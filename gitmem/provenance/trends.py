"""The development of memory by week, month, quarter or year: its size, the share of facts with a source, findings of
the gate, and the recall of search. Everything is counted from Git; reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from gitmem.config import Config
from gitmem.errors import OutsideRepository, UsageError
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.examine import Blob, Source
from gitmem.git.objects import Commit
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes
from gitmem.memory.facts import parse
from gitmem.memory.snapshot import tree_files
from gitmem.messages import Message
from gitmem.models.token_count import estimate
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.search.evaluation import LabelledQuestion, read_questions, run_questions, summarise
from gitmem.search.search import Query

MAX_PERIODS = 26
PERIOD_DAYS = (7, 30, 91, 365)  # lengths; the shortest with which MAX_PERIODS reach the first commit is taken
MAX_SCANNED_BYTES = 2 << 20  # bytes that the gate scans, about a second
QUESTIONS = ".gitmem-questions.jsonl"  # file of questions with the lines that answer them, for `git mem eval`
MAX_QUESTIONS = 100  # of that file
MAX_MEASURED = 8  # periods whose recall is measured
RECALL = "recall@5"


@dataclass(frozen=True, slots=True)
class Period:
    """A range of days, both inclusive. `commit`: the last one in the period or before; `base`: the last one before the
    period, "" for none."""

    first: date
    last: date
    commit: str
    base: str


@dataclass(frozen=True, slots=True)
class Size:
    """The size of memory at the end of a period.

    `files`, `facts`: their numbers. `sourced`: number of facts that cite a source. `tokens`: an estimate
    (`models/token_count.estimate`).
    """

    files: int
    facts: int
    sourced: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Findings:
    """Numbers of findings of the gate in the commits of a period."""

    blocking: int
    warnings: int


def periods(repo: Repository, head: str) -> list[Period]:
    """The periods in the first-parent history of `head`, the newest MAX_PERIODS at most, oldest first; [] when `head`
    is "". All have the same length, the last one ends on the day of the newest commit, and those before the first
    commit are left out."""
    commits: list[Commit] = list(repo.log([head], first_parent=True)) if head else []
    if not commits:
        return []
    last_day = max(commit.commit_date.date() for commit in commits)
    age = (last_day - min(commit.commit_date.date() for commit in commits)).days + 1
    length = next((days for days in PERIOD_DAYS if days * MAX_PERIODS >= age), PERIOD_DAYS[-1])
    newest_first = []
    for number in range(min(MAX_PERIODS, -(-age // length))):
        end = last_day - timedelta(days=length * number)
        begin = end - timedelta(days=length - 1)
        tip = _last_by(commits, end)
        if tip:
            newest_first.append(Period(begin, end, tip, _last_by(commits, begin - timedelta(days=1))))
    return newest_first[::-1]


def _last_by(commits: Sequence[Commit], day: date) -> str:
    """The oid of the first of the commits (newest first) that is of `day` or older; "" for none."""
    return next((commit.oid for commit in commits if commit.commit_date.date() <= day), "")


def measure_sizes(repo: Repository, config: Config, among: Sequence[Period]) -> list[Size]:
    """The size of memory at the end of each period, in order. Each blob is read once; a file above
    MAX_MEMORY_FILE_BYTES counts as a file without facts."""
    cached: dict[tuple[str, bool], tuple[int, int, int]] = {}
    sizes = []
    for period in among:
        files, _ = tree_files(repo, repo.tree(period.commit), config.memory_paths)
        keys = [(oid, kind(path) in (Kind.MEMORY, Kind.ARCHIVE)) for path, oid in files.items()]
        unread = list(dict.fromkeys(oid for oid, lasting in keys if (oid, lasting) not in cached))
        small = [oid for oid, size in repo.sizes(unread).items() if size <= MAX_MEMORY_FILE_BYTES]
        contents = dict(repo.read_many(small))
        for oid, lasting in keys:
            if (oid, lasting) not in cached:
                cached[oid, lasting] = _size_of(contents.get(oid) or b"", lasting)
        rows = [cached[key] for key in keys]
        sizes.append(Size(len(rows), *(sum(row[column] for row in rows) for column in range(3))))
    return sizes


def _size_of(data: bytes, lasting: bool) -> tuple[int, int, int]:
    """(facts, facts with a source, tokens) of a file. `lasting`: it is MEMORY.md or an archive, whose statements are
    all facts; those of other files are facts only when one of them cites a source."""
    tokens = estimate(data.decode("utf-8", "replace"))
    if b"\0" in data or not (lasting or b"src=" in data):
        return 0, 0, tokens
    facts = parse(data).facts
    return len(facts), sum(bool(fact.get("src")) for fact in facts), tokens


def count_findings(
    repo: Repository, head: str, among: Sequence[Period], today: date, max_bytes: int = MAX_SCANNED_BYTES
) -> list[Findings | None]:
    """The findings of the gate in the commits of each period, under the policy of `head`.

    The newest periods are scanned first, until `max_bytes` are read; older periods get None, and so do all when `head`
    is "". Raises GitMemError when the gate cannot scan.
    """
    from gitmem.gate.commit_files import files_of_commits
    from gitmem.gate.scan import scan, without_repeats
    from gitmem.gate.tree_policies import tree_policy

    if not head:
        return [None] * len(among)
    policy = tree_policy(repo, head, today)
    remaining = max_bytes

    def limited(blobs: Iterable[Blob]) -> Iterator[Blob]:
        nonlocal remaining
        for blob in blobs:
            remaining -= len(blob.data)
            if remaining < 0:
                return
            yield blob

    findings_by_period: list[Findings | None] = [None] * len(among)
    for index, period in reversed(list(enumerate(among))):
        revs = [period.commit]
        if period.base:
            revs.append(f"^{period.base}")
        source = files_of_commits(repo, revs, policy)
        report = without_repeats(scan(Source(limited(source.blobs), source.findings), policy))
        if remaining < 0:
            break
        blocking = sum(finding.severity is Severity.BLOCK for finding in report.findings)
        findings_by_period[index] = Findings(blocking, len(report.findings) - blocking)
    return findings_by_period


def questions_at(repo: Repository, commit: str) -> list[LabelledQuestion]:
    """The first MAX_QUESTIONS of the file QUESTIONS, at `commit` or in the work tree for ""; [] without the file, and
    for one above MAX_MEMORY_FILE_BYTES at a commit.

    Raises UsageError when the file is not UTF-8 or not of the format.
    """
    try:
        if commit or repo.root is None:
            oid = repo.blobs(commit or repo.head() or "", [QUESTIONS]).get(QUESTIONS, "")
            data = b""
            if oid and repo.sizes([oid])[oid] <= MAX_MEMORY_FILE_BYTES:
                data = repo.read(oid)
        else:
            data = read_bytes(repo.root, QUESTIONS, MAX_MEMORY_FILE_BYTES)
    except (OSError, OutsideRepository):
        return []
    try:
        if not data.strip():
            return []
        return read_questions(data.decode("utf-8"))[:MAX_QUESTIONS]
    except UnicodeDecodeError:
        raise UsageError(Message("{} is not UTF-8", QUESTIONS)) from None


def measure_recall(
    repo: Repository,
    config: Config,
    questions: Sequence[LabelledQuestion],
    among: Sequence[Period],
    now: datetime,
    clock: Callable[[], float],
) -> list[float | None]:
    """The recall@5 (0 to 1) of the questions at the end of at most MAX_MEASURED periods, evenly spaced up to the last:
    the mean share of a question's relevant lines that the first five hits cover. None for the other periods, and for
    all without questions. Each measurement searches at the last commit of its period, whose index stays cached."""
    step = max(1, -(-len(among) // MAX_MEASURED))
    values: list[float | None] = []
    cached: dict[str, float] = {}
    for index, period in enumerate(among):
        if (len(among) - 1 - index) % step or not questions:
            values.append(None)
            continue
        if period.commit not in cached:
            results = run_questions(repo, config, questions, Query("", commit=period.commit), now, clock)
            cached[period.commit] = summarise(results)["all"].figures[RECALL]
        values.append(cached[period.commit])
    return values
