"""Reads the sources that a fact cites: their lines as committed, or the lines at HEAD that replace lost ones.

A source is a range of lines of one blob at one path. A blob that was never committed at that path is no source. Reads
committed history only.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gitmem.git.objects import EXECUTABLE, REGULAR, Entry, Span
from gitmem.git.ranges import touched
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.json_values import json_keys
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, Meta, render_span
from gitmem.memory.front_matter import stated_values
from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement
from gitmem.memory.statements import read as read_statements
from gitmem.messages import Message
from gitmem.paths import Kind, Layout, is_memory, kind, layout_of
from gitmem.plural import counted
from gitmem.provenance.cited_text import CitedText, cited_text
from gitmem.provenance.ledger import Record, SpanKey, span_key

MIN_MOVED_SHARE = 0.6  # share of a fact's terms that lines at HEAD must have to replace its lost source lines


@json_keys("path start_line end_line blob text verified moved")
@dataclass(frozen=True, slots=True)
class Source:
    """Lines that a fact comes from, as they were found. `problem`: why they were not found, a sentence; "" when they
    were. `recorded`: the source as the fact or its trailer names it. `commit`: a commit in which the file at `path` is
    `blob`; "" when only a parent of a merge had it.

    JSON: `verified`: the lines are there, the text was checked to follow from what it cites, and nobody edited it or
    its comment since. `moved`: the recorded blob is gone; path, lines, blob and text are those found at HEAD by text.
    """

    path: str
    start_line: int
    end_line: int
    blob: str
    text: str  # the lines; "" when they were not found
    verified: bool = False  # the lines were found, and the fact is the promoted text and repeats them
    moved: bool = False  # the cited blob is gone; path, lines, blob and text are those of similar lines at HEAD
    problem: str = ""
    recorded: Span = field(default_factory=lambda: Span("", 0, 0))
    commit: str = ""


def merge_spans(from_comment: Iterable[Span], from_trailers: Iterable[Span]) -> list[Span]:
    """All spans without repeats. When both name the same lines, the span of the trailer stays: it has the whole oid."""
    spans: dict[SpanKey, Span] = {span_key(span): span for span in from_comment}
    for span in from_trailers:
        spans[span_key(span)] = span
    return list(spans.values())


def lines_of_span(repo: Repository, span: Span, rev: str = "HEAD") -> list[str]:
    """The lines that `span` names, as its blob has them; [] when `span` names no blob, and when this clone has no such
    blob and the history of `rev` has none at that path."""
    oid = span.blob and repo.find_blob(span.path, span.blob, rev)
    if not oid:
        return []
    data = next(iter(repo.read_many([oid])))[1]
    return blob_lines(data or b"")[span.start_line - 1 : span.end_line]


class SourceReader:
    """Reads sources in the history of `commit`, with caches for blobs and for the history of each path.

    `globs`: the `[memory] paths` in force; text of files that are no memory is not read. None: every file is read.
    `commit` "": there is no history, and no source is found.
    """

    def __init__(self, repo: Repository, commit: str, globs: Sequence[str] | None = None) -> None:
        self.repo, self.commit, self.globs = repo, commit, globs
        self._versions: dict[tuple[str, bool], dict[str, str]] = {}
        self._reachable: frozenset[str] | None = None
        self._lines: dict[str, list[str]] = {}
        self._documents: dict[str, tuple[Statement, ...]] = {}

    @cached_property
    def _entries(self) -> list[Entry]:
        return self.repo.entries(self.commit) if self.commit else []

    @cached_property
    def paths(self) -> dict[str, str]:
        """Path -> oid of each file at `commit`."""
        return {entry.path: entry.oid for entry in self._entries if entry.mode in (REGULAR, EXECUTABLE)}

    @cached_property
    def _layout(self) -> Layout:
        return layout_of((entry.path for entry in self._entries), self.globs or ())

    def is_readable(self, path: str) -> bool:
        """Whether the text of the file may be shown: it is in a usual place of memory (`kind`), or the globs `globs`
        make it a memory file. Always True when `globs` is None or there is no commit.

        The tree is listed only for a path outside the usual places, which all files of the tree together decide.
        """
        if self.globs is None or not self.commit or kind(path) is not Kind.OTHER:
            return True
        return is_memory(path, self._layout)

    def lines(self, oid: str) -> list[str]:
        """The lines of a blob. Raises GitFailed when it is missing."""
        if oid not in self._lines:
            self._lines[oid] = blob_lines(self.repo.read(oid))
        return self._lines[oid]

    def document(self, oid: str) -> Sequence[Statement]:
        """The statements (items, paragraphs, rows, headings) of a blob. Raises GitFailed when it is missing."""
        if oid not in self._documents:
            self._documents[oid] = read_statements(self.lines(oid))
        return self._documents[oid]

    def cited_text(self, source: Source) -> CitedText:
        """The text of each cited statement of a source that was found, and the headings and parent items above them
        (`CitedText.trail`)."""
        return cited_text(self.document(source.blob), self.lines(source.blob), source.start_line, source.end_line)

    def read(self, fact: Fact, span: Span, records: Sequence[Record] = ()) -> Source:
        """The source that `span` names. When its blob is gone, the lines of `self.commit` with most of the
        fact's words replace it, and `moved` is True. When nothing is found, or `span` names a file that may not be
        shown, `problem` says why.

        `records`: commits that recorded the fact; the trees of the first four are tried before the history is walked.
        The result has `verified` False: the text of the fact is compared elsewhere.
        """
        if not self.is_readable(span.path):
            return self._missing(span, Message("{} is not a memory file", span.path))
        blob, data = self._find(span)
        if data is not None:
            commit = self._commit_with(span.path, blob, records)
            if commit is not None:
                lines = blob_lines(data)
                first, last = span.start_line, span.end_line
                text = "\n".join(lines[first - 1 : last])
                problem = ""
                if last > len(lines):
                    problem = Message("{} has only {} in {}", span.path, counted(len(lines), "line"), blob[:12])
                elif not text.strip():
                    problem = "the source lines are empty"
                return Source(span.path, first, last, blob, text, problem=problem, recorded=span, commit=commit)
            if self._is_of_another_path(span.path, blob):
                return self._missing(span, Message("blob {} never stood at {}", blob[:12], span.path))
        moved = self._by_text(fact, span)
        if moved is None:
            return self._missing(span, Message("{} is gone, and no line at HEAD holds this text", render_span(span)))
        near, text = moved
        return Source(
            near.path, near.start_line, near.end_line, near.blob, text, moved=True, recorded=span, commit=self.commit
        )

    def _find(self, span: Span) -> tuple[str, bytes | None]:
        """(oid, bytes) of the blob of `span`; ("", None) when it is not found."""
        # The walk through the history is slow: it is skipped when this clone has no such object at all.
        if not span.blob or not self.repo.objects_with(span.blob):
            return "", None
        oid = self.repo.find_blob(span.path, span.blob, self.commit or "HEAD")
        if not oid:
            return "", None
        return oid, next(iter(self.repo.read_many([oid])))[1]

    def has_changed(self, source: Source) -> bool:
        """Whether a line of the source is no longer in its file at `commit`. False when the whole file is gone, and for
        a source that was moved or not found."""
        present_blob = self.paths.get(source.path)
        if source.moved or source.problem or present_blob is None or present_blob == source.blob:
            return False
        present_lines = set(self.lines(present_blob))
        return any(line.strip() and line not in present_lines for line in source.text.split("\n"))

    def _missing(self, span: Span, problem: str) -> Source:
        return Source(span.path, span.start_line, span.end_line, span.blob, "", problem=problem, recorded=span)

    def _commit_with(self, path: str, blob: str, records: Sequence[Record]) -> str | None:
        """A commit in the history of `commit` whose file at `path` is the blob; `commit` itself and the commits of the
        first four `records` are tried first.

        "" when only a parent of a merge, whose version the merge dropped, has the blob; None when no commit has it.
        """
        likely_commits = [commit for commit in (self.commit, *(record.commit.oid for record in records[:4])) if commit]
        for commit in likely_commits:
            if self.repo.blobs(commit, [path]).get(path) == blob:
                return commit
        return self._history(path, everywhere=False).get(blob)

    def _is_of_another_path(self, path: str, blob: str) -> bool:
        """Whether a ref reaches the blob, but no ref reaches it at `path`. An unreachable blob, such as one of a branch
        that was squashed, counts as gone: a fresh clone would not have it."""
        if blob in self._history(path, everywhere=True):
            return False
        if self._reachable is None:
            self._reachable = frozenset(self.repo.reachable())
        return blob in self._reachable

    def _history(self, path: str, *, everywhere: bool) -> dict[str, str]:
        """Blob -> newest commit that put it at `path`, in the history of `commit` or, with `everywhere`, of all refs.
        The commit is "" when only a parent of a merge has the blob."""
        if (path, everywhere) not in self._versions:
            tips = [self.commit]
            if everywhere:
                tips = [oid for _, oid in self.repo.refs("refs/")]
            commits: list[str] = []
            if tips and all(tips):
                commits = [commit.oid for commit in self.repo.log(tips, [path])]
            rows = [
                (oid, change)
                for oid, changes in touched(self.repo, commits)
                for change in changes
                if change.path == path
            ]
            versions = {blob: "" for _, change in rows for blob in change.olds}
            for oid, change in reversed(rows):
                versions[change.new_oid] = oid
            versions.pop("", None)
            self._versions[path, everywhere] = versions
        return self._versions[path, everywhere]

    def _by_text(self, fact: Fact, span: Span) -> tuple[Span, str] | None:
        """The lines at `commit`, as many as `span` has, with the largest share of the fact's terms, and their text.

        They come from the file at the path of `span`; when there is none, from files of the same name. Of equal shares
        the one nearest to the old line wins. None when no share reaches MIN_MOVED_SHARE.
        """
        name = span.path.rsplit("/", 1)[-1]
        paths = [span.path]
        if span.path not in self.paths:
            paths = [path for path in self.paths if path.rsplit("/", 1)[-1] == name]
        fact_terms = terms(fact.text)
        best: tuple[float, int, Span, str] | None = None
        for path in paths:
            if not fact_terms or not self.is_readable(path):
                continue
            lines = self.lines(self.paths[path])
            size = min(span.end_line - span.start_line + 1, max(1, len(lines)))
            for offset, count in _windows([terms(line) & fact_terms for line in lines], size):
                share = count / len(fact_terms)
                nearness = -abs(offset + 1 - span.start_line)
                if share >= MIN_MOVED_SHARE and (best is None or (share, nearness) > best[:2]):
                    text = "\n".join(lines[offset : offset + size])
                    best = (share, nearness, Span(path, offset + 1, offset + size, self.paths[path]), text)
        return best[2:] if best else None


def _windows(terms_of_lines: Sequence[set[str]], size: int) -> Iterator[tuple[int, int]]:
    """(index of the first line, number of different terms) for each window of `size` lines."""
    counts: dict[str, int] = {}
    for index, added in enumerate(terms_of_lines):
        for term in added:
            counts[term] = counts.get(term, 0) + 1
        if index >= size:
            for term in terms_of_lines[index - size]:
                counts[term] -= 1
                if not counts[term]:
                    del counts[term]
        if index >= size - 1:
            yield index - size + 1, len(counts)


def with_verification(source: Source, supported: bool) -> Source:
    """The source with `verified` True when `supported` and its lines were found, else False. `supported`: somebody
    checked that the fact repeats them."""
    return replace(source, verified=supported and not source.problem)


# -- the facts that may cite sources -------------------------------------------------------------------------


def facts_at(repo: Repository, commit: str, paths: Container[str] | None = None) -> Iterator[tuple[str, bytes, Fact]]:
    """(path, bytes of its file, fact) for each fact of long-term memory at a commit: of MEMORY.md, of the archive, and
    of each note or rule that has `src=` or a key of `file_meta`. `commit` "" has no facts.

    `fact.meta` has the keys of the file (`file_meta`) that the fact's own comment lacks. `paths`: only these files.
    Symbolic links are left out, and files above MAX_MEMORY_FILE_BYTES, which the gate refuses.
    """
    if not commit:
        return
    files = [
        (entry.path, entry.oid)
        for entry in repo.entries(commit)
        if entry.mode in (REGULAR, EXECUTABLE)
        and kind(entry.path) in (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)
        and (paths is None or entry.path in paths)
    ]
    for path, data in read_small_blobs(repo, files):
        of_file = file_meta(data)
        if kind(path) in (Kind.MEMORY, Kind.ARCHIVE) or of_file or b"src=" in data:
            for fact in memory_facts.parse(data).facts:
                yield path, data, with_file_keys(fact, of_file)


def file_meta(data: bytes) -> Meta:
    """The keys `src`, `origin` and `session` of a file's front matter, which hold for all facts of the file."""
    return stated_values(data, ("src", "origin", "session"))


def with_file_keys(fact: Fact, of_file: Meta) -> Fact:
    """The fact with those keys of its file (`file_meta`) that its own comment lacks."""
    if not of_file:
        return fact
    return fact._replace(meta=fact.meta + tuple(pair for pair in of_file if not fact.get(pair[0])))
