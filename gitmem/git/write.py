"""Writes to a repository, always by the git binary, so that the user's hooks, signing and configuration apply.

A commit holds only the given paths; anything else that is staged stays staged. For an agent, a hook or a job nobody can
type a passphrase: signing then uses the passphrase that the key's agent (gpg-agent, ssh-agent) remembers, fails at once
if there is none, and a signing program that hangs is killed. At a terminal Git asks as usual, and a log record tells a
person who sees no question which program is waiting.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from gitmem import system
from gitmem.errors import GitFailed, GitMemError, NotSigned
from gitmem.git.binary import first_line
from gitmem.git.objects import Entry, is_git_crypt_filter
from gitmem.git.repository import Repository
from gitmem.git.worktree import state_dir
from gitmem.messages import Message
from gitmem.system import temporary_folder

log = logging.getLogger(__name__)  # without a handler, Python shows a warning on stderr

NOBODY = ("Author identity unknown", "Committer identity unknown", "empty ident name", "unable to auto-detect email")
IDENTITY = 'git config --global user.name "Your Name"; git config --global user.email you@example.com'
IN_PROGRESS = {
    "MERGE_HEAD": ("a merge", "git merge --continue"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git cherry-pick --continue"),
    "REVERT_HEAD": ("a revert", "git revert --continue"),
    "rebase-merge": ("a rebase", "git rebase --continue"),
    "rebase-apply": ("a rebase or am", "git rebase --continue"),
    "BISECT_LOG": ("a bisect", "git bisect reset"),
}
SCRATCH = "writing"  # folder of scratch files in the state folder
MERGE_HEAD = "MERGE_HEAD"
SIGNING = ("commit", "merge")  # the git commands of ours that make commits
NOT_SIGNED = "failed to write commit object"  # Git's last error line if it could not sign
WITHOUT_PASSPHRASE = (
    "the commit cannot be signed without a passphrase, and nobody is here to type one",
    "sign something at a terminal first, so that the key's agent remembers it; or, in a clone that agents write to:"
    " git config commit.gpgsign false",
)
NOT_ANSWERED = (  # if nobody is at a terminal: a key waits for a touch, or a window is open on another screen
    "the commit is not signed: the signing program has not answered for {} seconds",
    WITHOUT_PASSPHRASE[1],
)
# Limit for a signing program if nobody is at a terminal: a key waits about 15 seconds for a touch, and hosts of agents
# end a hook or a tool after 60.
SIGNING_SECONDS = 30.0
WARN_SECONDS = 3.0  # of signing at a terminal, until a log record names the program
WAITED_FOR = "git mem: the commit is being signed: %s waits for a passphrase or for a touch of the key; Ctrl-C gives up"
SIGNING_PROGRAMS = {  # Git's setting -> the program if it is not set, and the options by which that does not ask
    "gpg.openpgp.program": ("gpg", " --batch --no-tty --pinentry-mode error"),
    "gpg.x509.program": ("gpgsm", ""),
    "gpg.ssh.program": ("ssh-keygen", ""),
}
# Shell lines that end Git and its child processes once the process {} is gone. `kill 0` ends the process group of the
# shell, which is Git's: Git runs in a session of its own. Git removes its lock files when it is ended so.
WATCHED = "(while kill -0 {} 2>&-; do sleep 1; done; kill -TERM 0) </dev/null >/dev/null 2>&1 &\nwatch=$!\n"
UNWATCHED = "kill $watch 2>/dev/null\n"
POLL_SECONDS = 1.0  # between two checks whether git is signing
END_SECONDS = 5.0  # for a git that was asked to end
TRAILER = re.compile(r"(?:Memory-[A-Z][A-Za-z]*|Reviewed-by|Signed-off-by|Co-authored-by): \S")
_MADE = re.compile(r"\[[^\n]* ([0-9a-f]{4,64})\] ")  # the output of `git commit`: `[main 1a2b3c4] subject`
# Variables that Git sets for a hook: a command of ours that commits elsewhere must not get them.
HOOK_VIEW = (
    "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EDITOR",
)  # fmt: skip


def run_git(
    repo: Repository, args: Sequence[str], *, input: str | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run git for a write in `repo` and return its output. Raises GitFailed with git's first error line.

    `input`: the standard input. `env`: more variables of the environment. Raises NotSigned if a commit cannot be signed
    and nobody is at a terminal.
    """
    environ = dict(repo.environ)
    for name in HOOK_VIEW:
        environ.pop(name, None)
    if "GIT_WORK_TREE" not in environ:
        environ.pop("GIT_DIR", None)
    environ.update(LC_ALL="C.UTF-8", GIT_TERMINAL_PROMPT="0", **(env or {}))
    at = str(repo.root or repo.git_dir)
    if args[0] not in SIGNING:
        return _run(at, args, input, environ)
    with _signing(at, environ) as signing:
        if signing is None:
            return _run(at, args, input, environ)
        try:
            return _run(at, args, input, {**environ, **signing.environ}, signing)
        except GitFailed as error:
            if not signing.at_terminal and NOT_SIGNED in f"{error.message}\n{error.hint}":
                message, then = WITHOUT_PASSPHRASE
                raise NotSigned(message, f"{then}\n{error.message}") from None
            raise


def _run(
    at: str, args: Sequence[str], input: str | None, environ: Mapping[str, str], signing: _Signing | None = None
) -> str:
    """Run git in the folder `at`. Hooks run as for a person's own commit; core.fsmonitor is off.

    With `signing` and nobody at a terminal, git gets a session of its own, so that it cannot ask at a terminal, and is
    killed with its child processes if signing takes longer than SIGNING_SECONDS.
    """
    own_session = signing is not None and not signing.at_terminal
    process = subprocess.Popen(
        ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", at, *args],
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, start_new_session=own_session,
    )  # fmt: skip
    data = None
    if input is not None:
        data = input.encode("utf-8", "surrogateescape")
    with process:
        try:
            out, stderr = _communicate(process, data, signing)
        except BaseException:
            _end(process, own_session)
            raise
    if process.returncode != 0:
        problem = os.fsdecode(stderr).strip() or os.fsdecode(out).strip()
        hint = _shortened_output(problem)
        if any(line in problem for line in NOBODY):
            hint = IDENTITY
        raise GitFailed(Message("git {} failed: {}", args[0], first_line(problem)), hint)
    return os.fsdecode(out)


def _communicate(process: subprocess.Popen[bytes], data: bytes | None, signing: _Signing | None) -> tuple[bytes, bytes]:
    """Send `data` to a git process and return its output and error output, as `Popen.communicate` does.

    With `signing` and nobody at a terminal it raises NotSigned once signing takes longer than SIGNING_SECONDS. At a
    terminal it logs once, after WARN_SECONDS, which program is waiting. A hook may take longer than both, so the time
    counts from the start of the signing program.
    """
    if signing is None:
        return process.communicate(data)
    began = 0.0
    warned = False
    while True:
        try:
            return process.communicate(data, timeout=POLL_SECONDS)
        except subprocess.TimeoutExpired:
            data = None  # `communicate` goes on sending it
            program = signing.program()
            if not program:
                began = 0.0
                continue
            began = began or time.monotonic()
            waited = time.monotonic() - began
            if signing.at_terminal:
                # A prompt for a passphrase turns the echo off: the person sees a question already.
                if not warned and waited > WARN_SECONDS and system.echoes(0):
                    log.warning(WAITED_FOR, program)
                    warned = True
            elif waited > SIGNING_SECONDS:
                message, then = NOT_ANSWERED
                raise NotSigned(Message(message, round(SIGNING_SECONDS)), then) from None


class _Signing(NamedTuple):
    """How Git signs a commit.

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


@contextmanager
def _signing(at: str, environ: Mapping[str, str]) -> Iterator[_Signing | None]:
    """How Git signs here; None if it signs no commits.

    Git reports nowhere that it is signing and sets no time limit, and only gpg has an option against asking. So Git
    runs the signing programs through scripts of ours, in a temporary folder. If nobody can be asked, a script also ends
    Git and its child processes once this process is gone (a host may kill a hook): a Git that waits on would keep its
    lock files.
    """
    if _setting(at, environ, "commit.gpgsign", "--type=bool") != "true":
        yield None
        return
    import shlex

    at_terminal = os.isatty(0)
    with temporary_folder() as folder:
        running = folder / "signing"
        count = int(environ.get("GIT_CONFIG_COUNT") or 0)
        variables: dict[str, str] = {}
        watch = unwatch = ""
        if not at_terminal:
            variables["SSH_ASKPASS_REQUIRE"] = "never"  # no window that asks; `_run` gives Git no terminal
            if system.POSIX:
                watch, unwatch = WATCHED.format(os.getpid()), UNWATCHED
        mark = shlex.quote(str(running))
        for setting, (usual, not_asking) in SIGNING_PROGRAMS.items():
            program = _setting(at, environ, setting)
            if setting == "gpg.openpgp.program":
                program = program or _setting(at, environ, "gpg.program")
            command = shlex.quote(program or usual)
            if not at_terminal:
                command += not_asking
            script = folder / usual
            script.write_text(
                f'#!/bin/sh\n{watch}echo {usual} > {mark}\n{command} "$@"\n'
                f"ended=$?\nrm -f {mark}\n{unwatch}exit $ended\n",
                encoding="utf-8",
            )
            script.chmod(0o700)
            variables |= {f"GIT_CONFIG_KEY_{count}": setting, f"GIT_CONFIG_VALUE_{count}": str(script)}
            count += 1
        yield _Signing({**variables, "GIT_CONFIG_COUNT": str(count)}, running, at_terminal)


def _setting(at: str, environ: Mapping[str, str], name: str, kind: str = "--type=path") -> str:
    """A setting of Git; "" if it is not set or its value is not of that kind (Git itself reports that)."""
    command = ["git", "-C", at, "config", kind, "--get", name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=dict(environ), check=False)
    if done.returncode != 0:
        return ""
    return os.fsdecode(done.stdout).rstrip("\n")


def _end(process: subprocess.Popen[bytes], own_session: bool) -> None:
    """Ask a git to end, its child processes too with `own_session`; after END_SECONDS kill it.

    A git that is asked to end removes its lock files; a killed one leaves them.
    """
    if own_session and system.POSIX:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    else:
        process.terminate()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _shortened_output(text: str) -> str:
    """Lines 2 to 20 of the output of git or a hook: a person needs them to act."""
    return "\n".join(text.splitlines()[1:20]).strip("\n")


def merging(repo: Repository) -> bool:
    """Whether a merge is in progress in this work tree."""
    return (Path(repo.git_dir) / MERGE_HEAD).exists()


def ensure_can_commit(repo: Repository) -> None:
    """Raise GitMemError in a bare repository and during a merge, rebase, cherry-pick or revert."""
    if repo.root is None:
        raise GitMemError("this needs a work tree, and the repository is bare", "run it in a clone")
    for name, (what, then) in IN_PROGRESS.items():
        if name != "BISECT_LOG" and (Path(repo.git_dir) / name).exists():
            raise GitMemError(Message("{} is in progress here", what), Message("finish it first: {}", then))


def scratch_folder(repo: Repository) -> Path:
    """The folder for scratch files: in the Git directory, so that neither `git add` nor a search sees them.

    The next writer removes the files of a killed run (`replacement.sweep`).
    """
    folder = state_dir(repo.common_dir) / SCRATCH
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def between_files(repo: Repository) -> list[Path]:
    """The files in `scratch_folder`, of a running writer or of a killed one. Does not make the folder."""
    folder = repo.common_dir / "gitmem" / SCRATCH
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def commit_paths(
    repo: Repository,
    message: str,
    paths: Sequence[str],
    *,
    author: str | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    """Commit the work tree's state of `paths` (new, changed or deleted) and nothing else. Returns the commit's oid.

    Without paths it makes an empty commit. Hooks and signing run. A commit of encrypted files gets a message without
    their text, because Git stores messages in clear. Raises GitFailed; what was staged before is staged then. The
    caller holds the lock of all writers.
    """
    import tempfile

    ensure_can_commit(repo)
    assert repo.root is not None
    encrypted = _encrypted_paths(repo, paths)
    if encrypted and repo.git_crypt() is None:
        raise GitMemError(
            Message("'{}' is stored encrypted, and what is committed of it could not be checked", encrypted[0]),
            "git-crypt unlock; git config --global mem.encryption git-crypt (docs/at-rest.md)",
        )
    if encrypted:
        message = _without_text(message, len(encrypted))
    known = set(run_git(repo, ["ls-files", "-z"]).split("\0"))
    # `--only` takes only paths that Git knows, so new files are added first. `--intent-to-add` would leave an empty
    # blob that nothing names.
    new = [path for path in paths if path not in known and (repo.root / path).exists()]
    args = ["commit", "--only", "--cleanup=whitespace", "--file=-"]
    if author:
        args += [f"--author={author}"]
    try:
        if new:
            run_git(repo, ["add", "--pathspec-from-file=-", "--pathspec-file-nul"], input=_nul_ended(new))
        with tempfile.NamedTemporaryFile(dir=scratch_folder(repo)) as file:  # standard input has the message
            file.write(os.fsencode(_nul_ended(paths)))
            file.flush()
            args += [f"--pathspec-from-file={file.name}", "--pathspec-file-nul"] if paths else ["--allow-empty"]
            # The oid is read from Git's output, because HEAD may name another commit by now.
            made = _MADE.match(run_git(repo, args, input=message, env=env))
    except BaseException:
        with suppress(GitFailed):  # the first error is the one to report
            _unstage_new(repo, new)
        raise
    return repo.resolve(made[1] if made else "HEAD")


def _encrypted_paths(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that the attributes give to git-crypt. The filter's program is not run."""
    if not paths:
        return []
    # The fields are path, attribute, value; then the next path.
    fields = run_git(repo, ["check-attr", "-z", "--stdin", "filter"], input=_nul_ended(paths)).split("\0")
    return [path for path, value in zip(fields[::3], fields[2::3], strict=False) if is_git_crypt_filter(value)]


def _without_text(message: str, files: int) -> str:
    """The message of a commit of encrypted files: their number and the trailers; no reason that a model wrote."""
    trailers = [line for line in message.splitlines() if TRAILER.match(line)]
    if any(line.startswith("Memory-Model:") for line in trailers):
        trailers = [line for line in trailers if not line.startswith("Memory-Reason:")]
    lines = [f"memory: change {files} encrypted {'file' if files == 1 else 'files'}"]
    if trailers:
        lines += ["", *trailers]
    return "\n".join([*lines, ""])


def _unstage_new(repo: Repository, paths: Sequence[str]) -> None:
    """Remove new files from Git's index after a commit that failed, except those that HEAD has by now."""
    if not paths:
        return
    head = repo.head()
    committed = {entry.path for entry in repo.entries(head)} if head else set()
    uncommitted = [path for path in paths if path not in committed]
    if uncommitted:
        run_git(repo, ["update-index", "--force-remove", "-z", "--stdin"], input=_nul_ended(uncommitted))


def _nul_ended(paths: Iterable[str]) -> str:
    """Paths in the form in which Git reads them from a file; a command line holds too few."""
    return "".join(f"{path}\0" for path in paths)


def configure(environ: Mapping[str, str], *args: str) -> bool:
    """Run `git config --global ARGS` on the user's own settings. Returns False if there was nothing to unset.

    Raises GitFailed.
    """
    env = {name: value for name, value in environ.items() if name not in (*HOOK_VIEW, "GIT_DIR", "GIT_WORK_TREE")}
    command = ["git", "-C", "/", "config", "--global", *args]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    if done.returncode in (5, 128) and args[0] in ("--unset", "--unset-all", "--remove-section"):
        return False
    if done.returncode != 0:
        raise GitFailed(f"git config failed: {first_line(os.fsdecode(done.stderr))}")
    return True


def init_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """Run `git init` in a folder, which is made if missing. The user's init.defaultBranch and templates apply.

    Raises GitMemError if the folder cannot be made, GitFailed if git fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot make '{}': {}", folder, error.strerror)) from None
    env = {name: value for name, value in environ.items() if name not in (*HOOK_VIEW, "GIT_DIR", "GIT_WORK_TREE")}
    done = subprocess.run(["git", "init", "--quiet", str(folder)], capture_output=True, env=env, check=False)
    if done.returncode != 0:
        raise GitFailed(f"git init failed: {first_line(os.fsdecode(done.stderr))}")


def store_blob(repo: Repository, data: bytes) -> str:
    """Store `data` as a blob, without filters. Returns its oid. Raises GitFailed."""
    at = repo.root or repo.git_dir
    env = {name: value for name, value in repo.environ.items() if name not in HOOK_VIEW}
    done = subprocess.run(
        ["git", "-C", str(at), "hash-object", "-w", "--no-filters", "--stdin"],
        input=data, capture_output=True, env=env, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise GitFailed(f"git hash-object failed: {first_line(os.fsdecode(done.stderr))}")
    return done.stdout.decode().strip()


def stage_entries(repo: Repository, entries: Sequence[Entry]) -> None:
    """Stage all entries or none; the work tree does not matter. Raises GitFailed."""
    rows = "".join(f"{entry.mode:o} {entry.oid}\t{entry.path}\0" for entry in entries)
    run_git(repo, ["update-index", "-z", "--index-info"], input=rows)
