"""The newest facts of a memory by writer, each with its source line, for the page Today.

The writer of a fact is the author of the commit that first brought its text (`provenance/writers`). So a fact that was
put back, copied, moved or archived is not a new one.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.git.objects import Span
from gitmem.memory.fact import Fact, cited_spans
from gitmem.paths import kind
from gitmem.provenance.cited_sources import SourceReader
from gitmem.provenance.present_facts import KINDS
from gitmem.provenance.writers import Writer, writers
from gitmem.review.fact_diff import FactChange, Op, is_archiving
from gitmem.ui.view import View


@dataclass(frozen=True, slots=True)
class Quote:
    """The first source of a fact. `text`: its lines, "" when they were not found or contain the fact word for word."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class WrittenFact:
    """A fact, and the time of the commit that first wrote it. `quote`: its first source, None if it cites none."""

    path: str
    fact: Fact
    when: datetime
    quote: Quote | None


@dataclass(frozen=True, slots=True)
class ByWriter:
    """The newest facts of one writer, newest first. `agent`: whether the writer is an agent. `count`: the number of all
    of the writer's new facts, also of those that are not in `rows`."""

    name: str
    agent: bool
    count: int
    rows: tuple[WrittenFact, ...]


def writers_of(view: View, head: str, changes: Sequence[FactChange]) -> Mapping[str, Writer]:
    """The writer of each present fact at `head`, and of each fact that `changes` brought, by fact id; {} without
    changes."""
    if not changes:
        return {}
    writer_of = dict(view.facts.writers(view.repo, head))
    missing = [change.new for change in changes if change.new and change.new.id not in writer_of]
    if missing:
        writer_of |= writers(view.repo, head, missing)
    return writer_of


def first_written(
    changes: Sequence[FactChange], writer_of: Mapping[str, Writer], within: Collection[str]
) -> list[FactChange]:
    """Of the changes, those that added a fact which one of the commits `within` was the first to write. `writer_of`:
    the writer of each fact, by fact id."""
    added = []
    for change in changes:
        is_added = change.op in (Op.ADDED, Op.PROMOTED) and kind(change.path) in KINDS and not is_archiving(change)
        writer = writer_of.get(change.fact.id)
        if is_added and writer and writer.commit.oid in within:
            added.append(change)
    return added


def newest_facts(
    view: View, writer_of: Mapping[str, Writer], without: Collection[str], limit: int
) -> list[tuple[str, Fact]]:
    """(path, fact) of the `limit` facts that were written last, newest first. Facts with an id in `without` or without
    a known writer, and archived or replaced facts, are left out. `writer_of`: the writer of each fact, by fact id."""
    rows = [
        (writer_of[row.fact.id].commit.commit_date.timestamp(), row)
        for row in view.facts.rows
        if row.fact.id in writer_of and row.fact.id not in without and row.state not in ("archived", "superseded")
    ]
    rows.sort(key=lambda pair: -pair[0])
    by_id = {row.fact.id: (row.path, row.fact) for _, row in reversed(rows[: 2 * limit])}  # a copied fact counts once
    return list(reversed(by_id.values()))[:limit]


def by_writer(
    view: View, head: str, writer_of: Mapping[str, Writer], facts: Sequence[tuple[str, Fact]], limit: int
) -> list[ByWriter]:
    """The newest `limit` of the facts (path, fact), grouped by writer; the writer of the newest fact comes first. Two
    agents of one name are one writer, and so are two people."""
    counts = Counter(_writer_key(writer_of[fact.id]) for _, fact in facts)
    latest = sorted(facts, key=lambda row: -writer_of[row[1].id].commit.commit_date.timestamp())[:limit]
    reader = SourceReader(view.repo, head, view.config.memory_paths)
    rows: dict[tuple[str, bool], list[WrittenFact]] = defaultdict(list)
    for path, fact in latest:
        writer = writer_of[fact.id]
        rows[_writer_key(writer)].append(
            WrittenFact(path, fact, writer.commit.author_date, _quote(view, reader, fact))
        )  # fmt: skip
    return [ByWriter(name, agent, counts[name, agent], tuple(written)) for (name, agent), written in rows.items()]


def _writer_key(writer: Writer) -> tuple[str, bool]:
    return writer.name, bool(writer.agent)


def _quote(view: View, reader: SourceReader, fact: Fact) -> Quote | None:
    """The first source in the fact's comment; None when it cites none."""
    span = next(iter(cited_spans(fact.meta)), None)
    if span is None:
        return None
    source = reader.read(fact, span)
    if source.problem:
        return Quote(span, "")
    text = source.text
    if view.forgotten:
        text = view.forgotten.masked(text)
    if fact.text.casefold() in " ".join(text.split()).casefold():
        text = ""
    return Quote(Span(source.path, source.start_line, source.end_line), text)
