"""Finds the facts of a tree that cite code, and checks their citations.

A decision, a lesson or an event stays true after its code is gone, so missing code is not a finding for facts of these
types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from gitmem.claims.agent_files import checked_files
from gitmem.claims.citations import KEY, TreeCode, Verdict, citations_of, verdict
from gitmem.claims.finding import Finding, State
from gitmem.claims.history import History
from gitmem.claims.tree import Tree
from gitmem.git.objects import Entry
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.memory import facts as memory_facts
from gitmem.memory.code_state import PAST
from gitmem.memory.fact import Fact

CODE = "code"  # the kind of a finding about a citation
_OWN = re.compile(r"[A-Za-z_][\w.-]{3,}|\d+(?:\.\d+)?")
_TELLING = re.compile(r"[_./]|\d|[a-z][A-Z]")


class CitedFact(NamedTuple):
    """A fact, the path of its file, and the verdict on each of its citations."""

    path: str
    fact: Fact
    verdicts: tuple[Verdict, ...]


def cited_facts(tree: Tree, history: History) -> Iterator[CitedFact]:
    """Each fact that cites code with the key `code`, in the files of the tree that are checked
    (`agent_files.checked_files`). The iterator raises GitMemError if Git lacks an object."""
    code = TreeCode(tree, history)
    for path, fact in citing_facts(tree.repo, checked_files(tree.entries)):
        if citations := citations_of(fact):
            yield CitedFact(path, fact, tuple(verdict(citation, code) for citation in citations))


def citing_facts(repo: Repository, entries: Sequence[Entry]) -> Iterator[tuple[str, Fact]]:
    """(path, fact) of each fact with a `code` key in these files. Files without that key, or of more than
    MAX_MEMORY_FILE_BYTES, are not parsed."""
    for path, data in read_small_blobs(repo, ((entry.path, entry.oid) for entry in entries)):
        if f"{KEY}=".encode() in data:
            yield from ((path, fact) for fact in memory_facts.parse(data).facts if fact.get(KEY))


def finding_of(cited: CitedFact, checked: Verdict) -> Finding | None:
    """The finding about one citation; None if its code is unchanged, if its state is unknown, or if the code is gone
    and the fact's type is in PAST (a decision outlives its code).

    Only a finding about code that is gone is sure: after a change of the code the fact may still hold.
    """
    if checked.state in (State.HOLDS, State.UNKNOWN):
        return None
    if checked.state is State.GONE and cited.fact.get("type") in PAST:
        return None
    place = checked.citation.place
    return Finding(
        cited.path, cited.fact.line, place, CODE, checked.state, checked.words, checked.commit, "",
        checked.state is State.GONE, checked.citation.path,
    )  # fmt: skip


def own_words(text: str) -> set[str]:
    """The words of a fact's text that identify it: numbers, identifiers, paths, names of settings, words in
    capitals."""
    return {word.strip(".") for word in _OWN.findall(text) if _TELLING.search(word) or word.isdigit() or word.isupper()}
