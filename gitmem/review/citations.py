"""The lines that the facts of a change cite, read from the blob they were taken from. Reads only, history only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.git.repository import Repository
from gitmem.provenance.cited_sources import Source, SourceReader, cited
from gitmem.provenance.verify import Checked
from gitmem.review.fact_diff import FactChange

Place = tuple[str, str, int]  # the commit a fact stands in, its path, its line


def citations(
    repo: Repository, base: str, head: str, changes: Sequence[FactChange], checked: Iterable[Checked]
) -> dict[Place, tuple[Source, ...]]:
    """The sources of every changed fact: at `head` for one that is there, at `base` for one that went.

    `checked` are facts whose sources are read already. A fact that cites nothing has no row.
    """
    sources = {(head, row.path, row.fact.line): row.attribution.sources for row in checked if row.attribution.sources}
    readers: dict[str, SourceReader] = {}
    for change in changes:
        if change.new:
            commit, path = (head, change.path)
        else:
            commit, path = (base, change.old_path or change.path)
        place = commit, path, change.fact.line
        spans = cited(change.fact)
        if place in sources or not spans or not commit:
            continue
        reader = readers.setdefault(commit, SourceReader(repo, commit))
        sources[place] = tuple(reader.read(change.fact, span) for span in spans)
    return sources
