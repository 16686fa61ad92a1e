"""When a line was written: the commits at which what it says first stood in a file that agents read, and whether the
tree of such a commit had it.

A line that moves to another file, or is edited for another reason, says what it said before: so the first commit that
has the words of the claim is asked, then the first that has the whole line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from gitmem.claims.claim import Kind
from gitmem.claims.code_words import BlobWords
from gitmem.claims.judge import NAMED_KINDS, Judge, Said
from gitmem.claims.path_resolution import ELSEWHERE, EXACT
from gitmem.errors import GitFailed
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES

MOST_TREES = 12  # commits that wrote lines whose trees are asked
MOST_COMMITS = 2_000  # oldest ones that are looked at of those that touched such a file
MOST_FILES = 80  # whose history is asked in one pass
BROUGHT = re.compile(r"(?:^|/)(?:vendor|third[_-]party|node_modules)/")  # libraries' own files
FOREBEARS = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")


class Written:
    """The trees in which claims were written. `missing` are claims that do not stand in the tree of `judge`."""

    def __init__(self, repo: Repository, judge: Judge, missing: Sequence[Said]) -> None:
        self.repo = repo
        self._commits: dict[tuple[str, str, int], list[str]] = {}
        self._judges: dict[str, Judge] = {}
        if not missing:
            return
        self._find(judge.commit, missing)
        count = Counter(commit for commits in self._commits.values() for commit in commits)
        names = {one.claim.token for one in missing if one.claim.kind in NAMED_KINDS}
        words = BlobWords(repo, names, frozenset(judge.tree.oids.values()))
        for oid, _ in count.most_common(MOST_TREES):
            there = [one for one in missing if oid in self._commits.get(_key(one), ())]
            self._judges[oid] = Judge(repo, oid, there, beside=judge, words=words)
            self._judges[oid].drawn = judge

    def _find(self, head: str, missing: Sequence[Said]) -> None:
        """Walk the history of the files, and of those that their lines may have come from, oldest commit first."""
        paths = list(dict.fromkeys([*(one.path for one in missing), *_forebears(missing)]))[:MOST_FILES]
        texts = {one.claim.text: one.claim.text.encode("utf-8", "surrogateescape") for one in missing}
        lines = {one.claim.line.text: one.claim.line.text.encode("utf-8", "surrogateescape") for one in missing}
        first: dict[str, str] = {}
        seen: set[str] = set()
        try:
            for commit in islice(self.repo.log([head], paths, reverse=True), MOST_COMMITS):
                oids = [oid for oid in self.repo.blobs(commit.oid, paths).values() if oid not in seen]
                seen.update(oids)
                sizes = self.repo.sizes(oids)
                for _, data in self.repo.read_many(
                    [oid for oid in oids if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
                ):
                    for words in (texts, lines):
                        for found in [text for text, raw in words.items() if data is not None and raw in data]:
                            first.setdefault(found, commit.oid)
                            del words[found]
                if not texts and not lines:
                    break
        except GitFailed:  # an object that a partial clone has not
            pass
        for one in missing:
            asked = (first.get(one.claim.text, ""), first.get(one.claim.line.text, ""))
            self._commits[_key(one)] = [commit for commit in dict.fromkeys(asked) if commit and commit != head]

    def stood(self, one: Said, least: int = 0) -> str:
        """The commit that wrote the claim or its line, where the claim stood in its tree; "" where it did not."""
        least = least or (EXACT if one.claim.kind is Kind.SYMBOL else ELSEWHERE)  # a used name may be a library's
        for oid in self._commits.get(_key(one), ()):
            if judge := self._judges.get(oid):
                standing = judge.standing(one)
                if standing.grade >= least and not standing.unknown and not BROUGHT.search(standing.at):
                    return oid
        return ""


def _key(one: Said) -> tuple[str, str, int]:
    return one.path, one.claim.token, one.claim.line.number


def _forebears(missing: Sequence[Said]) -> list[str]:
    """The files of instructions from which the lines of these files may have been moved: those beside and above."""
    folders: dict[str, None] = {}
    for one in missing:
        folder = one.path
        while folder:
            folder = folder.rpartition("/")[0]
            folders[folder] = None
    near = sorted(folders, key=lambda folder: folder.count("/"))
    return [f"{folder}/{name}" if folder else name for folder in near for name in FOREBEARS]
