"""A Markdown page made of sections of rows, cut to a size limit. Pure.

Risky sections are kept as long as possible. The page counts the rows of the other sections that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from gitmem.plural import counted
from gitmem.review.markup import details_block

MIN_ROWS_PER_SECTION = 10  # rows that every section shows before another one shows all of its own
MAX_PLACES = 20  # places of one finding, or of equal facts, that are listed; the others are counted
MAX_FIT_ATTEMPTS = 12  # attempts to fit the page with its titles, each with a budget that is a tenth smaller


@dataclass(frozen=True, slots=True)
class Row:
    """One list item of a section, in Markdown.

    `text`: the item; its further lines are indented by two. `rest`: the folded end of a long text, else "". `short`:
    the item in a few words. `group`: rows with the same group are shown below one line with the group's name and size;
    "" for none. `count`: how many equal items this row represents.
    """

    text: str
    rest: str = ""
    short: str = ""
    group: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a title. `noun`, `plural`: what the rows are called in a count. `risky`: these rows get space before
    the rows of other sections. `folded`: the section is a closed `<details>` block."""

    title: str
    rows: tuple[Row, ...]
    noun: str
    plural: str = ""
    risky: bool = False
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """The Markdown that fits. `missing`: the counts of the rows that are not shown, as phrases."""

    text: str
    missing: tuple[str, ...] = ()


def place_list(places: Sequence[str]) -> str:
    """The first MAX_PLACES places in one line, with the number of the others."""
    text = ", ".join(places[:MAX_PLACES])
    if len(places) > MAX_PLACES:
        text += f" and {len(places) - MAX_PLACES} more"
    return text


def whole_page(sections: Iterable[Section]) -> str:
    """The Markdown of all rows of all sections; the rest of long texts is folded."""
    return "\n".join(_section(section, section.rows, with_rest=True) for section in sections if section.rows)


def _count(rows: Iterable[Row]) -> int:
    return sum(row.count for row in rows)


def fit_page(sections: Sequence[Section], limit: int, size: Callable[[str], int] = len) -> Page:
    """The sections cut to `limit`, measured by `size` (default: characters).

    The cuts come in this order: the folded rest of long texts, the last rows of sections that are not risky, the long
    form of risky rows. `Page.missing` counts what was cut. When not even that fits, the text is "" and every row is
    counted.
    """
    text = whole_page(sections)
    if size(text) <= limit:
        return Page(text)
    budget = limit
    for _ in range(MAX_FIT_ATTEMPTS):
        text, missing = _fit_to_budget(sections, budget, size)
        if size(text) <= limit:
            return Page(text, missing)
        budget = budget * 9 // 10
    return Page("", tuple(_counted_rows(section, _count(section.rows)) for section in sections if section.rows))


def _fit_to_budget(sections: Sequence[Section], budget: int, size: Callable[[str], int]) -> tuple[str, tuple[str, ...]]:
    """(page of about `budget`, the phrases of `Page.missing`). Titles are not counted, so the page may be larger."""
    risky_size = sum(size(_row(row)) for section in sections if section.risky for row in section.rows)
    brief = risky_size > budget * 2 // 3
    rows_of = [section.rows for section in sections]
    if brief:
        rows_of = [_short_rows(section) for section in sections]
    counts = [0] * len(sections)
    for risky, limit in ((True, None), (False, MIN_ROWS_PER_SECTION), (False, None)):
        for number, section in enumerate(sections):
            if section.risky is risky:
                counts[number], budget = _rows_that_fit(rows_of[number], counts[number], limit, budget, size)
    parts = []
    missing = []
    cut_texts = 0
    for number, section in enumerate(sections):
        cut_texts += sum(bool(row.rest) for row in section.rows[: counts[number]])
        hidden_count = _count(section.rows[counts[number] :])
        if counts[number]:
            parts.append(_section(section, rows_of[number][: counts[number]], hidden_count=hidden_count))
        if hidden_count:
            missing.append(_counted_rows(section, hidden_count))
    if brief:
        missing.append("the words of what fails, but for its place")
    if cut_texts:
        missing.append(f"the rest of {counted(cut_texts, 'long text')}")
    return "\n".join(parts), tuple(missing)


def _rows_that_fit(
    rows: Sequence[Row], count: int, limit: int | None, budget: int, size: Callable[[str], int]
) -> tuple[int, int]:
    """(number of rows that fit, remaining budget), when `count` rows are placed already. `limit`: the highest number,
    None for all rows."""
    end = min(len(rows), limit or len(rows))
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


def _short_rows(section: Section) -> tuple[Row, ...]:
    """The rows of a section, in their short form when the section is risky."""
    if not section.risky:
        return section.rows
    return tuple(Row(row.short or row.text, group=row.group, count=row.count) for row in section.rows)


def _counted_rows(section: Section, number: int) -> str:
    return counted(number, section.noun, section.plural)


def _section(section: Section, rows: Sequence[Row], *, with_rest: bool = False, hidden_count: int = 0) -> str:
    """The Markdown of a section with these rows. `with_rest`: show the folded ends of long texts. `hidden_count`:
    number of rows that are not shown."""
    lines: list[str] = []
    sizes: dict[str, int] = {}
    for row in section.rows:
        sizes[row.group] = sizes.get(row.group, 0) + row.count
    group = ""
    for number, row in enumerate(rows):
        if row.group != group or not number:
            group = row.group
            if number:
                lines.append("")
            if group:
                lines += [f"{sizes[group]} {group}:", ""]
        lines.append(_row(row, with_rest=with_rest))
    if hidden_count:
        lines += ["", f"and {_counted_rows(section, hidden_count)} more"]
    body = "\n".join(lines)
    if section.folded:
        body = details_block(_counted_rows(section, _count(section.rows)), body)
    return f"#### {section.title}\n\n{body}\n"


def _row(row: Row, *, with_rest: bool = False) -> str:
    """A row as a list item; with `with_rest`, the end of a long text is folded below it."""
    if not (with_rest and row.rest):
        return f"- {row.text}"
    folded = details_block("the rest", row.rest).replace("\n", "\n  ").replace("\n  \n", "\n\n")
    return f"- {row.text}\n\n  {folded}"
