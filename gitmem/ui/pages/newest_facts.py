"""The newest facts of a memory, by who wrote them, each with the line it comes from: what Today begins with.

Who wrote a fact is what `provenance/writers` says: the commit that first brought its text. A fact that came back, was
copied, moved or archived was written before, and is not among the new ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.git.objects import Span
from gitmem.memory.fact import Fact, parse_span
from gitmem.paths import kind
from gitmem.provenance.cited_sources import SourceReader
from gitmem.provenance.present_facts import KINDS
from gitmem.provenance.writers import Writer, writers
from gitmem.review.fact_diff import FactChange, Op, archives
from gitmem.ui.view import View


@dataclass(frozen=True, slots=True)
class Quote:
    """The lines that a fact cites first, and what they say: "" where they cannot be shown, or hold the fact word for
    word."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Written:
    """A fact with the time of its writer's commit, and its source, None where it names none."""

    path: str
    fact: Fact
    when: datetime
    quote: Quote | None


@dataclass(frozen=True, slots=True)
class ByWriter:
    """The newest facts of one writer, the newest first; `agent`: an agent wrote them. `count`: how many there are
    with those that are not shown."""

    name: str
    agent: bool
    count: int
    rows: tuple[Written, ...]


def writers_of(view: View, head: str, changes: Sequence[FactChange]) -> Mapping[str, Writer]:
    """Fact id -> who wrote it, of the facts that changes brought to the commit `head`."""
    if not changes:
        return {}
    known = dict(view.facts.writers(view.repo, head))
    left = [change.new for change in changes if change.new and change.new.id not in known]
    return known | (dict(writers(view.repo, head, left)) if left else {})


def learned(changes: Sequence[FactChange], known: Mapping[str, Writer], within: Collection[str]) -> list[FactChange]:
    """The changes that brought a fact which nobody had written before: its first commit is one of `within`."""
    return [
        change
        for change in changes
        if change.op in (Op.ADDED, Op.PROMOTED)
        and kind(change.path) in KINDS
        and not archives(change)
        and (one := known.get(change.fact.id)) is not None
        and one.commit.oid in within
    ]


def newest(view: View, known: Mapping[str, Writer], without: Collection[str], most: int) -> list[tuple[str, Fact]]:
    """(path, fact) of the facts that were written last, `most` at most; none of `without` (ids), none that is archived
    or replaced."""
    rows = [
        (known[row.fact.id].commit.commit_date.timestamp(), row)
        for row in view.facts.rows
        if row.fact.id in known and row.fact.id not in without and row.state not in ("archived", "superseded")
    ]
    rows.sort(key=lambda pair: -pair[0])
    first = {row.fact.id: (row.path, row.fact) for _, row in reversed(rows[: 2 * most])}  # a copy is named once
    return list(reversed(first.values()))[:most]


def by_writer(
    view: View, head: str, known: Mapping[str, Writer], facts: Sequence[tuple[str, Fact]], shown: int
) -> list[ByWriter]:
    """The newest `shown` of the facts (path, fact) by their writers, the writer of the newest first. Writers with the
    same name are one where both are agents or both are not."""
    counts = Counter(_named(known[fact.id]) for _, fact in facts)
    latest = sorted(facts, key=lambda row: -known[row[1].id].commit.commit_date.timestamp())[:shown]
    reader = SourceReader(view.repo, head, view.config.memory_paths)
    rows: dict[tuple[str, bool], list[Written]] = {}
    for path, fact in latest:
        one = known[fact.id]
        written = Written(path, fact, one.commit.author_date, _quote(view, reader, fact))
        rows.setdefault(_named(one), []).append(written)
    return [ByWriter(name, agent, counts[name, agent], tuple(own)) for (name, agent), own in rows.items()]


def _named(one: Writer) -> tuple[str, bool]:
    return one.name, bool(one.agent)


def _quote(view: View, reader: SourceReader, fact: Fact) -> Quote | None:
    """The first source in the fact's own comment, None where it names none."""
    span = next((span for key, value in fact.meta if key == "src" and (span := parse_span(value))), None)
    if span is None:
        return None
    source = reader.read(fact, span)
    if source.problem:
        return Quote(span, "")
    if view.forgotten:
        text = view.forgotten.masked(source.text)
    else:
        text = source.text
    said = fact.text.casefold() in " ".join(text.split()).casefold()
    return Quote(Span(source.path, source.start_line, source.end_line), "" if said else text)
