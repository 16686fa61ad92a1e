"""Finds the rivals of statements that a command has just written to the work tree: facts of MEMORY.md that they repeat
or disagree with (`rivals`).

Every command that writes memory reports them. The module only reads, after the write: no write is refused and no fact
is replaced because of a rival (docs/relations.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from gitmem.daily_logs import log_day
from gitmem.errors import OutsideRepository
from gitmem.git.repository import Repository
from gitmem.git.unmerged import WorkTreeReader
from gitmem.memory.fact import fact_id
from gitmem.memory.facts import parse
from gitmem.memory.rivals import MEMORY, PlacedFact, Rival, added_facts, rivals_in_memory, with_days, without_secrets
from gitmem.paths import MAX_MEMORY_FILE_BYTES, Kind, kind


def rivals_at_lines(repo: Repository, places: Iterable[tuple[str, int]], today: date) -> tuple[Rival, ...]:
    """The rivals (facts of MEMORY.md that they repeat or disagree with) of the statements that begin at these places
    (path, line) of the work tree, with secrets masked. () without a MEMORY.md."""
    lines_of_path: dict[str, set[int]] = {}
    for path, line in places:
        lines_of_path.setdefault(path, set()).add(line)
    memory = file_bytes(repo, MEMORY)
    if not memory:
        return ()
    statements: list[PlacedFact] = []
    for path, lines in lines_of_path.items():
        facts = parse(file_bytes(repo, path)).facts
        statements += with_days(path, [fact for fact in facts if fact.line in lines], _day(path, today))
    return _shown(rivals_in_memory(statements, memory, today))


def rivals_of_texts(repo: Repository, texts: Iterable[tuple[str, str]], today: date) -> tuple[Rival, ...]:
    """The rivals (facts of MEMORY.md that they repeat or disagree with) of the statements that have these texts (path,
    text) in the work tree, with secrets masked. () without a MEMORY.md."""
    memory = file_bytes(repo, MEMORY)
    if not memory:
        return ()
    statements: list[PlacedFact] = []
    for path, text in texts:
        ident = fact_id(text)
        facts = parse(file_bytes(repo, path)).facts
        statements += with_days(path, [fact for fact in facts if fact.id == ident], _day(path, today))
    return _shown(rivals_in_memory(statements, memory, today))


def rivals_since(repo: Repository, before: bytes, today: date, path: str = MEMORY) -> tuple[Rival, ...]:
    """The rivals (facts of MEMORY.md that they repeat or disagree with) of the new statements of the file `path`: those
    that its earlier bytes `before` lack. Secrets are masked. () without a MEMORY.md, for an unchanged file and for an
    archive."""
    memory, after = file_bytes(repo, MEMORY), file_bytes(repo, path)
    if not memory or after == before or kind(path) is Kind.ARCHIVE:
        return ()
    return _shown(rivals_in_memory(with_days(path, added_facts(before, after), _day(path, today)), memory, today))


def rivals_between(
    before: bytes, after: bytes, today: date, days: Mapping[str, str] | None = None
) -> tuple[Rival, ...]:
    """The rivals (facts of MEMORY.md that they repeat or disagree with) of the facts that MEMORY.md has in `after` and
    lacks in `before`, with secrets masked.

    `days`: fact id -> ISO day on which the fact was written, for facts whose comment names no day; `git mem settle`
    judges pairs with these days too.
    """
    if before == after:
        return ()
    return _shown(rivals_in_memory(with_days(MEMORY, added_facts(before, after)), after, today, days or {}))


def memory_bytes(repo: Repository) -> bytes:
    """The bytes of MEMORY.md in the work tree; b"" if it is missing or `file_bytes` cannot read it."""
    return file_bytes(repo, MEMORY)


def _shown(rivals: Iterable[Rival]) -> tuple[Rival, ...]:
    return tuple(map(without_secrets, rivals))


def _day(path: str, today: date) -> str:
    return (log_day(path, ()) or today).isoformat()


def file_bytes(repo: Repository, path: str) -> bytes:
    """The bytes of a file of the work tree; b"" if it is missing, unreadable, larger than MAX_MEMORY_FILE_BYTES or
    binary, or if the repository is bare."""
    if repo.root is None:
        return b""
    try:
        data = WorkTreeReader(repo).read(path, MAX_MEMORY_FILE_BYTES + 1)
    except (OSError, OutsideRepository):
        return b""
    return data if len(data) <= MAX_MEMORY_FILE_BYTES and b"\0" not in data else b""
