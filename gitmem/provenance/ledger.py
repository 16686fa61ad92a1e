"""The ledger of a history: which text came from which source, what people removed, which logs promotion has read.

The ledger is read from commit messages. A trailer becomes a record only when its commit really does what the trailer
says, and when its author may say so: an agent cannot refuse a text for later. Every other trailer becomes a `Claim`,
which a review reports. `read_ledger` walks the history once; promotion, `verify`, `review`, `why` and `revert` ask the
`Ledger` that it returns. Reads only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from gitmem.errors import UnknownRevision
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.json_values import json_keys
from gitmem.lazy_patterns import lazy
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine, reviewers
from gitmem.provenance.commit_effects import CommitEffects

SpanKey = tuple[str, int, int, str]
MAX_CURSORS = 20  # newest cursors that a ledger keeps
MAX_BATCH = 256  # commits whose changes are read by one process of Git


def span_key(span: Span) -> SpanKey:
    """(path, first line, last line, first 12 digits of the blob's oid): equal for two records of the same lines. A
    fact's comment has only these 12 digits of the oid."""
    return span.path, span.start_line, span.end_line, span.blob[:12]


@json_keys("commit trailer=key reason=why")
@dataclass(frozen=True, slots=True)
class Claim:
    """A line of a commit message that is not believed: its commit did not do this, or its author may not say it.
    `forged`: an agent made the commit, and the commit does not do what the line says."""

    commit: str
    key: str  # key of the trailer, or `This reverts commit`
    why: str  # why it is not believed; holds no text of memory
    forged: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """A commit whose trailers about facts are true: it does what they say. A link names a fact by the hash of its text.

    `sources`: texts that the commit added, each with its source lines. `rejected`: texts that it removed. `reverted`:
    texts that it removed by reverting the commit that promoted them. `declined`: log lines that it refuses as sources,
    while no text was removed. `person`: False for an agent's commit, whose removals refuse nothing for later.
    """

    commit: Commit
    sources: tuple[trailers.Link, ...]
    rejected: tuple[trailers.Link, ...]
    reverted: tuple[trailers.Link, ...] = ()
    declined: tuple[trailers.Link, ...] = ()
    person: bool = True

    def block(self, digest: str) -> list[trailers.Trailer]:
        """The trailer block that names the source of the text `digest`. A squash has one block for each promotion."""
        return trailers.block_with(self.commit.message, trailers.SOURCE, digest)

    def model(self, digest: str) -> str:
        """The model that promoted the text `digest` in this commit; "" when the block names none."""
        return next(iter(trailers.values(self.block(digest), trailers.MODEL)), "")

    def replaced_text(self, digest: str) -> str:
        """The hash of the text that this commit removed and that cites the same source as the text `digest`; "" when
        there is none. Such a pair is an edit."""
        keys = {span_key(link.source) for link in self.sources if link.sha256 == digest and link.source}
        for link in self.rejected:
            if link.sha256 != digest and link.source and span_key(link.source) in keys:
                return link.sha256
        return ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the commits of a history record about facts. A text is named by its SHA-256, 64 hex digits; a source by its
    `span_key` in `by_span`.

    `by_hash`: text -> newest commit that recorded it. `by_span`: source -> texts that cite it. `sources`: text -> its
    sources. `records`: all records, newest first. `recorded`: text -> records that added it. `cursors`: (promotion, the
    commit up to which it read logs). `reverts`: (commit, the commit that it reverses). `claims`: lines of messages that
    are not believed.
    """

    by_hash: dict[str, str] = field(default_factory=dict)
    by_span: dict[SpanKey, set[str]] = field(default_factory=dict)
    sources: dict[str, list[Span]] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    recorded: dict[str, list[Record]] = field(default_factory=dict)
    cursors: tuple[tuple[str, str], ...] = ()
    reverts: tuple[tuple[str, str], ...] = ()
    claims: tuple[Claim, ...] = ()


_REVERTED = lazy(r"This reverts commit ([0-9a-f]{40,64})\b")
_OID = lazy(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
REVERTS = "This reverts commit"
UNDO = 'Undo "'  # beginning of the subject of a commit of `git mem undo`
PROMOTES = "memory: promote "  # beginning of the subject of a promotion
_MARKS = (f"{trailers.SOURCE}:", f"{trailers.REJECTED}:", f"{trailers.CURSOR}:", f"{REVERTS} ")


def read_ledger(repo: Repository, revs: Sequence[str], about: Sequence[str] = ()) -> Ledger:
    """The ledger of the commits that `revs` reach; it is empty when `revs` is. `about`: read only commits whose message
    contains one of these strings, such as the hash of a text."""
    return ledger_of(repo, matching_commits(repo, revs, about))


def matching_commits(repo: Repository, revs: Sequence[str], about: Sequence[str] = ()) -> Iterator[Commit]:
    """The commits that `revs` reach and whose message contains one of `about`, newest first; without `about` those
    whose message has a trailer or line of a ledger. Git searches while the caller does other work; its process ends
    when the iterator is read to the end or dropped."""
    if revs:
        return repo.log(revs, grep=about or _MARKS)
    return iter(())


def ledger_of(repo: Repository, commits: Iterable[Commit]) -> Ledger:
    """The ledger of `commits`, which come newest first."""
    builder = _LedgerBuilder(repo)
    for batch in _batches(commits):
        builder.effects.read(batch)
        for commit in batch:
            builder.add(commit)
    return builder.ledger()


def _batches(commits: Iterable[Commit]) -> Iterator[list[Commit]]:
    """The commits in groups of 1, 2, 4 up to MAX_BATCH, so that a caller who stops early has read little."""
    rest, size = iter(commits), 1
    while batch := list(islice(rest, size)):
        yield batch
        size = min(2 * size, MAX_BATCH)


class _LedgerBuilder:
    """Builds a ledger from commits, newest first, and compares each message with what its commit changes."""

    def __init__(self, repo: Repository) -> None:
        self.repo, self.effects = repo, CommitEffects(repo)
        self.maps = Ledger()  # its dicts are filled; its tuples come from the lists below
        self.records: list[Record] = []
        self.cursors: list[tuple[str, str]] = []
        self.reverts: list[tuple[str, str]] = []
        self.claims: list[Claim] = []
        self.undone: set[str] = set()  # oids that commits of `git mem undo` name, without reverted undos
        # Undo commits of promotions. After a rebase the oid in the message of an undo is that of no commit; the texts
        # that the undo removes still tell which promotion it reverses.
        self.undos: list[Commit] = []
        self.matched: set[tuple[str, str]] = set()  # (undo commit, text) that was matched with a promotion

    def ledger(self) -> Ledger:
        """The ledger of the commits that were added."""
        return replace(
            self.maps, records=tuple(self.records), cursors=tuple(self.cursors[:MAX_CURSORS]),
            reverts=tuple(self.reverts), claims=tuple(self.claims),
        )  # fmt: skip

    def add(self, commit: Commit) -> None:
        """Add the records and claims of one commit."""
        rows = trailers.memory_trailers(commit.message)
        person = not by_machine(commit)
        sources = self._added_links(commit, rows)
        removed, declined = self._rejections(commit, rows, person)
        reverted = self._reverted_links(commit)
        if commit.message.startswith(UNDO) and commit.oid not in {oid for _, oid in self.reverts}:
            self.undone.update(oid for by, oid in self.reverts if by == commit.oid)
            reverted = ()
            if commit.message.startswith(f"{UNDO}{PROMOTES}"):
                self.undos.append(commit)
        if self._is_undone(commit, rows, sources) or commit.oid in self.undone:
            sources, rows = (), []
        record = Record(commit, sources, removed, reverted, declined, person)
        self._add_cursors(record, rows)
        if not (sources or removed or declined or reverted):
            return
        self.records.append(record)
        for link in sources:
            self.maps.by_hash.setdefault(link.sha256, commit.oid)
            recorded = self.maps.recorded.setdefault(link.sha256, [])
            if record not in recorded:
                recorded.append(record)
            if link.source:
                self.maps.by_span.setdefault(span_key(link.source), set()).add(link.sha256)
                self.maps.sources.setdefault(link.sha256, []).append(link.source)

    def _is_undone(self, commit: Commit, rows: Sequence[trailers.Trailer], sources: Sequence[trailers.Link]) -> bool:
        """Whether a later undo removes every text that this promotion added. False for a commit that adds no text or is
        no promotion by a model.

        An undo counts once for each text: when the answer is True, these texts are added to `self.matched`. So `add`
        calls this once for each commit.
        """
        if not sources or not trailers.values(rows, trailers.MODEL) or not commit.message.startswith(PROMOTES):
            return False
        for undo in self.undos:
            texts = {(undo.oid, link.sha256) for link in sources}
            if self.matched.isdisjoint(texts) and all(
                self.effects.removes(undo, link.sha256, link.target) for link in sources
            ):
                self.matched |= texts
                return True
        return False

    def _added_links(self, commit: Commit, rows: Sequence[trailers.Trailer]) -> tuple[trailers.Link, ...]:
        """The Memory-Source links of `rows` whose text the commit really adds. If there are others, one claim with
        their number is added to `self.claims`."""
        links = trailers.links(rows, trailers.SOURCE)
        added = tuple(link for link in links if self.effects.adds(commit, link.sha256, link.target))
        if len(added) < len(links):
            count = _count_of(len(links) - len(added), len(links))
            why = f"{count} does not add that text"
            self.claims.append(Claim(commit.oid, trailers.SOURCE, why, by_machine(commit)))
        return added

    def _rejections(
        self, commit: Commit, rows: Sequence[trailers.Trailer], person: bool
    ) -> tuple[tuple[trailers.Link, ...], tuple[trailers.Link, ...]]:
        """The Memory-Rejected links of a commit: (those whose text it removes, those that decline log lines).

        A link declines log lines when a person made the commit, the commit does not remove the text, and the lines are
        in their file. Every other link becomes a claim.
        """
        links = trailers.links(rows, trailers.REJECTED)
        removed = [
            link for link in links
            if self.effects.removes(commit, link.sha256, link.target)
            or (person and self.effects.removes_masked(commit, link.target))
        ]  # fmt: skip
        other_links = [link for link in links if link not in removed]
        declined = [link for link in other_links if person and link.source and self._has_lines(commit, link.source)]
        if len(declined) < len(other_links):
            why = "is an agent's, and takes out no such text"
            if person:
                why = "takes out no such text"
            count = _count_of(len(other_links) - len(declined), len(links))
            why = f"{count} {why}, and cites no line that stands"
            self.claims.append(Claim(commit.oid, trailers.REJECTED, why, not person))
        elif removed and not person:
            self.claims.append(Claim(commit.oid, trailers.REJECTED, "is an agent's: it refuses nothing for later"))
        return tuple(removed), tuple(declined)

    def _has_lines(self, commit: Commit, span: Span) -> bool:
        """Whether the file of `span` has, at the commit and in any place, each line that `span` cites in its blob
        (without a blob: in that file). Blank lines and lines past the end do not count; False if no line is left or the
        blob is missing."""
        present_blob = cited_blob = self.repo.blobs(commit.oid, [span.path]).get(span.path, "")
        if span.blob and not present_blob.startswith(span.blob):
            cited_blob = self.repo.find_blob(span.path, span.blob) or ""
        lines = [line for line in self.effects.lines(cited_blob)[span.start_line - 1 : span.end_line] if line.strip()]
        return bool(lines) and set(lines) <= set(self.effects.lines(present_blob))

    def _reverted_links(self, commit: Commit) -> tuple[trailers.Link, ...]:
        """The promoted texts that the commit removes by reverting their promotions. Notes each commit that it reverts;
        a `This reverts commit` line that is not true becomes a claim."""
        links: list[trailers.Link] = []
        for oid in reverted_oids(commit.message):
            try:
                reverted = self.repo.commit(oid)
            except UnknownRevision:
                continue  # this clone lacks the reverted commit
            if not self.effects.reverses(commit, reverted):
                self.claims.append(Claim(commit.oid, REVERTS, f"does not reverse {oid[:12]}", by_machine(commit)))
                continue
            self.reverts.append((commit.oid, reverted.oid))
            promoted = trailers.links(trailers.memory_trailers(reverted.message), trailers.SOURCE)
            links += [link for link in promoted if self.effects.removes(commit, link.sha256, link.target)]
        return tuple(links)

    def _add_cursors(self, record: Record, rows: Sequence[trailers.Trailer]) -> None:
        """Add the Memory-Cursor values of a promotion; a malformed one, or one of another commit, is a claim."""
        promotion = record.sources and trailers.values(rows, trailers.MODEL)
        for value in reversed(trailers.values(rows, trailers.CURSOR)):
            why = ""
            if not _OID.fullmatch(value):
                why = "is no full oid"
            elif not promotion:
                why = "stands in a commit that promotes nothing"
            if why:
                self.claims.append(Claim(record.commit.oid, trailers.CURSOR, why, not record.person))
            else:
                self.cursors.append((record.commit.oid, value))


def unfounded_claims(repo: Repository, revs: Sequence[str]) -> tuple[Claim, ...]:
    """The lines of messages that must not be believed, in the commits that `revs` reach: trailers that their commit
    does not carry out, cursors that name no ancestor of their commit, and reviews that do not count
    (`authorship.reviewers`)."""
    commits = list(matching_commits(repo, revs, (*_MARKS, f"{trailers.REVIEWED}:")))
    ledger = ledger_of(repo, commits)
    claims = list(ledger.claims)
    for promotion, oid in ledger.cursors:
        if oid == promotion or not repo.is_ancestor(oid, promotion):
            forged = by_machine(repo.commit(promotion))
            claims.append(Claim(promotion, trailers.CURSOR, "names no ancestor of its commit", forged))
    for commit in commits:
        named_reviewers = trailers.values(trailers.memory_trailers(commit.message), trailers.REVIEWED)
        if set(named_reviewers) - set(reviewers(commit)):
            machine = by_machine(commit)
            why = "is no trailer, or names an agent"
            if machine:
                why = "stands in an agent's commit"
            claims.append(Claim(commit.oid, trailers.REVIEWED, why, machine))
    return tuple(claims)


def reverted_oids(message: str) -> list[str]:
    """The oids that the message of a commit says it reverts, without repeats."""
    return list(dict.fromkeys(_REVERTED.findall(message)))


def _count_of(some: int, total: int) -> str:
    """The subject of a claim's sentence: "2 of 3:", or "it" when there is one trailer."""
    return f"{some} of {total}:" if total > 1 else "it"


def records_promotion(commit: Commit, digest: str) -> bool:
    """Whether the message records the text `digest` (64 hex) as promoted, and not as an edit of another text. Only true
    of a commit that wrote the text: the change itself is not looked at."""
    rows = trailers.memory_trailers(commit.message)
    links = trailers.links(rows, trailers.SOURCE)
    record = Record(commit, tuple(links), tuple(trailers.links(rows, trailers.REJECTED)))
    return any(link.sha256 == digest for link in links) and bool(
        record.model(digest) or not record.replaced_text(digest)
    )


# -- what people removed -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Refusal:
    """A text, or a set of log lines, that a person refused.

    `commit`: the newest commit that refused it. `spans`: the source lines of the text. `edited`: another text of the
    same source took its place, so the source is not refused. `declined`: the lines were declined and no text was
    removed.
    """

    commit: str
    spans: tuple[Span, ...]
    edited: bool = False
    declined: bool = False


def refusals(repo: Repository, ledger: Ledger) -> dict[str, Refusal]:
    """Hash of a text -> its refusal: a person removed it (`Memory-Rejected`, or `git revert` of its promotion) or
    declined a proposal of it.

    A person lifts a refusal by recording the text again later, or by reverting the commit that refused it. Commits of
    agents and of models neither refuse a text nor lift a refusal.
    """
    refused: dict[str, Refusal] = {}
    lifted = reverted_by_people(repo, ledger)
    for record in reversed(ledger.records):
        if record.commit.oid in lifted or not record.person:
            continue
        edited = {record.replaced_text(link.sha256) for link in record.sources}
        for link in (*record.rejected, *record.reverted, *record.declined):
            earlier = refused.get(link.sha256, Refusal("", (), declined=True))
            spans = dict.fromkeys(filter(None, (*earlier.spans, link.source)))
            declined = link in record.declined and earlier.declined
            refused[link.sha256] = Refusal(record.commit.oid, tuple(spans), link.sha256 in edited, declined)
    for record in ledger.records:
        for link in record.sources:
            refusal = refused.get(link.sha256)
            if refusal is None or refusal.commit == record.commit.oid or record.model(link.sha256):
                continue
            if record.person and repo.is_ancestor(refusal.commit, record.commit.oid):
                del refused[link.sha256]
    return refused


def reverted_by_people(repo: Repository, ledger: Ledger) -> set[str]:
    """The commits that a person reverted, unless a person reverted the revert."""
    reverted: set[str] = set()
    for commit, reverted_commit in ledger.reverts:  # newest first
        if commit not in reverted and not by_machine(repo.commit(commit)):
            reverted.add(reverted_commit)
    return reverted


@dataclass(frozen=True, slots=True)
class Rejections:
    """What promotion must not propose again. `hashes`: of texts, 64 hex digits. `spans`: log lines, as sources name
    them."""

    hashes: frozenset[str] = frozenset()
    spans: tuple[Span, ...] = ()


def rejections(repo: Repository, ledger: Ledger) -> Rejections:
    """The hashes of the texts that people removed in a history, and the log lines that they refused: promotion must not
    propose them again."""
    refused = refusals(repo, ledger)
    spans = dict.fromkeys(span for refusal in refused.values() for span in refusal.spans)
    return Rejections(frozenset(text for text, refusal in refused.items() if not refusal.declined), tuple(spans))
