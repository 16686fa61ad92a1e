"""Runs git for writes, so that the user's hooks, signing and configuration apply: one runner, and the small writes.

A command that signs a commit never waits for a person who is not there (`gitmem.git.signing`). Commits of ours are made
by `gitmem.git.commit`.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem import system
from gitmem.errors import GitFailed, GitMemError
from gitmem.git.objects import Entry
from gitmem.git.process import first_line
from gitmem.git.repository import Repository
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.git.signing import Signing

COMMIT_COMMANDS = ("commit", "merge")  # the git commands of ours that make commits
IDENTITY_ERRORS = (
    "Author identity unknown", "Committer identity unknown", "empty ident name", "unable to auto-detect email",
)  # fmt: skip
IDENTITY_HINT = 'git config --global user.name "Your Name"; git config --global user.email you@example.com'
END_SECONDS = 5.0  # for a git that was asked to end
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
    """Run git for a write in `repo` and return its output. Raises GitFailed with git's first error line.

    `stdin`: the standard input. `env`: more variables of the environment. Raises NotSigned if a commit cannot be signed
    and nobody is at a terminal.
    """
    if isinstance(stdin, str):
        stdin = stdin.encode("utf-8", "surrogateescape")
    environ = {**_write_environment(repo.environ), **(env or {})}
    folder = str(repo.root or repo.git_dir)
    if args[0] not in COMMIT_COMMANDS:
        return _run(folder, args, stdin, environ)
    from gitmem.git.signing import prepare_signing  # hooks and most commands commit nothing

    with prepare_signing(folder, environ) as signing:
        if signing is None:
            return _run(folder, args, stdin, environ)
        try:
            return _run(folder, args, stdin, {**environ, **signing.environ}, signing)
        except GitFailed as error:
            raise signing.error_of(error) from None


def _write_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a git that writes: without a hook's variables, with English messages and no questions."""
    variables = without_variables(environ, HOOK_VIEW)
    if "GIT_WORK_TREE" not in variables:
        variables.pop("GIT_DIR", None)
    return {**variables, "LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}


def without_variables(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The environment without the variables `names`."""
    hidden = frozenset(names)
    return {name: value for name, value in environ.items() if name not in hidden}


def _run(
    folder: str, args: Sequence[str], stdin: bytes | None, environ: Mapping[str, str], signing: Signing | None = None
) -> str:
    """Run git in `folder` and return its output. Hooks run as for a person's own commit; core.fsmonitor is off.

    With `signing` and nobody at a terminal, git gets a session of its own, so that it cannot ask at a terminal, and is
    ended with its child processes if signing takes too long.
    """
    own_session = signing is not None and not signing.at_terminal
    process = subprocess.Popen(
        ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", folder, *args],
        stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, start_new_session=own_session,
    )  # fmt: skip
    with process:
        try:
            if signing is None:
                out, stderr = process.communicate(stdin)
            else:
                out, stderr = signing.communicate(process, stdin)
        except BaseException:
            _end(process, own_session)
            raise
    if process.returncode != 0:
        problem = os.fsdecode(stderr).strip() or os.fsdecode(out).strip()
        hint = _shortened_output(problem)
        if any(line in problem for line in IDENTITY_ERRORS):
            hint = IDENTITY_HINT
        raise GitFailed(Message("git {} failed: {}", args[0], first_line(problem)), hint)
    return os.fsdecode(out)


def _end(process: subprocess.Popen[bytes], own_session: bool) -> None:
    """Ask a git to end, its child processes too with `own_session`; after END_SECONDS kill it, or them.

    A git that is asked to end removes its lock files; a killed one leaves them.
    """
    _signal(process, own_session, signal.SIGTERM)
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        _signal(process, own_session, signal.SIGKILL if system.POSIX else signal.SIGTERM)


def _signal(process: subprocess.Popen[bytes], own_session: bool, number: int) -> None:
    """Send a signal to a git, and with `own_session` to its child processes. Does nothing if they are gone."""
    with suppress(ProcessLookupError):
        if own_session and system.POSIX:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)


def _shortened_output(text: str) -> str:
    """Lines 2 to 20 of the output of git or a hook: a person needs them to act."""
    return "\n".join(text.splitlines()[1:20]).strip("\n")


def nul_ended(paths: Iterable[str]) -> str:
    """Paths in the form in which Git reads them from a file; a command line holds too few."""
    return "".join(f"{path}\0" for path in paths)


def init_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """Run `git init` in a folder, which is made if missing. The user's init.defaultBranch and templates apply.

    Raises GitMemError if the folder cannot be made, GitFailed if git fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot make '{}': {}", folder, error.strerror)) from None
    _run(str(folder), ["init", "--quiet"], None, _write_environment(without_variables(environ, REPOSITORY_VIEW)))


def store_blob(repo: Repository, data: bytes) -> str:
    """Store `data` as a blob, without filters. Returns its oid. Raises GitFailed."""
    return run_git(repo, ["hash-object", "-w", "--no-filters", "--stdin"], stdin=data).strip()


def stage_entries(repo: Repository, entries: Sequence[Entry]) -> None:
    """Stage all entries or none; the work tree does not matter. Raises GitFailed."""
    rows = "".join(f"{entry.mode:o} {entry.oid}\t{entry.path}\0" for entry in entries)
    run_git(repo, ["update-index", "-z", "--index-info"], stdin=rows)
