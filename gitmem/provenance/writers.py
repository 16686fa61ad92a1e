"""Finds the writer of a fact: the author of the commit that first added its text to long-term memory.

Every display of a writer uses this module. The writer stays the same when the fact moves to another file or to the
archive, when its comment is edited, when the file is wrapped, merged or reverted, and when somebody removes the fact
and adds it again. Whoever edits the text of a fact wrote the new text.

Reads committed history only. It answers for facts, not for log lines. The gates (`checks`, `verify`) ask another
question: which commit touched a line last.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitmem.git.objects import Commit
from gitmem.git.repository import Repository
from gitmem.memory.arrivals import first_commits
from gitmem.memory.fact import Fact
from gitmem.provenance.authorship import agent_of_commit


@dataclass(frozen=True, slots=True)
class Writer:
    """`commit`: the commit that first added the fact. `agent`: the agent that made it, "" for a person."""

    commit: Commit
    agent: str

    @property
    def name(self) -> str:
        """The agent's name, or the person's."""
        return self.agent or self.commit.author.name


def writers(repo: Repository, commit: str, facts: Iterable[Fact]) -> dict[str, Writer]:
    """Fact id -> its writer in the history of `commit`; "" means no history. Facts that no commit added to
    long-term memory are left out. Raises GitFailed if Git cannot list the commits."""
    oids = first_commits(repo, commit, facts)
    commits = {oid: repo.commit(oid) for oid in dict.fromkeys(oids.values())}
    return {ident: Writer(commits[oid], agent_of_commit(commits[oid])) for ident, oid in oids.items()}
