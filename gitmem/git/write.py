"""Writes to a repository, always by the git binary, so that the user's hooks, signing and configuration apply.

A commit holds only the given paths; anything else that is staged stays staged. A commit that must be signed never waits
for a person who is not there (`gitmem.git.signing`).
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem import system
from gitmem.errors import GitFailed, GitMemError
from gitmem.git.binary import first_line
from gitmem.git.objects import Entry, is_git_crypt_filter
from gitmem.git.repository import Repository
from gitmem.git.worktree import SCRATCH_PREFIX, state_dir
from gitmem.messages import Message

if TYPE_CHECKING:
    from gitmem.git.signing import Signing

COMMIT_COMMANDS = ("commit", "merge")  # the git commands of ours that make commits
IDENTITY_ERRORS = (
    "Author identity unknown", "Committer identity unknown", "empty ident name", "unable to auto-detect email",
)  # fmt: skip
IDENTITY_HINT = 'git config --global user.name "Your Name"; git config --global user.email you@example.com'
MERGE_HEAD = "MERGE_HEAD"
# File of Git's directory -> (the operation in progress, the command that finishes it). These forbid a commit of ours.
IN_PROGRESS = {
    MERGE_HEAD: ("a merge", "git merge --continue"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git cherry-pick --continue"),
    "REVERT_HEAD": ("a revert", "git revert --continue"),
    "rebase-merge": ("a rebase", "git rebase --continue"),
    "rebase-apply": ("a rebase or am", "git rebase --continue"),
}
BISECT_IN_PROGRESS = {"BISECT_LOG": ("a bisect", "git bisect reset")}  # forbids a rewrite of history, not a commit
SCRATCH = "writing"  # folder of scratch files in the state folder
END_SECONDS = 5.0  # for a git that was asked to end
TRAILER = re.compile(r"(?:Memory-[A-Z][A-Za-z]*|Reviewed-by|Signed-off-by|Co-authored-by): \S")
# The output of `git commit`: `[main 1a2b3c4] subject`. The subject may have brackets too: the first ones count.
_COMMITTED = re.compile(r"\[[^\n]*? ([0-9a-f]{4,64})\] ")
# Variables that Git sets for a hook: a command of ours that commits elsewhere must not get them.
HOOK_VIEW = (
    "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH",
    "GIT_PREFIX", "GIT_REFLOG_ACTION", "GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS", "GIT_EDITOR",
)  # fmt: skip
REPOSITORY_VIEW = ("GIT_DIR", "GIT_WORK_TREE")  # variables that name the repository of a git command


def run_git(
    repo: Repository, args: Sequence[str], *, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Run git for a write in `repo` and return its output. Raises GitFailed with git's first error line.

    `stdin`: the text of the standard input. `env`: more variables of the environment. Raises NotSigned if a commit
    cannot be signed and nobody is at a terminal.
    """
    environ = _without(repo.environ, HOOK_VIEW)
    if "GIT_WORK_TREE" not in environ:
        environ.pop("GIT_DIR", None)
    environ.update(LC_ALL="C.UTF-8", GIT_TERMINAL_PROMPT="0", **(env or {}))
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


def _without(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The environment without the variables `names`."""
    hidden = frozenset(names)
    return {name: value for name, value in environ.items() if name not in hidden}


def _run(
    folder: str, args: Sequence[str], stdin: str | None, environ: Mapping[str, str], signing: Signing | None = None
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
    data = None
    if stdin is not None:
        data = stdin.encode("utf-8", "surrogateescape")
    with process:
        try:
            if signing is None:
                out, stderr = process.communicate(data)
            else:
                out, stderr = signing.communicate(process, data)
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
    for name, (operation, hint) in IN_PROGRESS.items():
        if (Path(repo.git_dir) / name).exists():
            raise GitMemError(Message("{} is in progress here", operation), Message("finish it first: {}", hint))


def scratch_folder(repo: Repository) -> Path:
    """The folder for scratch files: in the Git directory, so that neither `git add` nor a search sees them.

    The next writer removes the files of a killed run (`replacement.sweep`).
    """
    state_dir(repo.common_dir)
    folder = _scratch_path(repo)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def scratch_files(repo: Repository) -> list[Path]:
    """The files in `scratch_folder`, of a running writer or of a killed one. Does not make the folder."""
    try:
        return sorted(_scratch_path(repo).iterdir())
    except OSError:
        return []


def _scratch_path(repo: Repository) -> Path:
    return repo.common_dir / "gitmem" / SCRATCH


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
    try:  # standard input has the message, so a file has the paths
        if new:
            run_git(repo, ["add", "--pathspec-from-file=-", "--pathspec-file-nul"], stdin=_nul_ended(new))
        with tempfile.NamedTemporaryFile(dir=scratch_folder(repo), prefix=SCRATCH_PREFIX) as file:
            file.write(os.fsencode(_nul_ended(paths)))
            file.flush()
            args += [f"--pathspec-from-file={file.name}", "--pathspec-file-nul"] if paths else ["--allow-empty"]
            # The oid is read from Git's output, because HEAD may name another commit by now.
            committed = _COMMITTED.match(run_git(repo, args, stdin=message, env=env))
    except BaseException:
        with suppress(GitFailed):  # the first error is the one to report
            _unstage_new(repo, new)
        raise
    return repo.resolve(committed[1] if committed else "HEAD")


def _encrypted_paths(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that the attributes give to git-crypt. The filter's program is not run."""
    if not paths:
        return []
    # The fields are path, attribute, value; then the next path.
    fields = run_git(repo, ["check-attr", "-z", "--stdin", "filter"], stdin=_nul_ended(paths)).split("\0")
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
        run_git(repo, ["update-index", "--force-remove", "-z", "--stdin"], stdin=_nul_ended(uncommitted))


def _nul_ended(paths: Iterable[str]) -> str:
    """Paths in the form in which Git reads them from a file; a command line holds too few."""
    return "".join(f"{path}\0" for path in paths)


def configure(environ: Mapping[str, str], *args: str) -> bool:
    """Run `git config --global ARGS` on the user's own settings. Returns False if there was nothing to unset.

    Raises GitFailed.
    """
    env = _without(environ, (*HOOK_VIEW, *REPOSITORY_VIEW))
    command = ["git", "-C", "/", "config", "--global", *args]
    result = subprocess.run(command, capture_output=True, env=env, check=False)
    if result.returncode in (5, 128) and args[0] in ("--unset", "--unset-all", "--remove-section"):
        return False
    if result.returncode != 0:
        raise GitFailed(f"git config failed: {first_line(os.fsdecode(result.stderr))}")
    return True


def init_repository(folder: Path, environ: Mapping[str, str]) -> None:
    """Run `git init` in a folder, which is made if missing. The user's init.defaultBranch and templates apply.

    Raises GitMemError if the folder cannot be made, GitFailed if git fails.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GitMemError(Message("cannot make '{}': {}", folder, error.strerror)) from None
    env = _without(environ, (*HOOK_VIEW, *REPOSITORY_VIEW))
    result = subprocess.run(["git", "init", "--quiet", str(folder)], capture_output=True, env=env, check=False)
    if result.returncode != 0:
        raise GitFailed(f"git init failed: {first_line(os.fsdecode(result.stderr))}")


def store_blob(repo: Repository, data: bytes) -> str:
    """Store `data` as a blob, without filters. Returns its oid. Raises GitFailed."""
    folder = str(repo.root or repo.git_dir)
    env = _without(repo.environ, HOOK_VIEW)
    result = subprocess.run(
        ["git", "-C", folder, "hash-object", "-w", "--no-filters", "--stdin"],
        input=data, capture_output=True, env=env, check=False,
    )  # fmt: skip
    if result.returncode != 0:
        raise GitFailed(f"git hash-object failed: {first_line(os.fsdecode(result.stderr))}")
    return result.stdout.decode().strip()


def stage_entries(repo: Repository, entries: Sequence[Entry]) -> None:
    """Stage all entries or none; the work tree does not matter. Raises GitFailed."""
    rows = "".join(f"{entry.mode:o} {entry.oid}\t{entry.path}\0" for entry in entries)
    run_git(repo, ["update-index", "-z", "--index-info"], stdin=rows)
