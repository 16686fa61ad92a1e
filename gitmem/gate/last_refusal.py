"""Records the last commit or push that the gate refused, so that its owner learns of it later.

A timer of an agent commits and pushes with nobody at its terminal. The record is one small file in Git's common
directory with the time, the hook, the rules and the places; no text of memory. The next commit or push that passes
deletes it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.git.worktree import state_dir
from gitmem.json_values import parse_json

NAME = "refused.json"
PUSHES = ("pre-push",)


@dataclass(frozen=True, slots=True)
class Refusal:
    """`at`: ISO time of the refusal. `hook`: the Git hook that refused. `why`: rules and places, already masked."""

    at: str
    hook: str
    why: str

    def __str__(self) -> str:
        action = "commit"
        if self.hook in PUSHES:
            action = "push"
        return f"the gate refused a {action} at {self.at[:16].replace('T', ' ')}, and none has passed since: {self.why}"


def record(common_dir: Path, hook: str, why: str, now: datetime) -> None:
    """Record a refusal, with the first 500 characters of `why`. Does nothing in a repository that cannot be written;
    the hook has printed the refusal already."""
    value = json.dumps(asdict(Refusal(now.isoformat(timespec="seconds"), hook, why[:500])), ensure_ascii=False)
    try:
        state_dir(common_dir)
        place = common_dir / "gitmem" / NAME
        temporary = place.with_name(f"{NAME}.{os.getpid()}")
        temporary.write_text(value, "utf-8")
        temporary.chmod(0o600)
        os.replace(temporary, place)
    except (OSError, GitMemError):
        return


def delete_after_success(common_dir: Path, hook: str) -> None:
    """Delete the record after a later success: of a refused commit when a commit passes, of a refused push when a push
    (`hook` is `pre-push`) passes. Does nothing without a record. Raises OSError when the file cannot be deleted."""
    last = read(common_dir)
    if last is not None and (last.hook in PUSHES) == (hook in PUSHES):
        (common_dir / "gitmem" / NAME).unlink(missing_ok=True)


def read(common_dir: Path) -> Refusal | None:
    """The recorded refusal; None when there is none or the record cannot be read."""
    try:
        value = parse_json((common_dir / "gitmem" / NAME).read_text("utf-8"))
        return Refusal(str(value["at"]), str(value["hook"]), str(value["why"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
