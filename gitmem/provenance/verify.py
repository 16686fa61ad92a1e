"""Whether provenance still holds: every promoted fact has a source that is there and the text that was promoted.

Reads only, committed history only. A flaw names rule, place and reason, never text of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from gitmem.git.objects import BlameLine, Commit, Span
from gitmem.git.protocol import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, normalise, parse_span, render_span, text_hash
from gitmem.paths import log_date
from gitmem.provenance import trailers
from gitmem.provenance.why import SpanKey, check, cited, facts_at, shallow, span_key


@dataclass(frozen=True, slots=True)
class Flaw:
    """A fact whose provenance does not hold. `rule` is one of RULES; `message` holds no text of memory."""

    rule: str
    path: str
    line: int
    message: str
    fact: str  # its id
    commit: str = ""


RULES = {
    "source-missing": "a source that is not in the repository, or lines its blob does not have",
    "source-changed": "the cited lines were changed in the log since",
    "text-changed": "the fact's text is not the one that was promoted from its source",
    "not-in-source": "a number, date or name of the fact is not in the lines its promotion cites (--policy)",
    "unrecorded": "an agent or a bot added the fact and no promotion did (--policy)",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """`checked` facts, in order of path and line; no flaws: everything held."""

    checked: int
    flaws: tuple[Flaw, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the trailers of a history record: which texts each source gave, and by which commit."""

    by_hash: dict[str, str]  # sha256 -> newest commit
    by_span: dict[SpanKey, set[str]]  # source -> the hashes it gave
    sources: dict[str, list[Span]]  # sha256 -> its sources


def ledger(repo: Repository, revs: Sequence[str]) -> Ledger:
    """Every well-formed Memory-Source of these commits, trailers of squashes included."""
    by_hash: dict[str, str] = {}
    by_span: dict[SpanKey, set[str]] = {}
    sources: dict[str, list[Span]] = {}
    for commit in repo.log(revs, grep=[trailers.SOURCE + ":"]):
        for link in trailers.links(trailers.memory_trailers(commit.message), trailers.SOURCE):
            by_hash.setdefault(link.sha256, commit.oid)
            if link.source:
                by_span.setdefault(span_key(link.source), set()).add(link.sha256)
                sources.setdefault(link.sha256, []).append(link.source)
    return Ledger(by_hash, by_span, sources)


def verify(repo: Repository, base: str = "", head: str = "HEAD", *, policy: bool = False) -> Verdict:
    """Check every promoted fact at `head`, only those not at `base` where it is given (oids or revisions)."""
    tip = repo.resolve(head)
    known = ledger(repo, [tip])
    touched = {change.path for change in repo.changes(base, tip)} if base else None
    old = {fact.id for _, _, fact in facts_at(repo, repo.resolve(base), touched)} if base else set()
    checked = 0
    flaws: list[Flaw] = []
    now = {entry.path: entry.oid for entry in repo.entries(tip)}
    blames: dict[str, dict[int, BlameLine]] = {}
    for path, data, fact in facts_at(repo, tip, touched):
        if fact.id in old:
            continue
        spans = cited(fact)
        digest = text_hash(fact.text)
        promoted = bool(fact.get("src")) or digest in known.by_hash
        if not promoted and not policy:
            continue
        checked += 1

        def blame(path: str = path, data: bytes = data, fact: Fact = fact) -> BlameLine:
            if path not in blames:
                rows = repo.blame(path, 1, max(1, len(blob_lines(data))), tip)
                blames[path] = {row.line: row for row in rows}
            return blames[path][fact.line]

        for rule, message in _wrong(repo, tip, fact, spans, known, now, blame):
            flaws.append(Flaw(rule, path, fact.line, message, fact.id, known.by_hash.get(digest, "")))
        if policy and digest in known.by_hash:
            message = _unsaid(repo, tip, fact, spans or known.sources.get(digest, []), known.by_hash[digest])
            if message:
                flaws.append(Flaw("not-in-source", path, fact.line, message, fact.id, known.by_hash[digest]))
        elif policy:
            commit = repo.commit(blame().commit)
            if by_machine(commit):
                message = f"added by {commit.oid[:12]}, which is an agent's, and by no promotion"
                flaws.append(Flaw("unrecorded", path, fact.line, message, fact.id, commit.oid))
    notes = []
    if shallow(repo):
        notes.append("this clone is shallow: trailers and sources beyond its history were not seen")
    return Verdict(checked, tuple(flaws), tuple(notes))


def _wrong(
    repo: Repository,
    tip: str,
    fact: Fact,
    spans: Sequence[Span],
    known: Ledger,
    now: dict[str, str],
    blame: Callable[[], BlameLine],
) -> Iterator[tuple[str, str]]:
    digest = text_hash(fact.text)
    given = [known.by_span[span_key(span)] for span in spans if span_key(span) in known.by_span]
    if given and not any(digest in hashes for hashes in given):
        yield "text-changed", "its text is not the one promoted from the source it names"
    elif spans and not given and digest not in known.by_hash:
        editor = _edited(repo, tip, fact, blame())
        if editor:
            yield "text-changed", f"{editor[:12]} changed its text and recorded no reason"
    if any(key == "src" and parse_span(value) is None for key, value in fact.meta):
        yield "source-missing", "its comment names a source that cannot be read"
    cut = bool(shallow(repo))
    for span in spans:
        if digest in known.sources and span_key(span) not in known.by_span and not cut:
            yield "source-changed", f"{render_span(span)} is not what its promotion recorded"
            continue
        source = check(repo, tip, fact, span)
        if source.problem:
            yield "source-missing", source.problem
        elif not source.moved and span.path in now and now[span.path] != source.blob:
            present = set(blob_lines(repo.read(now[span.path])))
            if any(line.strip() and line not in present for line in source.text.split("\n")):
                yield "source-changed", f"{render_span(span)} was changed since"


def _unsaid(repo: Repository, tip: str, fact: Fact, spans: Sequence[Span], oid: str) -> str:
    """What a promotion says that its source does not, "" where it holds: trailers are easily written by anybody.

    A person's correction (`edit`) may say what the source did not.
    """
    from gitmem.provenance import grounding

    commit = repo.commit(oid)
    block = trailers.block_with(commit.message, trailers.SOURCE, text_hash(fact.text))
    if not trailers.values(block, trailers.MODEL) and not by_machine(commit):
        return ""
    found = [check(repo, tip, fact, span) for span in spans]
    cited = "\n".join(normalise(line) for source in found for line in source.text.split("\n"))
    days = [day for span in spans if (day := log_date(span.path))]
    for judge in (grounding.undated, grounding.uncounted, grounding.unnamed) if cited else ():
        if judge(fact.text, cited, days):
            return "a number, date or name in it is not in the lines it cites"
    return ""


def _edited(repo: Repository, tip: str, fact: Fact, row: BlameLine) -> str:
    """The commit that changed the text of a fact whose trailers were lost, "" when the text is as it came.

    Followed through the commits that touched the line, twenty at most.
    """
    sources = {span_key(span) for span in cited(fact)}
    for _ in range(20):
        commit = repo.commit(row.commit)
        if not commit.parents or commit.oid in shallow(repo):
            return ""
        parent = commit.parents[0]
        before = [entry for entry in repo.entries(parent, [row.source_path]) if entry.path == row.source_path]
        if not before:
            return ""
        olds = memory_facts.parse(repo.read(before[0].oid)).facts
        same = [old for old in olds if sources & {span_key(span) for span in cited(old)}]
        if not same:
            return ""
        if all(old.id != fact.id for old in same):
            return commit.oid
        old = next(old for old in same if old.id == fact.id)
        row = repo.blame(row.source_path, old.line, old.line, parent)[0]
    return ""


def by_machine(commit: Commit) -> bool:
    """Whether an agent or a bot made the commit: `Memory-Agent`, or a `[bot]` author. Anything else is a person's."""
    rows = trailers.memory_trailers(commit.message)
    return bool(trailers.values(rows, trailers.AGENT)) or "[bot]" in commit.author.name + commit.author.email
