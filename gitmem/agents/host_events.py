"""`git mem session hook`: what a host's own hooks call, from their JSON on standard input.

A handler never breaks a turn: whatever goes wrong is logged in the Git directory and the exit code is 0.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.environment import cache_folder, now
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository
from gitmem.git.worktree import state_dir
from gitmem.hosts.registration import EVENTS as EVENT_SECONDS
from gitmem.hosts.registration import NAMES

MOST = 32 << 20  # bytes of a host's JSON; a prompt may hold a pasted log
READ = 8 << 20  # bytes of a transcript that is read before a prompt is answered
NOT_AGAIN = frozenset(("pinned", "rule", "daily", "working", "recent", "summary"))  # what a session has been told
INJECTED = 10_000  # characters of context that Claude Code takes
SHARE = 0.8  # of the time a host gives, the rest is for starting and ending
DETACHED = "GITMEM_DETACHED"
LOG_LIMIT = 200_000  # bytes of the log; then it starts again


def handle(event: str, host: str, opened: Callable[[], tuple[Repository, Config]]) -> None:
    """Carry out one event of a host. Never raises, and ends within the time the host gives it (`registration.EVENTS`).

    The host waits one second for the end of a session: that is done by a process of its own.
    """
    repo: Repository | None = None
    try:
        data = sys.stdin.buffer.read(MOST) or b"{}"
        if event == "SessionEnd" and DETACHED not in os.environ:
            _apart(event, data)
            return
        given = json.loads(data)
        given = _named(given) if isinstance(given, dict) else {}
        repo, config = opened()
        with _within(0 if DETACHED in os.environ else SHARE * EVENT_SECONDS[event]):
            answer = _for_host(EVENTS[event](repo, config, given, now()), event, host)
            if answer:
                sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
                sys.stdout.buffer.flush()
            if event == "SessionStart":
                _begin(repo, config, given, now())
    except Exception as error:  # noqa: BLE001 - a host's turn must not break on our account
        _log(repo, event, error)


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after so many seconds; 0 for no limit. What was written until then stays, and is whole."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _apart(event: str, data: bytes) -> None:
    """The same handler in a process that outlives this one and its host."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "session", "hook", event], stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, DETACHED: "1"}, start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(data)
    child.stdin.close()


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
    from gitmem.context.checkpoint import checkpoint
    from gitmem.context.request import build, request_of

    request = request_of(
        config, "", loaded=("AGENTS.md",), without_layers=frozenset(("working",)), characters=INJECTED - 500
    )  # fmt: skip
    text = build(repo, config, request, when, environ=os.environ, cache=cache_folder()).text
    told = text
    for part in checkpoint(
        repo, config, when, _transcript(given)[1]
    ):  # whole or not at all: a cut would leave a quotation open
        if len(told) + len(part) < INJECTED:
            told = f"{told}\n{part}".strip()
    return _inject("SessionStart", told)


def _begin(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> None:
    """After the answer: end the sessions that are over, and remember this one."""
    from gitmem.sessions.automation import renewed
    from gitmem.sessions.state import load_state, save_state, touched

    path, session = _transcript(given)
    if config.session_flush and config.session_reset != "never":
        renewed(repo, config, when)
        if session:
            save_state(repo.common_dir, session, touched(load_state(repo.common_dir, session), when, str(path or "")))


def _prompt(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    from gitmem.context.request import build, request_of

    prompt = given.get("prompt")
    if not isinstance(prompt, str) or not prompt.strip():
        return ""
    # What the talk names stands behind a short question; the turns themselves the host has.
    path, _ = _transcript(given)
    known = path if path is not None and path.is_file() and path.stat().st_size <= READ else None
    request = request_of(
        config, prompt[:4_000], transcript=known, without_layers=NOT_AGAIN, characters=INJECTED - 500
    )  # fmt: skip
    made = build(repo, config, request, when, environ=os.environ, cache=cache_folder())
    return _inject("UserPromptSubmit", made.text) if made.parts else ""


def _named(given: dict[str, Any]) -> dict[str, Any]:
    """A host's JSON with the names that the handlers know: hosts call the session's id differently."""
    session = next((given[key] for key in ("session_id", "sessionId", "conversation_id") if given.get(key)), "")
    return {**given, "session_id": session}


def _for_host(answer: str, event: str, host: str) -> str:
    """An answer in the form the host reads."""
    if not answer or host in ("claude", "codex", "vscode"):
        return answer
    said = json.loads(answer)["hookSpecificOutput"]["additionalContext"]
    value = {"hookSpecificOutput": {"hookEventName": NAMES[host].get(event, event), "additionalContext": said}}
    return json.dumps({"additional_context": said} if host == "cursor" else value, ensure_ascii=False)


def _inject(event: str, text: str) -> str:
    if not text:
        return ""
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}, ensure_ascii=False)


def _stop(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    return _flush(repo, config, given, when, thorough=False)


def _compact(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    return _flush(repo, config, given, when, thorough=True)


def _flush(repo: Repository, config: Config, given: dict[str, Any], when: datetime, thorough: bool) -> str:
    """Write what was decided; before a compaction (`thorough`) a configured model chooses too."""
    from gitmem.sessions.automation import model_of, propose, renewed
    from gitmem.sessions.lifecycle import Source, flush, paths_of

    path, session = _transcript(given)
    if path is None or not config.session_flush:
        return ""
    found = _own(repo, _read(path))
    renewed(repo, config, when, found, session)
    model = model_of(repo, config, when, os.environ) if thorough else None
    done = flush(repo, config, found, Source(session, file=str(path)), now=when, model=model)
    if thorough and config.session_promote and done.kept:
        propose(repo, config, paths_of(done.kept), when, os.environ)
    return ""


def _end(repo: Repository, config: Config, given: dict[str, Any], when: datetime) -> str:
    from gitmem.sessions.automation import model_of, propose, renewed
    from gitmem.sessions.lifecycle import Source, end, paths_of

    path, session = _transcript(given)
    if path is None or not config.session_flush:
        return ""
    found = _own(repo, _read(path))
    renewed(repo, config, when, found, session)
    model = model_of(repo, config, when, os.environ)
    done, _ = end(repo, config, found, Source(session, file=str(path)), now=when, model=model)
    if config.session_promote and done.kept:
        propose(repo, config, paths_of(done.kept), when, os.environ)
    return ""


def _transcript(given: dict[str, Any]) -> tuple[Path | None, str]:
    path, session = given.get("transcript_path"), given.get("session_id")
    return (Path(path) if isinstance(path, str) and path else None), session if isinstance(session, str) else ""


def _read(path: Path) -> Any:
    from gitmem.git.regular_file import read_regular
    from gitmem.hosts.transcript import parse

    return parse(read_regular(path))


def _own(repo: Repository, found: Any) -> Any:
    """A transcript since the last switch of profile: what was said before is of another memory."""
    pairs = repo.user_config()
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return found
    from gitmem import profiles
    from gitmem.hosts.transcript import since

    return since(found, profiles.switched(pairs))


EVENTS = {
    "SessionStart": _start,
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "PreCompact": _compact,
    "SessionEnd": _end,
}
