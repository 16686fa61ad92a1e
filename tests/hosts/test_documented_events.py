"""Hosts that do not come from npm: their events as their references of September 2026 have them, our values in them
(code.visualstudio.com/docs/agents/reference/hooks-reference, cursor.com/docs/hooks)."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Repo

HERE = Path(__file__).parent
TRANSCRIPTS = {"vscode": "copilot", "cursor": "cursor"}  # VS Code's have the form of Copilot CLI's
MEMORY = {
    "MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n",
    "memory/ledger.md": "# Ledger\n\nThe ledger sets the invoice date on the last Friday.\n",
}
# What an answer says: a prompt is answered by what the start of the session did not give.
SAYS = {
    "UserPromptSubmit": "last Friday",
    "SessionStart": "invoice date is UTC",
    "SubagentStart": "invoice date is UTC",
}
COMMANDS = {"vscode": ".github/hooks/git-mem.json", "cursor": ".cursor/hooks.json"}


def events(host: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / f"documented/{host}.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("host", ["vscode", "cursor"])
def test_each_documented_event_is_registered_and_answered_in_the_hosts_form(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-02-05T14:35:00+00:00")
    monkeypatch.setenv("GITMEM_DETACHED", "1")
    repo.commit("memory", MEMORY)
    repo.mem("install", "--agent", host)
    registered = json.loads(repo.read(COMMANDS[host]))["hooks"]
    transcript = tmp_path / "transcript.jsonl"
    transcript.write_text((HERE / f"transcripts/{TRANSCRIPTS[host]}.jsonl").read_text())
    for row in events(host):
        given = json.loads(
            json.dumps(row["input"]).replace("ROOT", str(repo.path)).replace("TRANSCRIPT", str(transcript))
        )
        name = given.get("hookEventName") or given["hook_event_name"]
        (entry,) = registered[name]
        program, *words = shlex.split(entry["command"])
        assert program.endswith("git-mem") and words[:3] == ["session", "hook", row["event"]]
        done = repo.mem(*words, input=json.dumps(given))
        assert done.stderr == ""
        answer = json.loads(done.stdout) if done.stdout.strip() else {}
        text: Any = answer
        for key in row["context"]:
            text = text[key]
        assert not row["context"] or SAYS[row["event"]] in text, row["event"]
        assert row["event"] != "UserPromptSubmit" or SAYS["SessionStart"] not in text  # the start gave it
        if "named" in row:
            assert answer["hookSpecificOutput"]["hookEventName"] == row["named"]
        assert answer.get("continue") is row.get("also", {}).get("continue")
    log = repo.read("memory/2026-02-05.md")
    assert "invoices are in UTC" in log
    assert bool(list((repo.path / "memory/sessions").glob("*.md"))) is (host == "cursor")


def test_cursor_is_told_nothing_where_memory_says_nothing(repo: Repo, tmp_path: Path) -> None:
    repo.commit("memory", {"memory/2026-02-05.md": "# 2026-02-05\n\n- The invoice date is UTC.\n"})
    row = next(row for row in events("cursor") if row["event"] == "UserPromptSubmit")
    given = {
        **row["input"],
        "workspace_roots": [str(repo.path)],
        "prompt": "rename this variable",
        "transcript_path": None,
    }
    done = repo.mem("session", "hook", "UserPromptSubmit", "--host", "cursor", input=json.dumps(given))
    assert (done.stdout, done.stderr) == ("", "")
