"""Who wrote a fact: who made the commit that first brought its statement into long-term memory. The one answer to that
question.

A statement is the text of a fact (`memory/fact.fact_id`). Its writer stays its writer when the fact moves to another
file or to the archive, when its comment is edited, when the file is wrapped, merged or reverted, and when somebody
takes the fact out and puts it back. Another text is another statement: who edits the text wrote the new one.

Reads only, committed history only. Says nothing of lines of logs, and nothing of who may change a fact: gates ask which
commit touched a line last (`checks`, `verify`).
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
    """Who wrote a fact: the commit that first brought it, and the agent's name where an agent made that commit."""

    commit: Commit
    agent: str

    @property
    def name(self) -> str:
        """The agent's name, or the person's."""
        return self.agent or self.commit.author.name


def writers(repo: Repository, at: str, facts: Iterable[Fact]) -> dict[str, Writer]:
    """Fact id -> its writer in the history of the commit `at` ("" for no history). A fact that no commit has in
    long-term memory is left out. Raises GitFailed."""
    oids = first_commits(repo, at, facts)
    commits = {oid: repo.commit(oid) for oid in dict.fromkeys(oids.values())}
    return {ident: Writer(commits[oid], agent_of_commit(commits[oid])) for ident, oid in oids.items()}
