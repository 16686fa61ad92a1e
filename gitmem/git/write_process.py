"""Runs one git process that writes: waits for its end, or ends it without leaving its lock files behind.

`gitmem.git.write` gives it the environment of a repository, `gitmem.git.signing` the way to wait for a commit.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from gitmem import system
from gitmem.errors import GitFailed
from gitmem.git.process import NO_GIT, first_line
from gitmem.messages import Message

# Git prints English messages, which IDENTITY_ERRORS needs, and asks nothing at a terminal.
VARIABLES = {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}
IDENTITY_ERRORS = (
    "Author identity unknown", "Committer identity unknown", "empty ident name", "unable to auto-detect email",
)  # fmt: skip
IDENTITY_HINT = 'git config --global user.name "Your Name"; git config --global user.email you@example.com'
END_SECONDS = 5.0  # for a git that was asked to end


def finish_git(
    folder: str,
    args: Sequence[str],
    environ: Mapping[str, str],
    stdin: str | bytes | None = None,
    *,
    own_session: bool = False,
    communicate: Callable[[subprocess.Popen[bytes], bytes | None], tuple[bytes, bytes]] = subprocess.Popen.communicate,
) -> str:
    """Run git in `folder` to its end and return its output. Hooks run as for a person's own commit.

    `own_session`: whether git gets a session of its own, so that neither it nor a child process can ask at a terminal.
    `communicate`: sends `stdin` to the process and returns its output and error output. If it raises, git is ended, in
    a session of its own with its child processes. Raises GitFailed if git cannot be started or fails.
    """
    if isinstance(stdin, str):
        stdin = stdin.encode("utf-8", "surrogateescape")
    with _start(folder, args, environ, stdin is not None, own_session) as process:
        try:
            stdout, stderr = communicate(process, stdin)
        except BaseException:
            _end(process, own_session)
            raise
    if process.returncode != 0:
        raise _failure(args[0], os.fsdecode(stderr).strip() or os.fsdecode(stdout).strip())
    return os.fsdecode(stdout)


def _start(
    folder: str, args: Sequence[str], environ: Mapping[str, str], reads: bool, own_session: bool
) -> subprocess.Popen[bytes]:
    """Start git in `folder`; core.fsmonitor is off. `reads`: whether its standard input is a pipe. Raises GitFailed."""
    stdin = subprocess.PIPE if reads else subprocess.DEVNULL
    try:
        return subprocess.Popen(
            ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", folder, *args],
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**environ, **VARIABLES}, start_new_session=own_session,
        )  # fmt: skip
    except FileNotFoundError:
        raise GitFailed(*NO_GIT) from None
    except OSError as error:
        raise GitFailed(Message("git {} failed: {}", args[0], error.strerror)) from None


def _failure(command: str, problem: str) -> GitFailed:
    """The error for a git command that printed `problem`. Its hint: what to set for an unknown identity, else lines 2
    to 20, the words of git or a hook that a person needs to act."""
    hint = "\n".join(problem.splitlines()[1:20]).strip("\n")
    if any(line in problem for line in IDENTITY_ERRORS):
        hint = IDENTITY_HINT
    return GitFailed(Message("git {} failed: {}", command, first_line(problem)), hint)


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
