"""The lines of a change that are no facts, and the facts that only stand elsewhere: headings, prose, front matter.

An agent reads them as it reads facts: a heading above a fact changes what the fact says, a sentence in SOUL.md what the
agent does. Covers memory and what hosts give to their agents besides (skills, rules, AGENTS.md). Reads only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gitmem.gate.policy import canonical
from gitmem.git.objects import EXECUTABLE, REGULAR, Change
from gitmem.git.repository import Repository
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, fact_id
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Layout, agents_read, is_memory, passes
from gitmem.review.commit_diff import MergeBases
from gitmem.review.fact_diff import FactChange, longest_rising, pair, placements
from gitmem.review.renames import renames

FILES = (REGULAR, EXECUTABLE)


class TextOp(StrEnum):
    """What became of a line that is no fact."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    REORDERED = "reordered"


@dataclass(frozen=True, slots=True)
class TextChange:
    """A line that is no fact: `line` and `text` after the change (0 and "" when it is gone), `old_line` and `old_text`
    before it; `old_path` where the file had another name. `heading`: it is a heading of Markdown."""

    op: TextOp
    path: str
    line: int = 0
    text: str = ""
    old_line: int = 0
    old_text: str = ""
    heading: bool = False
    old_path: str = ""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A file that agents read and that has another name now; `same`: its text is as it was."""

    old_path: str
    path: str
    same: bool = True


@dataclass(frozen=True, slots=True)
class OtherChanges:
    """What a change does to what an agent reads, besides its facts; `unread` are files whose text
    nobody was shown: above the limit of a memory file, or no text (a NUL byte, as UTF-16 has in every second place)."""

    texts: tuple[TextChange, ...] = ()
    placements: tuple[FactChange, ...] = ()
    renamed: tuple[Renamed, ...] = ()
    unread: tuple[str, ...] = ()


def other_changes(repo: Repository, base: str, head: str, layout: Layout, daily: Sequence[str] = ()) -> OtherChanges:
    """The changed lines from `base` ("" for nothing) to `head` that are no facts, in order of path and line.

    In what `paths.passes` (with the patterns `daily`) nothing is told as moved: its order says nothing.
    """
    files = [change for change in repo.changes(base, head) if _is_read(change.path, layout)]
    former = renames(repo, base, head, files)
    renamed = list(_renamed(files, former, layout))
    same = {path for row in renamed if row.same for path in (row.old_path, row.path)} | set(former.values())
    sides = {change.path: _sides(change) for change in files}
    oids = {oid for both in sides.values() for oid in both if oid}
    sizes = repo.sizes(list(oids))
    small = [oid for oid in oids if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    texts_of = {oid: data or b"" for oid, (_, data) in zip(small, repo.read_many(small), strict=True) if is_text(data)}
    texts: list[TextChange] = []
    moved: list[FactChange] = []
    unread = []
    for change in files:
        old_oid, new_oid = sides[change.path]
        old_path = former.get(change.path, "")
        if old_path:
            old_oid = sides[old_path][0]
        if any(oid and oid not in texts_of for oid in (old_oid, new_oid)):
            unread.append(change.path)
            continue
        if change.path in same:
            continue
        old, new = (texts_of[oid] if oid else b"" for oid in (old_oid, new_oid))
        facts = is_memory(change.path, layout)
        found = line_changes(change.path, old, new, facts=facts)
        texts += [replace(row, old_path=old_path) for row in found] if old_path else found
        if facts and not old_path and not passes(change.path, daily):
            sides_of = (memory_facts.reviewed_facts(change.path, memory_facts.parse(data)) for data in (old, new))
            moved += placements(change.path, *sides_of)
    texts.sort(key=lambda row: (row.path, row.line or row.old_line))
    return OtherChanges(tuple(texts), tuple(moved), tuple(renamed), tuple(unread))


def with_texts_taken_out(
    repo: Repository, texts: Sequence[TextChange], merges: MergeBases, layout: Layout, daily: Sequence[str]
) -> tuple[TextChange, ...]:
    """What `commit_diff.with_facts_taken_out` does for facts, for the other lines."""
    told = list(texts)
    for base in merges.bases:
        known = {(row.old_path or row.path, row.old_text) for row in told if row.old_line}
        since = other_changes(repo, base, merges.head, layout, daily).texts
        old = {(r.old_path or r.path, r.old_text): r for r in since if r.old_line and r.text != r.old_text}
        if old:
            standing = _lines_at(repo, merges.target, sorted({path for path, _ in old}))
        else:
            standing = set()
        more = [row for key, row in old.items() if key in standing - known]
        edited = {(row.path, row.line) for row in more if row.line}
        told = [row for row in told if row.old_line or (row.path, row.line) not in edited] + more
    return tuple(sorted(told, key=lambda row: (row.path, row.line or row.old_line)))


def _lines_at(repo: Repository, commit: str, paths: Sequence[str]) -> set[tuple[str, str]]:
    """(path, line without the space around it) of the files at a commit that may be read."""
    oids = repo.blobs(commit, paths)
    sizes = repo.sizes(list(oids.values()))
    small = {
        path: oid for path, oid in oids.items() if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
    }
    read = zip(small, repo.read_many(list(small.values())), strict=True)
    return {(path, line.strip()) for path, (_, data) in read for line in blob_lines(data or b"")}


def _is_read(path: str, layout: Layout) -> bool:
    """Whether an agent may read what is there: memory, instructions, and what is memory on a file system that folds
    case, as the gate has it."""
    return is_memory(path, layout) or agents_read(path) or is_memory(canonical(path), layout)


def is_text(data: bytes | None) -> bool:
    """Whether the bytes of a file may be shown as text: its characters are not what stands between them."""
    return b"\0" not in (data or b"")


def _sides(change: Change) -> tuple[str, str]:
    """(blob before, blob after) of a file, "" for a side that has none or is no file."""
    old = ""
    if change.status != "A" and change.old_mode in FILES:
        old = change.old_oid
    new = ""
    if change.status != "D" and change.new_mode in FILES:
        new = change.new_oid
    return old, new


def _renamed(files: Sequence[Change], former: Mapping[str, str], layout: Layout) -> Iterator[Renamed]:
    """The files of `former`, and those outside memory that went and came with the same bytes, whatever their role."""
    oids = {change.path: _sides(change) for change in files}
    taken = {*former, *former.values()}
    gone = defaultdict(list)
    for path, (old, new) in oids.items():
        if old and not new and path not in taken and not is_memory(path, layout):
            gone[old].append(path)
    for path, (old, new) in oids.items():
        if path in former:
            yield Renamed(former[path], path, oids[former[path]][0] == new)
        elif new and not old and gone.get(new) and not is_memory(path, layout):
            yield Renamed(gone[new].pop(0), path)


def line_changes(path: str, old: bytes, new: bytes, *, facts: bool) -> list[TextChange]:
    """What happened to the lines of one file; with `facts` the lines of facts are left out, blank ones always."""
    before, after = _lines(path, old, facts), _lines(path, new, facts)
    went, came, kept = _gone_come_and_common(before, after)
    gone, come = ({line.number: line for line in lines} for lines in (went, came))
    changes = []
    for heading in (True, False):
        olds, news = ([_as_fact(line) for line in lines if line.heading is heading] for lines in (went, came))
        for row in pair(path, olds, news):
            assert row.old and row.new
            was, now = gone.pop(row.old.line), come.pop(row.new.line)
            changes.append(TextChange(TextOp.CHANGED, path, now.number, now.text, was.number, was.text, heading))
    changes += [TextChange(TextOp.ADDED, path, row.number, row.text, heading=row.heading) for row in come.values()]
    changes += [
        TextChange(TextOp.REMOVED, path, old_line=row.number, old_text=row.text, heading=row.heading)
        for row in gone.values()
    ]
    in_order = longest_rising([was.number for was, _ in kept])
    for number, (was, now) in enumerate(kept):
        if number not in in_order:
            changes.append(TextChange(TextOp.REORDERED, path, now.number, now.text, was.number, was.text, now.heading))
    return changes


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    heading: bool


def _lines(path: str, data: bytes, facts: bool) -> list[_Line]:
    memory = memory_facts.parse(data)
    if facts:
        told = memory_facts.lines_of(memory_facts.reviewed_facts(path, memory))
    else:
        told = set()
    heads = {number for number, _, _ in memory.headings}
    return [
        _Line(number, text.strip(), number in heads)
        for number, text in enumerate(blob_lines(data), 1)
        if text.strip() and number not in told
    ]


def _gone_come_and_common(
    before: list[_Line], after: list[_Line]
) -> tuple[list[_Line], list[_Line], list[tuple[_Line, _Line]]]:
    """(gone, come, those on both sides as pairs in the order they have now); equal lines are taken in order."""
    counts = Counter(line.text for line in before)
    left: dict[str, list[_Line]] = defaultdict(list)
    for line in before:
        left[line.text].append(line)
    come, kept = [], []
    for line in after:
        if counts[line.text]:
            counts[line.text] -= 1
            kept.append((left[line.text].pop(0), line))
        else:
            come.append(line)
    return [line for rest in left.values() for line in rest], come, kept


def _as_fact(line: _Line) -> Fact:
    return Fact(line.text, fact_id(line.text), line.number)
