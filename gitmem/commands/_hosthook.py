"""`git mem session hook`: what a host's own hooks call, from their JSON on standard input.

A handler never breaks a turn: whatever goes wrong is logged in the Git directory and the exit code is 0.
"""

from __future__ import annotations

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from gitmem.commands._edge import now, open_here
from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git import Repository
from gitmem.worktree import state_dir

INJECTED = 10_000  # characters of context that Claude Code takes
LOG_LIMIT = 200_000  # bytes of the log; then it starts again


def handle(event: str) -> None:
    """Carry out one event of a host. Never raises."""
    repo: Repository | None = None
    try:
        given = json.loads(sys.stdin.buffer.read(1 << 20) or b"{}")
        given = given if isinstance(given, dict) else {}
        repo, config = open_here()
        answer = EVENTS[event](repo, config, given, now())
        if answer:
            sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
    except Exception as error:  # noqa: BLE001 - a host's turn must not break on our account
        _log(repo, event, error)


def _log(repo: Repository | None, event: str, error: Exception) -> None:
    """A line of the log: kind and, for errors of ours, their message (which never quotes memory)."""
    if repo is None:
        return
    words = error.message if isinstance(error, GitMemError) else type(error).__name__
    try:
        path = state_dir(repo.common_dir) / "session.log"
        mode = "a" if not path.exists() or path.stat().st_size < LOG_LIMIT else "w"
        with open(path, mode, encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{now().isoformat(timespec='seconds')} {event}: {' '.join(words.split())}\n")
        path.chmod(0o600)
    except (OSError, GitMemError):
        return


def _start(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    from gitmem.commands.context import build, request_of

    request = request_of(config, "", loaded=("AGENTS.md",), characters=INJECTED - 500)
    text = build(repo, config, request, when).text
    last = checkpoint(repo, config, when)
    return _inject("SessionStart", f"{text}\n{last}".strip()[:INJECTED])


def checkpoint(repo: Repository, config: Config, when: datetime) -> str:
    """Where the last session left off: its working values that have not ended."""
    from gitmem.fence import neutral
    from gitmem.working import Store

    values = Store(repo.common_dir, config.profile).list("", when)[:20]
    if not values:
        return ""
    lines = [f"- {neutral(value.key)}: {neutral(value.text[:200])}" for value in values]
    return "Open from the last session (data):\n" + "\n".join(lines)


def _prompt(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    from gitmem.commands.context import build, request_of

    prompt = given.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return ""
    request = request_of(
        config, prompt[:4_000], without_layers=frozenset(("pinned", "rule", "daily")), characters=INJECTED - 500
    )
    made = build(repo, config, request, when)
    return _inject("UserPromptSubmit", made.text) if made.parts else ""


def _inject(event: str, text: str) -> str:
    if not text:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)


def _flush(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    from gitmem.session import flush

    path, session = _transcript(given)
    if path is not None and config.session_flush:
        flush(repo, config, _read(path), now=when, session=session)
    return ""


def _end(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    from gitmem.session import end

    path, session = _transcript(given)
    if path is not None and config.session_flush:
        end(repo, config, _read(path), now=when, session=session)
    return ""


def _transcript(given: dict[str, Any]) -> tuple[Path | None, str]:
    path, session = given.get("transcript_path"), given.get("session_id")
    return (Path(path) if isinstance(path, str) and path else None), session if isinstance(session, str) else ""


def _read(path: Path) -> Any:
    from gitmem.transcript import parse

    return parse(path.read_bytes())


EVENTS = {
    "SessionStart": _start,
    "UserPromptSubmit": _prompt,
    "Stop": _flush,
    "PreCompact": _flush,
    "SessionEnd": _end,
}
