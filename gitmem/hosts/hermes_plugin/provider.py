# git-mem: the memory of a repository in Hermes. Written by `git mem install --agent hermes`, taken out by `uninstall`.
"""A memory provider for Hermes Agent that calls `git-mem session hook` at the events of a session.

A call that fails or is late changes nothing for the session. Nothing is written for agents that another started.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from importlib import import_module
from pathlib import Path
from typing import Any

SECONDS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 30, "SessionEnd": 10}
try:
    MemoryProvider: Any = import_module("agent.memory_provider").MemoryProvider
except ImportError:  # outside of Hermes, in a test
    MemoryProvider = object


def root() -> str:
    """The repository, as `install` wrote it beside this file; "" if it is gone."""
    try:
        value = json.loads(Path(__file__).with_name("root.json").read_text(encoding="utf-8"))["root"]
    except (OSError, ValueError, KeyError, TypeError):
        return ""
    if isinstance(value, str) and os.path.isdir(value):
        return value
    return ""


def spawn(program: str) -> str:
    """The program to start. `install` replaces the name in the call by an absolute path if git-mem is not on the
    PATH."""
    return program


PROGRAM = spawn("git-mem")


def call(event: str, fields: dict[str, Any]) -> str:
    """The context that git-mem gives for an event; "" if there is none, or the program is missing, late or fails."""
    folder = root()
    if not folder or shutil.which(PROGRAM) is None:
        return ""
    try:
        result = subprocess.run(
            [PROGRAM, "session", "hook", event, "--host", "hermes"],
            input=json.dumps(fields), cwd=folder, env={**os.environ, "HERMES_PROJECT_DIR": folder},
            capture_output=True, text=True, encoding="utf-8", timeout=SECONDS[event], check=False,
        )  # fmt: skip
        answer = json.loads(result.stdout)["hookSpecificOutput"]["additionalContext"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return ""
    return answer if isinstance(answer, str) else ""


def said(messages: Any) -> list[dict[str, str]]:
    """The messages of people and the agent, without the results of tools, which may be large."""
    rows = []
    for message in messages if isinstance(messages, list) else []:
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            continue
        content = message.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        text = "\n".join(text for text in texts if isinstance(text, str) and text)
        if text:
            rows.append({"role": message["role"], "text": text})
    return rows


class GitMem(MemoryProvider):  # type: ignore[misc]
    """The memory provider. `started`: the session was given the context of its start. `is_primary`: the agent was not
    started by another one. `messages`: of the session. `running`: threads that call git-mem."""

    def __init__(self) -> None:
        self.session = ""
        self.started = False
        self.is_primary = True
        self.messages: list[dict[str, str]] = []
        self.running: list[threading.Thread] = []

    @property
    def name(self) -> str:
        return "git-mem"

    def is_available(self) -> bool:
        return bool(root()) and shutil.which(PROGRAM) is not None

    def initialize(self, session_id: str, **kwargs: Any) -> None:
        self.session, self.started, self.messages = session_id, False, []
        self.is_primary = kwargs.get("agent_context", "primary") == "primary"

    def prefetch(self, query: str, *, session_id: str = "") -> str:
        session = session_id or self.session
        start_context = "" if self.started else call("SessionStart", {"session_id": session})
        self.started = True
        texts = (start_context, call("UserPromptSubmit", {"session_id": session, "prompt": query}))
        return "\n".join(text for text in texts if text)

    def sync_turn(
        self, user_content: str, assistant_content: str, *, session_id: str = "", messages: Any = None
    ) -> None:
        turn = [{"role": "user", "content": user_content}, {"role": "assistant", "content": assistant_content}]
        if messages:
            self.messages = said(messages)
        else:
            self.messages = [*self.messages, *said(turn)]
        self._write("Stop", session_id or self.session, self.messages)

    def on_pre_compress(self, messages: Any) -> str:
        self._write("PreCompact", self.session, said(messages))
        return ""

    def on_session_end(self, messages: Any) -> None:
        self._write("SessionEnd", self.session, said(messages) or self.messages)

    def on_session_switch(self, new_session_id: str, **kwargs: Any) -> None:
        if new_session_id != self.session:
            self.session, self.started, self.messages = new_session_id, False, []

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        return []

    def shutdown(self) -> None:
        for thread in self.running:
            thread.join(timeout=SECONDS["Stop"])

    def _write(self, event: str, session: str, messages: list[dict[str, str]]) -> None:
        """Call git-mem in a thread, because Hermes waits for no write. The calls of a session keep their order."""
        if not (self.is_primary and messages):
            return
        before = self.running[-1:]

        def work() -> None:
            for thread in before:
                thread.join()
            call(event, {"session_id": session, "messages": messages})

        self.running = [thread for thread in self.running if thread.is_alive()]
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self.running.append(thread)


def register(ctx: Any) -> None:
    ctx.register_memory_provider(GitMem())
