"""Remembers which daily logs `git mem redact` has masked, so that the commit-msg hook can explain the change by itself.

A daily log is append-only: a commit that changes its past lines needs a `Memory-Rewrite` trailer. `redact` records the
oid of each blob that it made. When the staged log is such a blob, commit-msg adds the trailer to the message; no other
change gets one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from gitmem.daily_logs import is_daily
from gitmem.gate.changes.rewrite_trailer import REWRITE_TRAILER
from gitmem.gate.detectors.finding import Finding
from gitmem.git.repository import Repository
from gitmem.git.worktree import state_dir, write_atomic
from gitmem.git.write import run_git
from gitmem.json_values import parse_json
from gitmem.paths import Kind, kind

FILE = "rewrites.json"
MAX_BLOBS = 200  # blobs remembered
REASON = "masked with git mem redact"


def record_rewrites(repo: Repository, blobs: Iterable[tuple[str, str]], daily: Sequence[str] = ()) -> None:
    """Record the oids of redacted daily logs and MEMORY.md; blobs of other paths are ignored. The newest MAX_BLOBS
    stay.

    `blobs`: (path, oid). `daily`: patterns of daily logs. Raises GitMemError when the record cannot be
    written.
    """
    rewritten = [oid for path, oid in blobs if kind(path) is Kind.MEMORY or is_daily(path, daily)]
    if not rewritten:
        return
    oids = [*_recorded_rewrites(repo), *rewritten][-MAX_BLOBS:]
    write_atomic(state_dir(repo.common_dir), FILE, json.dumps(oids).encode(), private=True)


def _recorded_rewrites(repo: Repository) -> list[str]:
    """The oids of the blobs that `git mem redact` made, in the order of the file; [] if the file is missing, unreadable
    or malformed. Rows that are not text are left out."""
    try:
        rows = parse_json((repo.common_dir / "gitmem" / FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return []
    if not isinstance(rows, list):
        return []
    return [row for row in rows if isinstance(row, str)]


def without_recorded_rewrites(repo: Repository, message: Path, findings: list[Finding]) -> list[Finding]:
    """The findings without those whose staged file is a recorded blob. If there was one, the function adds the trailer
    to the file `message` (a path from the working directory). Raises GitFailed if Git cannot add it."""
    if not findings:
        return findings
    recorded = set(_recorded_rewrites(repo))
    staged = {entry.path: entry.oid for entry in repo.staged()}
    remaining = [finding for finding in findings if staged.get(finding.path) not in recorded]
    if len(remaining) < len(findings):
        trailer = f"{REWRITE_TRAILER}: {REASON}"
        place = str(Path.cwd() / message)
        run_git(
            repo, ["interpret-trailers", "--in-place", "--if-exists", "addIfDifferent", "--trailer", trailer, place]
        )
    return remaining
