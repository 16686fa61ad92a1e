"""Finds the facts that come from one source: a file or lines of it, a commit, an agent, a session or an origin.

Reads the history and writes nothing; `corrections.revert` removes the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from gitmem.daily_logs import agent_of
from gitmem.errors import MissingFile
from gitmem.git.objects import Commit, Span
from gitmem.git.repository import Repository
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, cited_spans, text_hash
from gitmem.memory.facts import parse_lines
from gitmem.memory.percent_encoding import encode
from gitmem.messages import Message
from gitmem.paths import Kind, kind, nfc_name
from gitmem.provenance import trailers
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.ledger import Ledger
from gitmem.provenance.writers import writers


class By(StrEnum):
    """By what `revert` selects facts: a source file, a commit, an agent, a session or an origin."""

    SOURCE = "source"
    COMMIT = "commit"
    AGENT = "agent"
    SESSION = "session"
    ORIGIN = "origin"


@dataclass(frozen=True, slots=True)
class Selector:
    """Selects the facts that `revert` removes. `by`: the kind of source. `value`: its path, oid or name. `lines`: first
    and last line of a source, (0, 0) for the whole file."""

    by: By
    value: str
    lines: tuple[int, int] = (0, 0)

    def __str__(self) -> str:
        first, last = self.lines
        name = f"{self.by} {encode(self.value)}"
        if first:
            name += f"#L{first}-L{last}"
        return name


def facts_from(repo: Repository, selector: Selector, ledger: Ledger) -> list[tuple[str, Fact]]:
    """(path, fact) of long-term memory at HEAD that comes from what the selector names, in the order of `facts_at`; []
    without a commit.

    Raises UnknownRevision, and MissingFile for a source that is not a file at HEAD and that no fact cites.
    """
    head = repo.head()
    if head is None:
        return []
    rows = list(facts_at(repo, head))
    evidence = _read_evidence(repo, head, selector, ledger, rows)
    chosen = [(path, fact) for path, _, fact in rows if comes_from(selector, fact, evidence)]
    if not chosen and selector.by is By.SOURCE and not _is_source(repo, head, selector.value, ledger):
        raise MissingFile(
            Message("there is no file '{}' at HEAD, and no fact cites one", selector.value), "git mem log"
        )
    return chosen


def _is_source(repo: Repository, head: str, path: str, ledger: Ledger) -> bool:
    """Whether a fact of the history cites the path, or the commit has a file there."""
    is_cited = any(span.path == path for spans in ledger.sources.values() for span in spans)
    return is_cited or bool(repo.entries(head, [path]))


@dataclass(frozen=True, slots=True)
class Evidence:
    """Data of the history about the origin of facts, as far as one selector needs them. The hash of a text is its
    SHA-256, 64 hex digits.

    `sources`: hash of a text -> sources that its promotion cites. `promotions`: hash of a text -> trailers of its
    promotion. `writers`: fact id -> trailers of the commit that wrote the fact.

    For the selector of a commit: `linked`: hashes of the texts that the commit promoted. `added`: path -> lines that it
    added. `added_texts`: texts of the facts of long-term memory that it added. `blobs`: oid -> lines of a source in one
    of these paths.
    """

    sources: Mapping[str, Sequence[Span]]
    promotions: Mapping[str, Sequence[trailers.Trailer]] = field(default_factory=dict)
    writers: Mapping[str, Sequence[trailers.Trailer]] = field(default_factory=dict)
    linked: frozenset[str] = frozenset()
    added: Mapping[str, frozenset[str]] = field(default_factory=dict)
    added_texts: frozenset[str] = frozenset()
    blobs: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def spans(self, fact: Fact) -> list[Span]:
        """The sources that the fact's comment cites, then those of its promotion."""
        return [*cited_spans(fact.meta), *self.sources.get(text_hash(fact.text), [])]

    def has_trailer(self, fact: Fact, key: str, value: str) -> bool:
        """Whether the commit that promoted or wrote the fact has this trailer."""
        blocks = (self.promotions.get(text_hash(fact.text), ()), self.writers.get(fact.id, ()))
        recorded_values = (nfc_name(recorded) for block in blocks for recorded in trailers.values(block, key))
        return nfc_name(value) in recorded_values


def comes_from(selector: Selector, fact: Fact, evidence: Evidence) -> bool:
    """Whether the fact comes from what the selector names. A selector of lines matches every source that overlaps them.
    Reads nothing."""
    spans = evidence.spans(fact)
    match selector.by:
        case By.SOURCE:
            first, last = selector.lines
            if first:
                return any(span.overlaps(selector.value, first, last) for span in spans)
            return any(span.path == selector.value for span in spans)
        case By.ORIGIN:
            return fact.origin == selector.value.casefold()
        case By.AGENT:
            in_its_log = any(agent_of(span.path) == nfc_name(selector.value) for span in spans)
            return in_its_log or evidence.has_trailer(fact, trailers.AGENT, selector.value)
        case By.SESSION:
            episodes = [span.path for span in spans if kind(span.path) is Kind.SESSION]
            return (
                fact.get("session") == selector.value
                or _stem(selector.value) in map(_stem, episodes)
                or evidence.has_trailer(fact, trailers.SESSION, selector.value)
            )
        case By.COMMIT:
            return _comes_from_commit(fact, spans, evidence)


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")


def _comes_from_commit(fact: Fact, spans: Iterable[Span], evidence: Evidence) -> bool:
    """Whether the commit promoted the fact, added its text, or added one of its source lines."""
    if text_hash(fact.text) in evidence.linked or fact.text in evidence.added_texts:
        return True
    return any(
        line.strip() and line in evidence.added.get(span.path, ())
        for span in spans
        for line in evidence.blobs.get(span.blob, ())[span.start_line - 1 : span.end_line]
    )


def _read_evidence(
    repo: Repository, head: str, selector: Selector, ledger: Ledger, rows: Sequence[tuple[str, bytes, Fact]]
) -> Evidence:
    """The evidence about the facts of `rows` (path, bytes of the file, fact). Raises UnknownRevision if `selector`
    names a commit that does not exist."""
    match selector.by:
        case By.SOURCE | By.ORIGIN:
            return Evidence(ledger.sources)
        case By.AGENT | By.SESSION:
            promotions = _promotions(repo, {text_hash(fact.text) for _, _, fact in rows}, ledger)
            return Evidence(ledger.sources, promotions, _writers(repo, head, [fact for _, _, fact in rows]))
        case By.COMMIT:
            selected = repo.commit(repo.resolve(selector.value))
            links = trailers.links(trailers.memory_trailers(selected.message), trailers.SOURCE)
            linked = frozenset(link.sha256 for link in links)
            added, added_texts = _additions(repo, selected)
            evidence = Evidence(ledger.sources, linked=linked, added=added, added_texts=added_texts)
            spans = (span for _, _, fact in rows for span in evidence.spans(fact))
            oids = dict.fromkeys(span.blob for span in spans if span.blob and added.get(span.path))
            texts = zip(oids, repo.read_many(oids), strict=True)  # keyed as cited: a comment shortens the oid
            return replace(evidence, blobs={oid: blob_lines(data) for oid, (_, data) in texts if data})


def _promotions(repo: Repository, digests: Iterable[str], ledger: Ledger) -> dict[str, list[trailers.Trailer]]:
    """Hash of a text -> the trailers of its promotion, for the texts that were promoted."""
    promoted = {digest: ledger.by_hash[digest] for digest in digests if digest in ledger.by_hash}
    messages = {oid: repo.commit(oid).message for oid in dict.fromkeys(promoted.values())}
    return {digest: trailers.block_with(messages[oid], trailers.SOURCE, digest) for digest, oid in promoted.items()}


def _writers(repo: Repository, head: str, facts: Iterable[Fact]) -> dict[str, Sequence[trailers.Trailer]]:
    """Fact id -> the trailers of the commit that wrote it; without trailers no entry."""
    writers_by_fact = writers(repo, head, facts)
    blocks = {ident: trailers.memory_trailers(writer.commit.message) for ident, writer in writers_by_fact.items()}
    return {ident: block for ident, block in blocks.items() if block}


def _additions(repo: Repository, adding: Commit) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """(path of a Markdown file -> lines that the commit added, texts of the facts of long-term memory that it added). A
    fact that it only moved, as to the archive, is not added."""
    added: dict[str, frozenset[str]] = {}
    texts: set[str] = set()
    texts_before: set[str] = set()
    for change in repo.changes("".join(adding.parents[:1]), adding.oid):
        if not change.path.endswith(".md") or not change.new_oid.strip("0"):
            continue
        old_lines: list[str] = []
        if change.old_oid.strip("0"):
            old_lines = blob_lines(repo.read(change.old_oid))
        lines = blob_lines(repo.read(change.new_oid))
        added_lines = frozenset(lines) - frozenset(old_lines)
        added[change.path] = added_lines
        if kind(change.path) in (Kind.MEMORY, Kind.ARCHIVE):
            facts = parse_lines(lines).facts
            texts |= {fact.text for fact in facts if added_lines.intersection(lines[fact.line - 1 : fact.end])}
            texts_before |= {fact.text for fact in parse_lines(old_lines).facts}
    return added, frozenset(texts - texts_before)
