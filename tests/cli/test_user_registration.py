"""`git mem install --agent HOST --user`: one registration for all projects, which works once and only where memory is."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gitmem.cli.server_check import count_tools
from gitmem.hosts.registration import HARMLESS
from gitmem.hosts.registry import all_hosts, host_named
from tests.cli.test_host_registration import ANSWERS, files, on_path
from tests.harness import Repo

PERSONAL = [host.name for host in all_hosts() if host.personal]
FACT = "The lighthouse lift carries 400 kilos of coal."


@pytest.fixture
def memory(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> Repo:
    monkeypatch.setenv("GITMEM_DETACHED", "1")  # no time limit
    repo.commit("memory", {"MEMORY.md": f"# Memory\n\n- {FACT}\n"})
    (repo.path / "src/deep").mkdir(parents=True)
    return repo


def start(host: str, folder: Path, *more: str) -> str:
    """What the start of a session answers that was started in `folder`."""
    variables = host_named(host).hooks.project_variables  # type: ignore[union-attr]
    fields = json.dumps({"session_id": f"s{folder}{more}", "cwd": str(folder)})
    words = ("session", "hook", "SessionStart", "--host", host, *more)
    return Repo(folder, init=False).mem(*words, input=fields, env=dict.fromkeys(variables[:1], str(folder))).stdout


@pytest.mark.parametrize("host", PERSONAL)
def test_it_is_dry_idempotent_mends_and_goes_without_a_trace(host: str, repo: Repo, isolated: Path) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    (path,) = (isolated / file.path.removeprefix("~/") for file in host_named(host).personal)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text('{\n\t"theme": "dark",\n\t"hooks": {"Stop": [{"hooks": [{"command": "theirs"}]}]}\n}')
    before = files(repo.path, isolated)
    words = ("install", "--agent", host, "--user")
    assert "would write ~/" in repo.mem(*words, "--dry-run", env=env).stdout and files(repo.path, isolated) == before
    said = repo.mem(*words, env=env)
    assert "in a project without memory the hooks do nothing" in said.stderr
    text = path.read_text()
    assert text.count(f"--user{HARMLESS}") >= 5 and '"theirs"' in text and '"theme": "dark"' in text
    assert "registered already" in repo.mem(*words, env=env).stdout
    path.write_text(text.replace(HARMLESS, ""))
    repo.mem(*words, env=env)
    assert path.read_text() == text
    outside = Repo(repo.path.parent / "nowhere", init=False)
    assert "write ~/" in outside.mem("uninstall", "--agent", host, "--user", env=env).stdout
    assert files(repo.path, isolated) == before


def test_what_it_goes_with_is_said(repo: Repo) -> None:
    alone = repo.mem("install", "--user", check=False)
    assert alone.returncode == 2 and "git mem install --agent claude --user" in alone.stderr
    other = repo.mem("install", "--agent", "codex", "--user", check=False)
    assert other.returncode == 2 and f"--user goes with {', '.join(PERSONAL)}" in other.stderr


@pytest.mark.parametrize("host", PERSONAL)
def test_a_session_below_the_project_is_told_by_the_persons_hook_and_one_in_it_once(host: str, memory: Repo) -> None:
    env = {"PATH": on_path(memory.path.parent / "bin", git_mem=ANSWERS)}
    below = memory.path / "src/deep"
    assert FACT in start(host, memory.path, "--user")
    memory.mem("install", "--agent", host, env=env)
    assert FACT in start(host, memory.path) and start(host, memory.path, "--user") == ""
    assert FACT in start(host, below, "--user")


@pytest.mark.parametrize("host", PERSONAL)
def test_where_no_memory_is_nothing_happens(host: str, repo: Repo, tmp_path: Path) -> None:
    repo.commit("code", {"main.py": "x = 1\n"})
    assert start(host, repo.path, "--user") == "" and not (repo.path / ".git/gitmem").exists()
    assert start(host, tmp_path, "--user") == ""


def test_a_plugin_leaves_its_work_to_the_persons_hooks(memory: Repo) -> None:
    plugin = {"CLAUDE_PLUGIN_ROOT": "/plugin", "CLAUDE_PROJECT_DIR": str(memory.path)}
    env = {"PATH": on_path(memory.path.parent / "bin", git_mem=ANSWERS)}

    def told() -> str:
        return memory.mem("session", "hook", "SessionStart", input='{"session_id": "s1"}', env=plugin).stdout

    assert FACT in told()
    memory.mem("install", "--agent", "claude", "--user", env=env)
    assert told() == ""


def test_install_and_doctor_say_what_a_session_below_lacks_until_the_person_is_registered(memory: Repo) -> None:
    env = {"PATH": on_path(memory.path.parent / "bin", git_mem=ANSWERS)}
    said = memory.mem("install", "--agent", "claude", "--agent", "gemini", "--agent", "codex", env=env).stderr
    assert said.count("started in a subfolder") == 2 and "Codex started" not in said
    lacks = "started in a subfolder gets the tools but not the hooks"
    assert f"note: Claude Code {lacks}; to cover subfolders: git mem install --agent claude --user" in said
    memory.mem("index")
    told = memory.mem("doctor", check=False).stdout
    assert f"ok     folders below, with claude: Claude Code {lacks}" in told
    assert "folders below, with gemini" in told and "with codex" not in told
    memory.mem("install", "--agent", "claude", "--user", env=env)
    assert "folders below, with claude" not in memory.mem("doctor", check=False).stdout
    assert "started in a subfolder" not in memory.mem("install", "--agent", "claude", env=env).stderr


def test_the_persons_server_has_tools_where_memory_is_alone(memory: Repo, tmp_path: Path) -> None:
    server = [sys.executable, "-m", "gitmem", "mcp", "--user"]
    assert count_tools(server, memory.path) > 5 and count_tools(server, memory.path / "src/deep") > 5
    assert count_tools(server, tmp_path) == 0
