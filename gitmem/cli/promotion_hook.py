"""Promotion after a commit, in a detached process with a time limit. The result is recorded for `git mem status`.

The commit never waits for the promotion and never fails because of it.
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
from gitmem.daily_logs import log_day
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.git.branch_worktree import is_temporary
from gitmem.git.opening import Repository
from gitmem.git.worktree import state_dir, write_atomic
from gitmem.json_values import parse_json_object
from gitmem.plural import counted
from gitmem.promotion.promote import BRANCH, Mode, Outcome, Request, promote
from gitmem.regular_file import read_regular

RECORD = "promotion.json"  # file in the state folder with the outcome of the last run
RECORD_LIMIT = 1 << 16  # bytes of the record that are read
DEFAULT_AGENT = "git-mem"  # Memory-Agent of these promotions without mem.agent
EXTRA_SECONDS = 60  # seconds of a run beside those of the model (mem.modelSeconds)


def start(mode: str) -> None:
    """Start `git mem promote --background MODE` as a detached process if the commit at HEAD changed a daily log.

    Does nothing in the temporary work tree of `git mem sync`, which is removed before the promotion would be done.
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
    """Whether a commit changes a daily log. `daily`: patterns of daily logs."""
    parent = next(iter(repo.commit(head).parents), "")
    changes = repo.changes(parent, head)
    return any(log_day(change.path, daily) for change in changes)


def run(mode: str) -> None:
    """Promote once and record the outcome, or why the promotion failed: an error, a bug, or the end of its time
    (`mem.modelSeconds` and EXTRA_SECONDS). `mode`: the value of a `Mode`; ValueError for any other. Raises the errors
    of `open_here`."""
    # Not at the top: `start`, for which a commit waits, needs no model.
    from gitmem.gate.tree_policies import worktree_policy
    from gitmem.promotion.model_registry import promotion_model

    repo, config = open_here(stay=True)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, _stop)
        signal.alarm(config.model_seconds + EXTRA_SECONDS)
    request = Request(mode=Mode(mode), branch=BRANCH, agent=config.agent or DEFAULT_AGENT)
    moment = now().isoformat(timespec="seconds")
    try:
        policy = worktree_policy(repo, now().date())
        model = promotion_model(repo, config, policy, os.environ)
        outcome = promote(repo, config, model, policy, request, now())
    except GitMemError as error:
        record_run(repo.common_dir, {"at": moment, "mode": mode, "facts": 0, "problem": error.message})
        return
    except Exception as error:  # noqa: BLE001 - nobody sees the output of this process; `git mem status` shows the record
        problem = f"a bug: {type(error).__name__}"
        record_run(repo.common_dir, {"at": moment, "mode": mode, "facts": 0, "problem": problem})
        return
    record_run(repo.common_dir, {"at": moment, "mode": mode, **_summary(outcome)})


def _summary(outcome: Outcome) -> dict[str, Any]:
    """The fields of the record that describe the outcome."""
    return {
        "facts": len(outcome.plan.approved),
        "model": outcome.model,
        "commits": list(outcome.commits),
        "branch": outcome.branch or None,
        "why_nothing": outcome.why_nothing or None,
    }


def _stop(signum: int, frame: object) -> None:
    """The handler of SIGALRM: raise GitMemError, which ends the promotion when its time is over."""
    raise GitMemError("the promotion took longer than mem.modelSeconds allows and was stopped")


def record_run(common_dir: Path, record: Mapping[str, Any]) -> None:
    """Write the outcome of a run for `git mem status`, in place of the record of the run before. Raises GitMemError if
    it cannot be written."""
    text = json.dumps(record, ensure_ascii=True)
    write_atomic(state_dir(common_dir), RECORD, text.encode("ascii"), private=True)


def last_run(common_dir: Path) -> dict[str, Any]:
    """The record of the last run: `at`, `mode`, `facts`, and `commits`, `why_nothing` or `problem`. {} before the first
    run, or if the record cannot be read."""
    try:
        return parse_json_object(read_regular(common_dir / "gitmem" / RECORD, RECORD_LIMIT))
    except (OSError, ValueError):
        return {}


def last_run_in_words(common_dir: Path) -> str:
    """The record of the last run in one line, for `git mem status`; "" before the first run, or if the record cannot be
    read."""
    record = last_run(common_dir)
    if not record:
        return ""
    place = "committed"
    if record.get("branch"):
        place = f"on {record['branch']}"
    elif record.get("mode") == Mode.STAGE:
        place = "staged"
    facts = f"{counted(int(record.get('facts') or 0), 'fact')} {place}"
    return f"{record.get('at')}: {record.get('problem') or record.get('why_nothing') or facts}"
