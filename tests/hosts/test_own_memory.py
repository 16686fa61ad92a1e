"""What a host remembers by itself is seen, brought along through the gate or kept in our memory, and never touched unasked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitmem.hosts.own_memory import MAX_SLUG_CHARS, find_own_memory, import_command, is_kept_here, slug
from gitmem.hosts.registry import all_hosts, host_named
from tests.cli.test_host_registration import ANSWERS, files, on_path
from tests.harness import Repo

NOTE = "# Crane\n\nThe harbour crane is painted blue.\n"
WITH_OWN = [host.name for host in all_hosts() if host.own_memory is not None]


def keep(host: str, home: Path, root: Path) -> Path:
    """The folder in which a host keeps what it remembers of the project, made as it makes it."""
    if host == "gemini":
        registry = home / ".gemini/projects.json"
        registry.parent.mkdir(parents=True, exist_ok=True)
        registry.write_text(json.dumps({"projects": {str(root): "repo-1"}}))
        folder = home / ".gemini/tmp/repo-1/memory"
    else:
        folder = home / f".{host}/projects" / slug(root) / "memory"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The invoice date is UTC.\n"})
    return repo


def test_the_hosts_that_remember_by_themselves_are_known() -> None:
    assert WITH_OWN == ["claude", "gemini", "qwen"]


@pytest.mark.parametrize("host", WITH_OWN)
def test_only_what_says_something_is_something(host: str, tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "내 기억"
    root.mkdir()
    assert find_own_memory(host_named(host), home, root) is None
    folder = keep(host, home, root)
    (folder / "MEMORY.md").write_text("# Managed Auto-Memory Index\n\nNothing yet.\n")
    (folder / "empty.md").write_text(" \n")
    (folder / "meta.json").write_text("{}")
    assert find_own_memory(host_named(host), home, root) is None
    (folder / "MEMORY.md").write_text("# Index\n\n- [Crane](크레인.md)\n")
    (folder / "크레인.md").write_text(NOTE)
    found = find_own_memory(host_named(host), home, root)
    assert found is not None and (found.folder, found.files) == (folder, 2)
    assert find_own_memory(host_named(host), home, tmp_path) is None


def test_names_that_lead_elsewhere_are_not_followed(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "repo"
    secret = tmp_path / "secret"
    for folder in (secret, root):
        folder.mkdir()
    (secret / "a.md").write_text(NOTE)
    folder = keep("claude", home, root)
    (folder / "a.md").symlink_to(secret / "a.md")
    assert find_own_memory(host_named("claude"), home, root) is None
    folder.joinpath("a.md").unlink()
    folder.rmdir()
    folder.symlink_to(secret)
    assert find_own_memory(host_named("claude"), home, root) is None
    keep("gemini", home, root)
    for name in ("../../secret", "/etc", "", 3):
        (home / ".gemini/projects.json").write_text(json.dumps({"projects": {str(root): name}}))
        assert find_own_memory(host_named("gemini"), home, root) is None
    (home / ".gemini/projects.json").write_text("[" * 100_000)
    assert find_own_memory(host_named("gemini"), home, root) is None


def test_claude_cuts_the_name_of_a_long_path(tmp_path: Path) -> None:
    root = tmp_path / ("a" * MAX_SLUG_CHARS)
    root.mkdir()
    folder = tmp_path / ".claude/projects" / f"{slug(root)[:MAX_SLUG_CHARS]}-x1y2z3/memory"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(NOTE)
    found = find_own_memory(host_named("claude"), tmp_path, root)
    assert found is not None and found.folder == folder


@pytest.mark.parametrize("host", WITH_OWN)
def test_doctor_names_it_until_it_was_brought_along_through_the_gate(host: str, memory: Repo, isolated: Path) -> None:
    folder = keep(host, isolated, memory.path)
    secret = "ghp_" + "wJ7kQ2mZ9xR4tY8pL1vB5nC3dF6gH0sA1eU2"
    (folder / "MEMORY.md").write_text(f"# Index\n\n- Our token is {secret}\n- [Crane](crane.md)\n")
    (folder / "crane.md").write_text(NOTE)
    before = files(isolated)
    said = memory.mem("doctor", check=False).stdout
    assert f"ok     own memory of {host}: {host} keeps a memory of its own" in said and "2 files" in said
    command = import_command(find_own_memory(host_named(host), isolated, memory.path))  # type: ignore[arg-type]
    assert command in said
    assert (f"git mem install --agent {host} --own-memory" in said) == (host == "claude")
    memory.mem(*command.removeprefix("git mem ").split(), check=False)
    assert memory.read(f"memory/{host}/crane.md") == NOTE
    index = memory.path / f"memory/{host}/MEMORY.md"
    assert not index.exists() or secret not in index.read_text()
    assert "painted blue" in memory.mem("search", "which colour has the harbour crane?").stdout
    (folder / "MEMORY.md").unlink()
    assert f"own memory of {host}" not in memory.mem("doctor", check=False).stdout
    assert memory.read("MEMORY.md").count("UTC") == 1 and set(files(isolated)) <= set(before)


def test_claude_is_told_to_write_here_and_that_is_taken_back(memory: Repo, isolated: Path) -> None:
    env = {"PATH": on_path(memory.path.parent / "bin", git_mem=ANSWERS)}
    path = memory.path / ".claude/settings.local.json"
    words = ("install", "--agent", "claude", "--own-memory")
    assert "would write .claude/settings.local.json" in memory.mem(*words, "--dry-run", env=env).stdout
    assert not path.exists()
    memory.mem(*words, env=env)
    assert json.loads(path.read_text()) == {"autoMemoryDirectory": str(memory.path / "memory/claude")}
    assert is_kept_here(host_named("claude"), memory.path) and not (memory.path / ".mcp.json").exists()
    assert "registered already" in memory.mem(*words, env=env).stdout
    memory.mem("uninstall", "--agent", "claude", env=env)
    assert not path.exists()
    for theirs in ('{"autoMemoryDirectory": "/else"}', "// no JSON", "[]"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(theirs)
        assert memory.mem(*words, env=env, check=False).returncode == 3 and path.read_text() == theirs
    path.write_text('{\n\t"model": "x"\n}')
    memory.mem(*words, env=env)
    memory.mem("uninstall", "--agent", "claude", env=env)
    assert path.read_text() == '{\n\t"model": "x"\n}'
    for other in (("gemini",), ()):
        named = [word for name in other for word in ("--agent", name)]
        assert memory.mem("install", *named, "--own-memory", env=env, check=False).returncode == 2


def test_setup_without_a_terminal_says_what_to_type_and_does_nothing(memory: Repo, isolated: Path) -> None:
    env = {"PATH": on_path(memory.path.parent / "bin", git_mem=ANSWERS, claude="")}
    folder = keep("claude", isolated, memory.path)
    (folder / "crane.md").write_text(NOTE)
    done = json.loads(memory.mem("setup", "--json", env=env, check=False).stdout)
    (step,) = [step for step in done["steps"] if step["step"] == "memories"]
    assert step == {"step": "memories", "commands": [], "state": "nothing to do"}
    said = memory.mem("setup", "--yes", "--skip", "check", env=env, check=False).stdout
    assert (
        "memories: claude keeps a memory of its own" in said and f"git mem import notes {folder} --into claude" in said
    )
    assert (folder / "crane.md").read_text() == NOTE and not (memory.path / "memory/claude").exists()
    assert not (memory.path / ".claude/settings.local.json").exists()
