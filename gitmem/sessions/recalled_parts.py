"""Remember which parts of memory a session was given, so that no part is repeated. The file has keys without text, is
private, and is in the Git directory.

A session that starts, was cleared, or was compacted has lost the parts that it was given before. A damaged or missing
file causes a repetition, never a wrong answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.json_values import parse_json
from gitmem.sessions.state import read_private, recalled_file, write_private

MAX_KEYS = 2_000  # of a session; the oldest are dropped first


@dataclass(frozen=True, slots=True)
class RecalledParts:
    """The parts of memory that a session was given and still has.

    `keys`: digests of the parts (`session_contents`), the oldest first. `answered`: a prompt of the session was
    answered from memory. `started`: the session got a context at its start. `places`: (scope, path) of the files of the
    parts; the scope is the name of the memory, such as `project`. `mark`: digest of the transcript
    (`session_contents.compaction_mark`) when the last part was given, "" if unknown. `compacting`: the host announced a
    compaction after that. `compacted`: a compaction happened. `at`: when the last part was given, in seconds since
    1970, 0 if unknown.
    """

    keys: tuple[str, ...] = ()
    answered: bool = False
    started: bool = False
    places: tuple[tuple[str, str], ...] = ()
    mark: str = ""
    compacting: bool = False
    compacted: bool = False
    at: float = 0.0

    def after(self, mark: str) -> RecalledParts:
        """The parts that the session still has now that its transcript has this mark ("" if unknown); none if older
        turns were removed.

        A host may announce a compaction before each request without doing one (Gemini CLI): an unchanged transcript has
        lost nothing.
        """
        known = bool(self.mark and mark)
        if (known and self.mark != mark) or (self.compacting and not known):
            return RecalledParts(mark=mark, compacted=True)
        return replace(self, compacting=False, mark=mark or self.mark)


def load(common_dir: Path, session: str) -> RecalledParts:
    """The parts that the session was given; no parts for a session without a name, a new session, or a damaged file."""
    if not session:
        return RecalledParts()
    try:
        value = parse_json(read_private(common_dir, recalled_file(session)))
        places = tuple((str(scope), str(path)) for scope, path in value.get("places", ()))
        return RecalledParts(
            tuple(map(str, value["keys"])), bool(value["answered"]), bool(value.get("started")), places,
            str(value.get("mark", "")), bool(value.get("compacting")), bool(value.get("compacted")),
            float(value.get("at", 0.0)),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError):
        return RecalledParts()


def store_start(common_dir: Path, session: str, given: RecalledParts, at: float) -> None:
    """Store the parts that a session is given at its start, in place of all that were stored. `at`: the time, in
    seconds since 1970."""
    _save(common_dir, session, replace(given, at=at))


def store_answer(
    common_dir: Path, session: str, before: RecalledParts, keys: Sequence[str], places: Iterable[tuple[str, str]],
    at: float,
) -> None:  # fmt: skip
    """Add the parts of an answer to a prompt to the parts `before`, and store them. `keys`: digests of the new parts.
    `places`: (scope, path) of their files. `at`: the time, in seconds since 1970."""
    all_keys, all_places = dict.fromkeys([*before.keys, *keys]), dict.fromkeys([*before.places, *places])
    after = replace(before, keys=tuple(all_keys), places=tuple(all_places), answered=True, at=at)
    _save(common_dir, session, after)


def announce_compaction(common_dir: Path, session: str) -> None:
    """Store that the host announced a compaction: the session may lose older turns and the parts in them."""
    _save(common_dir, session, replace(load(common_dir, session), compacting=True))


def _save(common_dir: Path, session: str, parts: RecalledParts) -> None:
    """Write the parts to the session's file, the newest MAX_KEYS keys and places of them. Does nothing for a session
    without a name or in a read-only Git directory."""
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
        return  # the Git directory is read-only: the session may be given a part twice
