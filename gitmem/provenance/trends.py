"""How memory came to be what it is: its size, the share of facts with a source, what the gate finds, how well search
answers, by week or month. Counted from Git; reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from gitmem.config import Config
from gitmem.errors import OutsideRepository, UsageError
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.examine import Blob
from gitmem.git.objects import Commit
from gitmem.git.opening import Repository
from gitmem.memory.snapshot import tree_files
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind
from gitmem.search.evaluation import LabelledQuestion

MAX_PERIODS = 26  # periods that are told
DAYS = (7, 30, 91, 365)  # lengths of a period: the shortest of which MAX_PERIODS reach back to the first commit
MAX_SCANNED_BYTES = 2 << 20  # bytes that the gate reads, about a second
QUESTIONS = ".gitmem-questions.jsonl"  # questions with the lines that answer them, as `git mem eval` takes them
ASKED, MEASURED = 100, 8  # questions that are asked, at how many commits
RECALL = "recall@5"


@dataclass(frozen=True, slots=True)
class Period:
    """`first` to `last` day; `commit` is the last one by then, `base` the one before it began ("" for none)."""

    first: date
    last: date
    commit: str
    base: str


@dataclass(frozen=True, slots=True)
class Size:
    """What memory had at the end of a period. `tokens` are estimated (models/token_count.estimate)."""

    files: int
    facts: int
    sourced: int
    tokens: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What the gate finds in what a period brought."""

    blocking: int
    warnings: int


def periods(repo: Repository, head: str) -> list[Period]:
    """The periods of the history of `head`, oldest first, by first parents; none without a commit."""
    if head:
        commits = list(repo.log([head], first_parent=True))
    else:
        commits = []
    if not commits:
        return []
    last = max(commit.commit_date.date() for commit in commits)
    age = (last - min(commit.commit_date.date() for commit in commits)).days + 1
    length = next((days for days in DAYS if days * MAX_PERIODS >= age), DAYS[-1])
    made = []
    for end in (last - timedelta(days=length * at) for at in range(min(MAX_PERIODS, -(-age // length)))):
        begin = end - timedelta(days=length - 1)
        tip = _last_by(commits, end)
        if tip:
            made.append(Period(begin, end, tip, _last_by(commits, begin - timedelta(days=1))))
    return made[::-1]


def _last_by(commits: Sequence[Commit], day: date) -> str:
    return next((commit.oid for commit in commits if commit.commit_date.date() <= day), "")


def sizes(repo: Repository, config: Config, among: Sequence[Period]) -> list[Size]:
    """What memory had at the end of each period; a blob that stayed is read once."""
    known: dict[tuple[str, bool], tuple[int, int, int]] = {}
    found = []
    for period in among:
        files, _ = tree_files(repo, repo.tree(period.commit), config.memory_paths)
        keys = [(oid, kind(path) in (Kind.MEMORY, Kind.ARCHIVE)) for path, oid in files.items()]
        unread = list(dict.fromkeys(oid for oid, lasting in keys if (oid, lasting) not in known))
        small = [oid for oid, size in repo.sizes(unread).items() if size <= MAX_MEMORY_FILE_BYTES]
        contents = dict(repo.read_many(small))
        for oid, lasting in keys:
            if (oid, lasting) not in known:
                known[oid, lasting] = _size_of(contents.get(oid) or b"", lasting)
        rows = [known[key] for key in keys]
        found.append(Size(len(rows), *(sum(row[at] for row in rows) for at in range(3))))
    return found


def _size_of(data: bytes, lasting: bool) -> tuple[int, int, int]:
    """(facts, those that cite a source, tokens) of a file."""
    from gitmem.memory.facts import parse
    from gitmem.models.token_count import estimate

    tokens = estimate(data.decode("utf-8", "replace"))
    if b"\0" in data or not (lasting or b"src=" in data):
        return 0, 0, tokens
    facts = parse(data).facts
    return len(facts), sum(bool(fact.get("src")) for fact in facts), tokens


def findings(
    repo: Repository, head: str, among: Sequence[Period], today: date, most: int = MAX_SCANNED_BYTES
) -> list[Findings | None]:
    """What the gate finds in the commits of each period, the newest first until `most` bytes are read; None for the
    periods before. Raises GitMemError where the gate cannot look."""
    from gitmem.gate import sources
    from gitmem.gate.scan import once_each, scan

    policy = None
    if head:
        policy = sources.tree_policy(repo, head, today)
    left = [most]

    def within(blobs: Iterator[Blob]) -> Iterator[Blob]:
        for blob in blobs:
            left[0] -= len(blob.data)
            if left[0] < 0:
                return
            yield blob

    found: list[Findings | None] = []
    for period in reversed(among):
        if left[0] < 0 or policy is None:
            found.append(None)
            continue
        revs = [period.commit, *([f"^{period.base}"] if period.base else [])]
        source = sources.commits(repo, revs, policy)
        report = once_each(scan(within(source.blobs), policy, source.findings))
        blocking = sum(finding.severity is Severity.BLOCK for finding in report.findings)
        found.append(None if left[0] < 0 else Findings(blocking, len(report.findings) - blocking))
    return found[::-1]


def questions(repo: Repository, commit: str) -> list[LabelledQuestion]:
    """The questions of QUESTIONS in the work tree, or at `commit`; none without that file. Raises UsageError where it
    holds something else."""
    from gitmem.git.worktree import read_bytes
    from gitmem.search.evaluation import read

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
        return read(data.decode("utf-8"))[:ASKED]
    except UnicodeDecodeError:
        raise UsageError(Message("{} is not UTF-8", QUESTIONS)) from None


def recall(
    repo: Repository,
    config: Config,
    asked: Sequence[LabelledQuestion],
    among: Sequence[Period],
    now: datetime,
    clock: Callable[[], float],
) -> list[float | None]:
    """RECALL of the questions at the end of MEASURED of the periods, evenly spaced with the last among them; None for
    the others. Each is a search at that commit, which the index keeps."""
    from gitmem.search.evaluation import run, summarise
    from gitmem.search.search import Query

    step = max(1, -(-len(among) // MEASURED))
    chosen = {at for at in range(len(among)) if (len(among) - 1 - at) % step == 0}
    values: list[float | None] = []
    known: dict[str, float] = {}
    for at, period in enumerate(among):
        if at not in chosen or not asked:
            values.append(None)
            continue
        if period.commit not in known:
            results = run(repo, config, asked, Query("", commit=period.commit), now, clock)
            known[period.commit] = summarise(results)["all"].figures[RECALL]
        values.append(known[period.commit])
    return values
