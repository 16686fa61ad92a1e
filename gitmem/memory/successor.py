"""Decides whether a line that an agent writes may replace a fact (`supersedes=ID`) or only propose to (`proposes=ID`).

The line may replace a fact of the same subject and property, as in a promotion. If the fact is pinned, written by hand
or about health, a person must decide. The module writes nothing.
"""

from __future__ import annotations

from datetime import date

from gitmem.errors import MissingFile, UnknownFact
from gitmem.git.repository import Repository
from gitmem.memory.fact import Fact, Meta, fact_id, id_digits, normalise
from gitmem.memory.facts import SUPERSEDES, fact_date, parse, pinned
from gitmem.memory.new_statements import memory_bytes
from gitmem.memory.rivals import MEMORY, PROPOSES, PlacedFact, judge, share_enough_words


def successor(repo: Repository, text: str, kind: str, ident: str, today: date) -> tuple[Meta, str]:
    """(pair for the comment of a new line that names the fact `ident`, reason): `supersedes=ID` with the reason "", or
    `proposes=ID` with the reason why the line may not replace the fact.

    `text`, `kind`: text and type of the new line. `ident`: the id of a fact of MEMORY.md or its first 6 digits or more.
    Raises MissingFile if no fact of MEMORY.md has the id, UnknownFact if facts of several ids begin so.
    """
    facts: list[Fact] = []
    if digits := id_digits(ident):
        facts = [fact for fact in parse(memory_bytes(repo)).facts if fact.id.startswith(digits)]
    if not facts:
        raise MissingFile(f"no fact of {MEMORY} has the id '{ident[:12]}'", "memory_search and memory_get show facts")
    old = facts[0]
    if any(fact.id != old.id for fact in facts):
        raise UnknownFact(f"several facts of {MEMORY} have an id that begins with '{ident[:12]}'", "give all 12 digits")
    reason = why_only_proposed(
        old, PlacedFact("", Fact(normalise(text), fact_id(text), 0, meta=(("type", kind),)), today.isoformat())
    )
    if reason:
        return ((PROPOSES, old.id),), reason
    return ((SUPERSEDES, old.id),), ""


def why_only_proposed(old: Fact, new: PlacedFact, *, corrects: bool = False, named: bool = False) -> str:
    """The reason why a program may not replace `old` with the statement `new`, as a sentence: a person pinned `old`, it
    has no `src` (so counts as written by hand), it is about health, or the words do not surely replace it. "" if a
    program may.

    `corrects`: the new statement only corrects the words of the old one. `named`: the comment of a reviewed line names
    the fact, so that a lower score is enough.
    """
    if pinned(old):
        return "a person pinned that fact"
    if not old.get("src"):
        return "a person wrote that fact by hand"
    from gitmem.memory.relation import Kind, about_health

    if about_health(old.text):
        return "that fact is about health"
    relation = judge(PlacedFact(MEMORY, old, fact_date(old)), new)
    correction = corrects and relation.kind in (Kind.SAME, Kind.ADDS)
    is_change = relation.automatic or (relation.asks and (named or relation.covers)) or correction
    if relation.subject or not is_change or not share_enough_words(old.text, new.fact.text):
        return "that fact is about something else, as far as the words tell"
    return ""
