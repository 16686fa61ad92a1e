"""A process without standard input, output or error works, and writes what it would print into no file."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.harness import Repo

MEMORY = "# Memory\n\n- The crane is blue\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "command", ["search crane", "status", "show MEMORY.md", "add 'The crane is red'", "why MEMORY.md:3", "scan"]
)
def test_a_command_without_standard_streams_ends_well_and_harms_no_file(repo: Repo, command: str, closed: str) -> None:
    repo.commit("start", {"MEMORY.md": MEMORY})
    done = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -m gitmem {command} {closed}"], cwd=repo.path, capture_output=True, text=True
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert repo.read("MEMORY.md") == MEMORY
    assert repo.run("git", "fsck", "--strict").returncode == 0
