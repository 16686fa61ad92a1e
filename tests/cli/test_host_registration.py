"""`git mem install --agent` and its way back, on real files."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from gitmem.hosts.registry import HOSTS, host_named
from tests.harness import Repo


def files(*roots: Path) -> dict[str, bytes]:
    found = (path for root in roots for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_a_dry_run_writes_nothing_and_uninstall_leaves_nothing(host: str, repo: Repo, isolated: Path) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    before = files(repo.path, isolated)
    dry = repo.mem("install", "--agent", host, "--dry-run")
    assert "would write" in dry.stdout and "git-mem" in dry.stdout and files(repo.path, isolated) == before
    done = json.loads(repo.mem("install", "--agent", host, "--json", env=env).stdout)
    assert [row["path"] for row in done["files"]] == [
        file.path
        for file in host_named(host).registration
        if not file.only_with  # whose product is not used here
    ]
    after = files(repo.path, isolated)
    assert after != before
    assert (
        "registered already" in repo.mem("install", "--agent", host, env=env).stdout
        and files(repo.path, isolated) == after
    )
    repo.mem("uninstall", "--agent", host)
    assert files(repo.path, isolated) == before
    assert "not registered" in repo.mem("uninstall", "--agent", host).stdout


def test_what_others_wrote_stays_and_a_broken_file_is_left_alone(repo: Repo) -> None:
    theirs = {"mcpServers": {"other": {"command": "x"}}}
    repo.write(".mcp.json", json.dumps(theirs))
    repo.mem("install", "--agent", "claude")
    now = json.loads(repo.read(".mcp.json"))["mcpServers"]
    assert set(now) == {"other", "git-mem"}
    repo.mem("uninstall", "--agent", "claude")
    assert json.loads(repo.read(".mcp.json")) == theirs
    repo.write(".mcp.json", "{ // a comment\n}")
    refused = repo.mem("install", "--agent", "claude", check=False)
    assert refused.returncode == 3 and repo.read(".mcp.json") == "{ // a comment\n}"
    assert not (repo.path / ".claude").exists()


def on_path(folder: Path, **programs: str) -> str:
    """A PATH with git and these programs alone, each a shell script."""
    folder.mkdir(exist_ok=True)
    git = shutil.which("git")
    assert git is not None
    if not (folder / "git").exists():
        (folder / "git").symlink_to(git)
    for name, script in programs.items():
        (folder / name.replace("_", "-")).write_text(f"#!/bin/sh\n{script}\n")
        (folder / name.replace("_", "-")).chmod(0o755)
    return str(folder)


def test_a_program_that_is_not_on_the_path_is_registered_by_its_whole_path_and_that_is_said(repo: Repo) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin")}
    done = repo.mem("install", "--agent", "codex", env=env)
    whole = str(Path(sys.executable).with_name("git-mem"))
    assert f"hosts are told {whole}, which is right on this machine alone" in done.stderr
    assert f'command = "{whole}"' in repo.read(".codex/config.toml")
    assert f'"{whole} session hook Stop --host codex ' in repo.read(".codex/hooks.json")
    repo.commit("memory", {"MEMORY.md": "# Memory\n"})
    repo.mem("index")
    assert "hooks of codex: Codex runs no hook" in repo.mem("doctor").stdout
    repo.mem("uninstall", "--agent", "codex")
    assert not (repo.path / ".codex").exists() and "hooks of codex" not in repo.mem("doctor").stdout


def test_install_says_what_codex_asks_first_and_whether_the_server_answers(repo: Repo) -> None:
    program = f'exec {sys.executable} -m gitmem "$@"'
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=program)}
    done = repo.mem("install", "--agent", "codex", env=env)
    assert "the MCP server answers: 10 tools" in done.stderr and "PATH" not in done.stderr
    assert "note: Codex runs no hook, and says nothing, before you trust this project" in done.stderr


def test_registering_a_host_says_that_no_hook_scans_commits_until_one_does(repo: Repo) -> None:
    repo.commit("memory", {"MEMORY.md": "- one\n"})
    note = "note: Git hooks: none of ours are installed, so no commit is scanned here; git mem install"
    assert note in repo.mem("install", "--agent", "claude").stderr
    repo.mem("install")
    assert "Git hooks" not in repo.mem("install", "--agent", "claude").stderr


def test_a_server_that_does_not_answer_is_said(repo: Repo) -> None:
    for program in ("exit 1", "echo no json; echo '[]'; echo '{\"id\": 2, \"error\": {}}'"):
        env = {"PATH": on_path(repo.path.parent / "bin", git_mem=program)}
        done = repo.mem("install", "--agent", "claude", env=env)
        assert "note: the MCP server does not answer: git-mem mcp, in this folder, says why" in done.stderr
        repo.mem("uninstall", "--agent", "claude")


ANSWERS = """echo '{"jsonrpc": "2.0", "id": 2, "result": {"tools": [{"name": "x"}]}}'"""


def test_several_hosts_at_once_and_those_that_are_there(repo: Repo, isolated: Path) -> None:
    before = files(repo.path, isolated)
    none = {"PATH": on_path(repo.path.parent / "none")}
    assert "no agent's host is on the PATH" in repo.mem("install", "--agent", env=none, check=False).stderr
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS, codex="", opencode="")}
    found = repo.mem("install", "--agent", "--dry-run", env=env)
    assert "write .codex/config.toml" in found.stdout and "write opencode.json" in found.stdout
    assert ".mcp.json" not in found.stdout and files(repo.path, isolated) == before
    done = json.loads(repo.mem("install", "--agent", "codex", "--agent", "qwen", "--json", env=env).stdout)
    assert [each["agent"] for each in done["agents"]] == ["codex", "qwen"]
    assert (repo.path / ".qwen/settings.json").is_file() and (repo.path / ".codex/hooks.json").is_file()
    repo.mem("uninstall", "--agent")
    assert files(repo.path, isolated) == before
    assert "no agent's host is registered here" in repo.mem("uninstall", "--agent", check=False).stderr


def test_leaving_all_says_nothing_of_a_host_that_shares_its_file(repo: Repo) -> None:
    repo.mem("install", "--agent", "copilot")
    said = repo.mem("uninstall", "--agent").stdout
    assert "remove .github/hooks/git-mem.json" in said and "not registered" not in said


def test_a_host_that_leaves_takes_nothing_from_one_that_shares_its_files(repo: Repo) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    sharing = {"copilot": ("claude", "vscode"), "vscode": ("copilot",)}
    for leaving, staying in sharing.items():
        repo.mem("install", *(word for name in staying for word in ("--agent", name)), env=env)
        before = files(repo.path)
        repo.mem("install", "--agent", leaving, env=env)
        again = [word for name in (leaving, *staying) for word in ("--agent", name)]
        together = files(repo.path)
        assert "write" not in repo.mem("install", *again, env=env).stdout and files(repo.path) == together
        repo.mem("uninstall", "--agent", leaving, env=env)
        assert files(repo.path) == before, leaving
        repo.mem("uninstall", "--agent", env=env)
        assert files(repo.path) == {}


def test_a_host_that_leaves_keeps_the_server_that_a_person_changed_for_another(repo: Repo) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    repo.mem("install", "--agent", "copilot", "--agent", "claude", env=env)
    theirs = repo.read(".mcp.json").replace('"mcp"\n', '"mcp",\n        "--read-only"\n')
    repo.write(".mcp.json", theirs)
    repo.mem("uninstall", "--agent", "copilot", env=env)
    assert repo.read(".mcp.json") == theirs and not (repo.path / ".github").exists()
    repo.mem("install", "--agent", "copilot", env=env)
    repo.mem("uninstall", "--agent", "claude", env=env)
    assert repo.read(".mcp.json") == theirs and not (repo.path / ".claude").exists()


def test_a_broken_file_keeps_nothing_of_ours_in_the_others(repo: Repo) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    repo.mem("install", "--agent", "claude", env=env)
    ours = repo.read(".mcp.json")
    repo.write(".mcp.json", "{ // a comment\n}")
    assert "remove .claude/settings.json" in repo.mem("uninstall", "--agent", "claude").stdout
    repo.write(".mcp.json", ours)
    repo.mem("install", "--agent", "claude", env=env)
    repo.write(".mcp.json", f"// a comment\n{ours}")
    left = repo.mem("uninstall", "--agent", "claude", check=False)
    assert left.returncode == 3 and "'.mcp.json' is not plain JSON and is left as it is" in left.stderr
    assert "remove .claude/settings.json" in left.stdout and not (repo.path / ".claude").exists()


def test_a_host_that_is_registered_already_hears_whether_the_server_answers(repo: Repo) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    repo.mem("install", "--agent", "claude", env=env)
    on_path(repo.path.parent / "bin", git_mem="exit 1")
    done = repo.mem("install", "--agent", "claude", env=env)
    assert "registered already" in done.stdout and "the MCP server does not answer" in done.stderr


def test_one_host_that_is_refused_leaves_the_others_registered(repo: Repo) -> None:
    repo.write(".mcp.json", "{ // a comment\n}")
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS)}
    done = repo.mem("install", "--agent", "claude", "--agent", "qwen", env=env, check=False)
    assert done.returncode == 3 and "claude: '.mcp.json' is not plain JSON" in done.stderr
    assert (repo.path / ".qwen/settings.json").is_file() and not (repo.path / ".claude").exists()


def test_what_the_host_itself_does_not_accept_is_said(repo: Repo) -> None:
    env = {"PATH": on_path(repo.path.parent / "bin", git_mem=ANSWERS, openclaw='test "$2" = validate && exit 1')}
    done = repo.mem("install", "--agent", "openclaw", env=env)
    assert "note: openclaw does not accept its settings: 'openclaw config validate' says why" in done.stderr
