"""Without what only POSIX has, the way of init, add, search, promote and scan works all the same.

Stands in for Windows as far as that can be had here: what Python lacks there is taken away in the child process, and
folders cannot be opened. Line ends, names and locks of the real system are for the workflow with windows-latest.
"""

from __future__ import annotations

import re
import sys

import pytest

from tests.harness import SOURCE, Repo

LACKING = """
import os, select, signal, socket, subprocess, sys, tempfile, threading
import shutil, pathlib, random, uuid, logging, asyncio, multiprocessing.connection
if os.name == "posix":  # elsewhere it lacks by itself
    import fcntl, types
    usual, scan, flock, exclusive = os.open, os.scandir, fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB
    sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda handle, how, size: flock(handle, exclusive))
    for name in ("fcntl", "pwd", "grp", "termios", "resource", "pty", "tty"):
        sys.modules[name] = None
    for name in ("fork", "forkpty", "setsid", "getuid", "geteuid", "getgid", "getegid", "getpgid", "killpg", "fchmod", "fchown",
                 "chown", "lchown", "mkfifo", "O_NOFOLLOW", "O_NONBLOCK", "O_DIRECTORY", "O_CLOEXEC", "O_NOCTTY"):
        if hasattr(os, name):
            delattr(os, name)
    for name in ("SIGHUP", "SIGALRM", "SIGKILL", "SIGPIPE", "SIGCHLD", "pthread_sigmask", "setitimer", "alarm"):
        if hasattr(signal, name):
            delattr(signal, name)
    def open_file(path, flags, mode=0o777, *, dir_fd=None):
        assert dir_fd is None, "Windows has no dir_fd"
        if os.path.isdir(path):
            raise PermissionError(13, "Permission denied", path)
        return usual(path, flags, mode)
    def scandir(path="."):
        assert not isinstance(path, int), "Windows scans no open folder"
        return scan(path)
    os.open, os.scandir = open_file, scandir
from gitmem.cli.main import main
main(sys.argv[1:])
"""


def lacking(repo: Repo, *args: str) -> str:
    return repo.run(sys.executable, "-c", LACKING, *args).stdout


@pytest.fixture
def memory(repo: Repo) -> Repo:
    lacking(repo, "init")
    repo.commit("memory: lay out")
    return repo


def test_the_first_steps_need_nothing_that_only_posix_has(memory: Repo) -> None:
    assert "MEMORY.md" in memory.git("ls-files")
    assert re.search(
        r"memory/\d{4}-\d\d-\d\d\.md:\d+", lacking(memory, "add", "we decided to use Postgres for its row locks")
    )
    lacking(memory, "add", "--type", "decision", "PoC phase 1 uses REST webhooks", "--commit")
    assert "REST webhooks" in lacking(memory, "search", "why webhooks?")
    memory.commit("memory: a log")
    assert "clean" in lacking(memory, "scan") and "clean" in lacking(memory, "scan", "--history")
    assert "Postgres" in lacking(memory, "promote")
    assert "Postgres" in memory.read("MEMORY.md") and memory.git("status", "--porcelain") == ""
    for command in (
        ("why", "MEMORY.md:5"),
        ("log",),
        ("status",),
        ("context", "webhooks"),
        ("undo", "--yes"),
    ):
        assert lacking(memory, *command)


def test_a_link_is_followed_nowhere_without_flags_for_it(memory: Repo) -> None:
    outside = memory.path.parent / "outside.md"
    outside.write_text("- a secret of somebody else\n")
    (memory.path / "memory/link.md").symlink_to(outside)
    assert "somebody else" not in lacking(memory, "search", "a secret of somebody else")
    done = memory.run(sys.executable, "-c", LACKING, "show", "memory/link.md", check=False)
    assert done.returncode != 0 and "somebody else" not in done.stdout + done.stderr


def test_hooks_are_installed_and_gate_without_posix(memory: Repo) -> None:
    lacking(memory, "install")
    memory.write("memory/x.md", "- token ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw\n")
    memory.git("add", "memory")
    refused = memory.run("git", "commit", "-qm", "x", check=False)
    assert refused.returncode == 1 and "github-token" in refused.stderr


def test_one_process_at_a_time_writes_under_a_lock(memory: Repo) -> None:
    from gitmem.errors import Locked
    from gitmem.git.worktree import locked

    with locked(memory.path / ".git", "x"), pytest.raises(Locked), locked(memory.path / ".git", "x", wait=0):
        pass


def test_only_one_module_asks_for_what_systems_do_not_share() -> None:
    asked = re.compile(
        r"\bimport (fcntl|pwd|grp|msvcrt|termios|resource)\b|os\.(geteuid|getuid|O_NOFOLLOW|O_DIRECTORY)|pthread_sigmask"
    )
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in (SOURCE / "gitmem").rglob("*.py")
        if asked.search(path.read_text("utf-8"))
    }
    assert found == {"gitmem/system.py"}
