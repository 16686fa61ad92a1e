"""Which facts cite the code that one commit touches, for the line that a person sees right after committing.

Only the citations of the files that changed are looked at. A commit that mends its facts too, or leaves the cited lines
as they were, gives nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitmem.claims.agent_files import files_of
from gitmem.claims.citations import parse
from gitmem.claims.cited_code import cited_code
from gitmem.claims.cited_facts import citing_facts
from gitmem.git.repository import Repository
from gitmem.memory.code_state import CitedCode, of_code
from gitmem.memory.fact import Fact


class TouchedFact(NamedTuple):
    """A fact of a file, and what the commit did to the code that it cites."""

    path: str
    fact: Fact
    code: tuple[CitedCode, ...]


def touched_facts(repo: Repository, base: str, head: str, daily: Iterable[str] = ()) -> list[TouchedFact]:
    """The facts of `head` whose cited code stood at `base` and is changed, gone or elsewhere at `head`."""
    changed = {path for one in repo.changes(base, head) for path in (one.path, one.old_path) if path}
    facts: list[tuple[str, Fact, list[str]]] = []
    for path, fact in citing_facts(repo, files_of(repo.entries(head), daily)):
        values = [value for key, value in fact.meta if key == "code" and _path(value) in changed]
        if values:
            facts.append((path, fact, values))
    asked = dict.fromkeys(value for _, _, values in facts for value in values)
    if not asked:
        return []
    now, then = cited_code(repo, asked, head), cited_code(repo, asked, base)
    fresh = {value: said for value, said in now.items() if value not in then or then[value].state != said.state}
    return [TouchedFact(path, fact, tuple(said)) for path, fact, _ in facts if (said := of_code(fact.meta, fresh))]


def _path(value: str) -> str:
    citation = parse(value)
    if not citation:
        return ""
    return citation.path
