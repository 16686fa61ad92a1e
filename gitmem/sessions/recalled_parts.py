"""Which parts of memory a session was given already: keys without text, in the Git directory, private, never committed.

A session that begins, goes on after a compaction or was cleared has nothing of what it was given before. A file that is
damaged or gone costs a repetition, never a wrong answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.sessions.state import read_private, recalled_file, write_private

MAX_KEYS = 2_000  # keys of a session; the oldest go first


@dataclass(frozen=True, slots=True)
class RecalledParts:
    """`keys` of the parts, oldest first; `answered` whether a prompt of the session was answered from memory yet,
    `started` whether it was told what memory says as it began. `places`: (scope, path) of the files that the parts
    stand in. `mark`: that of the transcript (`session_contents.mark_of`) as a part was given last, "" where it is not
    known. `compacting`: a compaction was announced since. `compacted`: one happened. `at`: seconds since 1970 when a
    part was given last, 0 where nobody knows."""

    keys: tuple[str, ...] = ()
    answered: bool = False
    started: bool = False
    places: tuple[tuple[str, str], ...] = ()
    mark: str = ""
    compacting: bool = False
    compacted: bool = False
    at: float = 0.0

    def after(self, mark: str) -> RecalledParts:
        """What the session still has where its transcript has this mark; none of it where older turns were lost.

        A host may announce a compaction before every request and carry out none (Gemini CLI): where the transcript is
        the same, nothing was lost."""
        known = bool(self.mark and mark)
        if (known and self.mark != mark) or (self.compacting and not known):
            return RecalledParts(mark=mark, compacted=True)
        return replace(self, compacting=False, mark=mark or self.mark)


def load(common_dir: Path, session: str) -> RecalledParts:
    """What the session was given; nothing for one without a name, a new one, or a damaged file."""
    if not session:
        return RecalledParts()
    try:
        value = json.loads(read_private(common_dir, recalled_file(session)))
        places = tuple((str(scope), str(path)) for scope, path in value.get("places", ()))
        return RecalledParts(
            tuple(map(str, value["keys"])), bool(value["answered"]), bool(value.get("started")), places,
            str(value.get("mark", "")), bool(value.get("compacting")), bool(value.get("compacted")),
            float(value.get("at", 0.0)),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return RecalledParts()


def begin(common_dir: Path, session: str, given: RecalledParts, at: float) -> None:
    """Remember what a session is given as it starts, and nothing from before. `at` as in `RecalledParts`."""
    _save(common_dir, session, replace(given, at=at))


def add(
    common_dir: Path, session: str, before: RecalledParts, keys: Sequence[str], places: Iterable[tuple[str, str]],
    at: float,
) -> None:  # fmt: skip
    """Remember what a prompt of the session was answered with, besides what it has (`before`). `at` as in
    `RecalledParts`."""
    all_keys, all_places = dict.fromkeys([*before.keys, *keys]), dict.fromkeys([*before.places, *places])
    after = replace(before, keys=tuple(all_keys), places=tuple(all_places), answered=True, at=at)
    _save(common_dir, session, after)


def announce_compaction(common_dir: Path, session: str) -> None:
    """Remember that the session is about to lose its older turns, and what it was given in them."""
    _save(common_dir, session, replace(load(common_dir, session), compacting=True))


def _save(common_dir: Path, session: str, parts: RecalledParts) -> None:
    if not session:
        return
    value = {
        "keys": list(parts.keys[-MAX_KEYS:]), "answered": parts.answered, "started": parts.started,
        "places": [list(place) for place in parts.places[-MAX_KEYS:]], "mark": parts.mark,
        "compacting": parts.compacting, "compacted": parts.compacted, "at": parts.at,
    }  # fmt: skip
    try:
        write_private(common_dir, recalled_file(session), json.dumps(value).encode(), durable=False)
    except (GitMemError, OSError):
        return  # a Git directory that cannot be written to: the session is told something twice
