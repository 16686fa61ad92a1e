"""Promotion after a commit: started detached, bounded in time, its result written where `git mem status` finds it.

The commit never waits for it and never fails because of it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitmem.cli.options import open_here
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.git.branch_worktree import is_temporary
from gitmem.git.opening import Repository
from gitmem.git.worktree import state_dir, write_atomic
from gitmem.paths import log_day
from gitmem.plural import counted
from gitmem.promotion.promote import BRANCH, Mode, Outcome, Request, promote
from gitmem.regular_file import read_regular

RECORD = "promotion.json"  # in the state folder: what the last run did
RECORD_LIMIT = 1 << 16  # bytes of it
PLACES = {"stage": "staged"}  # where the facts of a mode are; else they are committed
PERSON = "git-mem"  # Memory-Agent of a promotion that nobody typed


def start(mode: str) -> None:
    """Start `promote --background MODE` detached when HEAD changed a daily log and promoted nothing itself.

    Not for a commit of `git mem sync` in its temporary work tree: that is gone before the promotion is done.
    """
    repo, config = open_here(stay=True)
    head = repo.head()
    if head is None or repo.root is None or is_temporary(repo.root):
        return
    if not _touches_logs(repo, head, config.memory_daily):
        return
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k.startswith("GIT_CONFIG")}
    with open(os.devnull, "r+b") as nothing:
        subprocess.Popen(
            [sys.executable, "-E", "-P", "-m", "gitmem", "promote", "--background", mode],
            cwd=repo.root, env=env, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=True,
        )  # fmt: skip


def _touches_logs(repo: Repository, head: str, daily: Sequence[str]) -> bool:
    parents = repo.commit(head).parents
    changes = repo.changes(parents[0] if parents else "", head)
    return any(log_day(change.path, daily) for change in changes)


def run(mode: str) -> None:
    """One promotion, recorded: what it did, or why it could not."""
    from gitmem.promotion.model_registry import promotion_model

    repo, config = open_here(stay=True)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _late)
        signal.alarm(config.model_seconds + 60)
    request = Request(mode=Mode(mode), branch=BRANCH, agent=config.agent or PERSON)
    at = now().isoformat(timespec="seconds")
    try:
        model, policy = promotion_model(repo, config, now().date(), os.environ)
        outcome = promote(repo, config, model, policy, request, now())
    except GitMemError as error:
        record_run(repo.common_dir, {"at": at, "mode": mode, "facts": 0, "problem": error.message})
        return
    except Exception as error:  # noqa: BLE001 - nobody is there to see it; status shows that it failed
        record_run(repo.common_dir, {"at": at, "mode": mode, "facts": 0, "problem": f"a bug: {type(error).__name__}"})
        return
    record_run(repo.common_dir, {"at": at, "mode": mode, **_summary(outcome)})


def _summary(outcome: Outcome) -> dict[str, Any]:
    return {
        "facts": len(outcome.plan.approved),
        "model": outcome.model,
        "commits": list(outcome.commits),
        "branch": outcome.branch or None,
        "why_nothing": outcome.why_nothing or None,
    }


def _late(signum: int, frame: object) -> None:
    raise GitMemError("the promotion took longer than mem.modelSeconds allows and was stopped")


def record_run(common_dir: Path, record: Mapping[str, Any]) -> None:
    """Note what a run did, for `git mem status`; the record of the run before is replaced as a whole."""
    text = json.dumps(record, ensure_ascii=True)
    write_atomic(state_dir(common_dir), RECORD, text.encode("ascii"), private=True)


def last_run(common_dir: Path) -> dict[str, Any]:
    """What the last run did: `at`, `mode`, `facts`, and `commits`, `why_nothing` or `problem`; empty where none ran
    by itself yet, or its record cannot be read."""
    try:
        record = json.loads(read_regular(common_dir / "gitmem" / RECORD, RECORD_LIMIT))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(record, dict):
        return {}
    return record


def last_run_in_words(common_dir: Path) -> str:
    """One line for `git mem status`, "" where no promotion ran by itself yet."""
    record = last_run(common_dir)
    if not record:
        return ""
    outcome = record.get("problem") or record.get("why_nothing")
    if not outcome:
        if record.get("branch"):
            place = f"on {record['branch']}"
        else:
            place = PLACES.get(str(record.get("mode")), "committed")
        outcome = f"{counted(int(record.get('facts') or 0), 'fact')} {place}"
    return f"{record.get('at')}: {outcome}"
