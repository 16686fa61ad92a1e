"""The changed lines that are not facts (headings, prose, front matter), and the facts that only moved within a file.

An agent reads these lines as it reads facts: a heading changes what the fact below it says, and a sentence in SOUL.md
changes what the agent does. The module covers memory files and the other files that hosts give to agents (skills,
rules, AGENTS.md). It only reads the repository.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gitmem.daily_logs import records_events
from gitmem.gate.policy import canonical
from gitmem.git.objects import Change
from gitmem.git.repository import Repository, read_small_blobs
from gitmem.memory import facts as memory_facts
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, fact_id
from gitmem.paths import Layout, agents_read, is_memory
from gitmem.review.commit_diff import FILE_MODES, MergeBases, renames
from gitmem.review.fact_diff import FactChange, moved_facts, pair_edited
from gitmem.sequences import longest_rising


class TextOp(StrEnum):
    """What happened to a line that is not a fact. REORDERED: its text is the same, at another place in the file."""

    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    REORDERED = "reordered"


@dataclass(frozen=True, slots=True)
class TextChange:
    """One changed line that is not a fact.

    `line`, `text`: the line (1-based) after the change, 0 and "" when it was removed. `old_line`, `old_text`: the line
    before the change, 0 and "" when it was added. `heading`: the line is a Markdown heading. `old_path`: the former
    path of a renamed file, else "".
    """

    op: TextOp
    path: str
    line: int = 0
    text: str = ""
    old_line: int = 0
    old_text: str = ""
    heading: bool = False
    old_path: str = ""


@dataclass(frozen=True, slots=True)
class RenamedFile:
    """A renamed file that agents read; `same`: its text did not change."""

    old_path: str
    path: str
    same: bool = True


@dataclass(frozen=True, slots=True)
class OtherChanges:
    """The changes to files that agents read, other than added, removed and edited facts.

    `texts`: changed lines that are not facts. `placements`: facts that moved within their file. `renamed`: renamed
    files. `unread`: paths of changed files that were not compared, because one version is larger than
    MAX_MEMORY_FILE_BYTES or contains a NUL byte (as UTF-16 does).
    """

    texts: tuple[TextChange, ...] = ()
    placements: tuple[FactChange, ...] = ()
    renamed: tuple[RenamedFile, ...] = ()
    unread: tuple[str, ...] = ()


def other_changes(repo: Repository, base: str, head: str, layout: Layout, daily: Sequence[str] = ()) -> OtherChanges:
    """The changes from `base` ("" for nothing) to `head` in files that agents read, without added, removed and edited
    facts; `texts` are in order of path and line.

    In logs (`daily_logs.records_events` with the patterns `daily`) order means nothing, so no fact is reported as
    moved.
    """
    files = [change for change in repo.changes(base, head) if _agents_may_read(change.path, layout)]
    old_path_of = renames(repo, base, head, files)
    renamed = list(_renamed_files(files, old_path_of, layout))
    unchanged = {path for row in renamed if row.same for path in (row.old_path, row.path)}
    renamed_away = set(old_path_of.values())
    blobs_of = {change.path: _blobs(change) for change in files}
    oids = {oid for blobs in blobs_of.values() for oid in blobs if oid}
    texts_of = {oid: data for oid, data in read_small_blobs(repo, ((oid, oid) for oid in oids)) if is_text(data)}
    texts: list[TextChange] = []
    moved: list[FactChange] = []
    unread = []
    for change in files:
        path = change.path
        old_oid, new_oid = blobs_of[path]
        old_path = old_path_of.get(path, "")
        if old_path:
            old_oid = blobs_of[old_path][0]
        if any(oid and oid not in texts_of for oid in (old_oid, new_oid)):
            unread.append(path)
            continue
        if path in unchanged or path in renamed_away:
            continue
        old, new = (texts_of.get(oid, b"") for oid in (old_oid, new_oid))
        has_facts = is_memory(path, layout)
        texts += [replace(row, old_path=old_path) for row in line_changes(path, old, new, facts=has_facts)]
        if has_facts and not old_path and not records_events(path, daily):
            moved += moved_facts(
                path, *(memory_facts.reviewed_facts(path, memory_facts.parse(data)) for data in (old, new))
            )
    texts.sort(key=lambda row: (row.path, row.line or row.old_line))
    return OtherChanges(tuple(texts), tuple(moved), tuple(renamed), tuple(unread))


def with_texts_removed_by_merge(
    repo: Repository, texts: Sequence[TextChange], merges: MergeBases, layout: Layout, daily: Sequence[str]
) -> tuple[TextChange, ...]:
    """`texts` and the lines that the merge would remove from the target by another merge base, in order of path and
    line; without the additions that another base has already. The counterpart of
    `commit_diff.with_facts_removed_by_merge` for lines that are not facts."""
    rows = list(texts)
    for base in merges.bases:
        known_lines = {(row.old_path or row.path, row.old_text) for row in rows if row.old_line}
        since = other_changes(repo, base, merges.head, layout, daily).texts
        old_rows = {(r.old_path or r.path, r.old_text): r for r in since if r.old_line and r.text != r.old_text}
        changed = {(row.path, row.line) for row in since}
        rows = [row for row in rows if row.old_line or (row.path, row.line) in changed]
        if not old_rows:
            continue
        in_target = _lines_at(repo, merges.target, sorted({path for path, _ in old_rows}))
        lost_rows = [row for key, row in old_rows.items() if key in in_target - known_lines]
        edited = {(row.path, row.line) for row in lost_rows if row.line}
        rows = [row for row in rows if row.old_line or (row.path, row.line) not in edited] + lost_rows
    return tuple(sorted(rows, key=lambda row: (row.path, row.line or row.old_line)))


def _lines_at(repo: Repository, commit: str, paths: Sequence[str]) -> set[tuple[str, str]]:
    """(path, stripped line) of the files at a commit; files above MAX_MEMORY_FILE_BYTES are skipped."""
    blobs = read_small_blobs(repo, repo.blobs(commit, paths).items())
    return {(path, line.strip()) for path, data in blobs for line in blob_lines(data)}


def _agents_may_read(path: str, layout: Layout) -> bool:
    """Whether agents may read the file: memory, instructions, or a path that is memory on a case-insensitive file
    system."""
    return is_memory(path, layout) or agents_read(path) or is_memory(canonical(path), layout)


def is_text(data: bytes | None) -> bool:
    """Whether a file can be shown as text: it has no NUL byte. None (no file) counts as empty text."""
    return b"\0" not in (data or b"")


def _blobs(change: Change) -> tuple[str, str]:
    """(oid of the blob before, oid after); "" for a side without the file, or where the path is not a regular file."""
    old = ""
    if change.status != "A" and change.old_mode in FILE_MODES:
        old = change.old_oid
    new = ""
    if change.status != "D" and change.new_mode in FILE_MODES:
        new = change.new_oid
    return old, new


def _renamed_files(files: Sequence[Change], old_path_of: Mapping[str, str], layout: Layout) -> Iterator[RenamedFile]:
    """The renamed files in the order of `files`: those of `old_path_of` (path -> former path), with `same` if the bytes
    are equal, and files outside memory that were removed at one path and added at another with the same bytes."""
    oids = {change.path: _blobs(change) for change in files}
    renamed_paths = {*old_path_of, *old_path_of.values()}
    removed = defaultdict(list)  # blob -> paths
    for path, (old, new) in oids.items():
        if old and not new and path not in renamed_paths and not is_memory(path, layout):
            removed[old].append(path)
    for path, (old, new) in oids.items():
        if path in old_path_of:
            old_path = old_path_of[path]
            yield RenamedFile(old_path, path, same=oids[old_path][0] == new)
        elif new and not old and removed.get(new) and not is_memory(path, layout):
            yield RenamedFile(removed[new].pop(0), path)


def line_changes(path: str, old: bytes, new: bytes, *, facts: bool) -> list[TextChange]:
    """The changes of one file's lines, blank lines left out: the changed lines, then the added, the removed and the
    reordered ones. `facts`: leave out the lines of facts too.

    A removed line and an added line that are similar enough become one CHANGED row, headings with headings only.
    """
    old_lines, new_lines = _lines(path, old, facts), _lines(path, new, facts)
    removed, added, common = _removed_added_and_common(old_lines, new_lines)
    left_removed, left_added = ({line.number: line for line in lines} for lines in (removed, added))
    changes = []
    for heading in (True, False):
        olds, news = ([_as_fact(line) for line in lines if line.heading is heading] for lines in (removed, added))
        for row in pair_edited(path, olds, news):
            assert row.old and row.new
            was, now = left_removed.pop(row.old.line), left_added.pop(row.new.line)
            changes.append(TextChange(TextOp.CHANGED, path, now.number, now.text, was.number, was.text, heading))
    for line in left_added.values():
        changes.append(TextChange(TextOp.ADDED, path, line.number, line.text, 0, "", line.heading))
    for line in left_removed.values():
        changes.append(TextChange(TextOp.REMOVED, path, 0, "", line.number, line.text, line.heading))
    in_order = set(longest_rising([was.number for was, _ in common]))
    for number, (was, now) in enumerate(common):
        if number not in in_order:
            changes.append(TextChange(TextOp.REORDERED, path, now.number, now.text, was.number, was.text, now.heading))
    return changes


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    text: str
    heading: bool


def _lines(path: str, data: bytes, facts: bool) -> list[_Line]:
    """The lines of a file that are not blank; with `facts`, without the lines of facts."""
    memory = memory_facts.parse(data)
    fact_lines: set[int] = set()
    if facts:
        fact_lines = memory_facts.lines_of(memory_facts.reviewed_facts(path, memory))
    headings = {number for number, _, _ in memory.headings}
    return [
        _Line(number, text.strip(), number in headings)
        for number, text in enumerate(blob_lines(data), 1)
        if text.strip() and number not in fact_lines
    ]


def _removed_added_and_common(
    old_lines: list[_Line], new_lines: list[_Line]
) -> tuple[list[_Line], list[_Line], list[tuple[_Line, _Line]]]:
    """(removed lines, added lines, (old, new) pairs of lines with equal text in their new order)."""
    unmatched: dict[str, list[_Line]] = defaultdict(list)
    for line in old_lines:
        unmatched[line.text].append(line)
    added, common = [], []
    for line in new_lines:
        if unmatched[line.text]:
            common.append((unmatched[line.text].pop(0), line))
        else:
            added.append(line)
    return [line for lines in unmatched.values() for line in lines], added, common


def _as_fact(line: _Line) -> Fact:
    return Fact(line.text, fact_id(line.text), line.number)
