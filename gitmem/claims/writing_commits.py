"""Finds the commit that wrote a claim, and checks whether the claim was true of the tree of that commit.

A line may have been moved to another file, or edited for another reason, since. So two commits are checked: the first
one whose files have the words of the claim, then the first one whose files have the whole line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from gitmem.claims.claim import Kind
from gitmem.claims.claim_lookup import NAMED_KINDS, ClaimLookup, FileClaim, NameSearch
from gitmem.claims.code_words import BlobWords
from gitmem.claims.path_resolution import ELSEWHERE, EXACT
from gitmem.errors import GitFailed
from gitmem.git.repository import Repository, read_small_blobs

MAX_TREES = 12  # trees that are checked: those of the commits that wrote most claims
MAX_COMMITS = 2_000  # commits that touched one of the files, beginning with the oldest
MAX_FILES = 80  # files whose history is read
VENDORED = re.compile(r"(?:^|/)(?:vendor|third[_-]party|node_modules)/")  # files of libraries
INSTRUCTION_FILES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")


class WritingCommits:
    """Finds the commits that wrote claims, and looks up each claim in the tree of its commit.

    `missing`: the claims. `lookup`: that of the checked commit, whose tree lacks the claimed things.
    """

    def __init__(self, repo: Repository, lookup: ClaimLookup, missing: Sequence[FileClaim]) -> None:
        self.repo = repo
        self._commits: dict[tuple[str, str, int], list[str]] = {}
        self._lookups: dict[str, ClaimLookup] = {}
        if not missing:
            return
        self._find(lookup.commit, missing)
        count = Counter(commit for commits in self._commits.values() for commit in commits)
        names = {file_claim.claim.token for file_claim in missing if file_claim.claim.kind in NAMED_KINDS}
        words = BlobWords(repo, names, frozenset(lookup.tree.oids.values()))
        for oid, _ in count.most_common(MAX_TREES):
            claims = [file_claim for file_claim in missing if oid in self._commits.get(_key(file_claim), ())]
            self._lookups[oid] = ClaimLookup(repo, oid, claims, NameSearch(blobs=words), similar=lookup)
            self._lookups[oid].diagram_lookup = lookup

    def _find(self, head: str, missing: Sequence[FileClaim]) -> None:
        """For each claim, find the first commits whose files have its words and its line, and store them.

        Reads the history of the claims' files, and of the instruction files from which their lines may have been moved.
        """
        paths = list(dict.fromkeys([*(path for path, _ in missing), *_instruction_files(missing)]))[:MAX_FILES]
        texts = {claim.text: claim.text.encode("utf-8", "surrogateescape") for _, claim in missing}
        lines = {claim.line.text: claim.line.text.encode("utf-8", "surrogateescape") for _, claim in missing}
        first_commits: dict[str, str] = {}
        seen_oids: set[str] = set()
        try:
            for commit in islice(self.repo.log([head], paths, reverse=True), MAX_COMMITS):
                oids = [oid for oid in self.repo.blobs(commit.oid, paths).values() if oid not in seen_oids]
                seen_oids.update(oids)
                for _, data in read_small_blobs(self.repo, ((oid, oid) for oid in oids)):
                    for words in (texts, lines):
                        for spelled in [text for text, raw in words.items() if raw in data]:
                            first_commits.setdefault(spelled, commit.oid)
                            del words[spelled]
                if not texts and not lines:
                    break
        except GitFailed:  # a partial clone lacks an object
            pass
        for file_claim in missing:
            commits = (first_commits.get(file_claim.claim.text, ""), first_commits.get(file_claim.claim.line.text, ""))
            self._commits[_key(file_claim)] = [commit for commit in dict.fromkeys(commits) if commit and commit != head]

    def commit_of(self, file_claim: FileClaim, min_grade: int = 0) -> str:
        """The oid of the commit that wrote the claim or its line, if the claim was true of the tree of that commit;
        else "".

        `min_grade`: the lowest grade of a match that counts as true. The default, 0, means EXACT for a symbol, since a
        name that is only used may belong to a library, and ELSEWHERE for all other kinds.
        """
        min_grade = min_grade or (EXACT if file_claim.claim.kind is Kind.SYMBOL else ELSEWHERE)
        for oid in self._commits.get(_key(file_claim), ()):
            if lookup := self._lookups.get(oid):
                resolution = lookup.resolve(file_claim)
                if resolution.grade >= min_grade and not resolution.unknown and not VENDORED.search(resolution.at):
                    return oid
        return ""


def _key(file_claim: FileClaim) -> tuple[str, str, int]:
    return file_claim.path, file_claim.claim.token, file_claim.claim.line.number


def _instruction_files(missing: Sequence[FileClaim]) -> list[str]:
    """The paths of instruction files that may exist in the folders of these claims' files and in the folders above,
    those nearest the root first."""
    folders: dict[str, None] = {}
    for file_claim in missing:
        folder = file_claim.path
        while folder:
            folder = folder.rpartition("/")[0]
            folders[folder] = None
    near = sorted(folders, key=lambda folder: folder.count("/"))
    return [f"{folder}/{name}".lstrip("/") for folder in near for name in INSTRUCTION_FILES]
