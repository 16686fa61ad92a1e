"""What the statements that were just written to the work tree are to the facts of MEMORY.md: every writer says it.

Reads only, and after the write: a writer refuses nothing and replaces nothing for it (docs/relations.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from gitmem.errors import OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.worktree import read_bytes
from gitmem.memory.fact import fact_id
from gitmem.memory.facts import parse
from gitmem.memory.rivals import MEMORY, Placed, Rival, against, came, placed, without_secrets
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind, log_day


def at_lines(repo: Repository, places: Iterable[tuple[str, int]], today: date) -> tuple[Rival, ...]:
    """The rivals of the statements that begin on these lines (path, line), as they may be shown."""
    wanted: dict[str, set[int]] = {}
    for path, line in places:
        wanted.setdefault(path, set()).add(line)
    memory = file_bytes(repo, MEMORY)
    if not memory:
        return ()
    new: list[Placed] = []
    for path, lines in wanted.items():
        found = parse(memory if path == MEMORY else file_bytes(repo, path)).facts
        new += placed(path, [fact for fact in found if fact.line in lines], _day(path, today))
    return _shown(against(new, memory, today))


def of_texts(repo: Repository, texts: Iterable[tuple[str, str]], today: date) -> tuple[Rival, ...]:
    """The rivals of statements that say these texts (path, text), as they may be shown."""
    memory = file_bytes(repo, MEMORY)
    new: list[Placed] = []
    for path, text in texts if memory else ():
        ident = fact_id(text)
        found = parse(memory if path == MEMORY else file_bytes(repo, path)).facts
        new += placed(path, [fact for fact in found if fact.id == ident], _day(path, today))
    return _shown(against(new, memory, today))


def since(repo: Repository, before: bytes, today: date, path: str = MEMORY) -> tuple[Rival, ...]:
    """The rivals of the statements of a file of the work tree that it lacked when its bytes were `before`."""
    memory, after = file_bytes(repo, MEMORY), file_bytes(repo, path)
    if not memory or after == before or kind(path) is Kind.ARCHIVE:
        return ()
    return _shown(against(placed(path, came(before, after), _day(path, today)), memory, today))


def between(before: bytes, after: bytes, today: date, days: Mapping[str, str] | None = None) -> tuple[Rival, ...]:
    """The rivals of the facts that MEMORY.md has and did not have before, as they may be shown. `days`: id of a fact
    that says no day of its own -> ISO day on which it was written, so that a pair is judged as `git mem settle` does.
    """
    if before == after:
        return ()
    return _shown(against(placed(MEMORY, came(before, after)), after, today, days or {}))


def memory_bytes(repo: Repository) -> bytes:
    """The bytes of MEMORY.md in the work tree, for `since`; none where there is no such file."""
    return file_bytes(repo, MEMORY)


def _shown(found: Iterable[Rival]) -> tuple[Rival, ...]:
    return tuple(map(without_secrets, found))


def _day(path: str, today: date) -> str:
    return (log_day(path, ()) or today).isoformat()


def file_bytes(repo: Repository, path: str) -> bytes:
    """The bytes of a memory file of the work tree; none where it is not there, too large or binary."""
    if repo.root is None:
        return b""
    try:
        data = read_bytes(repo.root, path, MAX_MEMORY_FILE_BYTES + 1)
    except (OSError, OutsideRepository):
        return b""
    if len(data) <= MAX_MEMORY_FILE_BYTES and b"\0" not in data:
        return data
    return b""
