"""Reads committed daily logs for promotion: finds the new lines, and the lines that were promoted or refused before.

The cursor, a `Memory-Cursor` trailer, only saves work. Without a valid cursor every line counts as new again; other
records then keep a fact from being proposed twice: the `src` keys in MEMORY.md and its archive, and the
`Memory-Source` and `Memory-Rejected` trailers of the history. Reads committed history only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.daily_logs import log_day
from gitmem.errors import UnknownRevision
from gitmem.gate.detectors.finding import Skipped
from gitmem.git.objects import Span
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import decode, skip_reason
from gitmem.memory.fact import Fact, cited_spans, fact_id, id_of_hash, normalise, text_hash, values_of
from gitmem.memory.statements import read
from gitmem.messages import Message
from gitmem.paths import Kind, kind
from gitmem.promotion.proposal import Log
from gitmem.promotion.topics import about_topics
from gitmem.provenance.attribution import Attributor
from gitmem.provenance.authorship import by_machine
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import Ledger, read_ledger, rejections
from gitmem.provenance.line_origins import log_origin
from gitmem.provenance.removals import removed_by_people
from gitmem.text.named_times import FORMS, start_of


@dataclass(frozen=True, slots=True)
class NewLogs:
    """The logs of the commit `head` that have new lines."""

    head: str
    base: str  # lines that this commit lacks are new; "": all lines are new
    logs: tuple[Log, ...]
    skipped: tuple[Skipped, ...] = ()  # logs that could not be read

    @property
    def lines(self) -> int:
        """The number of new lines."""
        return sum(len(log.new) for log in self.logs)


@dataclass(frozen=True, slots=True)
class Precedents:
    """What earlier promotions and people decided, so that it is not proposed again (`plan.Rules`)."""

    refused: frozenset[str]  # hashes (64 hex) of texts that people refused or removed
    covered: frozenset[tuple[str, str, str]]  # (path, normalised line, its topic) of lines that were used or refused
    archived: Mapping[str, Fact]  # fact id -> archived fact


def read_cursor(repo: Repository, ledger: Ledger, head: str) -> str:
    """The commit up to which logs count as read: the newest `Memory-Cursor` that is an ancestor of its promotion and of
    `head`; "" when there is none.

    Promotion proposes no line before the cursor, so a forged one would hide lines. It counts only when the sources of
    its promotion support every text of that promotion.
    """
    for promotion, oid in ledger.cursors:
        is_ancestor = oid != promotion and repo.is_ancestor(oid, promotion) and repo.is_ancestor(oid, head)
        if is_ancestor and _is_supported(repo, ledger, promotion):
            return oid
    return ""


@dataclass(frozen=True, slots=True)
class PassedLines:
    """How many log lines a promotion by an agent or a bot counts as read though no commit promoted or refused them.
    `promotion`: its commit. `since`: the cursor before it, "" for none. `count`: the number of these lines, without
    headings and comments."""

    promotion: str
    since: str
    count: int


def passed_lines(repo: Repository, revs: Sequence[str], head: str, daily: Sequence[str] = ()) -> list[PassedLines]:
    """For each promotion among `revs` that an agent or a bot committed: how many log lines its cursor counts as read
    though no commit promoted or refused them. Promotions without such lines are left out. `head`: the newest commit.
    `daily`: patterns of further daily logs. An agent can write such a promotion by hand, and nothing tells it from one
    that a run made."""
    inside = {promotion for promotion, _ in read_ledger(repo, revs).cursors if by_machine(repo.commit(promotion))}
    if not inside:
        return []
    ledger = read_ledger(repo, [head])
    used = {(path, number) for path, first, last, _ in ledger.by_span for number in range(first, last + 1)}
    passed = []
    for index, (promotion, oid) in enumerate(ledger.cursors):
        if promotion not in inside or not repo.is_ancestor(oid, promotion):
            continue
        since = next((older for _, older in ledger.cursors[index + 1 :] if repo.is_ancestor(older, oid)), "")
        count = sum(
            (log.path, number) not in used and _is_item(log.lines[number - 1])
            for log in new_logs(repo, oid, since, daily).logs
            for number in log.new
        )
        if count:
            passed.append(PassedLines(promotion, since, count))
    return passed


def _is_item(line: str) -> bool:
    """Whether a line of a log has words that are no heading and no comment."""
    return bool(line.strip()) and not line.lstrip().startswith(("#", "<!--", "---"))


def _is_supported(repo: Repository, ledger: Ledger, promotion: str) -> bool:
    """Whether every text of the promotion is a fact of its MEMORY.md that its sources support; in an agent's commit the
    sources must say it word for word."""
    commit = repo.commit(promotion)
    hashes = {link.sha256 for record in ledger.records if record.commit.oid == promotion for link in record.sources}
    enough = {Support.IN_SOURCE, Support.EDITED}
    if not by_machine(commit):
        enough.add(Support.SHARES_WORDS)
    attributor = Attributor(repo, promotion, ledger)
    supported: set[str] = set()
    for path, _, fact in facts_at(repo, promotion):
        if kind(path) is Kind.MEMORY and (digest := text_hash(fact.text)) in hashes:
            if attributor.attribution(path, fact, lambda: commit).support not in enough:
                return False
            supported.add(digest)
    return supported == hashes


def since_commit(repo: Repository, text: str, head: str, now: datetime) -> str:
    """The commit that `--since` names: a revision, or the last commit before a day (`named_times`) in the first-parent
    history of `head`; "" when no commit is so old. Raises UnknownRevision for a text that is neither."""
    try:
        return repo.resolve(text)
    except UnknownRevision:
        start = start_of(text, now)
        if start is None:
            raise UnknownRevision(
                Message("'{}' is neither a revision nor a date", text), Message("a commit, or {}", FORMS)
            ) from None
    return next((commit.oid for commit in repo.log([head], first_parent=True) if commit.commit_date < start), "")


def new_logs(repo: Repository, head: str, base: str, daily: Sequence[str] = ()) -> NewLogs:
    """The daily logs at `head` with lines that `base` lacks ("": all lines are new), oldest day first. A log without a
    new line is left out; one that cannot be read is in `skipped`. `daily`: patterns of further daily logs
    (`daily_logs.log_day`)."""
    new_oids = _log_oids(repo, head, daily)
    old_oids: dict[str, str] = {}
    if base:
        old_oids = _log_oids(repo, base, daily)
    changed = {path: oid for path, oid in new_oids.items() if old_oids.get(path) != oid}
    earlier = {path: old_oids[path] for path in changed if path in old_oids}
    skipped: list[Skipped] = []
    contents = small_blobs(repo, [*changed.values(), *earlier.values()])
    logs = []
    for path, oid in changed.items():
        day = log_day(path, daily)
        if day is None:
            skipped.append(Skipped(path, "no such day"))
        elif oid not in contents:
            skipped.append(Skipped(path, "missing, or larger than 1 MiB"))
        elif reason := skip_reason(decode(contents[oid], path)[1]):
            skipped.append(Skipped(path, reason))
        else:
            lines = split_log(contents[oid])
            new_lines = _new_lines(lines, split_log(contents.get(earlier.get(path, ""), b"")))
            if new_lines:
                logs.append(Log(path, oid, day, lines, new_lines, log_origin(lines)))
    return NewLogs(head, base, tuple(sorted(logs, key=lambda log: (log.day, log.path))), tuple(skipped))


def _log_oids(repo: Repository, commit: str, daily: Sequence[str]) -> dict[str, str]:
    """Path -> oid of each daily log of a commit."""
    folders = [] if daily else ["memory"]
    entries = [entry for entry in repo.entries(commit, folders) if entry.is_file]
    return {entry.path: entry.oid for entry in entries if kind(entry.path) is Kind.DAILY or log_day(entry.path, daily)}


def small_blobs(repo: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    """Oid -> bytes of the blobs that exist and have at most MAX_MEMORY_FILE_BYTES."""
    return dict(read_small_blobs(repo, ((oid, oid) for oid in sorted(set(oids)))))


def split_log(data: bytes) -> tuple[str, ...]:
    """The lines of a file without their ends, numbered as Git numbers them; bytes that are not UTF-8 are replaced."""
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
    if lines[-1] == "":
        lines.pop()
    return tuple(line.rstrip("\r") for line in lines)


def _new_lines(lines: Sequence[str], old_lines: Sequence[str]) -> frozenset[int]:
    """The numbers, from 1, of the lines that `old_lines` lacks. In a log that only grew these are the last ones; a
    rewritten log is compared line by line."""
    if tuple(lines[: len(old_lines)]) == tuple(old_lines):
        return frozenset(range(len(old_lines) + 1, len(lines) + 1))
    remaining = Counter(old_lines)
    new_numbers = set()
    for number, line in enumerate(lines, 1):
        if remaining[line] > 0:
            remaining[line] -= 1
        else:
            new_numbers.add(number)
    return frozenset(new_numbers)


def read_precedents(
    repo: Repository, ledger: Ledger, head: str, memory_now: Iterable[Fact], logs: Sequence[Log]
) -> Precedents:
    """The texts and lines that promotion must not propose again from `logs`. `memory_now`: its facts now.
    `ledger`: of the history of `head`."""
    present = list(memory_now)
    archived = _archived(repo, head)
    ids = {fact.id for fact in (*present, *archived)}
    # A fact that a later one superseded was not removed by anybody: a new log may say it again.
    ids |= {value for fact in (*present, *archived) for value in values_of(fact.meta, "supersedes")}
    rejected = rejections(repo, ledger)
    refused, spans = set(rejected.hashes), list(rejected.spans)
    for fact in (*present, *archived):
        spans += cited_spans(fact.meta)
    spans += [span for sources in ledger.sources.values() for span in sources]
    # Texts that were promoted and are in memory no more. A line of a digest of episodes was never promoted.
    refused |= {digest for digest in ledger.by_hash if id_of_hash(digest) not in ids and _was_promoted(ledger, digest)}
    refused |= {digest for digest in removed_by_people(repo, head) if id_of_hash(digest) not in ids}
    refused -= {text_hash(fact.text) for fact in present}
    return Precedents(
        frozenset(refused),
        frozenset(_cited_lines(repo, spans, logs)),
        {fact_id(fact.text): fact for fact in archived if not fact.get(memory_facts.SUPERSEDED_BY)},
    )


def _was_promoted(ledger: Ledger, digest: str) -> bool:
    """Whether a record added the text (64 hex) to a file other than an episode or a digest of episodes."""
    links = (link for record in ledger.recorded.get(digest, ()) for link in record.sources if link.sha256 == digest)
    return any(kind(link.target) is not Kind.SESSION for link in links)


def _archived(repo: Repository, head: str) -> list[Fact]:
    """The facts of the archives at `head`."""
    entries = [entry for entry in repo.entries(head, ["memory/archive"]) if kind(entry.path) is Kind.ARCHIVE]
    contents = small_blobs(repo, (entry.oid for entry in entries if entry.is_file))
    return [fact for data in contents.values() for fact in memory_facts.parse(data).facts]


def _cited_lines(repo: Repository, spans: Sequence[Span], logs: Sequence[Log]) -> set[tuple[str, str, str]]:
    """(path, normalised line, its topic of `about_topics`) for each line of the spans in one of `logs`, as the cited
    blob has it. When that blob is gone, the lines of the log as it is now are taken."""
    log_of = {log.path: log for log in logs}
    in_logs = [span for span in dict.fromkeys(spans) if span.path in log_of]
    lines: dict[tuple[str, str], tuple[str, ...]] = {}
    for span in in_logs:
        log = log_of[span.path]
        key = (span.path, span.blob)
        if key in lines:
            continue
        lines[key] = log.lines
        if span.blob and not log.blob.startswith(span.blob):
            oid: str | None = span.blob
            if len(span.blob) != len(log.blob):
                oid = repo.find_blob(span.path, span.blob)
            data = next(iter(repo.read_many([oid])))[1] if oid else None
            if data is not None:
                lines[key] = split_log(data)
    topics = {key: about_topics(read(rows)) for key, rows in lines.items()}
    cited: set[tuple[str, str, str]] = set()
    for span in in_logs:
        key = (span.path, span.blob)
        cited_lines = lines[key][span.start_line - 1 : span.end_line]
        for number, line in enumerate(cited_lines, span.start_line):
            text = normalise(line)
            if text:
                cited.add((span.path, text, topics[key].get(number, "")))
    return cited
