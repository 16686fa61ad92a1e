"""goose, Hermes, Cline, Kiro and the agents with AGENTS.md only, as their documentation has them."""

from __future__ import annotations

import importlib.util
import json
import re
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from gitmem.hosts import goose
from gitmem.hosts.session_database import stored_sessions
from tests import warm_process
from tests.harness import Repo

SAID = "We decided that invoices are in UTC."
MEMORY = {
    "MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n",
    "memory/lift.md": "# Lift\n\nThe lift carries 400 kilos of coal.\n",
}
QUESTION = "How many kilos of coal does the lift carry?"


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_NOW", "2026-02-05T14:35:00+00:00")
    repo.commit("memory", MEMORY)
    return repo


def test_goose_keeps_what_its_database_holds_of_the_session(memory: Repo) -> None:
    memory.mem("install", "--agent", "goose")
    database = Path.home() / ".local/share/goose/sessions/sessions.db"
    database.parent.mkdir(parents=True)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT, working_dir TEXT, created_at TIMESTAMP)")
        connection.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,"
            " created_timestamp INTEGER)"
        )
        rows: list[tuple[str, str, list[dict[str, Any]]]] = [
            ("s1", "user", [{"type": "text", "text": "<turn-context>Refunds need approval.</turn-context>"}]),
            ("s1", "user", [{"type": "text", "text": SAID}]),
            ("s1", "assistant", [{"type": "text", "text": "Noted."}, {"type": "toolRequest", "id": "c1"}]),
            ("s2", "user", [{"type": "text", "text": "We decided that refunds are manual."}]),
        ]
        connection.executemany(
            "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES (?, ?, ?, 1770301800)",
            [(session, role, json.dumps(parts)) for session, role, parts in rows],
        )
    connection.close()
    done = memory.mem(
        "session", "hook", "Stop", "--host", "goose", input=json.dumps({"event": "Stop", "session_id": "s1"})
    )
    assert (done.stdout, done.stderr) == ("", "")
    log = memory.read("memory/2026-02-05.md")
    assert "invoices are in UTC" in log and "efunds" not in log


OTHER_TABLES = {
    "no table of messages": (
        "CREATE TABLE sessions (id TEXT, working_dir TEXT, created_at TIMESTAMP)",
        "no such table",
    ),
    "another column": ("CREATE TABLE messages (id INTEGER, session_id TEXT, role TEXT, body TEXT)", "no such column"),
}


@pytest.mark.parametrize(("tables", "message"), OTHER_TABLES.values(), ids=OTHER_TABLES)
def test_another_schema_of_gooses_database_is_an_error_for_the_hook_and_no_session_for_an_import(
    tmp_path: Path, tables: str, message: str
) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(tables)
    with pytest.raises(OSError, match=f"SQLite says: {message}"):
        goose.session_transcript({"session_id": "s1"}, path)
    assert stored_sessions(path, goose.SESSIONS) == []


def test_a_goose_event_without_a_session_or_a_database_has_no_transcript(tmp_path: Path) -> None:
    assert goose.session_transcript({"session_id": "s1"}, tmp_path / "sessions.db") is None
    (tmp_path / "sessions.db").touch()
    assert goose.session_transcript({}, tmp_path / "sessions.db") is None


def test_the_hook_logs_its_failure_for_another_schema_of_gooses_database(memory: Repo) -> None:
    database = Path.home() / ".local/share/goose/sessions/sessions.db"
    database.parent.mkdir(parents=True)
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT)")
    memory.mem("session", "hook", "Stop", "--host", "goose", input='{"event": "Stop", "session_id": "s1"}', check=False)
    assert "Stop: OSError" in (memory.path / ".git/gitmem/session.log").read_text()
    assert not (memory.path / "memory/2026-02-05.md").exists()


def provider(repo: Repo, monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> Any:
    """The provider that `install` writes, with a `git-mem` on its PATH that is the script; none for no script."""
    folder.mkdir()
    (folder / "git-mem").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "git-mem").chmod(0o755)
    repo.mem("install", "--agent", "hermes", env={"PATH": f"{folder}:/usr/bin:/bin"})
    if not script:
        (folder / "git-mem").unlink()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    place = Path.home() / ".hermes/plugins/git-mem/__init__.py"
    spec = importlib.util.spec_from_file_location("hermes_git_mem", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    assert isinstance(module, ModuleType)
    spec.loader.exec_module(module)
    found: list[Any] = []

    class Context:
        def register_memory_provider(self, made: Any) -> None:
            found.append(made)

    module.register(Context())
    return found[0]


def test_hermes_is_given_what_memory_says_and_keeps_what_was_decided(
    memory: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = provider(memory, monkeypatch, tmp_path / "bin", f'exec "{warm_process.interpreter()}" -m gitmem "$@"')
    assert made.is_available() and made.get_tool_schemas() == []
    made.initialize("s1", platform="cli")
    first = made.prefetch(QUESTION)
    assert "invoice date is UTC" in first and "400 kilos" in first
    assert "invoice date is UTC" not in made.prefetch("Rename the lift.")
    made.sync_turn(SAID, "Noted.")
    made.shutdown()
    log = memory.read("memory/2026-02-05.md")
    assert "invoices are in UTC" in log


def test_hermes_writes_nothing_for_an_agent_that_another_started(
    memory: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = provider(memory, monkeypatch, tmp_path / "bin", f'exec "{warm_process.interpreter()}" -m gitmem "$@"')
    made.initialize("s1", agent_context="subagent")
    made.sync_turn(SAID, "Noted.")
    made.shutdown()
    assert not (memory.path / "memory/2026-02-05.md").exists()


@pytest.mark.parametrize("script", ["", "exit 1", "echo nonsense"])
def test_hermes_goes_on_where_git_mem_is_missing_or_fails(
    memory: Repo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    made = provider(memory, monkeypatch, tmp_path / "bin", script)
    assert made.is_available() is bool(script)
    made.initialize("s1")
    assert made.prefetch(QUESTION) == ""
    made.sync_turn(SAID, "Noted.")
    made.on_session_end([{"role": "user", "content": SAID}])
    assert made.on_pre_compress([]) == ""
    made.shutdown()


def run_script(script: Path, given: dict[str, Any]) -> str:
    """What Cline would read; a script that does not end with 0 would stop the turn."""
    done = subprocess.run(
        [str(script)], input=json.dumps(given), capture_output=True, text=True, encoding="utf-8",
        cwd=script.parents[2], timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_cline_scripts_run_answer_in_its_form_and_never_stop_a_turn(memory: Repo) -> None:
    memory.mem("install", "--agent", "cline")
    script = memory.path / ".clinerules/hooks/UserPromptSubmit"
    given = {"taskId": "t1", "workspaceRoots": [str(memory.path)], "userPromptSubmit": {"prompt": QUESTION}}
    answer = json.loads(run_script(script, given))
    assert answer["cancel"] is False and "400 kilos" in answer["contextModification"]
    script.write_text(re.sub(r"\S*git-mem(?= session)", "/nowhere/git-mem", script.read_text()))
    assert run_script(script, given) == ""
    script.write_text("#!/bin/sh\n# of another\n")
    assert memory.mem("install", "--agent", "cline", check=False).returncode != 0
    script.unlink()
    memory.mem("uninstall", "--agent", "cline")
    assert not (memory.path / ".clinerules").exists()


def test_kiro_hooks_stand_beside_others_in_the_file(memory: Repo) -> None:
    memory.mem("install", "--agent", "kiro")
    value = json.loads(memory.read(".kiro/hooks/git-mem.json"))
    assert value["version"] == "v1"
    assert [(row["trigger"], row["action"]["type"]) for row in value["hooks"]] == [
        ("SessionStart", "command"),
        ("UserPromptSubmit", "command"),
    ]
    given = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": str(memory.path), "prompt": QUESTION}
    told = memory.mem("session", "hook", "UserPromptSubmit", "--host", "kiro", input=json.dumps(given)).stdout
    assert "400 kilos" in told and not told.startswith("{")


def test_agents_md_writes_for_the_products_that_are_used_and_the_gate_accepts_the_block(memory: Repo) -> None:
    memory.commit("rules", {"AGENTS.md": "# Rules\n\n- Marmots are counted twice.\n", ".roo/rules/a.md": "Be kind.\n"})
    memory.mem("install", "--agent", "agents-md")
    assert (memory.path / ".roo/mcp.json").is_file() and not (memory.path / ".junie").exists()
    assert "memory_search" in memory.read("AGENTS.md")
    memory.git("add", "-A")
    assert memory.mem("scan", "--staged", check=False).returncode == 0
    memory.mem("uninstall", "--agent", "agents-md")
    assert memory.read("AGENTS.md") == "# Rules\n\n- Marmots are counted twice.\n"
    assert not (memory.path / ".roo/mcp.json").exists()
