"""A consolidation when so many sessions have ended since the last one (`mem.distillAfter`): counted, run, recorded.

The Git directory keeps the episodes that were counted and what the last run did, private and bounded. A run commits on
the branch `memory/consolidate` alone: a person reviews and merges it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.json_values import json_object

if TYPE_CHECKING:
    from gitmem.promotion.consolidation import Outcome, Receipts

FILE = "consolidation.json"
LIMIT = 1 << 18  # bytes of the file
MAX_EPISODES = 1_000  # that are counted, the latest
WAIT = 5.0  # seconds for another session that ends


@dataclass(frozen=True, slots=True)
class Record:
    """`episodes`: paths of the sessions that ended since the last consolidation of this clone. Of the last run that
    nobody typed: `at`, ISO, "" for none; `did` in words; `commit` and `branch`, "" where it wrote nothing; `problem`,
    why it could not run."""

    episodes: tuple[str, ...] = ()
    at: str = ""
    did: str = ""
    commit: str = ""
    branch: str = ""
    problem: str = ""

    def as_value(self) -> dict[str, Any]:
        """`consolidation` of docs/json.md, "status"."""
        value = json_object(self, "at? did? commit? branch? problem?")
        return {"sessions": len(self.episodes)} | value


def note_ended(repo: Repository, config: Config, episode: str) -> None:
    """Count the end of a session with this episode, once however often it ends; nothing where `mem.distillAfter` is 0.
    A record that cannot be written costs the count and stops nothing."""
    if not config.distill_after or not episode:
        return
    try:
        with locked(repo.common_dir, "ended", WAIT):
            record = load(repo.common_dir)
            episodes = tuple(dict.fromkeys((*record.episodes, episode)))[-MAX_EPISODES:]
            _save(repo.common_dir, replace(record, episodes=episodes))
    except (OSError, GitMemError):
        return


def note_consolidated(repo: Repository, ran: Record | None = None) -> None:
    """Begin to count again: memory was consolidated. `ran`: the record of a run that nobody typed.
    A record that cannot be written stops nothing."""
    try:
        with locked(repo.common_dir, "ended", WAIT):
            _save(repo.common_dir, ran or replace(load(repo.common_dir), episodes=()))
    except (OSError, GitMemError):
        return


def is_due(repo: Repository, config: Config) -> int:
    """How many sessions have ended since the last consolidation where these are enough; 0 where they are not."""
    count = 0
    if config.distill_after:
        count = len(load(repo.common_dir).episodes)
    if count >= max(1, config.distill_after):
        return count
    return 0


def consolidate_if_due(
    repo: Repository, config: Config, when: datetime, environ: Mapping[str, str]
) -> Outcome | None:  # fmt: skip
    """Consolidate on the branch `memory/consolidate` where enough sessions have ended; None where they have not, or
    where it could not run: the record says why, and the next end of a session tries again."""
    from gitmem.promotion.consolidation import BRANCH, Request, consolidate, summary
    from gitmem.promotion.model_registry import promotion_model

    if not is_due(repo, config):
        return None
    at = when.isoformat(timespec="seconds")
    try:
        model, policy = promotion_model(repo, config, when.date(), environ)
        request = Request(branch=BRANCH, receipts=receipts_of(repo))
        outcome = consolidate(repo, config, model, policy, request, when)
    except GitMemError as error:
        with locked(repo.common_dir, "ended", WAIT):
            episodes = load(repo.common_dir).episodes
            _save(repo.common_dir, Record(episodes, at, problem=error.message))
        return None
    branch = ""
    if outcome.commit:
        branch = outcome.branch
    note_consolidated(repo, Record((), at, summary(outcome), outcome.commit, branch))
    return outcome


def receipts_of(repo: Repository) -> Receipts | None:
    """What the receipts of this clone say for a consolidation, None where it has none."""
    from gitmem.promotion.consolidation import Receipts
    from gitmem.sessions.receipts import read, totals

    found = read(repo.common_dir)
    if not found:
        return None
    days = {receipt.at.date() for receipt in found}
    return Receipts(min(days), max(days), len(days), frozenset(totals(found).counts))


def load(common_dir: Path) -> Record:
    """The record of this clone; an empty one where there is none or it cannot be read."""
    try:
        value = json.loads(read_bytes(state_dir(common_dir, make=False), FILE, LIMIT))
        episodes = tuple(path for path in value["episodes"] if isinstance(path, str))
        words = {name: value.get(name) for name in ("at", "did", "commit", "branch", "problem")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, GitMemError):
        return Record()
    return Record(episodes, **{name: text for name, text in words.items() if isinstance(text, str)})


def in_words(record: Record, after: int) -> str:
    """One line for `git mem status`: the last run, and how many sessions the next one waits for; "" where `after`
    (`mem.distillAfter`) is 0 and none ran."""
    parts: Sequence[str] = ()
    if record.at:
        place = ""
        if record.branch:
            place = f" on {record.branch}"
        parts = [f"{record.at}: {record.problem or record.did or 'nothing to consolidate'}{place}"]
    if after:
        parts = [*parts, f"{len(record.episodes)} of {after} sessions until the next one"]
    return "; ".join(parts)


def _save(common_dir: Path, record: Record) -> None:
    value = {
        "episodes": record.episodes, "at": record.at, "did": record.did, "commit": record.commit,
        "branch": record.branch, "problem": record.problem,
    }  # fmt: skip
    write_atomic(state_dir(common_dir), FILE, json.dumps(value).encode("ascii"), private=True)
