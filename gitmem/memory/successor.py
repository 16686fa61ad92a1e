"""Whether an agent's line may say that it takes the place of a fact: the key of its comment, or why a person decides.

The same judgement as a promotion's: a fact of the same subject and property that is neither a person's own (pinned, or
written by hand) nor about health. The module writes nothing.
"""

from __future__ import annotations

from datetime import date

from gitmem.errors import MissingFile
from gitmem.git.repository import Repository
from gitmem.memory.fact import Fact, Meta, fact_id, normalise
from gitmem.memory.facts import SUPERSEDES, fact_date, parse, pinned
from gitmem.memory.new_statements import memory_bytes
from gitmem.memory.rivals import MEMORY, PROPOSES, Placed, judge, of_one_matter

SHORTEST_ID = 6  # hex digits that name a fact


def successor(repo: Repository, text: str, kind: str, ident: str, today: date) -> tuple[Meta, str]:
    """The key of the line, `supersedes=ID` or `proposes=ID`, and why it only proposes ("" where it does not).

    Raises MissingFile where no fact of MEMORY.md has the id.
    """
    if len(ident) >= SHORTEST_ID:
        known = parse(memory_bytes(repo)).facts
    else:
        known = []
    old = next((fact for fact in known if fact.id.startswith(ident)), None)
    if old is None:
        raise MissingFile(f"no fact of {MEMORY} has the id '{ident[:12]}'", "memory_search and memory_get show facts")
    why = why_not(old, Placed("", Fact(normalise(text), fact_id(text), 0, meta=(("type", kind),)), today.isoformat()))
    return ((PROPOSES if why else SUPERSEDES, old.id),), why


def why_not(old: Fact, new: Placed, *, corrects: bool = False, named: bool = False) -> str:
    """Why a program may not put a statement in the place of a fact, "" where it may. `corrects`: the statement keeps
    the matter and corrects the words. `named`: the comment of a reviewed line names the fact, so that it need not be
    as sure."""
    if pinned(old):
        return "a person pinned that fact"
    if not old.get("src"):
        return "a person wrote that fact by hand"
    from gitmem.memory.relation import Kind, about_health

    if about_health(old.text):
        return "that fact is about health"
    found = judge(Placed(MEMORY, old, fact_date(old)), new)
    correction = corrects and found.kind in (Kind.SAME, Kind.ADDS)
    says_otherwise = found.automatic or (found.asks and (named or found.covers)) or correction
    if found.subject or not says_otherwise or not of_one_matter(old.text, new.fact.text):
        return "that fact is about something else, as far as the words tell"
    return ""
