"""Reads the text of cited lines: their statements, and what these are about (headings, parent items, table header).

Pure. A fact that cites a line below the item `Bakery` may say `Bakery: …`. Every check of a fact against its source
therefore compares it with the lines and with their trail.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.memory.fact import normalise
from gitmem.memory.statements import Form, Statement


class CitedText(NamedTuple):
    """`statements`: the text of each cited statement. `trail`: the headings, parent items and table headers above them,
    without repeats."""

    statements: tuple[str, ...]
    trail: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Everything that a fact citing these lines may repeat: statements and trail."""
        return (*self.statements, *self.trail)


def cited_text(document: Sequence[Statement], lines: Sequence[str], first: int, last: int) -> CitedText:
    """The text of lines `first` to `last` (from 1) of a file, and the headings and items above them. `document`: the
    statements of the file; `lines`: its lines.

    Of a statement that is cited in part, and of code, each cited line is a text of its own.
    """
    texts: list[str] = []
    trail: dict[str, None] = {}
    for statement in document:
        if statement.last < first:
            continue
        if statement.first > last:
            break
        if statement.has_content:
            trail.update(dict.fromkeys(statement.trail))
        if (
            statement.has_content
            and first <= statement.first
            and statement.last <= last
            and statement.form is not Form.CODE
        ):
            texts.append(statement.text)
        elif statement.form is not Form.BLANK:
            cited = lines[max(first, statement.first) - 1 : min(last, statement.last)]
            texts += filter(None, map(normalise, cited))
    return CitedText(tuple(texts), tuple(trail))
