"""Whose words the lines of a log are: the user's, an agent's, a tool's, a web page's. Pure.

The worst origin wins: that of the statement's own comment, of the items, headings and lines ending in a colon that it
stands below, of the log's front matter.
Promotion holds facts back by it, and `verify` and `review` find what went round promotion.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gitmem.lazy_patterns import lazy
from gitmem.memory.document import Fault, parse_lines_only
from gitmem.memory.fact import origin_of, worst_origin
from gitmem.memory.statements import Form, Statement

# A comment that is none of ours for its blanks or case, and says an origin all the same: nobody gains by saying so.
_LOOSE = lazy(r"<!--\s*mem\s[^<>]*?\borigin\s*=\s*[\"']?(\w+)", re.IGNORECASE)


def line_origins(document: Sequence[Statement]) -> list[str]:
    """The worst origin stated for each line of a log that is read as these statements: by its statement's comment and
    by every item that it stands below.

    A quoted or fenced statement is `web`: whoever wrote the log shows there what somebody else wrote.
    """
    origins: list[str] = []
    for statement, origin in zip(document, statement_origins(document), strict=True):
        origins += [origin] * (statement.last + 1 - statement.first)
    return origins


def statement_origins(document: Sequence[Statement]) -> list[str]:
    """The origin of each statement."""
    stated: list[str] = []  # of each, and of what it stands below
    shown: list[str] = []
    headings: list[tuple[int, str]] = []  # (how many stand above it, origin) of those that a statement stands under
    for statement in document:
        if statement.form is Form.HEADING:
            while headings and headings[-1][0] >= len(statement.above):
                headings.pop()
        above = [stated[place] for place in (statement.parent, statement.under) if place >= 0]
        if headings:
            above += [headings[-1][1]]
        loose = _LOOSE.findall(statement.text) if "<!--" in statement.text else ()
        stated.append(worst_origin(origin_of(statement.meta), *loose, *above))
        if statement.form is Form.HEADING:
            headings.append((len(statement.above), stated[-1]))
        quoted = statement.form in (Form.QUOTE, Form.CODE) or statement.text.startswith(">")
        shown.append(worst_origin(stated[-1], "web" if quoted else ""))
    return shown


def log_origin(lines: Sequence[str]) -> str:
    """The worst `origin` of a log's front matter, "" where it states none, `web` where it cannot be read."""
    document = parse_lines_only("\n".join(lines).encode("utf-8", "surrogateescape"))
    if any(problem.fault is Fault.FRONT for problem in document.problems):
        front = "\n".join(document.lines[: document.front]).casefold()
        if "origin" not in front:
            return ""
        return worst_origin("unreadable")
    values = [value for key, value in document.front_matter.items() if key.casefold() == "origin"]
    return worst_origin(*(word for value in values for word in ([value] if isinstance(value, str) else value)))
