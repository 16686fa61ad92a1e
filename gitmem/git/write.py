"""What changes a repository: always the git binary, so that the user's hooks, signing and configuration apply.

Only paths named are committed; whatever else is staged stays staged. An agent, a hook and a job have nobody who could
type a passphrase: signing then uses what the key's own agent (gpg-agent, ssh-agent) remembers, and fails at once where
that is nothing; a signing program that hangs is ended. At a terminal Git asks as it always does, and a log record says
what a person who sees no question is waiting for.
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
SCRATCH = "writing"  # in the folder of our state: files in between
MERGE_HEAD = "MERGE_HEAD"
SIGNING = ("commit", "merge")  # what of ours makes commits
NOT_SIGNED = "failed to write commit object"  # what Git says last when it could not sign
WITHOUT_PASSPHRASE = (
    "the commit cannot be signed without a passphrase, and nobody is here to type one",
    "sign something at a terminal first, so that the key's agent remembers it; or, in a clone that agents write to:"
    " git config commit.gpgsign false",
)
NOT_ANSWERED = (  # from where nobody is at a terminal: a key that waits for a touch, a window on another screen
    "the commit is not signed: the signing program has not answered for {} seconds",
    WITHOUT_PASSPHRASE[1],
)
# Seconds that a signing program may take where nobody is at a terminal: a key gives up on a touch after about 15, and
# hosts of agents end a hook or a tool after 60.
SIGNING_SECONDS = 30.0
SAID_AFTER = 3.0  # seconds of signing at a terminal until it is said what is waited for
WAITED_FOR = "git mem: the commit is being signed: %s waits for a passphrase or for a touch of the key; Ctrl-C gives up"
SIGNING_PROGRAMS = {  # Git's setting -> the program it names where it is not set, and what keeps that from asking
    "gpg.openpgp.program": ("gpg", " --batch --no-tty --pinentry-mode error"),
    "gpg.x509.program": ("gpgsm", ""),
    "gpg.ssh.program": ("ssh-keygen", ""),
}
# Shell lines that end Git and all it started once a process is gone. The shell's own process group, 0, is Git's, which
# has a session of its own; Git takes its locks away when it ends.
WATCHED = "(while kill -0 {} 2>&-; do sleep 1; done; kill -TERM 0) </dev/null >/dev/null 2>&1 &\nwatch=$!\n"
UNWATCHED = "kill $watch 2>/dev/null\n"
LOOK = 1.0  # seconds between two looks whether a git signs
GRACE = 5.0  # seconds for a git that is told to end
TRAILER = re.compile(r"(?:Memory-[A-Z][A-Za-z]*|Reviewed-by|Signed-off-by|Co-authored-by): \S")
_MADE = re.compile(r"\[[^\n]* ([0-9a-f]{4,64})\] ")  # what `git commit` says it made: `[main 1a2b3c4] subject`
# A hook's view of the repository must not reach a command that commits elsewhere in it.
HOOK_VIEW = (
    "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EDITOR",
)  # fmt: skip


def run_git(
    repo: Repository, args: Sequence[str], *, input: str | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run git for a write in `repo` and return its stdout. Raises GitFailed with git's own first words."""
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
    """Run git in folder `at`. Hooks run as they do for a person's own commit; a program that watches files for Git
    would run for a mere look at the index, and does not.

    With `signing` and nobody at a terminal, git has a session of its own, and so no terminal to ask at, and ends with
    all it started where the signing takes longer than SIGNING_SECONDS.
    """
    alone = signing is not None and not signing.at_terminal
    process = subprocess.Popen(
        ["git", "--literal-pathspecs", "-c", "core.fsmonitor=false", "-C", at, *args],
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, start_new_session=alone,
    )  # fmt: skip
    with process:
        try:
            if input is None:
                given = None
            else:
                given = input.encode("utf-8", "surrogateescape")
            out, problem = _communicate(process, given, signing)
        except BaseException:
            _end(process, alone)
            raise
    if process.returncode != 0:
        words = os.fsdecode(problem).strip() or os.fsdecode(out).strip()
        nobody = any(said in words for said in NOBODY)
        raise GitFailed(
            Message("git {} failed: {}", args[0], first_line(words)), IDENTITY if nobody else _shortened_output(words)
        )
    return os.fsdecode(out)


def _communicate(
    process: subprocess.Popen[bytes], given: bytes | None, signing: _Signing | None
) -> tuple[bytes, bytes]:
    """As `Popen.communicate`. Where nobody is at a terminal it raises NotSigned once signing takes longer than
    SIGNING_SECONDS; at one it logs, once, which program is waited for. A hook may take longer than both, so the time
    counts from when the signing program was started."""
    began = 0.0
    said = False
    while True:
        try:
            return process.communicate(given, timeout=None if signing is None else LOOK)
        except subprocess.TimeoutExpired:
            given = None  # git is being sent it: it is given but once
            if signing is None or not (program := signing.program()):
                began = 0.0
                continue
            began = began or time.monotonic()
            waited = time.monotonic() - began
            if signing.at_terminal:
                # A prompt for a passphrase turns the echo off: its words stand on the terminal already.
                if not said and waited > SAID_AFTER and system.echoes(0):
                    log.warning(WAITED_FOR, program)
                    said = True
            elif waited > SIGNING_SECONDS:
                message, then = NOT_ANSWERED
                raise NotSigned(Message(message, round(SIGNING_SECONDS)), then) from None


class _Signing(NamedTuple):
    """How Git signs a commit, and how to see that it does.

    `environ`: what is added to Git's environment, so that our scripts run the signing programs.
    `running`: the file that is there while a signing program runs; it holds the usual name of that program.
    `at_terminal`: whether a person can be asked.
    """

    environ: dict[str, str]
    running: Path
    at_terminal: bool

    def program(self) -> str:
        """The usual name of the signing program that runs now, "" for none."""
        try:
            return self.running.read_text(encoding="utf-8").strip()
        except OSError:
            return ""


@contextmanager
def _signing(at: str, environ: Mapping[str, str]) -> Iterator[_Signing | None]:
    """How Git signs here; None where nothing is signed.

    Git says to nobody that it signs, and has no limit of time for it; of the programs only gpg has an option that keeps
    it from asking. So the signing programs are run through scripts in a folder that is gone afterwards. Where nobody
    can be asked, a script ends Git and all that it started once this process is gone (a host that ends a hook): a Git
    that waits on keeps its lock files.
    """
    if not _signs(at, environ):
        yield None
        return
    import shlex

    at_terminal = os.isatty(0)
    with temporary_folder() as folder:
        running = folder / "signing"
        count = int(environ.get("GIT_CONFIG_COUNT") or 0)
        # Without a terminal, and without a window that asks: run_git gives it a session of its own.
        if at_terminal:
            more = {}
        else:
            more = {"SSH_ASKPASS_REQUIRE": "never"}
        if at_terminal or not system.POSIX:
            watched = ""
        else:
            watched = WATCHED.format(os.getpid())
        for setting, (usual, options) in SIGNING_PROGRAMS.items():
            program = _setting(at, environ, setting)
            if setting == "gpg.openpgp.program":
                program = program or _setting(at, environ, "gpg.program")
            script = folder / usual
            mark = shlex.quote(str(running))
            if at_terminal:
                unasked = ""
            else:
                unasked = options
            script.write_text(
                f'#!/bin/sh\n{watched}echo {usual} > {mark}\n{shlex.quote(program or usual)}{unasked} "$@"\n'
                f"ended=$?\nrm -f {mark}\n{UNWATCHED if watched else ''}exit $ended\n",
                encoding="utf-8",
            )
            script.chmod(0o700)
            more |= {f"GIT_CONFIG_KEY_{count}": setting, f"GIT_CONFIG_VALUE_{count}": str(script)}
            count += 1
        yield _Signing({**more, "GIT_CONFIG_COUNT": str(count)}, running, at_terminal)


def _signs(at: str, environ: Mapping[str, str]) -> bool:
    return _setting(at, environ, "commit.gpgsign", "--type=bool") == "true"


def _setting(at: str, environ: Mapping[str, str], name: str, kind: str = "--type=path") -> str:
    """A setting of Git, "" where it is not set or no value of that kind: Git then says so itself."""
    command = ["git", "-C", at, "config", kind, "--get", name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, env=dict(environ), check=False)
    if done.returncode != 0:
        return ""
    return os.fsdecode(done.stdout).rstrip("\n")


def _end(process: subprocess.Popen[bytes], alone: bool) -> None:
    """End a git, where it is `alone` with what it started: told to, it takes its lock files away; killed, it leaves
    them."""
    if alone and system.POSIX:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
    else:
        process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()


def _shortened_output(words: str) -> str:
    """The rest of what git or a hook said, kept short: the person needs it to act."""
    return "\n".join(words.splitlines()[1:20]).strip("\n")


def merging(repo: Repository) -> bool:
    """Whether a merge was begun in this work tree and not ended."""
    return (Path(repo.git_dir) / MERGE_HEAD).exists()


def ensure_can_commit(repo: Repository) -> None:
    """Raise GitMemError in a bare repository and in the middle of a merge, rebase, cherry-pick, revert or bisect."""
    if repo.root is None:
        raise GitMemError("this needs a work tree, and the repository is bare", "run it in a clone")
    for name, (what, then) in IN_PROGRESS.items():
        if name != "BISECT_LOG" and (Path(repo.git_dir) / name).exists():
            raise GitMemError(Message("{} is in progress here", what), Message("finish it first: {}", then))


def scratch_folder(repo: Repository) -> Path:
    """Where files in between lie: in the Git directory, where neither `git add` nor a search sees them.

    What a killed run leaves there goes when the next one writes (`replacement.sweep`).
    """
    folder = state_dir(repo.common_dir) / SCRATCH
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def between_files(repo: Repository) -> list[Path]:
    """The files in `scratch_folder`, of a writer at work or one that was killed; makes no folder."""
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
    """Commit the work tree's state of `paths` (new, changed or deleted) and nothing else; the new commit's oid. No
    paths: an empty commit.

    Hooks and signing run. The message of a commit of encrypted files says no text of theirs: Git stores messages in
    clear. On failure what was staged before is staged still, and GitFailed says why. The caller holds
    the lock of all writers.
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
    # `--only` takes paths that Git knows. The intent to add one would leave an empty blob that nothing names.
    new = [path for path in paths if path not in known and (repo.root / path).exists()]
    args = ["commit", "--only", "--cleanup=whitespace", "--file=-"]
    if author:
        args += [f"--author={author}"]
    try:
        if new:
            run_git(repo, ["add", "--pathspec-from-file=-", "--pathspec-file-nul"], input=_separated(new))
        with tempfile.NamedTemporaryFile(dir=scratch_folder(repo)) as file:  # standard input has the message
            file.write(os.fsencode(_separated(paths)))
            file.flush()
            args += [f"--pathspec-from-file={file.name}", "--pathspec-file-nul"] if paths else ["--allow-empty"]
            # HEAD may name another commit by now: what Git says is the one it made.
            made = _MADE.match(run_git(repo, args, input=message, env=env))
    except BaseException:
        with suppress(GitFailed):  # the first error is the one to tell
            _forget_new(repo, new)
        raise
    return repo.resolve(made[1] if made else "HEAD")


def _encrypted_paths(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Those of these paths that the attributes give to a filter of git-crypt. No program of the filter runs."""
    if not paths:
        return []
    said = run_git(repo, ["check-attr", "-z", "--stdin", "filter"], input=_separated(paths)).split("\0")
    return [path for path, value in zip(said[::3], said[2::3], strict=False) if is_git_crypt_filter(value)]


def _without_text(message: str, files: int) -> str:
    """The message of a commit of encrypted files: how many, and the trailers; not the reason that a model wrote."""
    trailers = [line for line in message.splitlines() if TRAILER.match(line)]
    if any(line.startswith("Memory-Model:") for line in trailers):
        trailers = [line for line in trailers if not line.startswith("Memory-Reason:")]
    subject = f"memory: change {files} encrypted {'file' if files == 1 else 'files'}"
    return "\n".join([subject, *(["", *trailers] if trailers else []), ""])


def _forget_new(repo: Repository, paths: Sequence[str]) -> None:
    """Take what was staged for a commit that was not made out of Git's index; what HEAD has by now stays."""
    head = repo.head()
    if head and paths:
        made = {entry.path for entry in repo.entries(head)}
    else:
        made = set()
    gone = [path for path in paths if path not in made]
    if gone:
        run_git(repo, ["update-index", "--force-remove", "-z", "--stdin"], input=_separated(gone))


def _separated(paths: Iterable[str]) -> str:
    """Paths as Git reads them from a file: thousands are too many for a command line."""
    return "".join(f"{path}\0" for path in paths)


def configure(environ: Mapping[str, str], *args: str) -> bool:
    """`git config --global ARGS` for the user's own settings; False when there was nothing to unset."""
    env = {name: value for name, value in environ.items() if name not in (*HOOK_VIEW, "GIT_DIR", "GIT_WORK_TREE")}
    command = ["git", "-C", "/", "config", "--global", *args]
    done = subprocess.run(command, capture_output=True, env=env, check=False)
    if done.returncode in (5, 128) and args[0] in ("--unset", "--unset-all", "--remove-section"):
        return False
    if done.returncode != 0:
        raise GitFailed(f"git config failed: {first_line(os.fsdecode(done.stderr))}")
    return True


def init_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """`git init` in a folder, made where there is none; the user's init.defaultBranch and templates apply.

    Raises GitMemError for a folder that cannot be made, GitFailed where git refuses.
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
    """Have exactly `data`, without filters, among the objects of the repository; its oid. Raises GitFailed."""
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
    """Stage every entry, all or none, whatever the work tree has. Raises GitFailed."""
    rows = "".join(f"{entry.mode:o} {entry.oid}\t{entry.path}\0" for entry in entries)
    run_git(repo, ["update-index", "-z", "--index-info"], input=rows)
