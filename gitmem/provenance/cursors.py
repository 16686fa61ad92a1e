"""The commit up to which promotion has read the daily logs: the newest valid `Memory-Cursor` trailer.

Promotion proposes no line before the cursor, so a forged cursor would hide lines. It is valid only when the sources of
its promotion support every text of that promotion. Without a valid cursor promotion reads more logs than it must. Reads
committed history only.
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


def cursor(repo: Repository, ledger: Ledger, head: str) -> str:
    """The newest valid cursor that is an ancestor of its promotion and of `head`; "" when there is none."""
    for promotion, oid in ledger.cursors:
        is_ancestor = oid != promotion and repo.is_ancestor(oid, promotion) and repo.is_ancestor(oid, head)
        if is_ancestor and _is_supported(repo, ledger, promotion):
            return oid
    return ""


def _is_supported(repo: Repository, ledger: Ledger, promotion: str) -> bool:
    """Whether every text of the promotion is a fact of its MEMORY.md that its sources support; in an agent's commit the
    sources must say it word for word."""
    commit = repo.commit(promotion)
    wanted = {link.sha256 for record in ledger.records if record.commit.oid == promotion for link in record.sources}
    enough = {Support.IN_SOURCE, Support.EDITED}
    if not by_machine(commit):
        enough.add(Support.SHARES_WORDS)
    attributor = Attributor(repo, promotion, ledger)
    found: set[str] = set()
    for path, _, fact in facts_at(repo, promotion):
        if kind(path) is Kind.MEMORY and (digest := text_hash(fact.text)) in wanted:
            if attributor.attribution(path, fact, lambda: commit).support not in enough:
                return False
            found.add(digest)
    return found == wanted
