"""The errors a person can meet: each has a message, what to type next, and an exit code.

A leaf: imports nothing of ours. Anything raised that is not a `GitMemError` is a bug (exit 4).
"""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """Exit codes of every command (docs/cli.md, "Exit codes")."""

    DONE = 0
    FINDINGS = 1
    USAGE = 2
    CANNOT_RUN = 3
    BUG = 4
    INTERRUPTED = 130

    @classmethod
    def findings_if(cls, found: object) -> Exit:
        """FINDINGS if `found` is true or not empty, else DONE."""
        if found:
            return cls.FINDINGS
        return cls.DONE


class GitMemError(Exception):
    """The command could not run: `message` says what is wrong, `hint` what to type next (may be empty).

    Neither may ever hold a secret or unescaped text of a memory file.
    """

    exit_code = Exit.CANNOT_RUN

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GitMemError):
    """What a person typed is invalid or incomplete, or its parts do not fit together."""

    exit_code = Exit.USAGE


class Incomplete(UsageError):
    """An insight lacks required values, and nothing was written. `missing`: one phrase for each missing value."""

    def __init__(self, missing: list[str]) -> None:
        super().__init__(
            f"the insight is not complete: {'; '.join(missing)}",
            "give these values, or say what is known without them; nothing was written",
        )
        self.missing = tuple(missing)


class UnknownFact(GitMemError):
    """No fact has the place or id that a person named, or several facts have an id that begins like it."""


class NotARepository(GitMemError):
    """The folder is not in a Git repository, or libgit2 cannot open the repository."""


class UntrustedRepository(GitMemError):
    """Another user owns the repository, and Git does not read it without `safe.directory`."""


class UnknownRevision(GitMemError):
    """A revision or date names no commit."""


class GitFailed(GitMemError):
    """Git failed, cannot be started or cannot read a repository; `message` has the first line of its error output, if
    it printed any."""


class ObjectsLeftOut(GitFailed):
    """Git needs an object that a partial clone left out (`git clone --filter`), and may not fetch it."""


class NotSigned(GitFailed):
    """Git could not sign a commit and no terminal could ask for a passphrase. Nothing was committed."""


class TooManyFiles(GitMemError):
    """A tree lists more files than the limit. A few tree objects that contain each other can list any number."""


class BadConfig(GitMemError):
    """A setting cannot be parsed or has an invalid value."""


class OutsideRepository(GitMemError):
    """A path leads out of the repository, into .git or through a symbolic link, or it is no regular file."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "name a file of the repository that is no link; git ls-files lists them")


class MissingFile(GitMemError):
    """No memory file has the path that a person named, in the work tree or in the revision asked for."""


class Locked(GitMemError):
    """Another process kept a lock for longer than the time limit."""


class Changed(GitMemError):
    """A file, the commit or the branch changed since the writer read it. Nothing was overwritten."""


class NotKept(GitMemError):
    """The last write cannot be undone: the text before it was not kept."""


class IndexUnusable(GitMemError):
    """The search index cannot be opened, read or written."""


class StateOfAnotherUser(GitMemError):
    """Another user owns the state folder, so that it must be neither read nor written."""


class IndexOfAnotherUser(IndexUnusable):
    """Another user owns the index, so that it must be neither trusted nor written."""


class IndexDamaged(IndexUnusable):
    """The index file is damaged: it must be deleted and built again from Git."""


class ModelUnavailable(GitMemError):
    """An embedder or a language model is missing, broken, or not the one that its id names."""


class Refused(GitMemError):
    """The gate or another check does not allow what was asked, such as a write with a secret (exit code 1). `message`:
    the reason, safe to print."""

    exit_code = Exit.FINDINGS
