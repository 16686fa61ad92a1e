"""Finds the texts that people removed from long-term memory without a trailer, as with an editor. Reads only.

`ledger` has the removals that trailers record. A text that moves to another file in the same commit is not removed, and
neither is one that a person wrote again later.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.provenance import trailers
from gitmem.provenance.authorship import by_machine
from gitmem.provenance.commit_effects import CommitEffects
from gitmem.provenance.ledger import MAX_BATCH, UNDO

LONG_TERM_PATHS = ("MEMORY.md", ".claude/MEMORY.md", "memory/archive")


def removed_by_people(repo: Repository, tip: str) -> dict[str, str]:
    """Hash of a text (64 hex) -> the newest commit by a person, in the history of `tip`, that removed the text from
    MEMORY.md or the archive.

    Texts that a person added again later are left out. A merge removes what all its parents have and it lacks.
    """
    effects = CommitEffects(repo)
    newest: dict[str, tuple[bool, str]] = {}  # text -> (was removed, commit)
    additions: list[tuple[Commit, list[str]]] = []  # commits that only add, read when an older commit removes a line
    walk = repo.log([tip], LONG_TERM_PATHS, full_history=True)
    while batch := list(islice(walk, MAX_BATCH)):
        by_people = [commit for commit in batch if not _is_automatic(commit)]
        effects.read(by_people)
        for commit in by_people:
            files = [file.path for file in effects.files(commit) if file.path.endswith(".md")]
            if not effects.takes_lines(commit, files):
                additions.append((commit, files))
                continue
            for later, changed in [*additions, (commit, files)]:
                removed, added = _removed_and_added(effects, later, changed)
                for digest in added:
                    newest.setdefault(digest, (False, later.oid))
                for digest in removed:
                    newest.setdefault(digest, (True, later.oid))
            additions.clear()
    return {digest: oid for digest, (was_removed, oid) in newest.items() if was_removed}


def _removed_and_added(
    effects: CommitEffects, commit: Commit, files: Sequence[str]
) -> tuple[frozenset[str], frozenset[str]]:
    """(hashes of the texts that all parents of the commit have and it lacks, hashes of those that it has and no parent
    has), in `files`."""
    removed, added = effects.removed_and_added(commit, files)
    for parent in commit.parents[1:]:
        present = effects.texts(parent, files)
        removed, added = removed & present, added - present
    return removed, added


def _is_automatic(commit: Commit) -> bool:
    """Whether the commit is an agent's, a promotion or an undo: no person chose what it removes."""
    promoted = bool(trailers.values(trailers.memory_trailers(commit.message), trailers.MODEL))
    return promoted or by_machine(commit) or commit.message.startswith(UNDO)
