"""The sources that a fact cites, and whether they are there: the lines as they were, or found again by their text.

A source is lines of one blob at one path. A blob that never stood at its path is no source: what it holds was never
that log. Reads only, committed history only.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gitmem.git.objects import EXECUTABLE, REGULAR, Entry, Span
from gitmem.git.ranges import touched
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, Meta, parse_span, render_span
from gitmem.memory.front_matter import stated_values
from gitmem.memory.similarity import terms
from gitmem.memory.statements import Statement
from gitmem.memory.statements import read as read_statements
from gitmem.messages import Message
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, Layout, is_memory, kind, layout_of
from gitmem.plural import counted
from gitmem.provenance.cited_text import CitedText, cited_text
from gitmem.provenance.ledger import Record, SpanKey, span_key

MOVED_SHARE = 0.6  # of a fact's terms that lines at HEAD must hold to be taken for its lost source lines


@dataclass(frozen=True, slots=True)
class Source:
    """Lines a fact comes from. `moved`: their blob is gone; path, lines, blob and text are those found at HEAD by text.

    `problem` says in words why the lines are not there, "" where they are. `verified`: they are there, and the text of
    the fact was checked to follow from what it cites and is the one that was promoted. `commit` is one in which the
    file at `path` is `blob`, so that the numbers are true there; "" where no history here has one.
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
    commit: str = ""


def cited(fact: Fact) -> list[Span]:
    """The sources in a fact's own comment, in order; what is no span is left out."""
    return [span for key, value in fact.meta if key == "src" and (span := parse_span(value))]


def merged(own: Iterable[Span], linked: Iterable[Span]) -> list[Span]:
    """Both records without repeats: the trailer's full oid where both name the same lines."""
    spans: dict[SpanKey, Span] = {span_key(span): span for span in own}
    for span in linked:
        spans[span_key(span)] = span
    return list(spans.values())


class SourceReader:
    """Reads sources as the history of one commit has them; each path's history is walked once, and only when asked.

    `globs`, the `[memory] paths` in force, narrow what is read to memory: the text of another file is never shown.
    None: any file's is. `at` "" is a history without a commit, which has no source.
    """

    def __init__(self, repo: Repository, at: str, globs: Sequence[str] | None = None) -> None:
        self.repo, self.at, self.globs = repo, at, globs
        self._versions: dict[tuple[str, bool], dict[str, str]] = {}
        self._reachable: frozenset[str] | None = None
        self._lines: dict[str, list[str]] = {}
        self._documents: dict[str, tuple[Statement, ...]] = {}

    @cached_property
    def _entries(self) -> list[Entry]:
        if not self.at:
            return []
        return self.repo.entries(self.at)

    @cached_property
    def paths(self) -> dict[str, str]:
        """The oid of each file at `at`."""
        return {entry.path: entry.oid for entry in self._entries if entry.mode in (REGULAR, EXECUTABLE)}

    @cached_property
    def _layout(self) -> Layout:
        return layout_of((entry.path for entry in self._entries), self.globs or ())

    def readable(self, path: str) -> bool:
        """Whether the text of the file may be shown. All files of the tree together say what else than the usual paths
        is memory: they are listed only for a path that needs it."""
        if self.globs is None or not self.at or kind(path) is not Kind.OTHER:
            return True
        return is_memory(path, self._layout)

    def lines(self, oid: str) -> list[str]:
        """The lines of a blob that is there."""
        if oid not in self._lines:
            self._lines[oid] = blob_lines(self.repo.read(oid))
        return self._lines[oid]

    def says(self, source: Source) -> CitedText:
        """What the lines of a source that is there say, and what they are about."""
        return cited_text(self.document(source.blob), self.lines(source.blob), source.start_line, source.end_line)

    def document(self, oid: str) -> Sequence[Statement]:
        """The statements of a blob that is there."""
        if oid not in self._documents:
            self._documents[oid] = read_statements(self.lines(oid))
        return self._documents[oid]

    def read(self, fact: Fact, span: Span, records: Sequence[Record] = ()) -> Source:
        """The lines of `span` as they were; looked for by the fact's text at HEAD when their blob is gone.

        `records` are the commits that recorded the fact: their trees are asked before the whole history.
        """
        if not self.readable(span.path):
            return self._missing(span, Message("{} is not a memory file", span.path))
        # An object that is not here in any history is not looked for in this one, which takes long.
        here = bool(span.blob) and bool(self.repo.objects_with(span.blob))
        blob = None
        if here:
            blob = self.repo.find_blob(span.path, span.blob, self.at or "HEAD")
        data = None
        if blob:
            data = next(iter(self.repo.read_many([blob])))[1]
        commit = None
        if blob is not None and data is not None:
            commit = self._stood(span.path, blob, records)
        if blob is not None and data is not None and commit is not None:
            lines = blob_lines(data)
            text = "\n".join(lines[span.start_line - 1 : span.end_line])
            problem = "the source lines are empty"
            if text.strip():
                problem = ""
            if span.end_line > len(lines):
                problem = Message("{} has only {} in {}", span.path, counted(len(lines), "line"), blob[:12])
            first, last = span.start_line, span.end_line
            return Source(span.path, first, last, blob, text, False, False, problem, span, commit)
        if blob is not None and data is not None and self._stands_elsewhere(span.path, blob):
            return self._missing(span, Message("blob {} never stood at {}", blob[:12], span.path))
        elsewhere = self._by_text(fact, span)
        if elsewhere is None:
            return self._missing(span, Message("{} is gone, and no line at HEAD holds this text", render_span(span)))
        new, text = elsewhere
        return Source(new.path, new.start_line, new.end_line, new.blob, text, False, True, "", span, self.at)

    def changed(self, source: Source) -> bool:
        """Whether a line of a source that is there no longer stands in its file: a log that only grew, or that is gone
        as a whole, has not changed."""
        now = self.paths.get(source.path)
        if source.moved or source.problem or now is None or now == source.blob:
            return False
        present = set(self.lines(now))
        return any(line.strip() and line not in present for line in source.text.split("\n"))

    def _missing(self, span: Span, problem: str) -> Source:
        return Source(span.path, span.start_line, span.end_line, span.blob, "", False, False, problem, span)

    def _stood(self, path: str, blob: str, records: Sequence[Record]) -> str | None:
        """A commit of the history of `at` in which the blob is the file at `path`, `at` itself first; "" where only the
        side that a merge gave up had it, None where it never was there."""
        if self.at:
            commits = [self.at]
        else:
            commits = []
        for commit in [*commits, *(record.commit.oid for record in records[:4])]:
            if self.repo.blobs(commit, [path]).get(path) == blob:
                return commit
        return self._history(path, everywhere=False).get(blob)

    def _stands_elsewhere(self, path: str, blob: str) -> bool:
        """Whether a blob that never stood at `path` is some other file's. One that only a branch before its squash had,
        or that nothing reaches any more, is a source that is gone, as it is for a fresh clone."""
        if blob in self._history(path, everywhere=True):
            return False
        if self._reachable is None:
            self._reachable = frozenset(self.repo.reachable())
        return blob in self._reachable

    def _history(self, path: str, *, everywhere: bool) -> dict[str, str]:
        """The blobs that stood at `path`, each with the newest commit that put it there ("" for one that only a parent
        of a merge has): in the history of `at`, or in that of any ref."""
        if (path, everywhere) not in self._versions:
            if everywhere:
                tips = [oid for _, oid in self.repo.refs("refs/")]
            else:
                tips = [self.at]
            if all(tips) and tips:
                commits = [commit.oid for commit in self.repo.log(tips, [path])]
            else:
                commits = []
            rows = [
                (oid, change)
                for oid, changes in touched(self.repo, commits)
                for change in changes
                if change.path == path
            ]
            brought = {blob: "" for _, change in rows for blob in change.olds}
            for oid, change in reversed(rows):
                brought[change.new_oid] = oid
            brought.pop("", None)
            self._versions[path, everywhere] = brought
        return self._versions[path, everywhere]

    def _by_text(self, fact: Fact, span: Span) -> tuple[Span, str] | None:
        """The window of as many lines of that log at `at` that holds most of the fact's terms, MOVED_SHARE at least.

        The log is the file of that path, else one of that name elsewhere (it was moved). Nearest to the old place wins.
        """
        name = span.path.rsplit("/", 1)[-1]
        if span.path in self.paths:
            same = [span.path]
        else:
            same = []
        paths = same or [path for path in self.paths if path.rsplit("/", 1)[-1] == name]
        wanted = terms(fact.text)
        best: tuple[float, int, Span, str] | None = None
        for path in paths:
            if not wanted or not self.readable(path):
                continue
            lines = self.lines(self.paths[path])
            size = min(span.end_line - span.start_line + 1, max(1, len(lines)))
            for first, held in _windows([terms(line) & wanted for line in lines], size):
                share = held / len(wanted)
                near = -abs(first + 1 - span.start_line)
                if share >= MOVED_SHARE and (best is None or (share, near) > best[:2]):
                    text = "\n".join(lines[first : first + size])
                    best = (share, near, Span(path, first + 1, first + size, self.paths[path]), text)
        if not best:
            return None
        return best[2:]


def _windows(held: Sequence[set[str]], size: int) -> Iterator[tuple[int, int]]:
    """(first line, how many terms its `size` lines hold together) of each window, counted as it slides."""
    counts: dict[str, int] = {}
    for at, own in enumerate(held):
        for term in own:
            counts[term] = counts.get(term, 0) + 1
        if at >= size:
            for term in held[at - size]:
                counts[term] -= 1
                if not counts[term]:
                    del counts[term]
        if at >= size - 1:
            yield at - size + 1, len(counts)


def verified(source: Source, text: bool) -> Source:
    """The source with what is known of the fact: `text`, whether its text was checked to follow."""
    return replace(source, verified=text and not source.problem)


# -- the facts that may cite sources -------------------------------------------------------------------------


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
    wanted = [entry for entry in wanted if sizes.get(entry.oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    for entry, (_, data) in zip(wanted, repo.read_many([entry.oid for entry in wanted]), strict=True):
        whole = file_meta(data or b"")
        lasting = kind(entry.path) in (Kind.MEMORY, Kind.ARCHIVE)
        if data is None or not (lasting or whole or b"src=" in data):
            continue
        for fact in memory_facts.parse(data).facts:
            yield entry.path, data, inherit(fact, whole)


def file_meta(data: bytes) -> Meta:
    """`src`, `origin` and `session` of a note's front matter: they hold for the whole file."""
    return stated_values(data, ("src", "origin", "session"))


def inherit(fact: Fact, whole: Meta) -> Fact:
    """The fact with what its file says and it does not say itself."""
    more = tuple(pair for pair in whole if not fact.get(pair[0]))
    if more:
        return fact._replace(meta=fact.meta + more)
    return fact
