"""A file as a search reads it: its lines, and for each line the headings above it and the statement that it belongs to.

Headings and statements are parsed when they are first asked for. `trail` and `heading` never have a step with a secret;
`hidden` tells the lines with one, which `text` has. Pure.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from functools import cached_property
from typing import NamedTuple

from gitmem.index.db.values import Shape
from gitmem.memory import statements
from gitmem.memory.fact import parse_comment
from gitmem.memory.statements import Statement
from gitmem.paths import Kind
from gitmem.search.validity import last_day

COMMIT = "//commit"  # the path of a commit message; no file has such a path
ANY_LEVEL = 1 << 30  # more than the level of any heading
MIN_LINES_BELOW = 64  # least number of lines below a line that are read for its statement
WINDOW_LINES = 400  # lines of a file that are read for statements at a time
WITHHELD = "[a line with a secret]"  # shown in place of such a line
NO_SHAPE = Shape()
FileKey = tuple[str, str]  # (path, oid)


class Heading(NamedTuple):
    """A heading of a file. `line`: its number, from 1. `level`: 1 for `#`. `text`: without its marks."""

    line: int
    level: int
    text: str


class _Section(NamedTuple):
    """The headings that enclose a part of a file, outermost first; `title`: their texts, joined by " > "."""

    headings: Sequence[Heading]
    title: str


class _Window(NamedTuple):
    """Lines that were parsed together. `last`: the last of them. `titles`: headings put in front of the lines, so that
    the statements have their whole trail. `statements`: their line numbers count from the first of these headings."""

    last: int = 0
    titles: int = 0
    statements: Sequence[Statement] = ()


class MemoryFile:
    """A file of memory, or the message of a commit.

    `key`: (path, oid). `kind`, `when`: its kind, and the day in its name, None without one. `shape`: its headings and
    front matter as the index has them. `front`: key of its front matter -> values. `has_secrets`: whether the index
    left out lines of it because of a secret.
    """

    def __init__(
        self,
        key: FileKey,
        lines: list[str],
        kind: Kind,
        when: date | None,
        shape: Shape = NO_SHAPE,
        has_secrets: bool = False,
    ) -> None:
        self.key = key
        self.path, self.oid = key
        self.lines = lines
        self.kind = kind
        self.when = when
        self.shape = shape
        self.has_secrets = has_secrets
        self.front: dict[str, list[str]] = {}
        for name, value in shape.keys:
            self.front.setdefault(name, []).append(value)
        if "stale_after" in self.front and "until" not in self.front:  # what the Open Knowledge Format calls `until`
            self.front["until"] = [last_day(self.front["stale_after"][0])]
        self._sections: dict[int, _Section] = {}  # headings above the section -> the section
        self._windows: dict[tuple[int, int], _Window] = {}  # (first line, number of the window) -> the window
        self._statements: dict[int, Statement | None] = {}

    @property
    def has_facts(self) -> bool:
        """Whether it is a MEMORY.md or an archive."""
        return self.kind in (Kind.MEMORY, Kind.ARCHIVE)

    def text(self, first: int, last: int) -> str:
        """The text of lines `first` to `last`, with their comments; lines with a secret (`hidden`) are in it."""
        return "\n".join(self.lines[first - 1 : last])

    def visible_text(self, first: int, last: int) -> str:
        """The text of lines `first` to `last`, without their metadata comments; lines with a secret (`hidden`) are in
        it."""
        return "\n".join(map(_without_comment, self.lines[first - 1 : last]))

    @cached_property
    def hidden(self) -> AbstractSet[int]:
        """The numbers of the lines with a secret. The index has none of their words, and no hit shows them."""
        if not self.has_secrets:
            return frozenset()
        return _secret_lines(self.lines)

    def heading(self, line: int) -> str:
        """The headings above a line, outermost first, joined by " > "; "" without a heading. A heading with a secret is
        replaced by WITHHELD."""
        return self._section(line).title

    def trail(self, line: int) -> tuple[str, ...]:
        """What a line is about, outermost step first: the note's name, headings, parent items, table header. Empty for
        a line of no statement."""
        statement = self.statement(line)
        return self._screened(statement.trail) if statement is not None else ()

    def statement(self, line: int) -> Statement | None:
        """The statement that a line belongs to; None if it belongs to none."""
        if line not in self._statements:
            self._statements[line] = self._read_statement(line)
        return self._statements[line]

    def _section(self, line: int) -> _Section:
        above = bisect_right(self.shape.headings, (line, ANY_LEVEL))
        if above not in self._sections:
            headings: list[Heading] = []
            for number, level in self.shape.headings[:above]:
                while headings and headings[-1].level >= level:
                    headings.pop()
                if number <= len(self.lines):
                    headings.append(Heading(number, level, self.lines[number - 1].strip().strip("#").strip()))
            title = " > ".join(self._screened([heading.text for heading in headings if heading.text]))
            self._sections[above] = _Section(headings, title)
        return self._sections[above]

    def _screened(self, steps: Sequence[str]) -> tuple[str, ...]:
        """The steps of a trail; a step with a secret is replaced by WITHHELD."""
        if not steps or not self.has_secrets:
            return tuple(steps)
        hidden = _secret_lines(steps)
        return tuple(WITHHELD if number in hidden else step for number, step in enumerate(steps, 1))

    def _read_statement(self, line: int) -> Statement | None:
        """The statement of a line; None if the line belongs to none. Its section is parsed in windows of WINDOW_LINES
        lines, with one more window above.

        Parsed windows are cached, because a long flat list would otherwise be parsed again for each hit.
        """
        headings = self._section(line).headings
        number = (line - 1) // WINDOW_LINES
        section = self.shape.front + 1
        if headings:
            section = headings[-1].line
        first = max(section, (number - 1) * WINDOW_LINES + 1)
        last = line
        max_last = min(len(self.lines), max(line + MIN_LINES_BELOW, (number + 1) * WINDOW_LINES))
        while last < max_last and self.lines[last].strip():  # table headers and setext headings need it
            last += 1
        window = self._windows.get((first, number), _Window())
        if window.last < last:
            titles = [f"{'#' * heading.level} {heading.text}" for heading in headings if heading.line < first]
            name = statements.note_name(self.path, {key: values[0] for key, values in self.front.items() if values})
            parsed = statements.read([*titles, "", *self.lines[first - 1 : last]], name=name)
            window = self._windows[first, number] = _Window(last, len(titles), parsed)
        row = window.titles + 1 + line - first + 1  # number of the line in the window
        return next((statement for statement in window.statements if statement.first <= row <= statement.last), None)


def _without_comment(line: str) -> str:
    """A line without its metadata comment."""
    return parse_comment(line)[0] if line.endswith("-->") else line


def _secret_lines(lines: Sequence[str]) -> AbstractSet[int]:
    """The numbers, from 1, of the lines with a secret."""
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    return secret_lines("\n".join(lines))
