"""Marks the statements of a context that come from a tool or the web, and those that name a time relative to the day on
which they were said, with that day.

A context shows no metadata comments, so without these marks a model cannot tell a web page's words from a person's, nor
what "next month" means. A statement of a file with a day in its name gets no day, because the quotation names the file.
The caller passes a function that reads files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gitmem.context.layers import Part, Read
from gitmem.memory import facts
from gitmem.memory.fact import FOREIGN_ORIGINS, worst_origin
from gitmem.memory.front_matter import items_of
from gitmem.paths import log_date
from gitmem.text.relative_times import counts_from_its_day


def with_said_marks(parts: Sequence[Part], read: Read) -> list[Part]:
    """All parts in order, with `said` set on those with a statement that needs a mark."""
    origins: dict[str, tuple[str, ...]] = {}  # path -> the origins that its front matter names
    marked = []
    for part in parts:
        if part.pieces and part.path not in origins:
            document = read(part.path)
            origins[part.path] = items_of(document.front_matter.get("origin", ()) if document else ())
        marks = tuple(_marks(part, origins.get(part.path, ())))
        marked.append(replace(part, said=marks) if marks else part)
    return marked


def _marks(part: Part, file_origins: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """(first line of a statement, its mark such as `from the web, said 2026-11-20`) for each statement that needs
    one."""
    for piece in part.pieces:
        fact = facts.fact_of(piece.statement)
        stated = (value for key, value in fact.meta if key.casefold() == "origin")
        words = [FOREIGN_ORIGINS.get(worst_origin(*file_origins, *stated), "")]
        day = facts.fact_date(fact)
        if day and log_date(part.path) is None and day not in fact.text and counts_from_its_day(fact.text):
            words.append(f"said {day}")
        if mark := ", ".join(filter(None, words)):
            yield piece.first, mark
