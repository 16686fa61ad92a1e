"""Values of Git: tree entries, changes, commits, blamed lines, spans of a file.

They are named tuples, because every search makes these classes at its start and a dataclass takes a millisecond. Lines
are 1-based and inclusive. Paths are relative to the repository, with `/`. Oids are opaque lower-case hex of 40 or 64
digits.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

MAX_FILES = 1_000_000  # files that are listed of a tree, or of the difference of two
REGULAR, EXECUTABLE, SYMLINK, GITLINK = 0o100644, 0o100755, 0o120000, 0o160000
LFS_POINTER = b"version https://git-lfs.github.com/spec/"  # github.com/git-lfs/git-lfs, docs/spec.md
LFS_POINTER_LIMIT = 1024  # bytes: a pointer is shorter, by the same page
ENCRYPTED = b"\0GITCRYPT\0"  # the first bytes of a blob of git-crypt: github.com/AGWA/git-crypt, commands.cpp
LINKS = (SYMLINK, GITLINK)  # an entry of any other mode is read as a file, so that an odd mode hides nothing


def is_lfs_pointer(data: bytes) -> bool:
    """Whether a file is a pointer of Git LFS, and not a text that begins like one."""
    return data.startswith(LFS_POINTER) and len(data) < LFS_POINTER_LIMIT and b"\noid " in data


def is_encrypted(data: bytes) -> bool:
    """Whether these bytes are a blob that git-crypt encrypted."""
    return data.startswith(ENCRYPTED)


def is_git_crypt_filter(name: str) -> bool:
    """Whether the value of a `filter` attribute is git-crypt's: `git-crypt`, or `git-crypt-KEY` for a named key."""
    return name == "git-crypt" or name.startswith("git-crypt-")


class Entry(NamedTuple):
    """One path of a tree or of Git's index. `mode`: as in Git, such as 0o100644. `oid`: of the blob, or of the commit
    of a submodule."""

    path: str
    mode: int
    oid: str

    @property
    def is_file(self) -> bool:
        """Whether it is a file, and no link and no submodule."""
        return self.mode in (REGULAR, EXECUTABLE)


class Change(NamedTuple):
    """The difference of one path between two trees, or between a tree and Git's index.

    `status`: A (added), M (modified), D (deleted), T (another type), R (renamed, if renames were asked for), U (an open
    conflict in Git's index). `old_path`: the path in the old version, which differs after a rename; "" for A. The oid
    and mode of the old version are empty ("", 0) for A, those of the new one for D.
    """

    status: str
    path: str
    old_path: str
    old_oid: str
    new_oid: str
    old_mode: int
    new_mode: int


class Person(NamedTuple):
    """The name and e-mail address of an author, a committer or an agent that a message names; each is "" if it is
    missing or cannot be read."""

    name: str
    email: str


class Commit(NamedTuple):
    """A commit. The dates carry their time zone; bytes of the message that cannot be decoded are replaced. `parents`:
    oids, () for a root commit. `tree`: its oid."""

    oid: str
    parents: tuple[str, ...]
    tree: str
    author: Person
    author_date: datetime
    committer: Person
    commit_date: datetime
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message that is not blank."""
        return self.message.lstrip().split("\n", 1)[0].rstrip()


class LoggedCommit(NamedTuple):
    """A commit as `Repository.messages` reads it.

    `side`: `<` for a commit that only A of `A...B` reaches, `>` otherwise. `author`: the name. `paths`: the first paths
    that the commit changed, 12 at most (`parse.MAX_PATHS`); [] for a merge.
    """

    side: str
    oid: str
    author: str
    message: str
    paths: list[str]


class BlameLine(NamedTuple):
    """One line of `git blame`.

    `line`: its number at the revision asked for. `commit`: the commit that wrote it, all zeros if it is not committed
    yet. `source_line`: its number in that commit.
    """

    line: int
    text: str
    commit: str
    source_line: int


class Span(NamedTuple):
    """Lines of a file: `memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f`. `blob`: oid or its first digits, "" for any."""

    path: str
    start_line: int
    end_line: int
    blob: str = ""

    def overlaps(self, path: str, first: int, last: int) -> bool:
        """Whether the span has one of the lines `first` to `last` of the file `path`, whatever the blob."""
        return self.path == path and self.start_line <= last and first <= self.end_line
