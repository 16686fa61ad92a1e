"""Which parts of memory a session was given already: keys without text, in the Git directory, private, never committed.

A session that begins, goes on after a compaction or was cleared has nothing of what it was given before. A file that is
damaged or gone costs a repetition, never a wrong answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.sessions.state import read_private, recalled_file, write_private

KEPT = 2_000  # keys of a session; the oldest go first


@dataclass(frozen=True, slots=True)
class RecalledParts:
    """`keys` of the parts, oldest first; `answered` whether a prompt of the session was answered from memory yet,
    `started` whether it was told what memory says as it began."""

    keys: tuple[str, ...] = ()
    answered: bool = False
    started: bool = False


def load(common_dir: Path, session: str) -> RecalledParts:
    """What the session was given; nothing for one without a name, a new one, or a damaged file."""
    if not session:
        return RecalledParts()
    try:
        value = json.loads(read_private(common_dir, recalled_file(session)))
        return RecalledParts(tuple(map(str, value["keys"])), bool(value["answered"]), bool(value.get("started")))
    except (ValueError, KeyError, TypeError, RecursionError):
        return RecalledParts()


def begin(common_dir: Path, session: str, keys: Iterable[str], *, started: bool = False) -> None:
    """Remember what a session is given as it starts (`started`: memory was told), and nothing from before."""
    _save(common_dir, session, RecalledParts(tuple(keys), started=started))


def add(common_dir: Path, session: str, keys: Sequence[str]) -> None:
    """Remember what a prompt of the session was answered with."""
    before = load(common_dir, session)
    _save(common_dir, session, RecalledParts(tuple(dict.fromkeys([*before.keys, *keys])), True, before.started))


def _save(common_dir: Path, session: str, parts: RecalledParts) -> None:
    if not session:
        return
    value = {"keys": list(parts.keys[-KEPT:]), "answered": parts.answered, "started": parts.started}
    try:
        write_private(common_dir, recalled_file(session), json.dumps(value).encode(), durable=False)
    except (GitMemError, OSError):
        return  # a Git directory that cannot be written to: the session is told something twice
