"""What a history records: which text came from which source, what people took out, which logs were read.

A trailer is a claim. It is a record where its commit does what it says and its author may say it; what is left over is
a claim that a review names. The history is walked once (`read_ledger`); promotion, `verify`, `review`, `why` and
`revert` ask the value it gives. Reads only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from gitmem.errors import UnknownRevision
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine, reviewers
from gitmem.provenance.commit_effects import CommitEffects

SpanKey = tuple[str, int, int, str]
MAX_CURSORS = 20  # newest cursors that are asked whether this history still holds them
MAX_BATCH = 256  # commits whose effects are read together


def span_key(span: Span) -> SpanKey:
    """What makes two records name the same lines: the comment has 12 digits of the oid, the trailer all."""
    return span.path, span.start_line, span.end_line, span.blob[:12]


@dataclass(frozen=True, slots=True)
class Claim:
    """A line of a commit's message that records what the commit did not do, or what its author may not say: `key` is
    the trailer, or `This reverts commit`; `why` holds no text of memory. `forged`: an agent made the commit, and what
    the line says was not done."""

    commit: str
    key: str
    why: str
    forged: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A commit that did to facts what its message says. `sources` are texts that it added, with where they come from;
    `rejected` texts that it took out; `declined` lines of logs that it refuses without taking anything out; `reverted`
    texts that it took out by reversing the commit that promoted them. `person` is False for an agent's commit, which
    refuses nothing."""

    commit: Commit
    sources: tuple[trailers.Link, ...]
    rejected: tuple[trailers.Link, ...]
    reverted: tuple[trailers.Link, ...] = ()
    declined: tuple[trailers.Link, ...] = ()
    person: bool = True

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
    cursors: tuple[tuple[str, str], ...] = ()  # (the promotion, the commit up to which it read logs)
    reverts: tuple[tuple[str, str], ...] = ()  # (commit, the one it reverses)
    claims: tuple[Claim, ...] = ()  # what messages say and no commit bears out


_REVERTS = lazy(r"This reverts commit ([0-9a-f]{40,64})\b")
_OID = lazy(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
REVERTS = "This reverts commit"
UNDO = 'Undo "'  # how the subject of a commit of `git mem undo` begins (`undo`): what it took back never was
PROMOTES = "memory: promote "  # how the subject of a promotion begins
_WORDS = (f"{trailers.SOURCE}:", f"{trailers.REJECTED}:", f"{trailers.CURSOR}:", f"{REVERTS} ")


def read_ledger(repo: Repository, revs: Sequence[str], about: Sequence[str] = ()) -> Ledger:
    """Every record of the commits that `revs` reach which its commit bears out, trailers of squashes included. No
    commit, no record: an empty ledger. `about` narrows it to the commits whose message holds one of these strings.
    """
    return ledger_of(repo, matching_commits(repo, revs, about))


def matching_commits(repo: Repository, revs: Sequence[str], about: Sequence[str] = ()) -> Iterator[Commit]:
    """The commits that `read_ledger` reads, newest first: Git looks for them while the caller does something else."""
    if revs:
        return repo.log(revs, grep=about or _WORDS)
    return iter(())


def ledger_of(repo: Repository, commits: Iterable[Commit]) -> Ledger:
    """The records of these commits, newest first."""
    reading = _Reading(repo)
    for batch in _batches(commits):
        reading.effects.read(batch)
        for commit in batch:
            reading.take(commit)
    return reading.ledger()


def _batches(commits: Iterable[Commit]) -> Iterator[list[Commit]]:
    """The commits in groups that grow: who needs few of a long history reads few of it."""
    left, size = iter(commits), 1
    while batch := list(islice(left, size)):
        yield batch
        size = min(2 * size, MAX_BATCH)


class _Reading:
    """A ledger while commits are read, each held to what it does (`commit_effects`)."""

    def __init__(self, repo: Repository) -> None:
        self.repo, self.effects = repo, CommitEffects(repo)
        self.known = Ledger()
        self.records: list[Record] = []
        self.cursors: list[tuple[str, str]] = []
        self.reverts: list[tuple[str, str]] = []
        self.claims: list[Claim] = []
        self.never: set[str] = set()  # promotions that `undo` took back, by a commit that stands
        # Commits of `undo` that stand and take back a promotion. A rebase gives both another oid, and the one that the
        # undo names is of neither: what it takes out still says which run it took back.
        self.undone: list[Commit] = []
        self.used: set[tuple[str, str]] = set()  # (a commit of `undone`, a text that was matched with a promotion)

    def ledger(self) -> Ledger:
        return replace(
            self.known, records=tuple(self.records), cursors=tuple(self.cursors[:MAX_CURSORS]),
            reverts=tuple(self.reverts), claims=tuple(self.claims),
        )  # fmt: skip

    def take(self, commit: Commit) -> None:
        """Note what one commit records."""
        rows = trailers.memory_trailers(commit.message)
        person = not by_machine(commit)
        sources = self._borne_out(commit, rows, trailers.SOURCE, self.effects.adds, "does not add that text")
        removed, declined = self._rejections(commit, rows, person)
        reverted = self._reverted(commit)
        if commit.message.startswith(UNDO) and commit.oid not in {oid for _, oid in self.reverts}:
            self.never.update(oid for by, oid in self.reverts if by == commit.oid)
            reverted = ()
            if commit.message.startswith(f"{UNDO}{PROMOTES}"):
                self.undone.append(commit)
        if self._is_undone(commit, rows, sources) or commit.oid in self.never:
            sources, rows = (), []
        record = Record(commit, sources, removed, reverted, declined, person)
        self._take_cursors(record, rows)
        if not (sources or removed or declined or record.reverted):
            return
        self.records.append(record)
        for link in sources:
            self.known.by_hash.setdefault(link.sha256, commit.oid)
            recorded = self.known.recorded.setdefault(link.sha256, [])
            if record not in recorded:
                recorded.append(record)
            if link.source:
                self.known.by_span.setdefault(span_key(link.source), set()).add(link.sha256)
                self.known.sources.setdefault(link.sha256, []).append(link.source)

    def _is_undone(self, commit: Commit, rows: Sequence[trailers.Trailer], sources: Sequence[trailers.Link]) -> bool:
        """Whether a later undo takes out every text that this promotion added, each as often as it was added."""
        if not sources or not trailers.values(rows, trailers.MODEL) or not commit.message.startswith(PROMOTES):
            return False
        for undo in self.undone:
            texts = {(undo.oid, link.sha256) for link in sources}
            if self.used.isdisjoint(texts) and all(
                self.effects.removes(undo, link.sha256, link.target) for link in sources
            ):
                self.used |= texts
                return True
        return False

    def _borne_out(
        self, commit: Commit, rows: Sequence[trailers.Trailer], key: str,
        does: Callable[[Commit, str, str], bool], otherwise: str,
    ) -> tuple[trailers.Link, ...]:  # fmt: skip
        """The links of `key` whose text the commit really adds or removes; the others are claims."""
        links = trailers.links(rows, key)
        true = [link for link in links if does(commit, link.sha256, link.target)]
        if len(true) < len(links):
            count = _number(len(links) - len(true), len(links))
            self.claims.append(Claim(commit.oid, key, f"{count} {otherwise}", by_machine(commit)))
        return tuple(true)

    def _rejections(
        self, commit: Commit, rows: Sequence[trailers.Trailer], person: bool
    ) -> tuple[tuple[trailers.Link, ...], tuple[trailers.Link, ...]]:
        """The texts that a commit takes out as it says, and the lines that a person refuses without taking any out."""
        links = trailers.links(rows, trailers.REJECTED)
        removed = [
            link for link in links
            if self.effects.removes(commit, link.sha256, link.target)
            or (person and self.effects.removes_masked(commit, link.target))
        ]  # fmt: skip
        others = [link for link in links if link not in removed]
        declined = [link for link in others if person and link.source and self._stands(commit, link.source)]
        if len(declined) < len(others):
            why = "is an agent's, and takes out no such text"
            if person:
                why = "takes out no such text"
            count = _number(len(others) - len(declined), len(links))
            why = f"{count} {why}, and cites no line that stands"
            self.claims.append(Claim(commit.oid, trailers.REJECTED, why, not person))
        elif removed and not person:
            self.claims.append(Claim(commit.oid, trailers.REJECTED, "is an agent's: it refuses nothing for later"))
        return tuple(removed), tuple(declined)

    def _stands(self, commit: Commit, span: Span) -> bool:
        """Whether the file of a source has the lines of the source at a commit."""
        now = then = self.repo.blobs(commit.oid, [span.path]).get(span.path, "")
        if span.blob and not now.startswith(span.blob):
            then = self.repo.find_blob(span.path, span.blob) or ""
        lines = [line for line in self.effects.lines(then)[span.start_line - 1 : span.end_line] if line.strip()]
        return bool(lines) and set(lines) <= set(self.effects.lines(now))

    def _reverted(self, commit: Commit) -> tuple[trailers.Link, ...]:
        """The facts that were promoted by the commits which this one reverses, and which it takes out."""
        links: list[trailers.Link] = []
        for oid in dict.fromkeys(_REVERTS.findall(commit.message)):
            try:
                undone = self.repo.commit(oid)
            except UnknownRevision:
                continue  # reverted in a history that this clone has not
            if not self.effects.reverses(commit, undone):
                self.claims.append(Claim(commit.oid, REVERTS, f"does not reverse {oid[:12]}", by_machine(commit)))
                continue
            self.reverts.append((commit.oid, undone.oid))
            promoted = trailers.links(trailers.memory_trailers(undone.message), trailers.SOURCE)
            links += [link for link in promoted if self.effects.removes(commit, link.sha256, link.target)]
        return tuple(links)

    def _take_cursors(self, record: Record, rows: Sequence[trailers.Trailer]) -> None:
        promotion = bool(record.sources and trailers.values(rows, trailers.MODEL))
        for value in reversed(trailers.values(rows, trailers.CURSOR)):
            why = ""
            if not _OID.fullmatch(value):
                why = "is no full oid"
            why = why or ("" if promotion else "stands in a commit that promotes nothing")
            if why:
                self.claims.append(Claim(record.commit.oid, trailers.CURSOR, why, not record.person))
            else:
                self.cursors.append((record.commit.oid, value))


def claims(repo: Repository, revs: Sequence[str]) -> tuple[Claim, ...]:
    """What the messages of the commits that `revs` reach claim in vain, reviews and cursors included."""
    commits = list(matching_commits(repo, revs, (*_WORDS, f"{trailers.REVIEWED}:")))
    known = ledger_of(repo, commits)
    found = list(known.claims)
    for promotion, oid in known.cursors:
        if oid == promotion or not repo.is_ancestor(oid, promotion):
            forged = by_machine(repo.commit(promotion))
            found.append(Claim(promotion, trailers.CURSOR, "names no ancestor of its commit", forged))
    for commit in commits:
        named = trailers.values(trailers.memory_trailers(commit.message), trailers.REVIEWED)
        if set(named) - set(reviewers(commit)):
            machine = by_machine(commit)
            why = "is no trailer, or names an agent"
            if machine:
                why = "stands in an agent's commit"
            found.append(Claim(commit.oid, trailers.REVIEWED, why, machine))
    return tuple(found)


def _number(some: int, of: int) -> str:
    if of > 1:
        return f"{some} of {of}:"
    return "it"


def promotes(commit: Commit, digest: str) -> bool:
    """Whether the message of a commit records the text `digest` (64 hex) as a promotion, and not as an edit of another
    text. Asked of the commit that wrote the text."""
    rows = trailers.memory_trailers(commit.message)
    links = trailers.links(rows, trailers.SOURCE)
    record = Record(commit, tuple(links), tuple(trailers.links(rows, trailers.REJECTED)))
    return any(link.sha256 == digest for link in links) and bool(record.model(digest) or not record.replaced(digest))


# -- what people took out ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text that was taken out: the newest commit that did, and the lines it came from. `edited`: another text took
    its place, so its source still stands. `declined`: nothing was taken out, and the lines alone are refused."""

    commit: str
    spans: tuple[Span, ...]
    edited: bool = False
    declined: bool = False


def refusals(repo: Repository, known: Ledger) -> dict[str, Refusal]:
    """Texts (by hash) that a person took out, by `Memory-Rejected` or by `git revert` of a promotion, and proposals
    that a person declined.

    A person who records the same text later (`edit` back), or reverts the commit that refused it, lifts the refusal. An
    agent, a bot or a model does not: neither may take out for ever, nor bring back what a person took out.
    """
    refused: dict[str, Refusal] = {}
    lifted = reverted_by_people(repo, known)
    for record in reversed(known.records):
        if record.commit.oid in lifted or not record.person:
            continue
        edited = {record.replaced(link.sha256) for link in record.sources}
        for link in (*record.rejected, *record.reverted, *record.declined):
            before = refused.get(link.sha256)
            spans = dict.fromkeys((*(before.spans if before else ()), *([link.source] if link.source else ())))
            declined = link in record.declined and (before is None or before.declined)
            refused[link.sha256] = Refusal(record.commit.oid, tuple(spans), link.sha256 in edited, declined)
    for record in known.records if refused else ():
        for link in record.sources:
            refusal = refused.get(link.sha256)
            if refusal is None or refusal.commit == record.commit.oid or record.model(link.sha256):
                continue
            if record.person and repo.is_ancestor(refusal.commit, record.commit.oid):
                del refused[link.sha256]
    return refused


def reverted_by_people(repo: Repository, known: Ledger) -> set[str]:
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
    return Rejections(frozenset(text for text, refusal in refused.items() if not refusal.declined), tuple(spans))
