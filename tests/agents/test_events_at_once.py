"""Two events of one session at once: what the one gives the other does not give again, whichever is first."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.gate.quoting import END, LEAD
from gitmem.git.worktree import locked
from gitmem.sessions.state import context_lock
from tests.harness import Repo

FACTS = ("The invoice date is UTC.", "The lighthouse lift carries coal.")
FIELDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "What is the invoice date, and what does the lighthouse lift carry?"},
}
# The hook as a host starts it. It says on standard error that it is about to wait for the lock; the time that a host
# gives an event, the part of it that the hook waits, and a file that it waits for with a first context in its hands
# ("" for none) are arguments.
HOOK = """
import os, sys, time
import gitmem.context.request
from gitmem.agents import event_contexts, event_input, host_events
from gitmem.cli.host_hooks import handle_event
seconds, share, event, host, file = sys.argv[1:]
for module in (event_contexts, event_input, host_events):
    module.EVENT_SECONDS = dict.fromkeys(module.EVENT_SECONDS, int(seconds))
event_input.WAIT_SHARE = float(share)
lock = event_input.locked
def locked(folder, name, wait):
    print("waits", file=sys.stderr, flush=True)
    return lock(folder, name, wait)
event_input.locked = locked
build = gitmem.context.request.build_context
def first(*args, **names):
    made = build(*args, **names)
    gitmem.context.request.build_context = build
    print("has built", file=sys.stderr, flush=True)
    while not os.path.exists(file):
        time.sleep(0.01)
    return made
if file:
    gitmem.context.request.build_context = first
handle_event(event, host, user=False)
"""


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", "2026-02-05T14:30:00+00:00")
    facts = "".join(f"- {fact}\n" for fact in FACTS)
    repo.commit("memory", {"MEMORY.md": f"# Memory\n\n{facts}"})
    return repo


def begun(memory: Repo, event: str, host: str, *, waits: bool, until: str = "") -> subprocess.Popen[str]:
    """The hook of an event that was called, and has come to the lock; one that `waits` does so for minutes. `until`:
    the file without which it does nothing with its first context."""
    hook = subprocess.Popen(
        [sys.executable, "-c", HOOK, "1000", "0.9" if waits else "0", event, host, until], cwd=memory.path,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip
    assert hook.stdin is not None and hook.stderr is not None
    hook.stdin.write(json.dumps({"session_id": "s1", "sessionId": "s1", **FIELDS[event]}))
    hook.stdin.close()
    hook.stdin = None
    assert hook.stderr.readline() == "waits\n"
    return hook


def given(hook: subprocess.Popen[str]) -> list[str]:
    """The facts that a hook answered with."""
    answer, problems = hook.communicate()
    assert (hook.returncode, problems) == (0, "")
    return [fact for fact in FACTS if fact in answer]


@pytest.mark.parametrize("host", ["copilot", "claude"])
@pytest.mark.parametrize(("first", "second"), [tuple(FIELDS), tuple(reversed(FIELDS))])
def test_of_a_start_and_a_prompt_at_once_each_gives_what_the_other_did_not(
    memory: Repo, host: str, first: str, second: str
) -> None:
    common = memory.path / ".git"
    with locked(common, context_lock("s1")):
        late = begun(memory, first, host, waits=True)
        impatient = begun(memory, second, host, waits=False)  # its time is over at once: it gives all the same
        assert given(impatient) == list(FACTS)
        assert late.poll() is None  # the one that has time waits until it knows what the other gave
    assert given(late) == []


@pytest.mark.parametrize(("slow", "fast"), [tuple(FIELDS), tuple(reversed(FIELDS))])
def test_an_event_that_had_no_time_to_wait_gives_nothing_that_was_given_while_it_read(
    memory: Repo, tmp_path: Path, slow: str, fast: str
) -> None:
    goes_on = tmp_path / "goes on"
    late = begun(memory, slow, "copilot", waits=False, until=str(goes_on))
    assert late.stderr is not None and late.stderr.readline() == "has built\n"
    assert given(begun(memory, fast, "copilot", waits=False)) == list(FACTS)
    goes_on.touch()
    assert given(late) == []


def test_what_a_start_tells_of_the_last_session_alone_is_quoted_as_memory(memory: Repo, tmp_path: Path) -> None:
    said = tmp_path / "talk.jsonl"
    said.write_text(json.dumps({"role": "user", "text": "We decided that the crane is blue."}) + "\n")
    ended = {"session_id": "s0", "transcript_path": str(said)}
    memory.mem(
        "session", "hook", "SessionEnd", "--host", "claude", input=json.dumps(ended), env={"GITMEM_DETACHED": "1"}
    )
    for log in (memory.path / "memory").glob("2*.md"):
        log.unlink()
    with locked(memory.path / ".git", context_lock("s1")):
        start = begun(memory, "SessionStart", "claude", waits=True)
        assert given(begun(memory, "UserPromptSubmit", "claude", waits=False)) == list(FACTS)
    text = json.loads(start.communicate()[0])["hookSpecificOutput"]["additionalContext"]
    assert "crane is blue" in text and text.startswith(LEAD) and text.endswith(END)


def test_a_start_after_a_prompt_was_answered_gives_everything_anew(memory: Repo) -> None:
    for event in ("UserPromptSubmit", "SessionStart"):
        assert given(begun(memory, event, "claude", waits=True)) == list(FACTS)


def test_a_lock_that_cannot_be_made_keeps_nothing_from_being_given(memory: Repo) -> None:
    folder = memory.path / ".git/gitmem"
    folder.mkdir(mode=0o700, exist_ok=True)
    (folder / f"{context_lock('s1')}.lock").mkdir()
    assert given(begun(memory, "SessionStart", "claude", waits=True)) == list(FACTS)
