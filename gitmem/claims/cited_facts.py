"""The facts of a tree that cite code, and what became of what they cite.

A decision, a lesson or an event outlives its code: its code being gone is history and no error. A fact that is over, or
was replaced, is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gitmem.claims.agent_files import files_of
from gitmem.claims.citations import KEY, Verdict, cited, verdict
from gitmem.claims.finding import Finding, State
from gitmem.claims.history import History
from gitmem.claims.tree import Tree
from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact
from gitmem.paths import LIMIT

PAST = ("decision", "lesson", "timeline", "episode-digest", "todo")  # types that outlive their code
CODE = "code"  # the kind of a finding about a citation
_OWN = re.compile(r"[A-Za-z_][\w.-]{3,}|\d+(?:\.\d+)?")
_TELLING = re.compile(r"[_./]|\d|[a-z][A-Z]")


class CitedFact(NamedTuple):
    """A fact of a file, and the verdict on each of its citations."""

    path: str
    fact: Fact
    verdicts: tuple[Verdict, ...]


def cited_facts(tree: Tree, history: History) -> Iterator[CitedFact]:
    """Every fact of the tree that cites code; the files without a citation are not parsed."""
    entries = files_of(tree.entries)
    sizes = tree.repo.sizes([entry.oid for entry in entries])
    entries = [entry for entry in entries if sizes.get(entry.oid, LIMIT + 1) <= LIMIT]
    for entry, (_, data) in zip(entries, tree.repo.read_many([entry.oid for entry in entries]), strict=True):
        if data is None or f"{KEY}=".encode() not in data:
            continue
        for fact in memory_facts.parse(data).facts:
            if found := cited(fact):
                yield CitedFact(entry.path, fact, tuple(verdict(one, tree, history) for one in found))


def finding_of(one: CitedFact, found: Verdict) -> Finding | None:
    """What is said of one citation, None where it holds or nothing is known. That code changed is no error: it is said
    where it is asked for."""
    if found.state in (State.HOLDS, State.UNKNOWN):
        return None
    if found.state is State.GONE and one.fact.get("type") in PAST:
        return None
    place = found.citation.place
    return Finding(
        one.path, one.fact.line, place, CODE, found.state, found.words, found.commit, "",
        found.state is State.GONE, found.citation.path,
    )  # fmt: skip


def own_words(fact: Fact) -> set[str]:
    """The words of a fact that tell it: numbers, identifiers, paths, names of settings."""
    return {
        word.strip(".") for word in _OWN.findall(fact.text) if _TELLING.search(word) or word.isdigit() or word.isupper()
    }
