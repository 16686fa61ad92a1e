"""Runs git for writes, so that the user's hooks and configuration apply, and makes the small writes.

A command that makes commits also signs them: `gitmem.git.signing.run_commit` runs it. `gitmem.git.commit` makes our
commits of chosen files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gitmem.errors import GitMemError
from gitmem.git.objects import Entry
from gitmem.git.repository import Repository
from gitmem.git.write_process import finish_git
from gitmem.messages import Message

# Variables that Git sets for a hook: a command of ours that commits elsewhere must not get them.
HOOK_VIEW = (
    "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EDITOR",
)  # fmt: skip
REPOSITORY_VIEW = ("GIT_DIR", "GIT_WORK_TREE")  # variables that name the repository of a git command


def run_git(
    repo: Repository, args: Sequence[str], *, stdin: str | bytes | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run a git command that writes in `repo`, but makes no commit, and return its output.

    `stdin`: the standard input. `env`: more variables of the environment. Raises GitFailed, with git's first error
    line, if git fails or cannot be started.
    """
    return finish_git(write_folder(repo), args, write_environment(repo, env), stdin)


def write_folder(repo: Repository) -> str:
    """The folder in which git runs to write in `repo`: the root of its work tree, or a bare repository itself."""
    return str(repo.root or repo.git_dir)


def write_environment(repo: Repository, env: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a git that writes in `repo`: without a hook's variables, without GIT_DIR unless GIT_WORK_TREE
    is set, and with those of `env`."""
    variables = without_variables(repo.environ, HOOK_VIEW)
    if "GIT_WORK_TREE" not in variables:
        # For some hooks (pre-push, or any in a linked work tree) Git sets GIT_DIR alone. A git that has it alone takes
        # the folder it runs in as the work tree, and a relative one is relative to that folder. Without it, git finds
        # the repository from `write_folder`. A repository that is not beside its work tree (dotfiles) is named by both
        # variables, and git finds it by them only.
        variables.pop("GIT_DIR", None)
    return {**variables, **(env or {})}


def without_variables(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The environment without the variables `names`."""
    hidden = frozenset(names)
    return {name: value for name, value in environ.items() if name not in hidden}


def nul_ended(paths: Iterable[str]) -> str:
    """The paths with a NUL after each, as Git reads them from a file or standard input; a command line holds too
    few."""
    return "".join(f"{path}\0" for path in paths)


def init_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """Run `git init` in a folder, which is made if missing. The user's init.defaultBranch and templates apply.

    Raises GitMemError if the folder cannot be made, GitFailed if git fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot make '{}': {}", folder, error.strerror)) from None
    finish_git(str(folder), ["init", "--quiet"], without_variables(environ, (*HOOK_VIEW, *REPOSITORY_VIEW)))


def store_blob(repo: Repository, data: bytes) -> str:
    """Store `data` as a blob, without filters. Returns its oid. Raises GitFailed."""
    return run_git(repo, ["hash-object", "-w", "--no-filters", "--stdin"], stdin=data).strip()


def stage_entries(repo: Repository, entries: Sequence[Entry]) -> None:
    """Stage all entries or none; the work tree does not matter. Raises GitFailed."""
    rows = "".join(f"{entry.mode:o} {entry.oid}\t{entry.path}\0" for entry in entries)
    run_git(repo, ["update-index", "-z", "--index-info"], stdin=rows)
