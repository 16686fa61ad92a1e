"""Shows a person the preview of a commit, and makes exactly that commit afterwards.

The token of a preview is a hash of the branch, the message and the bytes of every file before and after. When one of
these has changed by the time of the commit, nothing is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from gitmem.errors import Changed, UsageError
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.git.undo_record import digest
from gitmem.memory.document import blob_lines
from gitmem.sequences import equal_at_start

Result = TypeVar("Result")
Plan = Callable[[Reading], CommitDraft[Result]]
CONTEXT_LINES = 1  # unchanged lines shown above and below a change
MAX_PAIRS = 1_000_000  # product of the line counts of two texts; larger ones are not matched line by line


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff to show.

    `sign`: "-" removed, "+" added, "=" unchanged, "~" unchanged lines that are not shown. `number`: from 1, in the old
    file for "-", else in the new file; 0 for "~".
    """

    sign: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The diff of one file."""

    path: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """A commit that is not made yet. `text`: its message. `token`: a hash of what would be committed, for
    `commit_previewed`."""

    files: tuple[FileDiff, ...]
    text: str
    token: str


def preview(repo: Repository, plan: Plan[Result]) -> Preview:
    """What `plan` would commit now. Writes nothing. Raises UsageError when it changes no file, and what the plan
    raises."""
    reading = Reading(repo)
    draft = plan(reading)
    changed = [path for path in sorted(draft.contents) if reading.raw(path) != draft.contents[path]]
    if not changed:
        raise UsageError("that is so already: nothing would change")
    files = tuple(FileDiff(path, tuple(diff_lines(reading.raw(path), draft.contents[path]))) for path in changed)
    return Preview(files, draft.message, _token(repo, reading, draft))


def commit_previewed(repo: Repository, plan: Plan[Result], token: str, *, undoable: bool = True) -> tuple[Result, str]:
    """Commit what the preview with this token showed; returns (result of the plan, oid of the commit).

    `undoable`: `git mem undo` can undo the commit. Raises Changed and writes nothing when the plan would commit
    anything else by now; also what the plan raises, GitMemError during a merge or rebase, and GitFailed when a hook
    refuses.
    """

    def as_shown(reading: Reading) -> CommitDraft[Result]:
        draft = plan(reading)
        if _token(repo, reading, draft) != token:
            raise Changed("memory changed since this was shown; nothing was written", "look at it as it is now")
        return draft

    return commit(repo, as_shown, undoable=undoable)


def _token(repo: Repository, reading: Reading, draft: CommitDraft[Result]) -> str:
    """The token of a preview, 64 hex digits."""
    files = [(path, digest(reading.raw(path)), digest(draft.contents[path])) for path in sorted(draft.contents)]
    value = json.dumps([repo.branch(), draft.message, files])
    return hashlib.sha256(value.encode("ascii")).hexdigest()


def diff_lines(before: bytes | None, after: bytes | None) -> Iterator[DiffLine]:
    """The changed lines, each with CONTEXT_LINES unchanged lines above and below; a line with the sign "~" stands where
    lines are left out between two groups. None is not a file.

    The lines from the first to the last change are matched when their numbers multiply to at most MAX_PAIRS; else all
    of them are removed and added.
    """
    old_lines, new_lines = blob_lines(before or b""), blob_lines(after or b"")
    prefix = equal_at_start(old_lines, new_lines)
    suffix = equal_at_start(old_lines[prefix:][::-1], new_lines[prefix:][::-1])
    skipped_above, skipped_below = max(0, prefix - CONTEXT_LINES), max(0, suffix - CONTEXT_LINES)
    old_lines = old_lines[skipped_above : len(old_lines) - skipped_below]
    new_lines = new_lines[skipped_above : len(new_lines) - skipped_below]

    def numbered(sign: str, lines: list[str], start: int, end: int) -> Iterator[DiffLine]:
        return (DiffLine(sign, number, text) for number, text in enumerate(lines[start:end], skipped_above + start + 1))

    for index, group in enumerate(_opcode_groups(old_lines, new_lines, prefix - skipped_above, suffix - skipped_below)):
        if index:
            yield DiffLine("~", 0, "")
        for operation, old_start, old_end, new_start, new_end in group:
            if operation == "equal":
                yield from numbered("=", new_lines, new_start, new_end)
                continue
            yield from numbered("-", old_lines, old_start, old_end)
            yield from numbered("+", new_lines, new_start, new_end)


def _opcode_groups(
    old_lines: list[str], new_lines: list[str], above: int, below: int
) -> Iterable[list[tuple[str, int, int, int, int]]]:
    """Groups of opcodes as `SequenceMatcher.get_grouped_opcodes` has them. `above`, `below`: the numbers of equal lines
    at the beginning and at the end."""
    if len(old_lines) * len(new_lines) <= MAX_PAIRS:
        return SequenceMatcher(None, old_lines, new_lines).get_grouped_opcodes(CONTEXT_LINES)
    old_end, new_end = len(old_lines) - below, len(new_lines) - below
    changed = ("replace", above, old_end, above, new_end)
    return [[("equal", 0, above, 0, above), changed, ("equal", old_end, len(old_lines), new_end, len(new_lines))]]
