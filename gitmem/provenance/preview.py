"""What a plan would write, as a person is shown it, and its commit while it is still that: compare and swap by bytes.

The token of a preview stands for the branch, the message and the bytes of every file before and after. Where one of
these is another when the commit is to be made, nothing is written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from gitmem.errors import Changed, UsageError
from gitmem.git.repository import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.git.undo_record import digest
from gitmem.memory.document import blob_lines

Result = TypeVar("Result")
Plan = Callable[[Reading], CommitDraft[Result]]
AROUND = 1  # lines shown above and below a change
COMPARED = 1_000_000  # pairs of lines: matching takes up to that many steps for every line that matches


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a file: `sign` is "-" for one that goes, "+" for one that comes, "=" for one that stays and "~" for
    lines left out; `number` is its line, in the new file for one that comes."""

    sign: str
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class FileDiff:
    """What becomes of one file."""

    path: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class Preview:
    """What a commit would do; `text` is its message."""

    files: tuple[FileDiff, ...]
    text: str
    token: str


def preview(repo: Repository, plan: Plan[Result]) -> Preview:
    """What `plan` would write now. Reads only. Raises UsageError where it changes nothing, and what the plan raises."""
    reading = Reading(repo)
    draft = plan(reading)
    changed = [path for path in sorted(draft.contents) if reading.raw(path) != draft.contents[path]]
    if not changed:
        raise UsageError("that is so already: nothing would change")
    files = tuple(FileDiff(path, tuple(diff(reading.raw(path), draft.contents[path]))) for path in changed)
    return Preview(files, draft.message, _token(repo, reading, draft))


def commit_previewed(repo: Repository, plan: Plan[Result], token: str, *, undoable: bool = True) -> tuple[Result, str]:
    """Commit what the preview with this token showed: what the plan answers, and the commit.

    Raises Changed, and writes nothing, where the plan would write anything else by now; and what `commit` raises.
    """

    def as_shown(reading: Reading) -> CommitDraft[Result]:
        draft = plan(reading)
        if _token(repo, reading, draft) != token:
            raise Changed("memory changed since this was shown; nothing was written", "look at it as it is now")
        return draft

    return commit(repo, as_shown, undoable=undoable)


def _token(repo: Repository, reading: Reading, draft: CommitDraft[Result]) -> str:
    files = [(path, digest(reading.raw(path)), digest(draft.contents[path])) for path in sorted(draft.contents)]
    value = json.dumps([repo.branch(), draft.message, files])
    return hashlib.sha256(value.encode("ascii")).hexdigest()


def diff(before: bytes | None, after: bytes | None) -> Iterator[DiffLine]:
    """The lines of a change with AROUND lines on either side of each.

    Lines are matched in what differs between the first and the last change, where that is at most COMPARED pairs of
    lines; beyond that all of it goes and comes.
    """
    old, new = blob_lines(before or b""), blob_lines(after or b"")
    first = _common_beginning(old, new)
    rest = _common_beginning(old[first:][::-1], new[first:][::-1])
    skipped, kept = max(0, first - AROUND), max(0, rest - AROUND)
    old, new = old[skipped : len(old) - kept], new[skipped : len(new) - kept]
    for number, group in enumerate(_groups(old, new, first - skipped, rest - kept)):
        if number:
            yield DiffLine("~", 0, "")
        for op, a, b, c, d in group:
            if op == "equal":
                yield from (DiffLine("=", at, text) for at, text in enumerate(new[c:d], skipped + c + 1))
                continue
            yield from (DiffLine("-", at, text) for at, text in enumerate(old[a:b], skipped + a + 1))
            yield from (DiffLine("+", at, text) for at, text in enumerate(new[c:d], skipped + c + 1))


def _common_beginning(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines both begin with."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))


def _groups(old: list[str], new: list[str], above: int, below: int) -> Iterable[list[tuple[str, int, int, int, int]]]:
    """What becomes of lines, of which the first `above` and the last `below` stay."""
    if len(old) * len(new) <= COMPARED:
        return SequenceMatcher(None, old, new).get_grouped_opcodes(AROUND)
    a, c = len(old) - below, len(new) - below
    changed = ("replace", above, a, above, c)
    return [[("equal", 0, above, 0, above), changed, ("equal", a, len(old), c, len(new))]]
