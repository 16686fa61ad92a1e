"""Registering with a host adds what is ours, keeps what is not, and can be taken back."""

from __future__ import annotations

import json

import pytest

from gitmem.errors import GitMemError
from gitmem.hosts import HOSTS, plan

THEIRS = {
    ".mcp.json": '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n',
    ".claude/settings.json": json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "theirs"}]}]}, "model": "m"}, indent=2) + "\n",
    "~/.codex/config.toml": 'model = "m"\n\n[mcp_servers.other]\ncommand = "x"\n',
    ".cursor/mcp.json": '{\n  "mcpServers": {\n    "other": {}\n  }\n}\n',
    ".vscode/mcp.json": '{\n  "servers": {\n    "other": {}\n  }\n}\n',
    ".gemini/settings.json": '{\n  "theme": "dark"\n}\n',
    "~/.openclaw/openclaw.json": '{\n  "mcp": {\n    "servers": {\n      "other": {}\n    }\n  }\n}\n',
}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
def test_what_is_there_stays_twice_is_once_and_it_can_be_undone(host: str) -> None:
    texts = {path: THEIRS[path] for path in HOSTS[host]}
    done = {**texts, **{change.path: change.text for change in plan(host, texts)}}
    assert done != texts and all("git-mem" in done[path] for path in HOSTS[host])
    assert plan(host, done) == []
    back = {**done, **{change.path: change.text for change in plan(host, done, remove=True)}}
    assert back == texts


@pytest.mark.parametrize("host", HOSTS)
def test_a_fresh_host_gets_files_of_its_own_and_loses_them_again(host: str) -> None:
    done = {change.path: change.text for change in plan(host, {})}
    assert set(done) == set(HOSTS[host])
    assert all(change.text == "" for change in plan(host, done, remove=True))


def test_a_file_that_is_not_plain_json_is_left_alone() -> None:
    for text in ("{ // comment\n}", "[]", '{"mcpServers": []}'):
        with pytest.raises(GitMemError):
            plan("cursor", {".cursor/mcp.json": text})
    with pytest.raises(GitMemError):
        plan("codex", {"~/.codex/config.toml": "# >>> git-mem >>>\nx"})


def test_hooks_name_every_event_with_a_time_limit() -> None:
    (change,) = [c for c in plan("claude", {}) if c.path.endswith("settings.json")]
    hooks = json.loads(change.text)["hooks"]
    assert set(hooks) == {"SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"}
    assert all(group[0]["hooks"][0]["timeout"] > 0 for group in hooks.values())
