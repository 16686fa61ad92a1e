"""Handle the events of agents' hosts (`git mem session hook`): read the host's JSON from standard input, answer with
memory, and write what the session decided.

A handler never breaks the host's turn: every error is logged in the Git directory, and the exit code is 0. Each handler
imports inside functions what the others do not need, because the host waits for it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

from gitmem.agents import event_writing
from gitmem.agents.event_contexts import TIME_SHARE, answer_agent_start, answer_prompt, answer_start
from gitmem.agents.event_input import Event, session_id
from gitmem.agents.event_log import log_error
from gitmem.agents.host_project import LOCATION_VARIABLES, project_folder, stated_root
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.git.opening import Repository, discover
from gitmem.git.worktree import state_dir, write_atomic
from gitmem.hosts.host import EVENT_SECONDS, USER_OPTION, Host
from gitmem.hosts.registry import host_named
from gitmem.json_values import parse_json

INPUT_LIMIT = 32 << 20  # bytes of a host's JSON; a prompt may contain a pasted log
DETACHED = "GITMEM_DETACHED"  # variable that is set in the process that writes the end of a session
TURN = "compacted-turn"  # file in the state folder: the session in whose current turn a compaction was handled


class OutOfTime(BaseException):
    """The host's time limit for an event is over. This is not an `Exception`, so that no code treats it as an error of
    its own and goes on."""


def handle(
    event: str, host_name: str, opened: Callable[[], tuple[Repository, Config]], *, user: bool = False
) -> None:  # fmt: skip
    """Handle one event of a host and print the answer. Ends within the host's time limit (EVENT_SECONDS), and never
    raises for a `host_name` of `registry.HOSTS`; KeyError for another name.

    `event`: a key of EVENTS. `opened`: opens the repository of the current folder. `user`: the hook is in the person's
    own settings. The end of a session is handled by a process of its own, since a host waits only one second for it.
    Does nothing outside a project (`host_project`).
    """
    started_at = time.time()
    repo: Repository | None = None
    is_ours = False
    host = host_named(host_name)
    try:
        data = sys.stdin.buffer.read(INPUT_LIMIT + 1) or b"{}"
        fields, problem = _parsed_input(data)
        is_ours = _enter_project(host, fields, user)
        if not is_ours:
            return
        if problem:
            raise GitMemError(problem)
        if _compaction_was_handled(host, event, fields):
            return
        if event == "SessionEnd" and DETACHED not in os.environ:
            _handle_in_background(event, host_name, data, user)
            return
        repo, config = opened()
        host_event = Event(repo, config, host, event, fields, now(), started_at)
        with _time_limit(0 if DETACHED in os.environ else TIME_SHARE * EVENT_SECONDS[event]):
            answer = _host_answer(host, event, EVENTS[event](host_event))
            if answer:
                sys.stdout.buffer.write(answer.encode("utf-8", "backslashreplace") + b"\n")
                sys.stdout.buffer.flush()
            if event == "SessionStart":
                event_writing.record_activity(host_event)
                event_writing.write_waiting(host_event)
        if event == "PreCompact" and host.hook_form.compacts_each_request:
            _mark_turn(host_event)
    except (Exception, OutOfTime) as error:  # noqa: BLE001 - an error of ours must not stop the host's turn
        if is_ours:
            log_error(repo, host, event, error)


def _compaction_was_handled(host: Host, event: str, fields: dict[str, Any]) -> bool:
    """Whether the event is a compaction and one of the same turn was handled already. Some hosts announce a compaction
    before every request.

    Any other event of the session begins another turn: then the mark file is removed. The function reads one file and
    imports nothing, because such a host calls it very often.
    """
    if not host.hook_form.compacts_each_request:
        return False
    try:
        mark = discover(Path.cwd(), os.environ).common_dir / "gitmem" / TURN
        if mark.is_symlink() or not mark.is_file():
            return False
        marked = mark.read_bytes()
        if not marked or marked != _turn_mark(host, fields):
            return False
        if event != "PreCompact":
            mark.unlink(missing_ok=True)
        return event == "PreCompact"
    except (OSError, GitMemError):  # handling the event will meet the same error and log it
        return False


def _mark_turn(event: Event) -> None:
    """Write the mark file, which says that a compaction of this turn was handled."""
    mark = _turn_mark(event.host, event.fields)
    if mark:
        write_atomic(state_dir(event.repo.common_dir), TURN, mark, private=True)


def _turn_mark(host: Host, fields: dict[str, Any]) -> bytes:
    """The bytes of the mark file: the hash of the session's id; b"" if there is no id."""
    session = session_id(host, fields)
    if not session:
        return b""
    return sha256(session.encode("utf-8", "replace")).hexdigest().encode()


def _parsed_input(data: bytes) -> tuple[dict[str, Any], str]:
    """(the host's JSON object, ""), or ({}, a sentence that says what is wrong with it)."""
    if len(data) > INPUT_LIMIT:
        return {}, f"the host hands over more than {INPUT_LIMIT >> 20} MiB: nothing of it is kept"
    try:
        loaded = parse_json(data)
    except ValueError:
        return {}, "what the host hands over is no JSON"
    if isinstance(loaded, dict):
        return loaded, ""
    return {}, "what the host hands over is no JSON object"


def _enter_project(host: Host, fields: dict[str, Any], user: bool) -> bool:
    """Change to the folder of the hook's project and return True; return False if there is no project. If the host
    states the project's root, Git's variables about a repository (LOCATION_VARIABLES) are removed from the
    environment."""
    folder = project_folder(host, fields, os.environ, user=user)
    if folder is None:
        return False
    if stated_root(host, fields, os.environ) is not None:
        for name in LOCATION_VARIABLES:
            os.environ.pop(name, None)
    os.chdir(folder)
    return True


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block after `seconds`; 0 for no limit. Files that were written until then are complete.
    There is no limit on a system without `signal.setitimer`."""

    def late(*_: object) -> None:
        raise OutOfTime

    if not hasattr(signal, "setitimer"):
        yield
        return
    old_handler = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old_handler)


def _handle_in_background(event: str, host_name: str, data: bytes, user: bool) -> None:
    """Handle the event in a new process, which goes on after this one and the host have ended. `data`: the host's
    JSON."""
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "gitmem", "session", "hook", event, "--host", host_name, *([USER_OPTION] * user)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, DETACHED: "1"}, start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(data)
    child.stdin.close()


def _host_answer(host: Host, event: str, text: str | None) -> str:
    """The text in the form that the host reads from a hook, "" for an empty text and for None."""
    if not text:
        return ""
    answer = host.hook_form.answer(host.hook_form.events.get(event, event), text)
    if isinstance(answer, str):
        return answer
    return json.dumps(answer, ensure_ascii=False)


EVENTS: dict[str, Callable[[Event], str | None]] = {  # None: the event has no answer
    "SessionStart": answer_start,
    "UserPromptSubmit": answer_prompt,
    "Stop": event_writing.write_turn,
    "PreCompact": event_writing.write_before_compaction,
    "SessionEnd": event_writing.write_session,
    "SubagentStart": answer_agent_start,
}
