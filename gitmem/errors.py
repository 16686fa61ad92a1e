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


class GitMemError(Exception):
    """Could not run: `message` says what is wrong, `hint` what to type next (may be empty).

    Neither may ever hold a secret or unescaped text of a memory file.
    """

    exit_code = Exit.CANNOT_RUN

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GitMemError):
    """The words typed do not fit together."""

    exit_code = Exit.USAGE


class Incomplete(UsageError):
    """An insight has values that are missing. `missing`: each of them in words; nothing was written."""

    def __init__(self, missing: list[str]) -> None:
        super().__init__(
            f"the insight is not complete: {'; '.join(missing)}",
            "give these values, or say what is known without them; nothing was written",
        )
        self.missing = tuple(missing)


class UnknownFact(GitMemError):
    """There is no fact at that place or of that id, or an id stands for several."""


class NotARepository(GitMemError):
    """There is no Git repository here."""


class UnknownRevision(GitMemError):
    """A revision or date names no commit."""


class GitFailed(GitMemError):
    """The git binary refused; `message` carries the first line of its own words."""


class NotSigned(GitFailed):
    """Git could not sign a commit, and nobody was there to help it; nothing is committed."""


class TooManyFiles(GitMemError):
    """A tree stands for more files than are ever listed: a few tree objects that name each other can stand for any
    number."""


class BadConfig(GitMemError):
    """A setting cannot be read or has no meaning."""


class OutsideRepository(GitMemError):
    """A path leaves the repository, by name or by symlink."""


class MissingFile(GitMemError):
    """There is no memory file of that name, here or then."""


class Locked(GitMemError):
    """Another process holds a lock for longer than we wait."""


class Changed(GitMemError):
    """A file, the commit or the branch is not what it was when a writer read it; nothing of it was overwritten."""


class NotKept(GitMemError):
    """The last write of memory cannot be taken back: what stood there before is not kept."""


class IndexUnusable(GitMemError):
    """The search index cannot be opened, read or written."""


class IndexDamaged(IndexUnusable):
    """The index file cannot be trusted: delete it and build it again from Git."""


class ModelUnavailable(GitMemError):
    """An embedder or a language model is missing, broken or not what it says."""


class Refused(GitMemError):
    """A check says no: exit 1. `message` is the reason, safe to print."""

    exit_code = Exit.FINDINGS
