"""Finds the texts that a commit adds to memory and removes from it, and whether it reverses another commit.

Compares the files of a commit with those of its first parent; the message is not read. A text is named by the SHA-256
of a fact's text or of a line, 64 hex digits. A file above MAX_MEMORY_FILE_BYTES, which the gate refuses, counts as
empty. Reads Git objects only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from gitmem.git.objects import Commit
from gitmem.git.ranges import shallow, touched
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import normalise, parse_comment, text_hash
from gitmem.memory.forgotten import MASK

TEXT_ENDINGS = (".md", ".markdown", ".mdx", ".txt")  # of the files that `reverses` compares
MAX_CACHED_BLOBS = 256  # blobs whose lines stay in memory; neighbouring commits share blobs


@dataclass(frozen=True, slots=True)
class FileEffect:
    """One file that a commit changes. `old`, `new`: oids of its blob before and after, "" for no file."""

    path: str
    old: str
    new: str


class CommitEffects:
    """The effects of commits of one repository, with caches for commits and blobs."""

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._files: dict[str, tuple[FileEffect, ...]] = {}
        self._lines: dict[str, list[str]] = {}
        self._texts: dict[str, frozenset[str]] = {}

    @cached_property
    def _cut(self) -> frozenset[str]:
        return shallow(self._repo)

    def read(self, commits: Sequence[Commit]) -> None:
        """Read with one process of Git which files these commits change, for later calls of `files`. Commits that were
        read before are left out."""
        requests = []
        for commit in commits:
            if commit.oid in self._files:
                continue
            self._files[commit.oid] = ()
            if commit.parents and commit.oid not in self._cut:
                requests.append(f"{commit.oid} {commit.parents[0]}")
            else:
                requests.append(commit.oid)
        if not requests:
            return
        for name, changes in touched(self._repo, requests):
            files = (FileEffect(change.path, "".join(change.olds[:1]), change.new_oid) for change in changes)
            self._files[name.split(" ")[0]] = tuple(files)

    def files(self, commit: Commit) -> tuple[FileEffect, ...]:
        """The files that a commit changes against its first parent. A commit without a parent, and the oldest of a
        shallow clone, count as commits that add all of their files."""
        if commit.oid not in self._files:
            self.read([commit])
        return self._files[commit.oid]

    def adds(self, commit: Commit, digest: str, target: str) -> bool:
        """Whether the commit adds the text with the hash `digest` (64 hex) to the file `target`, or to any file when
        `target` is ""."""
        return any(self._gains(file.old, file.new, digest) for file in self._files_at(commit, target))

    def removes(self, commit: Commit, digest: str, target: str) -> bool:
        """Whether the commit removes the text with the hash `digest` (64 hex) from the file `target`, or from any file
        when `target` is ""."""
        return any(self._gains(file.new, file.old, digest) for file in self._files_at(commit, target))

    def removes_masked(self, commit: Commit, target: str) -> bool:
        """Whether the commit removes a line that a purge masked from the file `target`, or from any file when it is "".

        A purge removes a text from the whole history, so that its hash cannot be compared with the line any more.
        """
        return any(self._mask_count(file.old) > self._mask_count(file.new) for file in self._files_at(commit, target))

    def texts(self, rev: str, paths: Sequence[str]) -> frozenset[str]:
        """The hashes of the texts that these files have at a commit; a file that the commit lacks has none."""
        return frozenset().union(*map(self._all_texts, self._repo.blobs(rev, paths).values()))

    def _mask_count(self, oid: str) -> int:
        return sum(MASK in line for line in self.lines(oid))

    def removed_and_added(self, commit: Commit, paths: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
        """(hashes of the texts that the commit removes from these files, hashes of those that it adds). A text that
        moves from one of the files to another is in neither."""
        path_set = set(paths)
        removed, added = set[str](), set[str]()
        for file in self.files(commit):
            if file.path in path_set:
                removed |= self._texts_of_new_lines(file.new, file.old)
                added |= self._texts_of_new_lines(file.old, file.new)
        return frozenset(removed - added), frozenset(added - removed)

    def takes_lines(self, commit: Commit, paths: Iterable[str]) -> bool:
        """Whether one of these files loses a line in the commit, or is deleted. A line that only moved in its file is
        not lost."""
        path_set = set(paths)
        changed = [file for file in self.files(commit) if file.path in path_set and file.old and file.old != file.new]
        return any(not set(self.lines(file.old)) <= set(self.lines(file.new)) for file in changed)

    def reverses(self, commit: Commit, undone: Commit) -> bool:
        """Whether `commit` reverts the changes of `undone` to files of TEXT_ENDINGS. No other file and no blank line
        counts.

        In the files that both change, it must remove every line that `undone` added and that was still there, and bring
        back every line that `undone` removed. These must be at least half of the lines that `undone` changed. When
        `undone` changed no such file, `commit` must change none either.
        """
        reverting = {file.path: file for file in self.files(commit) if file.path.endswith(TEXT_ENDINGS)}
        changed = [file for file in self.files(undone) if file.path.endswith(TEXT_ENDINGS)]
        if not changed:
            return not reverting
        changed_lines = reverted_lines = 0
        for file in changed:
            undone_before, undone_after = self._line_counts(file.old), self._line_counts(file.new)
            added, removed = undone_after - undone_before, undone_before - undone_after
            changed_lines += added.total() + removed.total()
            revert = reverting.get(file.path)
            if revert is None:
                continue
            earlier, later = self._line_counts(revert.old), self._line_counts(revert.new)
            if any(later[line] > max(0, earlier[line] - count) for line, count in added.items()) or (removed - later):
                return False
            reverted_lines += (added & (earlier - later)).total() + (removed & (later - earlier)).total()
        return 2 * reverted_lines >= changed_lines and reverted_lines > 0

    def _line_counts(self, oid: str) -> Counter[str]:
        return Counter(line for line in self.lines(oid) if line.strip())

    def _files_at(self, commit: Commit, target: str) -> Iterable[FileEffect]:
        return (file for file in self.files(commit) if file.path == target or not target)

    def _gains(self, old_blob: str, new_blob: str, digest: str) -> bool:
        """Whether `new_blob` has the text and `old_blob` lacks it.

        The new lines alone decide this for nearly every fact. The whole files are parsed only when the lines do not
        have the text, as those of a fact of several lines.
        """
        if digest in self._texts_of_new_lines(old_blob, new_blob):
            return True
        return digest in self._all_texts(new_blob) - self._all_texts(old_blob)

    def _texts_of_new_lines(self, old_blob: str, new_blob: str) -> frozenset[str]:
        """The hashes of the texts of the lines that only `new_blob` has, without those of the lines that only
        `old_blob` has."""
        if not new_blob or old_blob == new_blob:
            return frozenset()
        old_lines, new_lines = self.lines(old_blob), self.lines(new_blob)
        in_old, in_new = set(old_lines), set(new_lines)
        added = [line for line in new_lines if line not in in_old]
        if not added:
            return frozenset()
        return _hashes(added) - _hashes([line for line in old_lines if line not in in_new])

    def _all_texts(self, oid: str) -> frozenset[str]:
        """The hashes of all texts of a blob, cached."""
        if oid not in self._texts:
            if len(self._texts) >= MAX_CACHED_BLOBS:
                self._texts.clear()
            self._texts[oid] = _hashes(self.lines(oid))
        return self._texts[oid]

    def lines(self, oid: str) -> list[str]:
        """The lines of a blob; none for "", for a missing blob and for one above MAX_MEMORY_FILE_BYTES."""
        if not oid:
            return []
        if oid not in self._lines:
            if len(self._lines) >= MAX_CACHED_BLOBS:
                self._lines.clear()
            data = next((data for _, data in read_small_blobs(self._repo, [("", oid)])), b"")
            self._lines[oid] = blob_lines(data)
        return self._lines[oid]


def _hashes(lines: Sequence[str]) -> frozenset[str]:
    """The hashes of the facts among `lines`, and of the text of each line."""
    if not lines:
        return frozenset()
    facts = memory_facts.parse("\n".join(lines).encode("utf-8", "surrogateescape")).facts
    texts = (normalise(parse_comment(line.rstrip())[0]) for line in lines)
    return frozenset((*(text_hash(fact.text) for fact in facts), *(text_hash(text) for text in texts if text)))
