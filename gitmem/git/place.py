"""Finds the repository that contains a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gitmem.errors import GitFailed, NotARepository, UntrustedRepository
from gitmem.git.process import Git, first_line, read_environment
from gitmem.messages import Message
from gitmem.shell_word import shell_word

REV_PARSE = (
    "rev-parse", "--path-format=absolute", "--show-object-format", "--is-bare-repository", "--git-dir",
    "--git-common-dir", "--show-toplevel",
)  # fmt: skip

_DUBIOUS = re.compile(r"dubious ownership in repository at '([^\n]+)'\n")  # the path that safe.directory wants


class Place(NamedTuple):
    """Where a repository lies. `git_dir`: the Git directory of this work tree. `common_dir`: the one that all work
    trees share. `root`: the top folder of the work tree, None if bare. `object_format`: `sha1` or `sha256`."""

    git_dir: Path
    common_dir: Path
    root: Path | None
    object_format: str


def discover(start: Path, environ: Mapping[str, str]) -> Place:
    """The place of the repository that contains the folder `start`, or that GIT_DIR names. Raises as `place_of`, and
    GitMemError if git is not installed."""
    return place_of(start, *Git(start, read_environment(environ)).start(REV_PARSE).communicate())


def place_of(start: Path, output: bytes, stderr: bytes) -> Place:
    """The place from the output of REV_PARSE in the folder `start`. Raises NotARepository if there is no repository,
    UntrustedRepository if Git does not trust it, GitFailed if Git cannot open it or a path of it has a line break."""
    lines = [os.fsdecode(line) for line in output.split(b"\n")[:-1]]
    if len(lines) < 4:
        problem = os.fsdecode(stderr)
        if "dubious ownership" in problem:
            match = _DUBIOUS.search(problem)
            path = match[1] if match else os.fspath(start)
            raise UntrustedRepository(
                Message("Git does not trust the repository at '{}': another user owns it", path),
                Message("if you trust it: {}", f"git config --global --add safe.directory {shell_word(path)}"),
            )
        if "not a git repository" in problem:
            raise NotARepository(
                "this is not a Git repository, nor is any folder above it", "make one here: git mem init"
            )
        raise GitFailed(first_line(problem) or Message("cannot open the repository at '{}'", start))
    if len(lines) > 5:
        raise GitFailed("cannot open a repository below a folder with a line break in its name", "rename the folder")
    root = None
    if len(lines) > 4 and lines[4] and lines[1] == "false":
        root = Path(lines[4])
    return Place(git_dir=Path(lines[2]), common_dir=Path(lines[3]), root=root, object_format=lines[0])
