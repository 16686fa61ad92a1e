"""Commits chosen files of the work tree, and refuses where a commit of ours would get in somebody's way.

A commit holds only the given paths; anything else that is staged stays staged. The git binary makes it, so that the
user's hooks, signing and configuration apply.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress

from gitmem.errors import GitFailed, GitMemError
from gitmem.git.objects import is_git_crypt_filter
from gitmem.git.repository import Repository
from gitmem.git.scratch_files import scratch_folder
from gitmem.git.signing import run_commit
from gitmem.git.worktree import SCRATCH_PREFIX
from gitmem.git.write import nul_ended, run_git
from gitmem.messages import Message
from gitmem.plural import counted

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
TRAILER = re.compile(r"(?:Memory-[A-Z][A-Za-z]*|Reviewed-by|Signed-off-by|Co-authored-by): \S")
# The output of `git commit`: `[main 1a2b3c4] subject`. The subject may have brackets too: the first ones count.
_COMMITTED = re.compile(r"\[[^\n]*? ([0-9a-f]{4,64})\] ")


def merging(repo: Repository) -> bool:
    """Whether a merge is in progress in this work tree."""
    return (repo.git_dir / MERGE_HEAD).exists()


def committer(repo: Repository) -> str:
    """`Name <e-mail>` of the person who commits. Raises GitFailed if Git knows none."""
    words = run_git(repo, ["var", "GIT_COMMITTER_IDENT"]).strip()
    return words[: words.rfind(">") + 1]


def ensure_can_commit(repo: Repository) -> None:
    """Raise GitMemError in a bare repository and during a merge, rebase, `git am`, cherry-pick or revert."""
    if repo.root is None:
        raise GitMemError("this needs a work tree, and the repository is bare", "run it in a clone")
    for name, (operation, hint) in IN_PROGRESS.items():
        if (repo.git_dir / name).exists():
            raise GitMemError(Message("{} is in progress here", operation), Message("finish it first: {}", hint))


def commit_paths(repo: Repository, message: str, paths: Sequence[str]) -> str:
    """Commit the work tree's state of `paths` (new, changed or deleted) and nothing else. Returns the commit's oid.

    Without paths it makes an empty commit. Hooks and signing run. A commit of encrypted files gets a message without
    their text, because Git stores messages in clear. The caller must hold the lock of all writers.

    Raises GitFailed if Git, a hook or signing refuses the commit, GitMemError as `ensure_can_commit` and for encrypted
    files that could not be checked; what was staged before is staged then.
    """
    ensure_can_commit(repo)
    encrypted = _encrypted_paths(repo, paths)
    if encrypted:
        if repo.git_crypt() is None:
            raise GitMemError(
                Message("'{}' is stored encrypted, and what is committed of it could not be checked", encrypted[0]),
                "git-crypt unlock; git config --global mem.encryption git-crypt (docs/at-rest.md)",
            )
        message = message_without_text(message, len(encrypted))
    new_paths = _new_paths(repo, paths)
    try:
        if new_paths:
            run_git(repo, ["add", "--pathspec-from-file=-", "--pathspec-file-nul"], stdin=nul_ended(new_paths))
        return _run_commit(repo, message, paths)
    except BaseException:
        with suppress(GitFailed):  # the first error is the one to report
            _unstage_new(repo, new_paths)
        raise


def _new_paths(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that exist and that Git does not know. `git commit --only` takes only paths that Git knows, so
    these must be added first. `add --intent-to-add` would leave an empty blob that nothing names."""
    assert repo.root is not None
    known_paths = set(run_git(repo, ["ls-files", "-z"]).split("\0"))
    return [path for path in paths if path not in known_paths and (repo.root / path).exists()]


def _run_commit(repo: Repository, message: str, paths: Sequence[str]) -> str:
    """Run `git commit` for paths that Git knows, or for none, and return the oid of the commit. Raises GitFailed if
    Git, a hook or signing refuses it."""
    import tempfile

    args = ["commit", "--only", "--cleanup=whitespace", "--file=-"]
    # Standard input has the message, so a file has the paths.
    with tempfile.NamedTemporaryFile(dir=scratch_folder(repo), prefix=SCRATCH_PREFIX) as file:
        file.write(os.fsencode(nul_ended(paths)))
        file.flush()
        if paths:
            args += [f"--pathspec-from-file={file.name}", "--pathspec-file-nul"]
        else:
            args += ["--allow-empty"]
        # The oid is read from Git's output, because HEAD may name another commit by now.
        committed = _COMMITTED.match(run_commit(repo, args, stdin=message))
    if committed is None:
        return repo.resolve("HEAD")
    return repo.resolve(committed[1])


def _encrypted_paths(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Those of `paths` that the attributes give to git-crypt. The filter's program is not run."""
    if not paths:
        return []
    # The fields are path, attribute, value; then the next path.
    fields = run_git(repo, ["check-attr", "-z", "--stdin", "filter"], stdin=nul_ended(paths)).split("\0")
    return [path for path, value in zip(fields[::3], fields[2::3], strict=False) if is_git_crypt_filter(value)]


def message_without_text(message: str, files: int) -> str:
    """The message of a commit of encrypted files: their number (`files`) and the trailers of `message` (`Memory-*`,
    Reviewed-by, Signed-off-by, Co-authored-by); without a reason (Memory-Reason) if a model wrote it (Memory-Model)."""
    trailers = [line for line in message.splitlines() if TRAILER.match(line)]
    if any(line.startswith("Memory-Model:") for line in trailers):
        trailers = [line for line in trailers if not line.startswith("Memory-Reason:")]
    lines = [f"memory: change {counted(files, 'encrypted file')}"]
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
        run_git(repo, ["update-index", "--force-remove", "-z", "--stdin"], stdin=nul_ended(uncommitted))
