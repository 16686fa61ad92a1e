"""Determines the origin of each line of a log: user, agent, tool or web. Pure.

A line has the worst origin stated by its own comment, by the items, headings and lines ending in a colon above it, and
by the front matter of the log. Promotion holds facts of bad origins back until a review; `verify` and `review` find
facts that came into memory without promotion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.lazy_patterns import lazy
from gitmem.memory.document import Fault, parse_lines_only
from gitmem.memory.fact import origin_of, worst_origin
from gitmem.memory.front_matter import items_of
from gitmem.memory.statements import Form, Statement

# A comment of another spelling than ours that states an origin. It is believed: nobody gains by stating a bad origin.
_LOOSE = lazy(r"<!--\s*mem\s[^<>]*?\borigin\s*=\s*[\"']?(\w+)", re.IGNORECASE)


def line_origins(document: Sequence[Statement]) -> list[str]:
    """The origin of each line of a log, in order; "" for a line without a stated origin. `document`: the statements of
    the log."""
    origins: list[str] = []
    for statement, origin in zip(document, statement_origins(document), strict=True):
        origins += [origin] * (statement.last + 1 - statement.first)
    return origins


def statement_origins(document: Sequence[Statement]) -> list[str]:
    """The origin of each statement, in order; "" without a stated origin. A quoted or fenced statement is at least as
    bad as `web`: others wrote its text."""
    stated: list[str] = []  # worst origin stated for each statement and for what is above it
    origins: list[str] = []  # the same, with `web` for quotations
    headings: list[tuple[int, str]] = []  # (level, origin) of the headings above the present statement
    for statement in document:
        if statement.form is Form.HEADING:
            while headings and headings[-1][0] >= len(statement.above):
                headings.pop()
        above = [stated[place] for place in (statement.parent, statement.under) if place is not None]
        if headings:
            above += [headings[-1][1]]
        stated.append(worst_origin(origin_of(statement.meta), *_LOOSE.findall(statement.text), *above))
        if statement.form is Form.HEADING:
            headings.append((len(statement.above), stated[-1]))
        origins.append(stated[-1])
        if statement.form in (Form.QUOTE, Form.CODE) or statement.text.startswith(">"):
            origins[-1] = worst_origin(stated[-1], "web")
    return origins


def log_origin(lines: Sequence[str]) -> str:
    """The worst `origin` in the front matter of a log; "" when it states none.

    Front matter that cannot be parsed counts as the worst origin when it contains the word "origin".
    """
    document = parse_lines_only("\n".join(lines).encode("utf-8", "surrogateescape"))
    if any(problem.fault is Fault.FRONT for problem in document.problems):
        front = "\n".join(document.lines[: document.front]).casefold()
        if "origin" not in front:
            return ""
        return worst_origin("unreadable")
    values = [value for key, value in document.front_matter.items() if key.casefold() == "origin"]
    return worst_origin(*(word for value in values for word in items_of(value)))
