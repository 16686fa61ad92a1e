"""`git mem install --agent` and its way back, on real files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gitmem.hosts import HOSTS, host_named
from tests.harness import Repo


def files(*roots: Path) -> dict[str, bytes]:
    found = (path for root in roots for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): path.read_bytes() for path in found}


@pytest.mark.parametrize("host", sorted(HOSTS))
def test_a_dry_run_writes_nothing_and_uninstall_leaves_nothing(host: str, repo: Repo, isolated: Path) -> None:
    before = files(repo.path, isolated)
    dry = repo.mem("install", "--agent", host, "--dry-run")
    assert "would write" in dry.stdout and "git-mem" in dry.stdout and files(repo.path, isolated) == before
    done = json.loads(repo.mem("install", "--agent", host, "--json").stdout)
    assert [row["path"] for row in done["files"]] == list(host_named(host).paths)
    after = files(repo.path, isolated)
    assert after != before
    assert "registered already" in repo.mem("install", "--agent", host).stdout and files(repo.path, isolated) == after
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


def test_a_host_that_cannot_start_the_program_is_said_with_what_to_do(repo: Repo) -> None:
    git = shutil.which("git")
    assert git is not None
    (repo.path.parent / "bin").mkdir()
    (repo.path.parent / "bin/git").symlink_to(git)
    done = repo.mem("install", "--agent", "codex", env={"PATH": str(repo.path.parent / "bin")})
    assert "'git-mem', which is not on the PATH" in done.stderr and "write .codex/config.toml" in done.stdout
    program = repo.path.parent / "bin/git-mem"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "PATH" not in repo.mem("install", "--agent", "codex", env={"PATH": str(program.parent)}).stderr
