"""Where a line of memory comes from, and whether that is still true: line, blame, commit, trailer, source lines.

Two records lead from a fact to its source: the `Memory-Source` trailer of the commit that promoted it (with the hash
of its text), and the `src` in its own comment, which survives a squash that loses the trailers. Reads only.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.objects import EXECUTABLE, REGULAR, Commit, Span
from gitmem.git.protocol import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, Meta, fact_id, normalise, parse_span, render_span, text_hash
from gitmem.memory.files import read_memory_file
from gitmem.memory.similarity import terms
from gitmem.paths import LIMIT, Kind, agent_of, kind
from gitmem.plural import counted
from gitmem.provenance import trailers

MOVED_SHARE = 0.6  # of a fact's terms that lines at HEAD must hold to be taken for its lost source lines

MERGES = 8  # reviewed merges above a commit that are asked whether they brought it in
SpanKey = tuple[str, int, int, str]


@dataclass(frozen=True, slots=True)
class Source:
    """Lines a fact comes from. `verified`: they are there, and the fact's text is the one recorded with them.

    `moved`: their blob is gone; path, lines, blob and text are those found at HEAD by text instead. `problem` says
    in words why `verified` is False, "" otherwise.
    """

    path: str
    start_line: int
    end_line: int
    blob: str
    text: str
    verified: bool
    moved: bool
    problem: str = ""
    recorded: Span = field(default_factory=lambda: Span("", 0, 0))


@dataclass(frozen=True, slots=True)
class Answer:
    """Why a line is there. `commit` is "" for a line not committed yet; `model` "" for a fact added by hand.

    `notes` are for a person: what could not be followed, and why.
    """

    path: str
    line: int
    text: str
    commit: str
    author: str
    date: datetime | None
    agent: str
    reason: str
    reviewers: tuple[str, ...]
    model: str
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()


def why(repo: Repository, config: Config, path: str, line: int, rev: str = "") -> Answer:
    """The provenance of one line of a memory file at `rev`; when empty of the work tree's file, of HEAD's where there
    is no work tree. Raises MissingFile, OutsideRepository, GitMemError for no such line."""
    rev = rev or ("" if repo.root else repo.head() or "")
    data = read_memory_file(repo, config, path, rev)
    memory = memory_facts.parse(data)
    if not 1 <= line <= len(memory.lines):
        raise GitMemError(f"{path} has {counted(len(memory.lines), 'line')}, there is no line {line}")
    entry = memory.at(line)
    asked = line
    line = entry.start if entry else line
    blamed = repo.blame(path, line, line, rev)[0]
    at = rev or ("HEAD" if repo.head() else "")
    commit = None if set(blamed.commit) == {"0"} else repo.commit(blamed.commit)
    notes = []
    if line != asked:
        notes.append(f"line {asked} belongs to the fact on line {line}")
    if commit is None:
        notes.append("not committed yet")
    elif commit.oid in shallow(repo):
        notes.append(
            "this clone is shallow and its history ends at this commit: an older one may have written the line;"
            " 'git fetch --unshallow' gets the rest"
        )
    fact = entry.fact if entry else None
    whole = file_meta(data)
    if fact is None and whole and memory.lines[line - 1].strip():
        words = normalise(memory.lines[line - 1])
        fact = Fact(words, fact_id(words), line)
    fact = inherit(fact, whole) if fact else None
    text = fact.text if fact else memory.lines[line - 1].strip()
    if fact is None:
        return _answer(path, line, text, commit, trailers.memory_trailers(commit.message) if commit else [], (), notes)
    origin, block, merges = _promotion(repo, at, commit, fact)
    if origin and commit and origin.oid != commit.oid:
        notes.append(f"the line was last touched by {commit.oid[:12]} ({commit.author.name})")
    sources = _sources(repo, at, fact, block)
    if any(source.problem for source in sources) and shallow(repo):
        notes.append("this clone is shallow: sources may be missing here only")
    found = _answer(path, line, text, origin or commit, block, sources, notes)
    source = origin or commit
    by_merge = _merge_reviewers(repo, at, source, merges) if source else []
    return replace(found, reviewers=tuple(dict.fromkeys([*found.reviewers, *by_merge])))


def _answer(
    path: str,
    line: int,
    text: str,
    commit: Commit | None,
    block: Sequence[trailers.Trailer],
    sources: Iterable[Source],
    notes: Iterable[str],
) -> Answer:
    def first(key: str) -> str:
        return next(iter(trailers.values(block, key)), "")

    return Answer(
        path=path,
        line=line,
        text=text,
        commit=commit.oid if commit else "",
        author=f"{commit.author.name} <{commit.author.email}>" if commit else "",
        date=commit.author_date if commit else None,
        agent=first(trailers.AGENT) or agent_of(path),
        reason=first(trailers.REASON),
        reviewers=tuple(dict.fromkeys(_reviewers(commit, block))),
        model=first(trailers.MODEL),
        sources=tuple(sources),
        notes=tuple(notes),
    )


def _reviewers(commit: Commit | None, block: Sequence[trailers.Trailer]) -> list[str]:
    below = trailers.memory_trailers(commit.message) if commit else []
    return [*trailers.values(block, trailers.REVIEWED), *trailers.values(below, trailers.REVIEWED)]


def _merge_reviewers(repo: Repository, at: str, commit: Commit, known: Sequence[Commit] | None) -> list[str]:
    """Who reviewed the merge that brought a commit in: where a forge's pull request says so.

    `known` are the reviewed merges of all of history, newest first, where they were seen already.
    """
    if known is None:
        known = list(repo.log([at, f"^{commit.oid}"], grep=[trailers.REVIEWED], merges=True))
    above = [merge for merge in reversed(known) if merge.commit_date >= commit.commit_date]
    for merge in above[:MERGES]:
        brought = any(repo.is_ancestor(commit.oid, parent) for parent in merge.parents[1:])
        if brought and not repo.is_ancestor(commit.oid, merge.parents[0]):
            return trailers.values(trailers.memory_trailers(merge.message), trailers.REVIEWED)
    return []


def _promotion(
    repo: Repository, at: str, blamed: Commit | None, fact: Fact
) -> tuple[Commit | None, list[trailers.Trailer], list[Commit] | None]:
    """The commit that recorded this very text with a source, and what it said; else the blamed one's words.

    The third value are the reviewed merges met on the way, None where there was no need to walk.
    """
    mark = f"sha256:{text_hash(fact.text)}"
    if blamed:
        block = trailers.block_with(blamed.message, trailers.SOURCE, mark)
        if block:
            return blamed, block, None
    merges: list[Commit] = []
    for commit in repo.log([at], grep=[mark, trailers.REVIEWED]) if at else ():
        block = trailers.block_with(commit.message, trailers.SOURCE, mark)
        if block:
            return commit, block, merges
        if len(commit.parents) > 1:
            merges.append(commit)
    return None, trailers.memory_trailers(blamed.message) if blamed else [], merges


def _sources(repo: Repository, at: str, fact: Fact, block: Sequence[trailers.Trailer]) -> list[Source]:
    digest = text_hash(fact.text)
    linked = [k.source for k in trailers.links(block, trailers.SOURCE) if k.sha256 == digest and k.source]
    spans = _merged(cited(fact), linked)
    recorded = bool(linked)
    if spans and not recorded and at:
        keys = {span_key(span) for span in spans}
        for commit in repo.log([at], grep=[render_span(span) for span in spans if span.blob]):
            known = trailers.links(trailers.memory_trailers(commit.message), trailers.SOURCE)
            hit = [link for link in known if link.source and span_key(link.source) in keys]
            if hit:
                recorded = any(link.sha256 == digest for link in hit)
                problem = "" if recorded else f"the text is not the one {commit.oid[:12]} promoted from there"
                return [check(repo, at, fact, span, problem) for span in spans]
    return [check(repo, at, fact, span) for span in spans]


def cited(fact: Fact) -> list[Span]:
    """The sources in a fact's own comment, in order; what is no span is left out."""
    return [span for key, value in fact.meta if key == "src" and (span := parse_span(value))]


def span_key(span: Span) -> SpanKey:
    """What makes two records name the same lines: the comment has 12 digits of the oid, the trailer all."""
    return span.path, span.start_line, span.end_line, span.blob[:12]


def _merged(own: Iterable[Span], linked: Iterable[Span]) -> list[Span]:
    """Both records without repeats: the trailer's full oid where both name the same lines."""
    found = {span_key(span): span for span in own}
    for span in linked:
        found[span_key(span)] = span
    return list(found.values())


def check(repo: Repository, at: str, fact: Fact, span: Span, problem: str = "") -> Source:
    """The lines of `span` as they were; looked for by text at `at` when their blob is gone.

    `problem` is what is already known to be wrong with the fact.
    """
    data = next(iter(repo.read_many([span.blob])))[1] if span.blob else None
    if data is not None:
        lines = blob_lines(data)
        blob = repo.find_blob(span.path, span.blob, at) or span.blob
        if span.end_line > len(lines):
            problem = problem or f"{span.path} has only {counted(len(lines), 'line')} in {span.blob[:12]}"
        text = "\n".join(lines[span.start_line - 1 : span.end_line])
        if not text.strip():
            problem = problem or "the source lines are empty"
        return Source(span.path, span.start_line, span.end_line, blob, text, not problem, False, problem, span)
    found = _by_text(repo, at, fact, span) if at else None
    if found is None:
        problem = problem or f"{render_span(span)} is gone, and no line at HEAD holds this text"
        return Source(span.path, span.start_line, span.end_line, span.blob, "", False, False, problem, span)
    new, text = found
    return Source(new.path, new.start_line, new.end_line, new.blob, text, not problem, True, problem, span)


def _by_text(repo: Repository, at: str, fact: Fact, span: Span) -> tuple[Span, str] | None:
    """The window of as many lines of that log at `at` that holds most of the fact's terms, MOVED_SHARE at least.

    The log is the file of that path, else one of that name elsewhere (it was moved). Nearest to the old place wins.
    """
    name = span.path.rsplit("/", 1)[-1]
    same = repo.entries(at, [span.path])
    entries = same or [entry for entry in repo.entries(at) if entry.path.rsplit("/", 1)[-1] == name]
    wanted = terms(fact.text)
    best: tuple[float, int, Span, str] | None = None
    for entry in entries:
        if entry.mode != REGULAR or not wanted:
            continue
        lines = blob_lines(repo.read(entry.oid))
        size = span.end_line - span.start_line + 1
        held = [terms(line) & wanted for line in lines]
        for first in range(max(1, len(lines) - size + 1)):
            share = len(set().union(*held[first : first + size])) / len(wanted)
            near = -abs(first + 1 - span.start_line)
            if share >= MOVED_SHARE and (best is None or (share, near) > best[:2]):
                last = min(first + size, len(lines))
                text = "\n".join(lines[first:last])
                best = (share, near, Span(entry.path, first + 1, last, entry.oid), text)
    return best[2:] if best else None


def facts_at(repo: Repository, commit: str, paths: Container[str] | None = None) -> Iterator[tuple[str, bytes, Fact]]:
    """(path, bytes of its file, fact) of long-term memory: MEMORY.md, the archive, and whatever note cites a source.

    Of `paths` only, where given. Files beyond LIMIT, which no gate lets in, are left out.
    """
    wanted = [
        entry
        for entry in repo.entries(commit)
        if entry.mode in (REGULAR, EXECUTABLE)
        and kind(entry.path) in (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)
        and (paths is None or entry.path in paths)
    ]
    sizes = repo.sizes([entry.oid for entry in wanted])
    wanted = [entry for entry in wanted if sizes.get(entry.oid, LIMIT + 1) <= LIMIT]
    for entry, (_, data) in zip(wanted, repo.read_many([entry.oid for entry in wanted]), strict=True):
        whole = file_meta(data or b"")
        lasting = kind(entry.path) in (Kind.MEMORY, Kind.ARCHIVE)
        if data is None or not (lasting or whole or b"src=" in data):
            continue
        for fact in memory_facts.parse(data).facts:
            yield entry.path, data, inherit(fact, whole)


_FRONT = re.compile(rb"(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.{0,8000}?)^(?:---|\.\.\.)[ \t]*\r?$", re.S | re.M)
_KEY = re.compile(r"(src|(?i:origin)|session):[ \t]*(.*)")


def file_meta(data: bytes) -> Meta:
    """`src`, `origin` and `session` of a note's front matter: they hold for the whole file.

    Plain values and lists only, read line by line: thousands of notes are looked at.
    """
    match = _FRONT.match(data)
    if match is None:
        return ()
    found: list[tuple[str, str]] = []
    open_key = ""
    for line in match[1].decode("utf-8", "replace").splitlines():
        row = _KEY.match(line)
        item = line.strip().removeprefix("- ") if open_key and line.strip().startswith("- ") else ""
        if row:
            name = row[1].lower()
            open_key = name if not row[2].strip() else ""
            values = row[2].strip().removeprefix("[").removesuffix("]").split(",") if row[2].strip() else []
            found += [(name, value.strip().strip("\"'")) for value in values if value.strip()]
        elif item:
            found.append((open_key, item.strip().strip("\"'")))
        elif line.strip():
            open_key = ""
    return tuple(found)


def inherit(fact: Fact, whole: Meta) -> Fact:
    """The fact with what its file says and it does not say itself; of origins every one, because the worst counts."""
    more = tuple(pair for pair in whole if pair[0] == "origin" or not fact.get(pair[0]))
    return fact._replace(meta=fact.meta + more) if more else fact


def shallow(repo: Repository) -> frozenset[str]:
    """The commits at which a shallow clone's history was cut; empty in a whole one."""
    try:
        text = (repo.common_dir / "shallow").read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return frozenset()
    return frozenset(text.split())


def as_value(answer: object) -> dict[str, object]:
    """The JSON of docs/json.md, "why"."""
    from gitmem.provenance.why import Answer

    assert isinstance(answer, Answer)
    return {
        "path": answer.path,
        "line": answer.line,
        "text": answer.text,
        "commit": answer.commit or None,
        "author": answer.author or None,
        "date": answer.date.isoformat() if answer.date else None,
        "agent": answer.agent or None,
        "reason": answer.reason or None,
        "reviewers": list(answer.reviewers),
        "model": answer.model or None,
        "sources": [
            {
                "path": source.path,
                "start_line": source.start_line,
                "end_line": source.end_line,
                "blob": source.blob,
                "text": source.text,
                "verified": source.verified,
                "moved": source.moved,
            }
            for source in answer.sources
        ],
    }
