"""Hosts that add no context at the start of a session: the first prompt has it. One names no prompt, one no transcript."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Repo

HERE = Path(__file__).parent
DECIDED = "We decided that invoices are in UTC."


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", "2026-02-05T14:35:00+00:00")
    text = "# Lift\n\nThe lift carries 400 kilos of coal.\n"
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n", "memory/lift.md": text})
    return repo


def hook(repo: Repo, command: str, given: dict[str, Any]) -> str:
    words = shlex.split(command)
    at = words.index("hook")
    done = repo.mem("session", "hook", words[at + 1], "--host", words[at + 3].strip(";"), input=json.dumps(given))
    assert done.stderr == ""
    return done.stdout.strip()


def injected(answer: str) -> str:
    return "".join(step["ephemeralMessage"] for step in json.loads(answer)["injectSteps"]) if answer else ""


def test_antigravity_is_told_once_at_each_prompt_and_keeps_what_was_decided(memory: Repo, tmp_path: Path) -> None:
    memory.mem("install", "--agent", "antigravity")
    group = json.loads(memory.read(".agents/hooks.json"))["git-mem"]
    transcript = tmp_path / "transcript_full.jsonl"
    steps = (HERE / "transcripts/antigravity.jsonl").read_text().splitlines()
    rows = {
        row["event"]: row
        for line in (HERE / "documented/antigravity.jsonl").read_text().splitlines()
        if (row := json.loads(line))
    }

    def call(event: str) -> str:
        text = json.dumps(rows[event]["input"]).replace("ROOT", str(memory.path)).replace("TRANSCRIPT", str(transcript))
        (entry,) = group[rows[event]["named"]]
        return hook(memory, entry["command"], json.loads(text))

    assert "invoice date is UTC" in injected(call("UserPromptSubmit"))  # no transcript yet: the start's context alone
    transcript.write_text("\n".join(steps[:2]))
    assert call("UserPromptSubmit") == ""  # the model asks again in the same turn
    question = {"step_index": 2, "source": "USER_EXPLICIT", "type": "USER_INPUT", "created_at": "2026-02-05T14:31:00Z"}
    asked = "<USER_REQUEST>\nHow many kilos of coal does the lift carry?\n</USER_REQUEST>"
    transcript.write_text("\n".join([*steps[:2], json.dumps({**question, "content": asked})]))
    assert "400 kilos" in injected(call("UserPromptSubmit"))
    transcript.write_text("\n".join(steps))
    assert call("Stop") == ""
    log = memory.read("memory/2026-02-05.md")
    assert "invoices are in UTC" in log and "Refunds" not in log


def test_kimi_is_told_in_plain_text_and_its_transcript_is_found_by_the_session(memory: Repo) -> None:
    memory.mem("install", "--agent", "kimi")
    settings = tomllib.loads((Path.home() / ".kimi-code/config.toml").read_text())
    commands = {row["event"]: row["command"] for row in settings["hooks"]}
    assert set(commands) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    given = {"session_id": "session_1", "cwd": str(memory.path), "client_type": "kimi_code_cli"}
    parts = [{"type": "text", "text": "How many kilos of coal does the lift carry?"}]
    first = hook(memory, commands["UserPromptSubmit"], {**given, "prompt": parts})
    assert "invoice date is UTC" in first and "400 kilos" in first and not first.startswith("{")
    again = hook(memory, commands["UserPromptSubmit"], {**given, "prompt": parts})
    assert "invoice date is UTC" not in again
    wire = Path.home() / ".kimi-code/sessions/wd_x/session_1/agents/main/wire.jsonl"
    wire.parent.mkdir(parents=True)
    wire.write_text((HERE / "transcripts/kimi.jsonl").read_text())
    assert hook(memory, commands["Stop"], given) == ""
    log = memory.read("memory/2026-02-05.md")
    assert log.count("invoices are in UTC") == 1 and "Refunds" not in log


@pytest.mark.parametrize("session", ["../session_1", "*", "a/b", "", "session_1\n"])
def test_a_session_whose_id_is_a_path_or_a_glob_has_no_transcript(memory: Repo, session: str) -> None:
    memory.mem("install", "--agent", "kimi")
    wire = Path.home() / ".kimi-code/sessions/wd_x/session_1/agents/main/wire.jsonl"
    wire.parent.mkdir(parents=True)
    wire.write_text((HERE / "transcripts/kimi.jsonl").read_text())
    given = {"session_id": session, "cwd": str(memory.path)}
    repo_log = memory.path / "memory/2026-02-05.md"
    hook(memory, "git-mem session hook Stop --host kimi", given)
    assert not repo_log.exists()
