"""What cited lines say: the statements they are, and what these are about (headings, parent items, a table's header).

Pure. A fact may say `Bakery: …` where its line stands below the item `Bakery`: whoever checks a text against its
source, before it is written or long after, holds it against the lines and their trail alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.memory.fact import normalise
from gitmem.memory.statements import Form, Statement


class CitedText(NamedTuple):
    """What the lines say themselves, a statement a text, and their trail."""

    said: tuple[str, ...]
    trail: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Both: everything that a text resting on these lines may say."""
        return (*self.said, *self.trail)


def cited_text(document: Sequence[Statement], lines: Sequence[str], first: int, last: int) -> CitedText:
    """What lines `first` to `last` of a file with these statements say. A statement that is cited in part only says
    the lines cited of it."""
    said: list[str] = []
    trail: dict[str, None] = {}
    for statement in document:
        if statement.last < first:
            continue
        if statement.first > last:
            break
        if statement.says:
            trail.update(dict.fromkeys(statement.trail))
        if statement.says and first <= statement.first and statement.last <= last and statement.form is not Form.CODE:
            said.append(statement.text)
        elif statement.form is not Form.BLANK:
            cited = lines[max(first, statement.first) - 1 : min(last, statement.last)]
            said += [text for line in cited if (text := normalise(line))]
    return CitedText(tuple(said), tuple(trail))
