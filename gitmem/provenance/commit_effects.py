"""What a commit really does to memory, whatever its message says: which texts it adds and takes out, what it reverses.

Compares the files of a commit with those of its first parent. Reads Git's objects only; a file beyond LIMIT, which no
gate lets in, has no texts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitmem.git.objects import Commit
from gitmem.git.ranges import shallow, touched
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import normalise, parse_comment, text_hash
from gitmem.memory.forgotten import MASK
from gitmem.paths import MAX_MEMORY_FILE_BYTES

TEXT = (".md", ".markdown", ".mdx", ".txt")  # endings of the files whose lines a revert is judged by
KEPT_BLOBS = 256  # whose lines stay in memory: neighbours in a history share theirs


@dataclass(frozen=True, slots=True)
class FileEffect:
    """One file that a commit changes: its blob before and after, "" where it is not there."""

    path: str
    old: str
    new: str


class CommitEffects:
    """The effects of the commits of one repository; what was read of a commit is kept."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._files: dict[str, tuple[FileEffect, ...]] = {}
        self._lines: dict[str, list[str]] = {}
        self._texts: dict[str, frozenset[str]] = {}

    @cached_property
    def _cut(self) -> frozenset[str]:
        return shallow(self._repo)

    def read(self, commits: Sequence[Commit]) -> None:
        """Read which files these commits change, all in one process of Git."""
        wanted = [commit for commit in commits if commit.oid not in self._files]
        asked = [
            f"{commit.oid} {commit.parents[0]}" if commit.parents and commit.oid not in self._cut else commit.oid
            for commit in wanted
        ]
        self._files.update((commit.oid, ()) for commit in wanted)
        for name, changes in touched(self._repo, asked) if asked else ():
            files = (FileEffect(c.path, c.olds[0] if c.olds else "", c.new_oid) for c in changes)
            self._files[name.split(" ")[0]] = tuple(files)

    def files(self, commit: Commit) -> tuple[FileEffect, ...]:
        """The files that a commit changes against its first parent. In a shallow clone the commit at which the history
        is cut counts as one that adds all of its files."""
        if commit.oid not in self._files:
            self.read([commit])
        return self._files[commit.oid]

    def adds(self, commit: Commit, digest: str, target: str) -> bool:
        """Whether the file `target` (any, for "") has the text (64 hex of its hash) since this commit."""
        return any(digest in self._gained(file.old, file.new, digest) for file in self._at(commit, target))

    def removes(self, commit: Commit, digest: str, target: str) -> bool:
        """Whether the file `target` (any, for "") has the text no more since this commit."""
        return any(digest in self._gained(file.new, file.old, digest) for file in self._at(commit, target))

    def removes_masked(self, commit: Commit, target: str) -> bool:
        """Whether the file `target` (any, for "") has fewer texts that a purge masked since this commit: what stood
        there is in no history, and its hash alone says which it was."""
        return any(self._masked(file.old) > self._masked(file.new) for file in self._at(commit, target))

    def texts(self, rev: str, paths: Sequence[str]) -> frozenset[str]:
        """The texts (64 hex of their hashes) that these files have at a commit."""
        return frozenset().union(*map(self._whole, self._repo.blobs(rev, paths).values()))

    def _masked(self, oid: str) -> int:
        return sum(MASK in line for line in self.lines(oid))

    def removed(self, commit: Commit, paths: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """The texts that a commit takes out of all of these files together, and those that it adds to them."""
        wanted = set(paths)
        lost, gained = set[str](), set[str]()
        for file in self.files(commit):
            if file.path in wanted:
                lost |= self._quick(file.new, file.old)
                gained |= self._quick(file.old, file.new)
        return frozenset(lost - gained), frozenset(gained - lost)

    def takes_lines(self, commit: Commit, paths: Iterable[str]) -> bool:
        """Whether a commit takes a line out of one of these files, or a file away: one that only adds removes no
        text."""
        wanted = set(paths)
        changed = [file for file in self.files(commit) if file.path in wanted and file.old and file.old != file.new]
        return any(not set(self.lines(file.old)) <= set(self.lines(file.new)) for file in changed)

    def reverses(self, commit: Commit, undone: Commit) -> bool:
        """Whether a commit takes back what another did to text: in the files that both change, no line that `undone`
        added is left which stood there still, each line that it took out is there again, and that is most of what
        `undone` did. One that did nothing is taken back by nothing."""
        there = {file.path: file for file in self.files(commit) if file.path.endswith(TEXT)}
        done = [file for file in self.files(undone) if file.path.endswith(TEXT)]
        if not done:
            return not there
        lines = undone_lines = 0
        for file in done:
            before, after = self._counted(file.old), self._counted(file.new)
            added, lost = after - before, before - after
            lines += added.total() + lost.total()
            now = there.get(file.path)
            if now is None:
                continue
            then, back = self._counted(now.old), self._counted(now.new)
            if any(back[line] > max(0, then[line] - count) for line, count in added.items()) or (lost - back):
                return False
            undone_lines += (added & (then - back)).total() + (lost & (back - then)).total()
        return 2 * undone_lines >= lines and undone_lines > 0

    def _counted(self, oid: str) -> Counter[str]:
        return Counter(line for line in self.lines(oid) if line.strip())

    def _at(self, commit: Commit, target: str) -> Iterable[FileEffect]:
        return (file for file in self.files(commit) if file.path == target or not target)

    def _gained(self, old: str, new: str, digest: str) -> frozenset[str]:
        """The texts of blob `new` that `old` has not, as far as it takes to know of `digest`: lines that differ say it
        of nearly every fact, and the whole files of one with several lines."""
        gained = self._quick(old, new)
        if digest in gained:
            return gained
        return self._whole(new) - self._whole(old)

    def _quick(self, old: str, new: str) -> frozenset[str]:
        if not new or old == new:
            return frozenset()
        before, after = self.lines(old), self.lines(new)
        known = set(before)
        kept = set(after)
        came = [line for line in after if line not in known]
        if not came:
            return frozenset()
        went = [line for line in before if line not in kept]
        return _hashes(came) - _hashes(went)

    def _whole(self, oid: str) -> frozenset[str]:
        if oid not in self._texts:
            if len(self._texts) >= KEPT_BLOBS:
                self._texts.clear()
            self._texts[oid] = _hashes(self.lines(oid))
        return self._texts[oid]

    def lines(self, oid: str) -> list[str]:
        """The lines of a blob that is here and no larger than LIMIT, else none."""
        if not oid:
            return []
        if oid not in self._lines:
            if len(self._lines) >= KEPT_BLOBS:
                self._lines.clear()
            small = self._repo.sizes([oid]).get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
            data = None
            if small:
                data = next(iter(self._repo.read_many([oid])))[1]
            if data:
                self._lines[oid] = blob_lines(data)
            else:
                self._lines[oid] = []
        return self._lines[oid]


def _hashes(lines: Sequence[str]) -> frozenset[str]:
    """The hashes of the texts of facts among lines, and of what else each says."""
    facts = memory_facts.parse("\n".join(lines).encode("utf-8", "surrogateescape")).facts if lines else ()
    said = (normalise(parse_comment(line.rstrip())[0]) for line in lines)
    return frozenset((*(text_hash(fact.text) for fact in facts), *(text_hash(text) for text in said if text)))
