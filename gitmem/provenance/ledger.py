"""What the trailers of a history record: which text came from which source, what people took out, which logs were read.

The history is walked once (`read_ledger`); promotion, `verify`, `review`, `why` and `revert` ask the value it gives.
Reads commit messages only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from gitmem.errors import GitMemError, UnknownRevision
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.provenance import trailers

SpanKey = tuple[str, int, int, str]
CURSORS = 20  # newest records that are asked for a cursor which this history still holds


def span_key(span: Span) -> SpanKey:
    """What makes two records name the same lines: the comment has 12 digits of the oid, the trailer all."""
    return span.path, span.start_line, span.end_line, span.blob[:12]


@dataclass(frozen=True, slots=True)
class Record:
    """A commit whose message speaks of facts: the links of its `Memory-Source`, of its `Memory-Rejected`, and those
    that it refuses by being a `git revert` of a promotion."""

    commit: Commit
    sources: tuple[trailers.Link, ...]
    rejected: tuple[trailers.Link, ...]
    reverted: tuple[trailers.Link, ...] = ()

    def block(self, digest: str) -> list[trailers.Trailer]:
        """The trailers that stand with the source of the text `digest`: those of its own promotion in a squash."""
        return trailers.block_with(self.commit.message, trailers.SOURCE, digest)

    def model(self, digest: str) -> str:
        """The model that promoted the text `digest` here, "" where none is named."""
        return next(iter(trailers.values(self.block(digest), trailers.MODEL)), "")

    def replaced(self, digest: str) -> str:
        """The hash of the text that the text `digest` replaced as an edit of the same source, "" for none."""
        own = {span_key(link.source) for link in self.sources if link.sha256 == digest and link.source}
        for link in self.rejected:
            if link.sha256 != digest and link.source and span_key(link.source) in own:
                return link.sha256
        return ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a history records, newest first: `by_hash` the newest commit of each text (64 hex), `by_span` the texts each
    source gave, `sources` the sources of each text, `records` the commits that say so."""

    by_hash: dict[str, str] = field(default_factory=dict)
    by_span: dict[SpanKey, set[str]] = field(default_factory=dict)
    sources: dict[str, list[Span]] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    recorded: dict[str, list[Record]] = field(default_factory=dict)
    cursors: tuple[str, ...] = ()
    reverts: tuple[tuple[str, str], ...] = ()  # (commit, the one it reverts)


_REVERTS = lazy(r"This reverts commit ([0-9a-f]{40,64})\b")
_WORDS = (f"{trailers.SOURCE}:", f"{trailers.REJECTED}:", f"{trailers.CURSOR}:", "This reverts commit ")


def read_ledger(repo: Repository, revs: Sequence[str], about: Sequence[str] = ()) -> Ledger:
    """Every well-formed record of the commits that `revs` reach, trailers of squashes included. No commit, no record:
    an empty ledger. `about` narrows it to the commits whose message holds one of these strings.
    """
    return ledger_of(repo, matching_commits(repo, revs, about))


def matching_commits(repo: Repository, revs: Sequence[str], about: Sequence[str] = ()) -> Iterator[Commit]:
    """The commits that `read_ledger` reads, newest first: Git looks for them while the caller does something else."""
    return repo.log(revs, grep=about or _WORDS) if revs else iter(())


def ledger_of(repo: Repository, commits: Iterable[Commit]) -> Ledger:
    """The records of these commits, newest first."""
    ledger = Ledger()
    records: list[Record] = []
    cursors: list[str] = []
    reverts: list[tuple[str, str]] = []
    for commit in commits:
        rows = trailers.memory_trailers(commit.message)
        cursors += reversed(trailers.values(rows, trailers.CURSOR))
        undone = list(_undone(repo, commit))
        reverts += [(commit.oid, oid) for oid, _ in undone]
        record = _record(commit, tuple(link for _, links in undone for link in links))
        if not (record.sources or record.rejected or record.reverted):
            continue
        records.append(record)
        for link in record.sources:
            ledger.by_hash.setdefault(link.sha256, commit.oid)
            known = ledger.recorded.setdefault(link.sha256, [])
            if record not in known:
                known.append(record)
            if link.source:
                ledger.by_span.setdefault(span_key(link.source), set()).add(link.sha256)
                ledger.sources.setdefault(link.sha256, []).append(link.source)
    return replace(ledger, records=tuple(records), cursors=tuple(cursors[:CURSORS]), reverts=tuple(reverts))


def _record(commit: Commit, reverted: tuple[trailers.Link, ...] = ()) -> Record:
    rows = trailers.memory_trailers(commit.message)
    sources, rejected = trailers.links(rows, trailers.SOURCE), trailers.links(rows, trailers.REJECTED)
    return Record(commit, tuple(sources), tuple(rejected), reverted)


def promotes(commit: Commit, digest: str) -> bool:
    """Whether the commit records the text `digest` (64 hex) as a promotion, and not as an edit of another text."""
    record = _record(commit)
    promoted = any(link.sha256 == digest for link in record.sources)
    return promoted and bool(record.model(digest) or not record.replaced(digest))


def _undone(repo: Repository, commit: Commit) -> Iterator[tuple[str, list[trailers.Link]]]:
    """Each commit that this one reverts, and the facts it promoted."""
    for oid in _REVERTS.findall(commit.message):
        try:
            undone = repo.commit(oid)
        except UnknownRevision:
            continue  # reverted in a history that this clone has not
        yield undone.oid, trailers.links(trailers.memory_trailers(undone.message), trailers.SOURCE)


def cursor(repo: Repository, known: Ledger, head: str) -> str:
    """The commit whose logs were read last: the newest `Memory-Cursor` that is an ancestor of `head`, "" for none."""
    for value in known.cursors:
        try:
            oid = repo.resolve(value)
        except GitMemError:
            continue
        if repo.is_ancestor(oid, head):
            return oid
    return ""


# -- what people took out ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text that was taken out: the newest commit that did, and the lines it came from. `edited`: another text took
    its place, so its source still stands."""

    commit: str
    spans: tuple[Span, ...]
    edited: bool = False


def refusals(repo: Repository, known: Ledger) -> dict[str, Refusal]:
    """Texts (by hash) that a person took out, by `Memory-Rejected` or by `git revert` of a promotion.

    A person who records the same text later (`edit` back), or reverts the commit that refused it, lifts the refusal. An
    agent, a bot or a model does not: neither may bring back what a person took out.
    """
    refused: dict[str, Refusal] = {}
    lifted = _reverted_by_people(repo, known)
    for record in reversed(known.records):
        if record.commit.oid in lifted:
            continue
        edited = {record.replaced(link.sha256) for link in record.sources}
        for link in (*record.rejected, *record.reverted):
            before = refused.get(link.sha256)
            spans = dict.fromkeys((*(before.spans if before else ()), *([link.source] if link.source else ())))
            refused[link.sha256] = Refusal(record.commit.oid, tuple(spans), link.sha256 in edited)
    for record in known.records if refused else ():
        for link in record.sources:
            refusal = refused.get(link.sha256)
            if refusal is None or refusal.commit == record.commit.oid or record.model(link.sha256):
                continue
            if not by_machine(record.commit) and repo.is_ancestor(refusal.commit, record.commit.oid):
                del refused[link.sha256]
    return refused


def _reverted_by_people(repo: Repository, known: Ledger) -> set[str]:
    """The commits that a person reverted, by a commit that stands itself."""
    reverted: set[str] = set()
    for commit, old in known.reverts:  # the newest first
        if commit not in reverted and not by_machine(repo.commit(commit)):
            reverted.add(old)
    return reverted


@dataclass(frozen=True, slots=True)
class Rejections:
    """What must not be promoted again: texts by hash (64 hex), and the source lines they came from."""

    hashes: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()


def rejections(repo: Repository, known: Ledger) -> Rejections:
    """The refusals of a history as promotion asks for them."""
    refused = refusals(repo, known)
    spans = dict.fromkeys(span for refusal in refused.values() for span in refusal.spans)
    return Rejections(frozenset(refused), tuple(spans))


def by_machine(commit: Commit) -> bool:
    """Whether an agent or a bot made the commit: `Memory-Agent`, or a `[bot]` author. Anything else is a person's."""
    rows = trailers.memory_trailers(commit.message)
    return bool(trailers.values(rows, trailers.AGENT)) or "[bot]" in commit.author.name + commit.author.email
