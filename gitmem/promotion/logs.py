"""Committed daily logs as promotion reads them: which lines are new, which were dealt with before. Reads Git only.

The cursor is a shortcut. Where it is absent, unreachable or lost by a squash, every line counts as new again, and
what keeps a fact from coming twice is written beside the facts themselves: `src` in MEMORY.md and its archive,
`Memory-Source` and `Memory-Rejected` in the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.errors import UnknownRevision
from gitmem.gate.detectors.finding import Skipped
from gitmem.git.objects import EXECUTABLE, REGULAR, Entry, Span
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, fact_id, id_of_hash, normalise, parse_span, text_hash
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind, log_day
from gitmem.promotion.proposal import Log
from gitmem.provenance.ledger import Ledger, rejections
from gitmem.provenance.line_origins import log_origin
from gitmem.provenance.removals import removed_by_people
from gitmem.text.named_times import FORMS, beginning


@dataclass(frozen=True, slots=True)
class NewLogs:
    """The logs of a commit; `base` is the commit since which lines are new ("" for all)."""

    head: str
    base: str
    logs: tuple[Log, ...]
    skipped: tuple[Skipped, ...] = ()

    @property
    def lines(self) -> int:
        return sum(len(log.new) for log in self.logs)


@dataclass(frozen=True, slots=True)
class Precedents:
    """What earlier promotions and people settled: hashes of texts refused or no longer there, and source lines."""

    refused: frozenset[str]
    covered: frozenset[tuple[str, str]]
    archived: Mapping[str, Fact]


def since(repo: Repository, text: str, head: str, now: datetime) -> str:
    """The commit that `--since` names: a revision, else the last one before a day began (`named_times`), "" if none."""
    try:
        return repo.resolve(text)
    except UnknownRevision:
        start = beginning(text, now)
        if start is None:
            raise UnknownRevision(
                Message("'{}' is neither a revision nor a date", text), Message("a commit, or {}", FORMS)
            ) from None
    older = (c for c in repo.log([head], first_parent=True) if c.commit_date < start)
    first = next(older, None)
    if not first:
        return ""
    return first.oid


def new_logs(repo: Repository, head: str, base: str, daily: Sequence[str] = ()) -> NewLogs:
    """Every daily log at `head` that has lines `base` had not, oldest day first; `daily` are patterns of more of them
    (`paths.log_day`)."""
    now, before = _logs(repo, head, daily), _logs(repo, base, daily) if base else {}
    wanted = {p: entry.oid for p, entry in now.items() if p not in before or before[p].oid != entry.oid}
    old = {path: before[path].oid for path in wanted if path in before}
    skipped: list[Skipped] = []
    data = _contents(repo, {*wanted.values(), *old.values()})
    logs = []
    for path, oid in wanted.items():
        day, content = log_day(path, daily), data.get(oid)
        if day is None or content is None:
            skipped.append(Skipped(path, "no such day" if day is None else "missing, or larger than 1 MiB"))
            continue
        lines = split(content)
        new = _new(lines, split(data.get(old[path]) or b"") if path in old else [])
        if new:
            logs.append(Log(path, oid, day, lines, new, log_origin(lines)))
    return NewLogs(head, base, tuple(sorted(logs, key=lambda log: (log.day, log.path))), tuple(skipped))


def _logs(repo: Repository, commit: str, daily: Sequence[str]) -> dict[str, Entry]:
    entries = [e for e in repo.entries(commit, [] if daily else ["memory"]) if e.mode in (REGULAR, EXECUTABLE)]
    return {e.path: e for e in entries if kind(e.path) is Kind.DAILY or log_day(e.path, daily)}


def _contents(repo: Repository, oids: set[str]) -> dict[str, bytes]:
    sizes = repo.sizes(sorted(oids))
    small = [oid for oid in sorted(oids) if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    return {oid: data for oid, data in repo.read_many(small) if data is not None}


def split(data: bytes) -> tuple[str, ...]:
    """The lines of a file, numbered as Git numbers them; what is not UTF-8 is replaced."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    lines = text.split("\n")
    return tuple(line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines))


def _new(lines: Sequence[str], old: Sequence[str]) -> frozenset[int]:
    """The lines that were not there: a log only grows at its end, but a rewritten one is compared line by line."""
    if tuple(lines[: len(old)]) == tuple(old):
        return frozenset(range(len(old) + 1, len(lines) + 1))
    left = Counter(old)
    new = set()
    for number, line in enumerate(lines, 1):
        if left[line] > 0:
            left[line] -= 1
        else:
            new.add(number)
    return frozenset(new)


def past(repo: Repository, known: Ledger, head: str, here: Iterable[Fact], logs: Sequence[Log]) -> Precedents:
    """What must not be offered again, given the facts of MEMORY.md (`here`) and what the history of `head` records."""
    present = list(here)
    archived = _archived(repo, head)
    ids = {fact.id for fact in (*present, *archived)}
    # What a later fact replaced was not taken out by anybody: a new log may say it again.
    ids |= {value for fact in (*present, *archived) for key, value in fact.meta if key == "supersedes"}
    refusal = rejections(repo, known)
    refused, spans = set(refusal.hashes), list(refusal.spans)
    for fact in (*present, *archived):
        spans += [span for key, value in fact.meta if key == "src" and (span := parse_span(value))]
    lifted = {text_hash(fact.text) for fact in present}
    spans += [span for given in known.sources.values() for span in given]
    # Promoted once, and taken out since. A line of a digest of episodes was never promoted.
    refused |= {digest for digest in known.by_hash if id_of_hash(digest) not in ids and _was_promoted(known, digest)}
    refused |= {digest for digest in removed_by_people(repo, head) if id_of_hash(digest) not in ids}
    return Precedents(
        frozenset(refused - lifted),
        frozenset(_lines_of(repo, spans, logs)),
        {fact_id(fact.text): fact for fact in archived if not fact.get(memory_facts.SUPERSEDED_BY)},
    )


def _was_promoted(known: Ledger, digest: str) -> bool:
    """Whether a record added the text (64 hex) to a file other than an episode or a digest of episodes."""
    links = (link for record in known.recorded.get(digest, ()) for link in record.sources if link.sha256 == digest)
    return any(kind(link.target) is not Kind.SESSION for link in links)


def _archived(repo: Repository, head: str) -> list[Fact]:
    entries = [e for e in repo.entries(head, ["memory/archive"]) if kind(e.path) is Kind.ARCHIVE]
    data = _contents(repo, {entry.oid for entry in entries if entry.mode in (REGULAR, EXECUTABLE)})
    return [fact for content in data.values() for fact in memory_facts.parse(content).facts]


def _lines_of(repo: Repository, spans: Sequence[Span], logs: Sequence[Log]) -> set[tuple[str, str]]:
    """(path, text of the line) of every span in a log that is read now, as the line was when it was cited."""
    here = {log.path: log for log in logs}
    concerned = [span for span in dict.fromkeys(spans) if span.path in here]
    other: dict[tuple[str, str], tuple[str, ...]] = {}
    for span in concerned:
        log = here[span.path]
        key = (span.path, span.blob)
        if not span.blob or log.blob.startswith(span.blob):
            other[key] = log.lines
        elif key not in other:
            oid = span.blob if len(span.blob) == len(log.blob) else repo.find_blob(span.path, span.blob)
            data = None
            if oid:
                data = next(iter(repo.read_many([oid])))[1]
            if data is not None:
                other[key] = split(data)
            else:
                other[key] = log.lines
    return {
        (span.path, normalise(line))
        for span in concerned
        for line in other[span.path, span.blob][span.start_line - 1 : span.end_line]
        if normalise(line)
    }
