"""Records insights: short dated findings of a pipeline about an entity, below their own heading in MEMORY.md.

An entity gets at most one insight a day. The newest comes first, and over MAX_INSIGHTS the oldest move to the archive.
Incomplete data is refused. An insight passes the gate and is written under the writers' lock; nothing is committed.
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
from gitmem.json_values import json_keys
from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.fact import Meta, fact_id, normalise
from gitmem.memory.facts import INSIGHTS, Entry, Memory
from gitmem.memory.insight_holes import holes
from gitmem.memory.retention import with_until

if TYPE_CHECKING:
    from gitmem.gate.redaction import Mask

MEMORY = "MEMORY.md"
MIN_LETTERS = 4  # letters and digits in the text of an insight
MAX_INSIGHTS = 50  # insights in MEMORY.md; older ones move to the archive
_FORM = re.compile(r"\[([^\[\]\n]{1,80})\]\s+(\S.*)", re.DOTALL)


class ArchivedInsight(TypedDict):
    """An insight that moved to the archive, as JSON: its text and the path of the archive file, where it is now."""

    text: str
    path: str


class InsightValue(TypedDict):
    """The JSON of docs/json.md, "insight". `line`: None if the entity had an insight of that day already. `reason`: why
    nothing was written, else None, also for a dry run. `masked`: rule -> number of masked places."""

    text: str
    path: str
    line: int | None
    written: bool
    reason: str | None
    masked: dict[str, int]
    archived: list[ArchivedInsight]


@json_keys("text path line? written reason? masked archived=archived_insights")
@dataclass(frozen=True, slots=True)
class Recorded:
    """The result of `record`.

    `text`: the insight as written. `line`: its line, 0 if the entity had an insight of that day already. `written`:
    False in that case and for a dry run. `archived`: insights that moved to the archive. `reason`: why nothing was
    written, "" otherwise and for a dry run. `masks`: the secrets and personal data that the gate masked.

    JSON: `line`: null if the entity had an insight of that day already. `masked`: how many places the gate masked, by
    rule.
    """

    text: str
    line: int
    written: bool
    archived: tuple[ArchiveEntry, ...] = ()
    reason: str = ""
    masks: tuple[Mask, ...] = ()

    @property
    def path(self) -> str:
        return MEMORY

    @property
    def masked(self) -> dict[str, int]:
        """Rule -> number of masked places."""
        from gitmem.gate.redaction import mask_counts

        return mask_counts(self.masks)

    @property
    def archived_insights(self) -> list[ArchivedInsight]:
        return [{"text": moved.fact.text, "path": moved.path} for moved in self.archived]


def record(
    repo: Repository,
    config: Config,
    text: str,
    now: datetime,
    *,
    agent: str = "",
    extra_meta: Meta = (),
    dry_run: bool = False,
) -> Recorded:
    """Write one insight, `[entity] text`, to MEMORY.md; nothing is committed. `agent`: the agent that writes it, "" for
    the configured one. `extra_meta`: further pairs of its comment. `dry_run`: write nothing. Nothing is written
    either if the entity has an insight of that day already; `Recorded.reason` then says so.

    Raises GitMemError in a bare repository, UsageError if the text is not `[entity] text`, Incomplete if it has holes,
    Refused if the gate refuses it, and Locked.
    """
    from gitmem.gate.redaction import refuse_or_mask

    if repo.root is None:
        raise GitMemError("a bare repository has no MEMORY.md to write", "run it in a clone")
    entity, words = parse(text)
    gated = refuse_or_mask(f"[{entity}] {words}", MEMORY, config)
    ensure_complete(entity, words, quoted=not gated.masks)

    def plan(reading: Reading) -> Draft[Recorded]:
        meta: Meta = (("type", "note"), ("from", now.date().isoformat()))
        if agent or config.agent:
            meta += (("origin", "agent"),)
        meta += extra_meta
        draft = _recorded(reading, entity, gated.text, now, with_until(meta, config.retention, now.date()))
        return Draft({}, replace(draft.result, written=False)) if dry_run else draft

    return replace(write(repo, plan), masks=gated.masks)


def _recorded(reading: Reading, entity: str, words: str, now: datetime, meta: Meta) -> Draft[Recorded]:
    """The new files for the insight `words` (`[entity] text`): MEMORY.md with it, and before that the archives of the
    oldest insights above MAX_INSIGHTS, so that an insight is always in a file.

    Empty when `entity` already has an insight of that day.
    """
    memory = facts.parse(reading.read(MEMORY) or b"")
    day = now.date().isoformat()
    if any(facts.fact_date(entry.fact) == day and _entity(entry) == entity.casefold() for entry in insights(memory)):
        return Draft({}, Recorded(words, 0, False, reason=f"{entity} has its insight of {day} already"))
    memory = facts.add(memory, words, meta, heading=INSIGHTS)
    memory, moved = archiving.remove_for_archive(memory, insights(memory)[MAX_INSIGHTS:], now.date())
    files = archiving.with_archives({MEMORY: memory.data()}, moved, lambda path: reading.read(path) or b"")
    entry = memory.find(fact_id(words))
    return Draft(files, Recorded(words, entry.start if entry else 0, True, tuple(moved)))


def joined(entity: str, words: str) -> str:
    """An insight as the one text that `record` takes: `[entity] words`. Raises UsageError for an entity with a bracket,
    which would end it elsewhere."""
    if "[" in entity or "]" in entity:
        raise UsageError("an entity has no brackets", "git mem insight '[ACME] margin fell to 3 % in Q2'")
    return f"[{entity}] {words}"


def parse(text: str) -> tuple[str, str]:
    """Split `[entity] text` into (entity, text). Raises UsageError for another form."""
    match = _FORM.fullmatch(normalise(text))
    if match is None:
        raise UsageError("an insight is '[entity] text'", "git mem insight '[ACME] margin fell to 3 % in Q2'")
    entity, words = normalise(match[1]), normalise(match[2])
    if "<!--" in words or "-->" in words or "<!--" in entity:
        raise UsageError("an insight is one line of text without comment marks")
    return entity, words


def ensure_complete(entity: str, words: str, *, quoted: bool = True) -> None:
    """Raise Incomplete if an insight has holes, if its text has under MIN_LETTERS letters and digits, or its entity
    none.

    `quoted`: report the words around a hole; False reports only its position, for a text that may have a secret.
    """
    labelled_holes = [*((hole, "the entity: ") for hole in holes(entity)), *((hole, "") for hole in holes(words))]
    missing = [label + (str(hole) if quoted else f"character {hole.start + 1}") for hole, label in labelled_holes]
    is_short = not any(map(str.isalnum, entity)) or sum(map(str.isalnum, words)) < MIN_LETTERS
    if not labelled_holes and is_short:
        missing = [f"a finding of at least {MIN_LETTERS} letters or digits"]
    if missing:
        raise Incomplete(missing)


def insights(memory: Memory) -> list[Entry]:
    """The entries below the heading INSIGHTS, in order."""
    return [entry for entry in memory.entries if entry.fact.heading.casefold() == INSIGHTS.casefold()]


def _entity(entry: Entry) -> str:
    """The entity that an insight is about, case-folded; "" if the fact is no insight."""
    match = _FORM.fullmatch(entry.fact.text)
    return normalise(match[1]).casefold() if match else ""
