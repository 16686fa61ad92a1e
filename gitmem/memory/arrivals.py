"""Which commit brought a statement: the first one of a history that has its text, and those of a range that put it in a
file.

Commits are read from the oldest to the newest, parents before children, so the first one that has a statement brought
it, whatever happened since: a move to another file or to the archive, an edit of the comment, another wrapping of the
lines, a merge, a revert, a removal that somebody took back. Reads only, committed history only; says nothing of who
made a commit (`provenance/writers`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from gitmem.git.ranges import PathChange, commits_touching, touched
from gitmem.git.repository import Repository
from gitmem.lazy_patterns import lazy
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind

LASTING = (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)
PLACES = ("MEMORY.md", ".claude/MEMORY.md", ".claude/rules", "memory")  # where files of these kinds stand
MAX_BLOBS = 256  # versions of files that are read together
NAMING = 6  # words at the beginning of a block of which one begins the fact that the block holds
_START = lazy(r"\n(?=[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|\r?\n))")
_WORD = lazy(r"\w+")
# What makes lines far from each other depend on each other: fences, and comments of more than one line.
_FAR = lazy(r"```|~~~|<!--(?:(?!-->)[^\n])*\n")


def first_commits(repo: Repository, at: str, facts: Iterable[Fact]) -> dict[str, str]:
    """Fact id -> the commit that first brought its text to long-term memory, in the history of the commit `at` ("" for
    no history). A fact that no commit has there is left out. Raises GitFailed."""
    wanted = {fact.id: fact for fact in facts}
    oids: dict[str, str] = {}
    if not at or not wanted:
        return oids
    for commit, _, found in _versions(repo, [at], _Blocks(wanted.values()), PLACES, LASTING):
        for ident, _ in found:
            if ident in wanted:
                oids.setdefault(ident, commit)
        if len(oids) == len(wanted):
            break
    return oids


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Which commits of a range brought statements, the oldest first: `texts` by path and fact id, `comments` by path,
    fact id and comment."""

    texts: Mapping[tuple[str, str], Sequence[str]]
    comments: Mapping[tuple[str, str, Meta], Sequence[str]]


def arrivals(repo: Repository, base: str, head: str, facts: Sequence[tuple[str, Fact]]) -> Arrivals:
    """The commits between `base` ("" for the beginning) and `head` that put each (path, fact) where it is: those after
    which the file holds it, and before which no parent's version did. Raises GitFailed."""
    texts: dict[tuple[str, str], list[str]] = {(path, fact.id): [] for path, fact in facts}
    comments: dict[tuple[str, str, Meta], list[str]] = {(path, fact.id, fact.meta): [] for path, fact in facts}
    if not texts:
        return Arrivals(texts, comments)
    blocks = _Blocks(fact for _, fact in facts)
    revs = [head, *([f"^{base}"] if base else [])]
    paths = sorted({path for path, _ in facts})
    for commit, change, found in _versions(repo, revs, blocks, paths, ()):
        old = [_statements(repo, oid, blocks) for oid in change.olds]
        before = {ident for one in old for ident, _ in one}
        exactly = {each for one in old for each in one}
        for ident, meta in found:
            if ident not in before and (change.path, ident) in texts:
                _once(texts[change.path, ident], commit)
            if (ident, meta) not in exactly and (change.path, ident, meta) in comments:
                _once(comments[change.path, ident, meta], commit)
    return Arrivals(texts, comments)


def _once(commits: list[str], commit: str) -> None:
    if commit not in commits:
        commits.append(commit)


Statements = Collection[tuple[str, Meta]]  # (fact id, comment)


def _versions(
    repo: Repository, revs: Sequence[str], blocks: _Blocks, paths: Sequence[str], kinds: Collection[Kind]
) -> Iterator[tuple[str, PathChange, Statements]]:
    """(commit, what it did to a file, the file's statements after it) of each version of the files below `paths`, the
    oldest first; only files of `kinds` where that names any. A version beyond LIMIT, or that is no text, has none."""
    commits = commits_touching(repo, revs, paths)
    changes = (
        (commit, change)
        for commit, some in touched(repo, commits, paths)
        for change in some
        if change.new_oid and (not kinds or kind(change.path) in kinds)
    )
    while group := list(islice(changes, MAX_BLOBS)):
        unread = dict.fromkeys(change.new_oid for _, change in group if change.new_oid not in blocks.read)
        sizes = repo.sizes(list(unread))
        small = [oid for oid in unread if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
        for oid, data in repo.read_many(small):
            blocks.read[oid] = blocks.statements(data or b"")
        for commit, change in group:
            yield commit, change, blocks.read.get(change.new_oid, ())


def _statements(repo: Repository, oid: str, blocks: _Blocks) -> Statements:
    if oid not in blocks.read:
        small = repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
        blocks.read[oid] = blocks.statements(repo.read(oid) if small else b"")
    return blocks.read[oid]


class _Blocks:
    """The statements of versions of files that may be those of some facts. `read`: those of each blob.

    A file is cut where a line begins an item, a heading or a paragraph; a block that many versions have is read once,
    and only where it begins as one of the facts does.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.read: dict[str, Statements] = {}
        self._known: dict[str, Statements] = {}
        self._first: set[str] = set()  # the first words of the facts
        self._wordless = False
        for fact in facts:
            word = _WORD.search(fact.text)
            if word:
                self._first |= {word[0]}
            self._wordless |= not word

    def statements(self, data: bytes) -> Statements:
        """The statements of a file, without most of those that cannot be one of the facts."""
        if b"\0" in data:
            return ()
        text = data.decode("utf-8", "surrogateescape")
        if _FAR.search(text):
            return self._whole(text)
        found: list[tuple[str, Meta]] = []
        for block in _START.split(text):
            if block not in self._known:
                if self._may_hold(block):
                    self._known[block] = self._whole(textwrap.dedent(block.strip("\r\n")))
                else:
                    self._known[block] = ()
            found += self._known[block]
        return found

    def _may_hold(self, block: str) -> bool:
        if self._wordless or "|" in block:  # a table has a fact a row
            return True
        return any(word[0] in self._first for word in islice(_WORD.finditer(block), NAMING))

    @staticmethod
    def _whole(text: str) -> Statements:
        return [(fact.id, fact.meta) for fact in memory_facts.parse(text.encode("utf-8", "surrogateescape")).facts]
