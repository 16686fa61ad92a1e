"""Up to which commit the daily logs count as read: the newest `Memory-Cursor` of a promotion that is one.

A cursor ends the offer of every line before it, so it counts only where what its commit promotes follows from the lines
that it cites (`attribution`, as `verify` asks). Reads committed history only; one that does not count costs reading.
"""

from __future__ import annotations

from gitmem.git.repository import Repository
from gitmem.memory.fact import text_hash
from gitmem.paths import Kind, kind
from gitmem.provenance.attribution import Attributor
from gitmem.provenance.authorship import by_machine
from gitmem.provenance.cited_sources import facts_at
from gitmem.provenance.grounding import Support
from gitmem.provenance.ledger import Ledger


def cursor(repo: Repository, known: Ledger, head: str) -> str:
    """The commit whose logs were read last: the newest `Memory-Cursor` that is an ancestor of the promotion that has it
    and of `head`, "" for none."""
    for promotion, oid in known.cursors:
        ancestor = oid != promotion and repo.is_ancestor(oid, promotion) and repo.is_ancestor(oid, head)
        if ancestor and _supported(repo, known, promotion):
            return oid
    return ""


def _supported(repo: Repository, known: Ledger, promotion: str) -> bool:
    """Whether every text that a commit promotes is a fact of MEMORY.md and follows from the lines that it cites: of an
    agent's commit word for word, as `verify` asks of what no person looked at."""
    commit = repo.commit(promotion)
    wanted = {link.sha256 for record in known.records if record.commit.oid == promotion for link in record.sources}
    enough = {Support.IN_SOURCE, Support.EDITED} | (set() if by_machine(commit) else {Support.SHARES_WORDS})
    attributor = Attributor(repo, promotion, known, None)
    found: set[str] = set()
    for path, _, fact in facts_at(repo, promotion):
        if kind(path) is Kind.MEMORY and (digest := text_hash(fact.text)) in wanted:
            if attributor.attribution(path, fact, lambda: commit).support not in enough:
                return False
            found.add(digest)
    return found == wanted
