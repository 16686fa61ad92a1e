"""Consolidate memory after every `mem.distillAfter` sessions, and record how many sessions have ended and what the last
run did.

The record is a private file in the Git directory. A run commits only to the branch `memory/consolidate`, which a person
reviews and merges.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import locked, read_bytes, state_dir, write_atomic
from gitmem.json_values import json_keys, parse_json

if TYPE_CHECKING:
    from gitmem.promotion.consolidation import Outcome
    from gitmem.promotion.lowered_importance import Receipts

FILE = "consolidation.json"
MAX_FILE_BYTES = 1 << 18
MAX_EPISODES = 1_000  # last episodes that are counted
LOCK_SECONDS = 5.0  # wait for another session that ends at the same time


@json_keys("sessions at? did? commit? branch? problem?")
@dataclass(frozen=True, slots=True)
class Record:
    """What a clone remembers of its consolidations. `episodes`: paths of the episodes of sessions that ended since the
    last consolidation. The other fields describe the last automatic run. `at`: its ISO time, "" if there was none.
    `did`: its summary. `commit`, `branch`: "" if it wrote nothing. `problem`: why it failed, "" if it did not.

    JSON: `sessions`: how many ended since, which `mem.distillAfter` counts.
    """

    episodes: tuple[str, ...] = ()
    at: str = ""
    did: str = ""
    commit: str = ""
    branch: str = ""
    problem: str = ""

    @property
    def sessions(self) -> int:
        """How many sessions ended since the last consolidation."""
        return len(self.episodes)


def note_ended(repo: Repository, config: Config, episode: str) -> None:
    """Count the session whose episode has the path `episode` as ended, once for each episode; the newest MAX_EPISODES
    are kept. Does nothing if `mem.distillAfter` is 0, if `episode` is "", or if the record cannot be written."""
    if not config.distill_after or not episode:
        return
    try:
        with locked(repo.common_dir, "ended", LOCK_SECONDS):
            record = load(repo.common_dir)
            episodes = tuple(dict.fromkeys((*record.episodes, episode)))[-MAX_EPISODES:]
            _save(repo.common_dir, replace(record, episodes=episodes))
    except (OSError, GitMemError):
        return


def note_consolidated(repo: Repository, ran: Record | None = None) -> None:
    """Set the count of ended sessions to 0 after a consolidation. `ran`: the record of an automatic run, which replaces
    the old record; None for a run that a person started. Does nothing if the record cannot be written."""
    try:
        with locked(repo.common_dir, "ended", LOCK_SECONDS):
            _save(repo.common_dir, ran or replace(load(repo.common_dir), episodes=()))
    except (OSError, GitMemError):
        return


def sessions_due(repo: Repository, config: Config) -> int:
    """The number of sessions that ended since the last consolidation, if it has reached `mem.distillAfter`; else 0."""
    if not config.distill_after:
        return 0
    count = len(load(repo.common_dir).episodes)
    return count if count >= config.distill_after else 0


def consolidate_if_due(
    repo: Repository, config: Config, when: datetime, environ: Mapping[str, str]
) -> Outcome | None:  # fmt: skip
    """Consolidate on the branch `memory/consolidate` if enough sessions have ended. Returns the outcome, or None if no
    run is due or the run failed. After a failure the record has the reason, and the end of the next session tries
    again. Raises GitMemError and OSError only when the reason of a failure cannot be recorded."""
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.promotion.consolidation import BRANCH, Request, consolidate, summary
    from gitmem.promotion.model_registry import promotion_model

    if not sessions_due(repo, config):
        return None
    at = when.isoformat(timespec="seconds")
    try:
        policy = worktree_policy(repo, when.date())
        model = promotion_model(repo, config, policy, environ)
        request = Request(branch=BRANCH, receipts=receipt_summary(repo))
        outcome = consolidate(repo, config, model, policy, request, when)
    except GitMemError as error:
        with locked(repo.common_dir, "ended", LOCK_SECONDS):
            episodes = load(repo.common_dir).episodes
            _save(repo.common_dir, Record(episodes, at, problem=error.message))
        return None
    branch = outcome.branch if outcome.commit else ""
    note_consolidated(repo, Record((), at, summary(outcome), outcome.commit, branch))
    return outcome


def receipt_summary(repo: Repository) -> Receipts | None:
    """First and last day, number of days with receipts, and fact ids of this clone's receipts, which say what of memory
    its sessions were given; None if it has no receipts."""
    from gitmem.promotion.lowered_importance import Receipts
    from gitmem.sessions.receipts import read, totals

    receipts = read(repo.common_dir)
    if not receipts:
        return None
    days = {receipt.at.date() for receipt in receipts}
    return Receipts(min(days), max(days), len(days), frozenset(totals(receipts).counts))


def load(common_dir: Path) -> Record:
    """The record of a clone; an empty record if there is none or it cannot be read."""
    try:
        value = parse_json(read_bytes(state_dir(common_dir, make=False), FILE, MAX_FILE_BYTES))
        episodes = tuple(path for path in value["episodes"] if isinstance(path, str))
        words = {name: value.get(name) for name in ("at", "did", "commit", "branch", "problem")}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, GitMemError):
        return Record()
    return Record(episodes, **{name: text for name, text in words.items() if isinstance(text, str)})


def status_line(record: Record, after: int) -> str:
    """One line for `git mem status`: the last run, and how many of the `after` sessions (`mem.distillAfter`) have
    ended. "" if `after` is 0 and there was no run."""
    parts: list[str] = []
    if record.at:
        place = f" on {record.branch}" if record.branch else ""
        parts.append(f"{record.at}: {record.problem or record.did or 'nothing to consolidate'}{place}")
    if after:
        parts.append(f"{len(record.episodes)} of {after} sessions until the next one")
    return "; ".join(parts)


def _save(common_dir: Path, record: Record) -> None:
    write_atomic(state_dir(common_dir), FILE, json.dumps(asdict(record)).encode("ascii"), private=True)
