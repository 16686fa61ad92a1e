"""Insights: short dated findings of a pipeline about an entity, newest first under a heading of their own in MEMORY.md.

For hooks at a pipeline's end: the same entity on the same day once, a bounded number, the oldest to the archive,
incomplete data refused. Through the gate and under the writers' lock; commits nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.memory import facts
from gitmem.memory.fact import Meta, fact_id, normalise
from gitmem.memory.facts import INSIGHTS, Entry, Memory, Moved

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask

MEMORY = "MEMORY.md"
KEPT = 50  # insights in MEMORY.md; older ones are in the archive
_FORM = re.compile(r"\[([^\[\]\n]{1,80})\]\s+(\S.*)", re.DOTALL)
_HOLES = re.compile(
    r"\{[{%]?[^{}]*[}%]?\}|\$\{?\w+\}?|\b(?:undefined|null|None|NaN|TODO|TBD|N/A)\b|<[^<>]*>"
    r"|(?:^|[\s:=(])[-–—?]+\s*$"
)


@dataclass(frozen=True, slots=True)
class Recorded:
    """What happened: `line` is 0 and `written` False when the entity had its insight that day or for a dry run."""

    text: str
    line: int
    written: bool
    archived: tuple[Moved, ...] = ()
    reason: str = ""
    masks: tuple[Mask, ...] = ()  # what the gate masked of what was said


def record(
    repo: Repository,
    config: Config,
    text: str,
    now: datetime,
    *,
    agent: str = "",
    more: Meta = (),
    dry_run: bool = False,
) -> Recorded:
    """Write one insight, with the further keys `more` of its comment.

    Raises UsageError (another form than `[entity] text`, data with holes), Refused, Locked.
    """
    from gitmem.gate.redaction import refuse_or_mask

    if repo.root is None:
        raise GitMemError("a bare repository has no MEMORY.md to write", "run it in a clone")
    entity, words = parse(text)
    gated = refuse_or_mask(f"[{entity}] {words}", MEMORY, config)

    def plan(reading: Reading) -> Draft[Recorded]:
        draft = _recorded(reading, entity, gated.text, now, (*_origin(agent or config.agent), *more))
        return Draft({}, replace(draft.result, written=False)) if dry_run else draft

    return replace(write(repo, plan), masks=gated.masks)


def _origin(agent: str) -> Meta:
    return (("origin", "agent"),) if agent else ()


def _recorded(reading: Reading, entity: str, words: str, now: datetime, more: Meta) -> Draft[Recorded]:
    """The files with the insight, the archive first: nothing is ever nowhere."""
    memory = facts.parse(reading.read(MEMORY) or b"")
    day = now.date().isoformat()
    if any(facts.fact_date(e.fact) == day and _entity(e) == entity.casefold() for e in insights(memory)):
        return Draft({}, Recorded(words, 0, False, reason=f"{entity} has its insight of {day} already"))
    meta = [("type", "note"), ("from", day), *more]
    memory = facts.add(memory, words, meta, heading=INSIGHTS)
    memory, moved = facts.take(memory, insights(memory)[KEPT:], now.date())
    files: dict[str, bytes] = {}
    for item in moved:
        files[item.path] = facts.archive(files.get(item.path, reading.read(item.path) or b""), [item])
    files[MEMORY] = memory.data()
    entry = memory.find(fact_id(words))
    return Draft(files, Recorded(words, entry.start if entry else 0, True, tuple(moved)))


def parse(text: str) -> tuple[str, str]:
    """(entity, text) of `[entity] text`. Raises UsageError for another form and for data that is not complete."""
    match = _FORM.fullmatch(normalise(text))
    if match is None:
        raise UsageError("an insight is '[entity] text'", "git mem insight '[ACME] margin fell to 3 % in Q2'")
    entity, words = normalise(match[1]), normalise(match[2])
    if not entity or _HOLES.search(entity) or _HOLES.search(words) or sum(c.isalnum() for c in words) < 4:
        raise UsageError("the insight is not complete: it has a placeholder or no value", "nothing was written")
    if "<!--" in words or "-->" in words or "<!--" in entity:
        raise UsageError("an insight is one line of text without comment marks")
    return entity, words


def insights(memory: Memory) -> list[Entry]:
    """The entries under the heading of insights, in order."""
    return [entry for entry in memory.entries if entry.fact.heading.casefold() == INSIGHTS.casefold()]


def _entity(entry: Entry) -> str:
    match = _FORM.fullmatch(entry.fact.text)
    return normalise(match[1]).casefold() if match else ""
