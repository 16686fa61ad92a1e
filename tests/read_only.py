"""`git mem` where nothing in a repository can be written, as on a medium or a mount that is read-only."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.harness import Repo

MOUNTED = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && cd "$1" && shift && exec "$@"'


def read_only_mem(repo: Repo, *args: str) -> subprocess.CompletedProcess[str]:
    """`git mem ARGS` as `read_only_run`."""
    return read_only_run(repo, sys.executable, "-m", "gitmem", *args)


def read_only_run(repo: Repo, *command: str) -> subprocess.CompletedProcess[str]:
    """A command in a read-only mount of `repo`, as root, whom no mode of a file stops; else with all modes read-only.

    Skips the test where neither can be had.
    """
    if os.geteuid() == 0:
        if repo.run("unshare", "-m", "sh", "-c", MOUNTED, "sh", str(repo.path), "true", check=False).returncode:
            pytest.skip("root may not mount here")
        return repo.run("unshare", "-m", "sh", "-c", MOUNTED, "sh", str(repo.path), *command, check=False)
    modes = {path: path.lstat().st_mode for path in [repo.path, *repo.path.rglob("*")] if not path.is_symlink()}
    try:
        for path, mode in modes.items():
            path.chmod(mode & 0o7555)
        return repo.run(*command, check=False)
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
