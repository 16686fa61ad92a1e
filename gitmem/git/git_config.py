"""Git's configuration asked beside a repository: the user's own `mem.*`, what a clone brought, and where it all lies.

Reads only; what holds in a repository that is open is its `user_config`.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from gitmem.errors import GitFailed
from gitmem.git.binary import OURS, SAFE, first_line, read_environment, users_own


def user_settings(environ: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(key, value, origin) of the user's own `mem.*`, without a repository."""
    env = {name: value for name, value in read_environment(environ).items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    done = subprocess.run(["git", "-C", "/", "config", *OURS], capture_output=True, env=env, check=False)
    if done.returncode not in (0, 1):
        raise GitFailed(first_line(os.fsdecode(done.stderr)) or "git config failed")
    return users_own(done.stdout)


def clones_settings(at: Path, environ: Mapping[str, str]) -> list[str]:
    """The `mem.*` keys of the repository's own configuration, which nothing reads: it may have come with the clone."""
    command = ["git", *SAFE, "-C", str(at), "config", *OURS]
    done = subprocess.run(command, capture_output=True, env=read_environment(environ), check=False)
    if done.returncode not in (0, 1):
        raise GitFailed(first_line(os.fsdecode(done.stderr)) or "git config failed")
    fields = done.stdout.split(b"\0")
    keys = [os.fsdecode(pair).partition("\n")[0] for scope, pair in zip(fields[::2], fields[1::2], strict=False)
             if scope in (b"local", b"worktree")]  # fmt: skip
    return list(dict.fromkeys(keys))


def config_files(at: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files Git's settings of the repository at a folder come from, included ones too, and those where the user's
    own could be written yet. A setting changes only when one of these does."""
    command = ["git", *SAFE, "-C", str(at), "config", "--list", "--show-origin", "--name-only", "-z"]
    done = subprocess.run(command, capture_output=True, env=read_environment(environ), check=False)
    if done.returncode not in (0, 1):
        raise GitFailed(first_line(os.fsdecode(done.stderr)) or "git config failed")
    origins = dict.fromkeys(done.stdout.split(b"\0")[::2])
    files = [at / os.fsdecode(origin).removeprefix("file:") for origin in origins if origin.startswith(b"file:")]
    home = environ.get("HOME", "")
    named = environ.get("GIT_CONFIG_GLOBAL"), environ.get("XDG_CONFIG_HOME"), home
    if named[0]:
        own = [Path(named[0])]
    else:
        own = []
    if home:
        own += [Path(named[1] or f"{home}/.config", "git/config"), Path(home, ".gitconfig")]
    return list(dict.fromkeys([*files, *own, Path("/etc/gitconfig")]))
