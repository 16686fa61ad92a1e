"""Insights: short dated findings of a pipeline about an entity, newest first under a heading of their own in MEMORY.md.

For hooks at a pipeline's end: the same entity on the same day once, a bounded number, the oldest to the archive,
incomplete data refused. Through the gate and under the writers' lock; commits nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypedDict

from gitmem.config import Config
from gitmem.errors import GitMemError, Incomplete, UsageError
from gitmem.git.opening import Repository
from gitmem.git.transaction import Draft, Reading, write
from gitmem.memory import facts
from gitmem.memory.fact import Meta, fact_id, normalise
from gitmem.memory.facts import INSIGHTS, Entry, Memory, Moved
from gitmem.memory.insight_holes import holes
from gitmem.memory.retention import with_until

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask

MEMORY = "MEMORY.md"
MIN_LETTERS = 4  # letters and digits of an insight's text: less says nothing
MAX_INSIGHTS = 50  # insights in MEMORY.md; older ones are in the archive
_FORM = re.compile(r"\[([^\[\]\n]{1,80})\]\s+(\S.*)", re.DOTALL)


class ArchivedInsight(TypedDict):
    """An insight that moved to the archive to make room: its text and the file it stands in now."""

    text: str
    path: str


class InsightValue(TypedDict):
    """An insight as JSON (docs/json.md). `line`: None where nothing was written; `reason`: why, None where it was;
    `masked`: how many values the gate masked, by rule."""

    text: str
    path: str
    line: int | None
    written: bool
    reason: str | None
    masked: dict[str, int]
    archived: list[ArchivedInsight]


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

    Raises UsageError for another form than `[entity] text`, Incomplete for data with holes, Refused, Locked.
    """
    from gitmem.gate.redaction import refuse_or_mask

    if repo.root is None:
        raise GitMemError("a bare repository has no MEMORY.md to write", "run it in a clone")
    entity, words = parse(text)
    gated = refuse_or_mask(f"[{entity}] {words}", MEMORY, config)
    ensure_complete(entity, words, quoted=not gated.masks)

    def plan(reading: Reading) -> Draft[Recorded]:
        meta = (("type", "note"), ("from", now.date().isoformat()), *_origin(agent or config.agent), *more)
        draft = _recorded(reading, entity, gated.text, now, with_until(meta, config.retention, now.date()))
        if dry_run:
            return Draft({}, replace(draft.result, written=False))
        return draft

    return replace(write(repo, plan), masks=gated.masks)


def _origin(agent: str) -> Meta:
    if not agent:
        return ()
    return (("origin", "agent"),)


def _recorded(reading: Reading, entity: str, words: str, now: datetime, meta: Meta) -> Draft[Recorded]:
    """The files with the insight, the archive first: nothing is ever nowhere."""
    memory = facts.parse(reading.read(MEMORY) or b"")
    day = now.date().isoformat()
    if any(facts.fact_date(e.fact) == day and _entity(e) == entity.casefold() for e in insights(memory)):
        return Draft({}, Recorded(words, 0, False, reason=f"{entity} has its insight of {day} already"))
    memory = facts.add(memory, words, meta, heading=INSIGHTS)
    memory, moved = facts.take(memory, insights(memory)[MAX_INSIGHTS:], now.date())
    files: dict[str, bytes] = {}
    for item in moved:
        files[item.path] = facts.archive(files.get(item.path, reading.read(item.path) or b""), [item])
    files[MEMORY] = memory.data()
    entry = memory.find(fact_id(words))
    return Draft(files, Recorded(words, entry.start if entry else 0, True, tuple(moved)))


def parse(text: str) -> tuple[str, str]:
    """(entity, text) of `[entity] text`. Raises UsageError for another form."""
    match = _FORM.fullmatch(normalise(text))
    if match is None:
        raise UsageError("an insight is '[entity] text'", "git mem insight '[ACME] margin fell to 3 % in Q2'")
    entity, words = normalise(match[1]), normalise(match[2])
    if "<!--" in words or "-->" in words or "<!--" in entity:
        raise UsageError("an insight is one line of text without comment marks")
    return entity, words


def ensure_complete(entity: str, words: str, *, quoted: bool = True) -> None:
    """Raise Incomplete with the holes of an insight, if it has any.

    `quoted`: name the words around a hole, because they passed the gate; else name its position alone.
    """
    found = [*((hole, "the entity: ") for hole in holes(entity)), *((hole, "") for hole in holes(words))]
    missing = [where + (str(hole) if quoted else f"character {hole.start + 1}") for hole, where in found]
    if not found and (not any(c.isalnum() for c in entity) or sum(c.isalnum() for c in words) < MIN_LETTERS):
        missing = [f"a finding of at least {MIN_LETTERS} letters or digits"]
    if missing:
        raise Incomplete(missing)


def as_value(done: Recorded) -> InsightValue:
    """The JSON of docs/json.md, "insight"."""
    from gitmem.gate.redaction import mask_counts

    return {
        "text": done.text,
        "path": MEMORY,
        "line": done.line or None,
        "written": done.written,
        "reason": done.reason or None,
        "masked": mask_counts(done.masks),
        "archived": [{"text": moved.fact.text, "path": moved.path} for moved in done.archived],
    }


def insights(memory: Memory) -> list[Entry]:
    """The entries under the heading of insights, in order."""
    return [entry for entry in memory.entries if entry.fact.heading.casefold() == INSIGHTS.casefold()]


def _entity(entry: Entry) -> str:
    match = _FORM.fullmatch(entry.fact.text)
    if not match:
        return ""
    return normalise(match[1]).casefold()
