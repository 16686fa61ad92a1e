"""Pushes of invented notes to repositories of tenants, a signed webhook for each, and how long until a search finds
them."""

from __future__ import annotations

import hmac
import json
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bench.search import PARTS, SECTIONS, Notes
from gitmem.server.administration import Administration

LOOK, PATIENCE = 0.05, 60.0  # seconds between two looks whether a push is indexed, and for which one is waited for
HOOK_SECRET = "hook secret of the benchmark"

Ask = Callable[[str, str, str, object, dict[str, str]], tuple[int, bytes]]  # method, address, token, value, headers


@dataclass
class Origin:
    """A repository that is pushed to, of a tenant with a token."""

    place: Path
    tenant: int
    token: str
    number: int = 0
    notes: int = 0
    commits: list[bytes] = field(default_factory=list)


def origin_of(owner: Administration, place: Path, tenant: int, token: str) -> Origin:
    """The repository "pushed" of a tenant, with one note, its first fetch in the queue."""
    origin = Origin(place, tenant, token)
    if not place.exists():
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(place)], check=True)
    origin.number = owner.add_repository(tenant, "pushed", str(place))
    return origin


def push(origin: Origin, notes: Notes, count: int) -> tuple[str, str]:
    """Add some notes to a repository; (the commit, a word that stands in no other)."""
    word = "".join("abcdefghij"[int(digit)] for digit in str(time.time_ns()))
    lines = [b"commit refs/heads/main\ncommitter b <b@example.com> %d +0000\ndata 0\n" % time.time()]
    tip = subprocess.run(
        ["git", "-C", str(origin.place), "rev-parse", "-q", "--verify", "refs/heads/main"],
        capture_output=True, text=True, check=False,
    ).stdout.strip()  # fmt: skip
    if tip:
        lines.append(f"from {tip}\n".encode())
    for number in range(count):
        text = f"{notes.note(origin.notes)}\n- {word}\n" if not number else notes.note(origin.notes)
        data = text.encode()
        lines.append(
            b"M 100644 inline memory/pushed-%s-%03d.md\ndata %d\n%s\n" % (word.encode(), number, len(data), data)
        )
        origin.notes += 1
    run = ["git", "-C", str(origin.place), "fast-import", "--quiet"]
    subprocess.run(run, input=b"".join(lines), check=True)
    made = subprocess.run([*run[:3], "rev-parse", "refs/heads/main"], capture_output=True, text=True, check=True)
    origin.commits.append(bytes.fromhex(made.stdout.strip()))
    return made.stdout.strip(), word


def delivered(ask: Ask, origin: Origin) -> None:
    """The webhook of a push, signed as GitHub signs."""
    value = {"repository": {"clone_url": str(origin.place)}, "at": time.time_ns()}
    digest = hmac.digest(HOOK_SECRET.encode(), json.dumps(value).encode(), "sha256").hex()
    status, _ = ask("POST", "/hooks", "", value, {"X-Hub-Signature-256": f"sha256={digest}"})
    if status != 202:
        raise RuntimeError(f"a webhook was answered {status}")


def until_found(ask: Ask, owner: Administration, origin: Origin, commit: str, word: str) -> float | None:
    """Seconds until a search finds a push whose webhook is sent now; None where it does not within `PATIENCE`."""
    began = time.monotonic()
    delivered(ask, origin)
    query = "SELECT 1 FROM ref WHERE tenant = %s AND repository = %s AND commit_oid = ANY(%s)"
    at = origin.commits.index(bytes.fromhex(commit))
    while time.monotonic() - began < PATIENCE:
        time.sleep(LOOK)
        if owner._connection.execute(query, (origin.tenant, origin.number, origin.commits[at:])).fetchone():
            asked = {"query": word, "repository": "pushed", "limit": 1}
            return (
                time.monotonic() - began
                if word.encode() in ask("POST", "/v1/search", origin.token, asked, {})[1]
                else None
            )
    return None


def pushes(ask: Ask, owner: Administration, origins: list[Origin], seconds: float, rate: float) -> str:
    """Push that many chunks a second for a while, a push a second, to the repositories in turn; how long they took."""
    notes = Notes(time.time_ns())
    count = max(1, round(rate / (SECTIONS * PARTS)))
    every, began = count * SECTIONS * PARTS / rate, time.monotonic()
    waiting: list[Future[float | None]] = []
    with ThreadPoolExecutor(64) as pool:
        while time.monotonic() - began < seconds:
            origin = origins[len(waiting) % len(origins)]
            commit, word = push(origin, notes, count)
            waiting.append(pool.submit(until_found, ask, owner, origin, commit, word))
            time.sleep(max(0.0, began + every * len(waiting) - time.monotonic()))
        found = [wait.result() for wait in waiting]
    took = sorted(one for one in found if one is not None)
    chunks = len(took) * count * SECTIONS * PARTS / (time.monotonic() - began)
    middle, late = (took[int(share * (len(took) - 1))] if took else 0.0 for share in (0.5, 0.95))
    return (
        f"push to searchable {middle:6.2f} s in the middle, 95 % within {late:.2f} (aim 5): {len(took)} of {len(found)}"
        f" pushes of {count * SECTIONS * PARTS} chunks; {chunks:.0f} chunks/s indexed (aim {rate:.0f})"
    )
