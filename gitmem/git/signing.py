"""Signing of commits: runs Git's signing programs so that a commit never waits for a person who is not there.

Without a terminal nobody can type a passphrase. Signing then uses the passphrase that the key's agent (gpg-agent,
ssh-agent) remembers, fails at once if there is none, and a signing program that hangs is ended. At a terminal Git asks
as usual, and a log record names the program that waits, for a person who sees no question.

Git reports nowhere that it is signing and sets no time limit, and only gpg has an option against asking. So Git runs
the signing programs through scripts that this module writes to a temporary folder. `run_commit` runs a git command that
makes commits; a hook of ours makes none, so it does not import this module.
"""

from __future__ import annotations

import logging
import os
import shlex
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from gitmem import system
from gitmem.errors import GitFailed, NotSigned
from gitmem.git.git_config import settings_as_variables
from gitmem.git.repository import Repository
from gitmem.git.write import write_environment, write_folder
from gitmem.git.write_process import finish_git
from gitmem.messages import Message
from gitmem.system import temporary_folder

log = logging.getLogger(__name__)  # without a handler, Python shows a warning on stderr

NO_PASSPHRASE = "the commit cannot be signed without a passphrase, and nobody is here to type one"
# Nobody is at a terminal: a key waits for a touch, or a window is open on another screen.
NOT_ANSWERED = "the commit is not signed: the signing program has not answered for {} seconds"
HINT = (
    "sign something at a terminal first, so that the key's agent remembers it; or, in a clone that agents write to:"
    " git config commit.gpgsign false"
)
WAITED_FOR = "git mem: the commit is being signed: %s waits for a passphrase or for a touch of the key; Ctrl-C gives up"
NOT_SIGNED = "failed to write commit object"  # Git's last error line if it could not sign
# Limit for a signing program if nobody is at a terminal: a key waits about 15 seconds for a touch, and hosts of agents
# end a hook or a tool after 60.
SIGNING_SECONDS = 30.0
WARN_SECONDS = 3.0  # of signing at a terminal, until a log record names the program
POLL_SECONDS = 1.0  # between two checks whether Git is signing


class Program(NamedTuple):
    """A signing program. `setting`: Git's setting for it. `name`: the program if the setting is missing, and the name
    that a person knows. `options`: the options by which it never asks, "" if it has none."""

    setting: str
    name: str
    options: str


PROGRAMS = (
    Program("gpg.openpgp.program", "gpg", " --batch --no-tty --pinentry-mode error"),
    Program("gpg.x509.program", "gpgsm", ""),
    Program("gpg.ssh.program", "ssh-keygen", ""),
)
# The script that Git runs in place of a signing program. `running`: a file that has the program's name while it runs.
SCRIPT = """\
#!/bin/sh
{start_watch}echo {name} > {running}
{command} "$@"
ended=$?
rm -f {running}
{stop_watch}exit $ended
"""
# A background loop of the script that ends Git and its child processes once the process `pid` is gone. `kill 0` ends
# the process group of the shell, which is Git's: Git runs in a session of its own. Git then removes its lock files.
START_WATCH = """\
(while kill -0 {pid} 2>&-; do sleep 1; done; kill -TERM 0) </dev/null >/dev/null 2>&1 &
watch=$!
"""
STOP_WATCH = "kill $watch 2>/dev/null\n"


class Signing(NamedTuple):
    """How Git signs the commits of one command.

    `environ`: variables for Git, by which our scripts run the signing programs. `running`: a file that exists while a
    signing program runs and holds its usual name. `at_terminal`: whether a person can be asked.
    """

    environ: dict[str, str]
    running: Path
    at_terminal: bool

    def program(self) -> str:
        """The usual name of the signing program that is running; "" if none is."""
        try:
            return self.running.read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def communicate(self, process: subprocess.Popen[bytes], data: bytes | None) -> tuple[bytes, bytes]:
        """Send `data` to a git process and return its output and error output, as `Popen.communicate` does.

        If nobody is at a terminal it raises NotSigned once signing takes longer than SIGNING_SECONDS. At a terminal it
        logs once, after WARN_SECONDS, which program is waiting. A hook may take longer than both, so the time counts
        from the start of the signing program.
        """
        start_seconds: float | None = None
        warned = False
        while True:
            try:
                return process.communicate(data, timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                data = None  # `communicate` goes on sending it
            program = self.program()
            if not program:
                start_seconds = None
                continue
            now = time.monotonic()
            if start_seconds is None:
                start_seconds = now
            waited = now - start_seconds
            if self.at_terminal:
                # A prompt for a passphrase turns the echo off: the person sees a question already.
                if not warned and waited > WARN_SECONDS and system.terminal_echoes(0):
                    log.warning(WAITED_FOR, program)
                    warned = True
            elif waited > SIGNING_SECONDS:
                raise NotSigned(Message(NOT_ANSWERED, round(SIGNING_SECONDS)), HINT)

    def error_of(self, error: GitFailed) -> GitFailed:
        """NotSigned if `error` says that Git could not sign a commit and nobody is at a terminal, else `error`
        itself."""
        if self.at_terminal or NOT_SIGNED not in f"{error.message}\n{error.hint}":
            return error
        return NotSigned(NO_PASSPHRASE, f"{HINT}\n{error.message}")


def run_commit(
    repo: Repository, args: Sequence[str], *, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run a git command that makes commits in `repo`, `commit` or `merge`, and return its output.

    `stdin`: the standard input. `env`: more variables of the environment. Raises GitFailed, with git's first error
    line, if git fails or cannot be started; NotSigned if the commit cannot be signed and nobody is at a terminal.
    """
    folder, environ = write_folder(repo), write_environment(repo, env)
    with prepare_signing(folder, environ) as signing:
        if signing is None:
            return finish_git(folder, args, environ, stdin)
        try:
            return finish_git(
                folder, args, {**environ, **signing.environ}, stdin,
                own_session=not signing.at_terminal, communicate=signing.communicate,
            )  # fmt: skip
        except GitFailed as error:
            raise signing.error_of(error) from None


@contextmanager
def prepare_signing(folder: str, environ: Mapping[str, str]) -> Iterator[Signing | None]:
    """How Git signs commits in `folder` with the variables `environ`; None if commit.gpgsign is not true. The scripts
    exist within the `with` block.

    If nobody can be asked, a script also ends Git and its child processes once this process is gone (a host may kill a
    hook): a Git that waits on would keep its lock files.
    """
    if _setting(folder, environ, "commit.gpgsign", "--type=bool") != "true":
        yield None
        return
    at_terminal = os.isatty(0)
    with temporary_folder() as scripts:
        running = scripts / "signing"
        variables: dict[str, str] = {}
        settings: dict[str, str] = {}
        watched = None
        if not at_terminal:
            variables["SSH_ASKPASS_REQUIRE"] = "never"  # no window that asks; Git has no terminal either
            if system.POSIX:
                watched = os.getpid()
        for program in PROGRAMS:
            configured = _setting(folder, environ, program.setting)
            if program.setting == "gpg.openpgp.program":
                configured = configured or _setting(folder, environ, "gpg.program")
            command = shlex.quote(configured or program.name)
            if not at_terminal:
                command += program.options
            script = scripts / program.name
            script.write_text(script_text(program.name, command, running, watched), encoding="utf-8")
            script.chmod(0o700)
            settings[program.setting] = str(script)
        yield Signing({**variables, **settings_as_variables(settings, environ)}, running, at_terminal)


def script_text(name: str, command: str, running: Path, watched: int | None) -> str:
    """The shell script that runs `command`, a signing program in shell syntax, and ends with its exit code.

    While the program runs, the file `running` holds `name`. `watched`: the id of a process without which the script
    ends its whole process group; None for no such process.
    """
    start_watch = stop_watch = ""
    if watched is not None:
        start_watch, stop_watch = START_WATCH.format(pid=watched), STOP_WATCH
    return SCRIPT.format(
        start_watch=start_watch, name=name, running=shlex.quote(str(running)), command=command, stop_watch=stop_watch
    )


def _setting(folder: str, environ: Mapping[str, str], name: str, kind: str = "--type=path") -> str:
    """A setting of Git; "" if it is not set. Also "" for a value of another kind, or if git cannot be started: the git
    command that is to be signed reports that."""
    command = ["git", "-C", folder, "config", kind, "--get", name]
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=dict(environ), check=False)
    except OSError:
        return ""
    return "" if result.returncode != 0 else os.fsdecode(result.stdout).rstrip("\n")
