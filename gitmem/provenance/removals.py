"""What people took out of long-term memory by hand, in an editor, without a trailer that says so. Reads only.

`ledger` has what a commit records; this is what happened without a record. A text that moved to another file of the
same commit was not taken out, and one that a person wrote again is theirs.
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

LASTING = ("MEMORY.md", ".claude/MEMORY.md", "memory/archive")


def removed_by_people(repo: Repository, tip: str) -> dict[str, str]:
    """Texts (64 hex of their hashes) that a person took out of MEMORY.md or its archive and none wrote again, each with
    the newest commit that did. Promotions take out nothing of themselves; a merge takes out what all its parents have.
    """
    effects = CommitEffects(repo)
    newest: dict[str, tuple[bool, str]] = {}
    additions: list[tuple[Commit, list[str]]] = []  # newest first, not read yet: they matter only before a removal
    walk = repo.log([tip], LASTING, full_history=True)
    while batch := list(islice(walk, MAX_BATCH)):
        made = [commit for commit in batch if not _automatic(commit)]
        effects.read(made)
        for commit in made:
            files = [file.path for file in effects.files(commit) if file.path.endswith(".md")]
            if not effects.takes_lines(commit, files):
                additions.append((commit, files))
                continue
            for later, changed in [*additions, (commit, files)]:
                lost, gained = _removed(effects, later, changed)
                for digest in gained:
                    newest.setdefault(digest, (False, later.oid))
                for digest in lost:
                    newest.setdefault(digest, (True, later.oid))
            additions.clear()
    return {digest: oid for digest, (taken, oid) in newest.items() if taken}


def _removed(effects: CommitEffects, commit: Commit, files: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The texts that a commit takes out and those that it adds, against all its parents."""
    lost, gained = effects.removed(commit, files)
    for parent in commit.parents[1:]:
        there = effects.texts(parent, files)
        lost, gained = lost & there, gained - there
    return lost, gained


def _automatic(commit: Commit) -> bool:
    """Whether a commit takes out nothing of a person's choice: an agent's, a promotion, and an `undo`: what that takes
    back never was."""
    modelled = bool(trailers.values(trailers.memory_trailers(commit.message), trailers.MODEL))
    return modelled or by_machine(commit) or commit.message.startswith(UNDO)
