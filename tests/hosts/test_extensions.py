"""The extensions that run inside a host's own process: they call our hooks, and change nothing where git-mem fails."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitmem.hosts.host import Setup
from gitmem.hosts.registration import plan
from gitmem.hosts.registry import host_named
from tests.harness import Repo

DRIVE_PI = """
import extension from "./extension.mjs"
const handlers = {}
extension({ on: (event, handler) => (handlers[event] = handler) })
const ctx = { sessionManager: { getSessionId: () => "s1", getSessionFile: () => process.argv[2] } }
const given = []
for (const [event, fields] of JSON.parse(process.argv[3])) given.push((await handlers[event](fields, ctx)) ?? null)
console.log(JSON.stringify(given))
"""
PI_EVENTS = [
    ["before_agent_start", {"messageType": "user", "prompt": "송장 날짜의 시간대는?"}],
    ["before_agent_start", {"messageType": "custom", "message": {}}],
    ["agent_settled", {}],
    ["session_before_compact", {}],
    ["session_shutdown", {"reason": "reload"}],
    ["session_shutdown", {"reason": "quit"}],
]
FAILURES = {"missing": "", "failing": "exit 1", "no JSON": "cat > /dev/null; echo nonsense"}


def node() -> str:
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed: the extensions of hosts are not run")
    return found


def run_pi(folder: Path, path: str, events: list[Any], transcript: str = "") -> list[Any]:
    """What pi's extension answers to the events, in a project at `folder`."""
    place = folder / ".pi/extensions"
    place.mkdir(parents=True, exist_ok=True)
    texts = {change.path: change.text for change in plan(host_named("pi"), {}, Setup())}
    (place / "extension.mjs").write_text(texts[".pi/extensions/git-mem.js"], encoding="utf-8")
    (place / "drive.mjs").write_text(DRIVE_PI, encoding="utf-8")
    done = subprocess.run(
        [node(), str(place / "drive.mjs"), transcript, json.dumps(events)],
        env={**os.environ, "PATH": path}, capture_output=True, text=True, encoding="utf-8", timeout=120, check=True,
    )  # fmt: skip
    answers = json.loads(done.stdout)
    assert isinstance(answers, list)
    return answers


def program(folder: Path, script: str) -> str:
    """A PATH on which `git-mem` is the shell script; the folder is empty where there is none."""
    folder.mkdir()
    if script:
        (folder / "git-mem").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "git-mem").chmod(0o755)
    return f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin"


@pytest.mark.parametrize("failure", FAILURES)
def test_pi_goes_on_where_git_mem_is_missing_or_fails(tmp_path: Path, failure: str) -> None:
    path = program(tmp_path / "bin", FAILURES[failure])
    assert run_pi(tmp_path / "project", path, PI_EVENTS) == [None] * len(PI_EVENTS)


def test_pi_is_given_what_memory_says_once_and_calls_the_other_events(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    script = f"""
echo "$*" >> {calls}
cat >> {calls}
case "$3" in SessionStart|UserPromptSubmit)
  printf '{{"hookSpecificOutput": {{"additionalContext": "%s says"}}}}' "$3";; esac
"""
    path = program(tmp_path / "bin", script)
    first, custom, *others = run_pi(tmp_path / "project", path, [*PI_EVENTS, PI_EVENTS[0]], "/s.jsonl")
    assert first["message"]["content"] == "SessionStart says\nUserPromptSubmit says"
    assert first["message"]["display"] is False and custom is None
    assert others[:-1] == [None] * 4 and others[-1]["message"]["content"] == "UserPromptSubmit says"
    lines = [line for line in calls.read_text(encoding="utf-8").replace("}session", "}\nsession").splitlines() if line]
    called = [line.split()[2] for line in lines if line.startswith("session hook")]
    assert called == ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd", "UserPromptSubmit"]
    assert '{"session_id":"s1","transcript_path":"/s.jsonl","prompt":"송장 날짜의 시간대는?"}' in lines


def test_what_pi_decided_is_written(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-02-05T14:35:00+00:00")
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n"})
    repo.mem("install", "--agent", "pi")
    transcript = Path(__file__).parent / "transcripts/pi.jsonl"
    given = {"session_id": "s1", "transcript_path": str(transcript)}
    start = repo.mem("session", "hook", "SessionStart", "--host", "pi", input=json.dumps(given))
    assert "invoice date is UTC" in json.loads(start.stdout)["hookSpecificOutput"]["additionalContext"]
    repo.mem("session", "hook", "Stop", "--host", "pi", input=json.dumps(given))
    assert "invoices are in UTC" in repo.read("memory/2026-02-05.md")
