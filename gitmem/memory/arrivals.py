"""Finds the commits that added statements: the first commit of a history that has a text, and the commits of a range
that put a text into a file.

Commits are read from the oldest to the newest, parents before children, so the first one that has a statement added it.
A later move to another file or to the archive, an edit of its comment, other line breaks, a merge or a revert do not
change that. Reads committed history only. `provenance/writers` finds out who made a commit.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from gitmem.git.ranges import PathChange, commits_touching, touched
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.lazy_patterns import lazy
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact, Meta
from gitmem.paths import Kind, kind

LASTING = (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)
PLACES = ("MEMORY.md", ".claude/MEMORY.md", ".claude/rules", "memory")  # paths of the files of these kinds
MAX_BLOBS = 256  # versions of files that are read in one batch
MAX_LEADING_WORDS = 6  # words of a block before, and with, the first word of its fact
_START = lazy(r"\n(?=[ \t]*(?:[-*+][ \t]|[0-9]{1,9}[.)][ \t]|#{1,6}[ \t]|\r?\n))")
_WORD = lazy(r"\w+")
# Fences and comments of several lines: how a line is read then depends on lines far before it.
_FAR = lazy(r"```|~~~|<!--(?:(?!-->)[^\n])*\n")


def first_commits(repo: Repository, head: str, facts: Iterable[Fact]) -> dict[str, str]:
    """Fact id -> the oid of the first commit in the history of `head` that has the fact's text in a file of long-term
    memory.

    `head`: a commit, "" for no history. A fact that no commit has is left out. Raises GitFailed if Git cannot list the
    commits.
    """
    wanted = {fact.id: fact for fact in facts}
    oids: dict[str, str] = {}
    if not head or not wanted:
        return oids
    for commit, _, statements in _versions(repo, [head], _Blocks(wanted.values()), PLACES, LASTING):
        for ident, _ in statements:
            if ident in wanted:
                oids.setdefault(ident, commit)
        if len(oids) == len(wanted):
            break
    return oids


@dataclass(frozen=True, slots=True)
class AddingCommits:
    """The commits of a range that added statements, the oldest first. `texts`: (path, fact id) -> oids of the commits
    that added the text. `comments`: (path, fact id, pairs of the comment) -> oids of the commits that added the fact
    with this comment. A fact that no commit added has an empty list in both."""

    texts: Mapping[tuple[str, str], Sequence[str]]
    comments: Mapping[tuple[str, str, Meta], Sequence[str]]


def adding_commits(repo: Repository, base: str, head: str, facts: Sequence[tuple[str, Fact]]) -> AddingCommits:
    """The commits after `base` ("" for the beginning) up to `head` that added each of `facts`, given as (path, fact).

    A commit added a fact if the file has the fact after the commit and in none of its parents. Raises GitFailed if Git
    cannot list the commits.
    """
    texts: dict[tuple[str, str], list[str]] = {(path, fact.id): [] for path, fact in facts}
    comments: dict[tuple[str, str, Meta], list[str]] = {(path, fact.id, fact.meta): [] for path, fact in facts}
    if not texts:
        return AddingCommits(texts, comments)
    blocks = _Blocks(fact for _, fact in facts)
    revs = [head]
    if base:
        revs.append(f"^{base}")
    paths = sorted({path for path, _ in facts})
    for commit, change, statements in _versions(repo, revs, blocks, paths, ()):
        old_versions = [_statements(repo, oid, blocks) for oid in change.olds]
        old_facts = {statement for version in old_versions for statement in version}
        old_ids = {ident for ident, _ in old_facts}
        for ident, meta in statements:
            if ident not in old_ids and (change.path, ident) in texts:
                _add_once(texts[change.path, ident], commit)
            if (ident, meta) not in old_facts and (change.path, ident, meta) in comments:
                _add_once(comments[change.path, ident, meta], commit)
    return AddingCommits(texts, comments)


def _add_once(commits: list[str], commit: str) -> None:
    if commit not in commits:
        commits.append(commit)


Statements = Collection[tuple[str, Meta]]  # (fact id, comment)


def _versions(
    repo: Repository, revs: Sequence[str], blocks: _Blocks, paths: Sequence[str], kinds: Collection[Kind]
) -> Iterator[tuple[str, PathChange, Statements]]:
    """(commit, change of a file, statements of the file after it) for each change below `paths`, the oldest first.

    `kinds`: the kinds of files to read, () for all. A binary version, or one of more than MAX_MEMORY_FILE_BYTES, has no
    statements.
    """
    commits = commits_touching(repo, revs, paths)
    changes = _changes_to_read(repo, commits, paths, kinds)
    while group := list(islice(changes, MAX_BLOBS)):
        unread = dict.fromkeys(change.new_oid for _, change in group if change.new_oid not in blocks.read)
        for oid, data in read_small_blobs(repo, ((oid, oid) for oid in unread)):
            blocks.read[oid] = blocks.statements(data)
        for commit, change in group:
            yield commit, change, blocks.read.get(change.new_oid, ())


def _changes_to_read(
    repo: Repository, commits: Sequence[str], paths: Sequence[str], kinds: Collection[Kind]
) -> Iterator[tuple[str, PathChange]]:
    """(commit, change of a file) of each change after which there is a file of one of these kinds; () for all."""
    for commit, changes in touched(repo, commits, paths):
        for change in changes:
            if change.new_oid and (not kinds or kind(change.path) in kinds):
                yield commit, change


def _statements(repo: Repository, oid: str, blocks: _Blocks) -> Statements:
    """The statements of a blob, read once; none if the object is missing or over MAX_MEMORY_FILE_BYTES."""
    if oid not in blocks.read:
        data = next((data for _, data in read_small_blobs(repo, [("", oid)])), b"")
        blocks.read[oid] = blocks.statements(data)
    return blocks.read[oid]


class _Blocks:
    """Reads many versions of files for the statements that may equal some facts. `read`: oid of a blob -> statements.

    A file is split into blocks where a line begins an item, a heading or a paragraph. A block that many versions have
    is parsed once, and only if one of its leading words is the first word of a fact.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        self.read: dict[str, Statements] = {}
        self._known: dict[str, Statements] = {}
        self._first: set[str] = set()  # the first words of the facts
        self._wordless = False
        for fact in facts:
            if word := _WORD.search(fact.text):
                self._first.add(word[0])
            else:
                self._wordless = True

    def statements(self, data: bytes) -> Statements:
        """The statements of a file, without most of those that equal none of the facts; () for a file with a NUL byte.
        Blocks of lines are parsed once and cached."""
        if b"\0" in data:
            return ()
        text = data.decode("utf-8", "surrogateescape")
        if _FAR.search(text):
            return self._whole(text)
        statements: list[tuple[str, Meta]] = []
        for block in _START.split(text):
            if block not in self._known:
                dedented = textwrap.dedent(block.strip("\r\n"))
                self._known[block] = self._whole(dedented) if self._may_have_fact(block) else ()
            statements += self._known[block]
        return statements

    def _may_have_fact(self, block: str) -> bool:
        """A fast test for a fact in a block, by its first MAX_LEADING_WORDS words."""
        if self._wordless or "|" in block:  # each row of a table is a fact
            return True
        return any(word[0] in self._first for word in islice(_WORD.finditer(block), MAX_LEADING_WORDS))

    @staticmethod
    def _whole(text: str) -> Statements:
        return [(fact.id, fact.meta) for fact in memory_facts.parse(text.encode("utf-8", "surrogateescape")).facts]
