"""Finds the facts whose cited code one commit changed, for the message right after committing.

Only citations of changed files are checked. A commit that leaves the cited lines unchanged, or also updates the
citations, has no results.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitmem.claims.agent_files import checked_files
from gitmem.claims.citations import parse
from gitmem.claims.cited_code import changed_code
from gitmem.claims.cited_facts import citing_facts
from gitmem.git.repository import Repository
from gitmem.memory.code_state import CitedCode, changed_citations
from gitmem.memory.fact import Fact, values_of


class TouchedFact(NamedTuple):
    """A fact, the path of its file, and the state of its cited code after the commit."""

    path: str
    fact: Fact
    code: tuple[CitedCode, ...]


def touched_facts(repo: Repository, base: str, head: str, daily: Iterable[str] = ()) -> list[TouchedFact]:
    """The facts of the commit `head` whose cited code is in another state (changed, gone, renamed) than at the commit
    `base`, because a commit between them touched the cited file. `daily`: patterns of daily logs, whose facts are left
    out."""
    changed = {path for change in repo.changes(base, head) for path in (change.path, change.old_path) if path}
    facts: list[tuple[str, Fact, list[str]]] = []
    for path, fact in citing_facts(repo, checked_files(repo.entries(head), daily)):
        citations = {value: parse(value) for value in values_of(fact.meta, "code")}
        cited = {value: citation.path for value, citation in citations.items() if citation is not None}
        values = [value for value, cited_path in cited.items() if cited_path in changed]
        if values:
            facts.append((path, fact, values))
    checked = dict.fromkeys(value for _, _, values in facts for value in values)
    if not checked:
        return []
    head_code, base_code = changed_code(repo, checked, head), changed_code(repo, checked, base)
    old = {value: code.state for value, code in base_code.items()}
    fresh = {value: code for value, code in head_code.items() if old.get(value) != code.state}
    touched = [TouchedFact(path, fact, tuple(changed_citations(fact.meta, fresh))) for path, fact, _ in facts]
    return [row for row in touched if row.code]
