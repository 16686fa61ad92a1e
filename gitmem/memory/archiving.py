"""Moves facts from MEMORY.md to `memory/archive/YYYY.md`: expired facts, facts over the line budget, replaced facts.

No fact is dropped. Pure: the functions take and return bytes or a `Memory`; the date, and how a file is read, are
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from gitmem.json_values import json_keys
from gitmem.memory import facts
from gitmem.memory.fact import Fact
from gitmem.memory.facts import Entry, Memory
from gitmem.memory.sections import HEADINGS
from gitmem.memory.statements import Form

PROMOTED_SHARE = 4  # the share of MEMORY.md's budget that promoted facts may always have is 1/4


@json_keys("id=fact.id text=fact.text path")
@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """An entry that goes to the archive: its fact, its lines with their ends, and the path of the archive file."""

    fact: Fact
    lines: tuple[str, ...]
    path: str


def archive_path(fact: Fact, today: date) -> str:
    """`memory/archive/YYYY.md` with the year of the fact, or of `today` if the fact has no date."""
    year = facts.fact_date(fact)[:4]
    if not year.isdigit():
        year = str(today.year)
    return f"memory/archive/{year}.md"


def remove_for_archive(memory: Memory, chosen: Iterable[Entry], today: date) -> tuple[Memory, list[ArchiveEntry]]:
    """(the memory without the entries `chosen`, the archive entries that the caller must pass to `archive`, in the
    order of the file). An entry takes the lines indented below it along; an entry below another chosen one is no
    archive entry of its own."""
    taken: list[Entry] = []
    for entry in sorted(chosen, key=lambda entry: entry.start):
        if not taken or entry.start > taken[-1].end:  # an entry indented below another one moves with it
            taken.append(entry)
    lines: list[str] = []
    moved: list[ArchiveEntry] = []
    copied = 0
    for entry in taken:
        lines += memory.lines[copied : entry.start - 1]
        block = memory.lines[entry.start - 1 : entry.end]
        ends = tuple(line if line.endswith("\n") else line + memory.newline for line in block)
        moved.append(ArchiveEntry(entry.fact, ends, archive_path(entry.fact, today)))
        copied = entry.end
    if moved:
        memory = facts.parse_lines([*lines, *memory.lines[copied:]])
    return memory, moved


def remove_expired(memory: Memory, today: date) -> tuple[Memory, list[ArchiveEntry]]:
    """Take the expired facts out of the memory, except those that are pinned or have a pinned fact below them. Returns
    (the memory without them, the archive entries to pass to `archive`), as `remove_for_archive`."""
    lapsed = [entry for entry in memory.entries if facts.expired(entry.fact, today) and not has_pinned(memory, entry)]
    return remove_for_archive(memory, lapsed, today)


def has_pinned(memory: Memory, entry: Entry) -> bool:
    """Whether the fact of an entry, or a fact indented below it, is pinned."""
    return any(map(facts.pinned, (entry.fact, *memory.below(entry))))


def fit_to_budget(memory: Memory, today: date, budget: int) -> tuple[Memory, list[ArchiveEntry]]:
    """Take items out of the memory until the file has at most `budget` lines. Returns (the memory without them, the
    archive entries to pass to `archive`), as `remove_for_archive`.

    The least important facts go first, of equally important ones the oldest. Pinned facts stay. The result is still
    over the budget if the other lines alone are: the caller checks `len(memory.lines)`.
    """
    free = [entry for entry in memory.items if not has_pinned(memory, entry)]
    return _without_least(memory, free, today, budget)


def fit_promoted_to_budget(
    memory: Memory, today: date, budget: int, keep: Iterable[str] = ()
) -> tuple[Memory, list[ArchiveEntry]]:
    """`fit_to_budget` for a program that asks nobody: what people wrote stays, and only facts that cite a log go.
    `budget`: lines of the file. `keep`: ids of facts that stay too.

    Facts that cite a log have the rest of the budget to themselves, and at least 1/PROMOTED_SHARE of it where what
    people wrote fills the file. An item stays too if a person wrote or pinned a fact indented below it.
    """
    kept_ids = set(keep)
    promoted = [entry for entry in memory.items if not any(map(facts.by_person, (entry.fact, *memory.below(entry))))]
    other_lines = len(memory.lines) - sum(entry.end - entry.start + 1 for entry in promoted)
    free = [entry for entry in promoted if entry.fact.id not in kept_ids]
    return _without_least(memory, free, today, max(budget, other_lines + budget // PROMOTED_SHARE))


def _without_least(memory: Memory, free: list[Entry], today: date, budget: int) -> tuple[Memory, list[ArchiveEntry]]:
    """`remove_for_archive` for the least important entries of `free`, of equally important ones the oldest, until the
    file has at most `budget` lines."""
    excess = len(memory.lines) - budget
    if excess <= 0:
        return memory, []
    free.sort(key=lambda entry: (facts.importance(entry.fact), facts.fact_date(entry.fact), -entry.start))
    chosen: list[Entry] = []
    for entry in free:
        if excess <= 0:
            break
        chosen.append(entry)
        excess -= entry.end - entry.start + 1
    return remove_for_archive(memory, chosen, today)


def superseded_entry(fact: Fact, successor_id: str, today: date, key: str = facts.SUPERSEDED_BY) -> ArchiveEntry:
    """The archive entry of a fact that the fact with the id `successor_id` replaces. `key`: `superseded-by`, or
    `same-as` if both say the same. Raises ValueError if the fact's text is empty or has a comment mark."""
    return ArchiveEntry(fact, (superseded_line(fact, successor_id, key),), archive_path(fact, today))


def superseded_line(fact: Fact, successor_id: str, key: str = facts.SUPERSEDED_BY) -> str:
    """The line of the archive for a fact that the fact with the id `successor_id` replaces: a list item with
    `key`=`successor_id` in its comment, and a line end.

    `key`: `superseded-by`, or `same-as` if both facts say the same. Raises ValueError if the fact's text is empty or
    has a comment mark.
    """
    meta = (*(pair for pair in fact.meta if pair[0] not in (facts.SUPERSEDED_BY, facts.SAME_AS)), (key, successor_id))
    return facts.bullet(fact.text, meta) + "\n"


def with_archives(
    contents: Mapping[str, bytes], moved: Iterable[ArchiveEntry], read_archive: Callable[[str], bytes]
) -> dict[str, bytes]:
    """`contents` (path -> bytes) with the entries `moved` added to their archives. `read_archive`: returns the
    bytes of an archive that `contents` lacks, b"" for a new one."""
    by_path: dict[str, list[ArchiveEntry]] = {}
    for item in moved:
        by_path.setdefault(item.path, []).append(item)
    result = dict(contents)
    for path, items in by_path.items():
        if path not in result:
            result[path] = read_archive(path)
        result[path] = archive(result[path], items)
    return result


def archive(data: bytes, moved: Iterable[ArchiveEntry]) -> bytes:
    """Add the entries `moved` to an archive file: returns its new bytes. `data`: its bytes now, b"" for a new file.
    Each entry goes below the heading that its fact had before.

    A fact whose id is in the file already is not added. The file is parsed once for each heading.
    """
    memory = facts.parse(data)
    known_ids = {fact.id for fact in memory.facts}
    groups: dict[tuple[str, ...], list[ArchiveEntry]] = {}
    for item in moved:
        if not memory.lines:
            memory = facts.parse_lines([f"# Archive {item.path[-7:-3]}\n", "\n"])
        if item.fact.id not in known_ids:
            known_ids |= {item.fact.id, *(fact.id for fact in facts.parse_lines(item.lines).facts)}
            groups.setdefault((item.fact.heading or HEADINGS["fact"][0],), []).append(item)
    for names, items in groups.items():
        if all(_is_one_item(item.lines) for item in items):  # of one day the entry that was moved last comes first
            memory = facts.insert_all(memory, [(item.lines, item.fact) for item in reversed(items)], names)
            continue
        for item in items:  # the lines above a paragraph or a row decide how Markdown reads it: one at a time
            memory = facts.insert(memory, item.lines, item.fact, names)
    return memory.data()


def _is_one_item(lines: Sequence[str]) -> bool:
    """Whether lines are one list item at the margin, with the lines indented below it."""
    entries = [
        (entry.start, entry.end, entry.form) for entry in facts.parse_lines(lines).entries if entry.parent is None
    ]
    return entries == [(1, len(lines), Form.ITEM)] and not lines[0].startswith((" ", "\t"))
