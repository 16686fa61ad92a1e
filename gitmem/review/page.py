"""A page of Markdown within a size: sections of rows, of which the risky ones stay and the others are counted. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gitmem.plural import counted
from gitmem.review.markup import folded

MIN_ROWS_PER_SECTION = 10  # rows that every section shows before another one shows all of its own
PLACES = 20  # of one finding, and of equal facts, that are named; the others are counted
TRIES = 12  # of a smaller budget, until the page with its titles fits


@dataclass(frozen=True, slots=True)
class Row:
    """One item: `text` with further lines indented by two, the `rest` of a long text, and the item in a few words.

    Rows of one `group` stand below one line that says it and how many they are; a row may stand for `count` equal ones.
    """

    text: str
    rest: str = ""
    short: str = ""
    group: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title. `noun` and `plural` count what is not shown; `risky` rows are never left out for others, and
    a `folded` section is closed until it is opened."""

    title: str
    rows: tuple[Row, ...]
    noun: str
    plural: str = ""
    risky: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """What fits, and `missing` in words: how many of what are not shown."""

    text: str
    missing: tuple[str, ...] = ()


def some(places: Sequence[str]) -> str:
    """Places in one line, the first PLACES of them."""
    return ", ".join(places[:PLACES]) + (f" and {len(places) - PLACES} more" if len(places) > PLACES else "")


def unbounded(sections: Iterable[Section]) -> str:
    """Every row of every section, long texts folded and nothing left out."""
    return "\n".join(_section(section, section.rows, rest=True) for section in sections if section.rows)


def _count(rows: Iterable[Row]) -> int:
    return sum(row.count for row in rows)


def fit(sections: Sequence[Section], limit: int, size: Callable[[str], int] = len) -> Page:
    """As much of the sections as `limit` holds, by `size`: first without the folded rest of long texts, then without
    the last rows of what is not risky, then with the risky ones in few words. What is left out is counted by kind."""
    text = unbounded(sections)
    if size(text) <= limit:
        return Page(text)
    budget = limit
    for _ in range(TRIES):
        text, missing = _fitted(sections, budget, size)
        if size(text) <= limit:
            return Page(text, missing)
        budget = budget * 9 // 10
    return Page("", tuple(_left_out(section, _count(section.rows)) for section in sections if section.rows))


def _fitted(sections: Sequence[Section], budget: int, size: Callable[[str], int]) -> tuple[str, tuple[str, ...]]:
    """The page of about `budget`, and what it lacks."""
    risky = sum(size(_row(row)) for section in sections if section.risky for row in section.rows)
    brief = risky > budget * 2 // 3
    rows_of = [_brief(section) if brief and section.risky else section.rows for section in sections]
    counts = [0] * len(sections)
    for risky_ones, most in ((True, None), (False, MIN_ROWS_PER_SECTION), (False, None)):
        for number, section in enumerate(sections):
            if section.risky is risky_ones:
                counts[number], budget = _rows_that_fit(rows_of[number], counts[number], most, budget, size)
    parts = []
    missing = []
    cut = sum(bool(row.rest) for n, section in enumerate(sections) for row in section.rows[: counts[n]])
    for number, section in enumerate(sections):
        left = _count(section.rows[counts[number] :])
        if counts[number]:
            parts.append(_section(section, rows_of[number][: counts[number]], left=left))
        if left:
            missing.append(_left_out(section, left))
    if brief:
        missing.append("the words of what fails, but for its place")
    if cut:
        missing.append(f"the rest of {counted(cut, 'long text')}")
    return "\n".join(parts), tuple(missing)


def _rows_that_fit(
    rows: Sequence[Row], count: int, most: int | None, budget: int, size: Callable[[str], int]
) -> tuple[int, int]:
    """(rows that fit, what is left of the budget), from `count` rows on and up to `most`."""
    if most is None:
        end = len(rows)
    else:
        end = min(most, len(rows))
    while count < end:
        group = ""
        if count == 0 or rows[count - 1].group != rows[count].group:
            group = rows[count].group
        cost = size(_row(rows[count])) + size(group) + 1
        if cost > budget:
            break
        budget -= cost
        count += 1
    return count, budget


def _brief(section: Section) -> tuple[Row, ...]:
    return tuple(Row(row.short or row.text, group=row.group, count=row.count) for row in section.rows)


def _left_out(section: Section, number: int) -> str:
    return counted(number, section.noun, section.plural)


def _section(section: Section, rows: Sequence[Row], *, rest: bool = False, left: int = 0) -> str:
    lines: list[str] = []
    sizes: dict[str, int] = {}
    for row in section.rows:
        sizes[row.group] = sizes.get(row.group, 0) + row.count
    group = ""
    for number, row in enumerate(rows):
        if row.group != group or not number:
            group = row.group
            lines += [*([""] if number else []), *([f"{sizes[group]} {group}:", ""] if group else [])]
        lines.append(_row(row, rest=rest))
    if left:
        lines += ["", f"and {_left_out(section, left)} more"]
    body = "\n".join(lines)
    title = f"#### {section.title}\n\n"
    return title + (folded(f"{_left_out(section, _count(section.rows))}", body) if section.folded else body) + "\n"


def _row(row: Row, *, rest: bool = False) -> str:
    if not (rest and row.rest):
        return f"- {row.text}"
    more = folded("the rest", row.rest).replace("\n", "\n  ").replace("\n  \n", "\n\n")
    return f"- {row.text}\n\n  {more}"
