"""Writes the user's own Git configuration, by `git config --global`."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping

from gitmem.errors import GitFailed
from gitmem.git.process import first_line
from gitmem.git.write import HOOK_VIEW, REPOSITORY_VIEW, without_variables

NOTHING_TO_UNSET = 5  # exit code of `git config --unset`


def configure(environ: Mapping[str, str], *args: str) -> bool:
    """Run `git config --global ARGS` on the user's own settings. Returns False if there was nothing to unset.

    Raises GitFailed if Git refuses it otherwise.
    """
    env = without_variables(environ, (*HOOK_VIEW, *REPOSITORY_VIEW))
    command = ["git", "-C", "/", "config", "--global", *args]
    result = subprocess.run(command, capture_output=True, env={**env, "LC_ALL": "C.UTF-8"}, check=False)
    if result.returncode == 0:
        return True
    problem = os.fsdecode(result.stderr)
    if args[0] in ("--unset", "--unset-all") and result.returncode == NOTHING_TO_UNSET:
        return False
    if args[0] == "--remove-section" and "no such section" in problem:
        return False
    raise GitFailed(f"git config failed: {first_line(problem)}")
