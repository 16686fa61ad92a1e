"""What Git has, as values: entries, changes, commits, lines that were blamed, spans of a file.

A leaf: imports nothing of ours. Named tuples, since every search makes these classes when it starts and a dataclass
takes a millisecond. Lines are 1-based and inclusive; paths are repository-relative with `/`, as Git spells them; oids
are opaque lower-case hex of 40 or 64.
"""

from __future__ import annotations

from datetime import datetime

from gitmem.light_typing import NamedTuple

MAX_FILES = 1_000_000  # of a tree, or of the difference of two, that are listed
REGULAR, EXECUTABLE, SYMLINK, GITLINK = 0o100644, 0o100755, 0o120000, 0o160000
LFS_POINTER = b"version https://git-lfs.github.com/spec/"  # github.com/git-lfs/git-lfs, docs/spec.md
LFS_POINTER_LIMIT = 1024  # bytes: a pointer is shorter, by the same page
ENCRYPTED = b"\0GITCRYPT\0"  # how a blob of git-crypt begins: github.com/AGWA/git-crypt, commands.cpp
LINKS = (SYMLINK, GITLINK)  # whatever is neither is read as a file: an odd mode hides nothing


def is_lfs_pointer(data: bytes) -> bool:
    """Whether a file is a pointer of Git LFS that stands for a text, and no text that begins like one."""
    return data.startswith(LFS_POINTER) and len(data) < LFS_POINTER_LIMIT and b"\noid " in data


def is_encrypted(data: bytes) -> bool:
    """Whether these bytes are a file as git-crypt stores it."""
    return data.startswith(ENCRYPTED)


def is_git_crypt_filter(name: str) -> bool:
    """Whether a `filter` attribute is of git-crypt: `git-crypt`, or `git-crypt-KEY` for a key of its own."""
    return name == "git-crypt" or name.startswith("git-crypt-")


class Entry(NamedTuple):
    """One path of a tree or of Git's index. `size` is -1 where it was not asked for."""

    path: str
    mode: int
    oid: str
    size: int = -1


class Change(NamedTuple):
    """One path between two trees: `status` is A, M, D, T or R (R only where renames were asked for).

    `old_*` are empty (mode 0) for A; `new_*` for D.
    """

    status: str
    path: str
    old_path: str
    old_oid: str
    new_oid: str
    old_mode: int
    new_mode: int


class Person(NamedTuple):
    """Name and e-mail as a commit has them."""

    name: str
    email: str


class Commit(NamedTuple):
    """A commit, its dates aware of their zone and its message decoded with replacement."""

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
        """The first line that is not blank."""
        return self.message.lstrip().split("\n", 1)[0].rstrip()


class BlameLine(NamedTuple):
    """One line of `git blame`: `line` at the revision asked for, `source_line` where the commit put it.

    `commit` is all zeros for a line that is not committed yet.
    """

    line: int
    text: str
    commit: str
    source_line: int


class Span(NamedTuple):
    """Lines of a path, optionally of one blob: `memory/2026-02-05.md#L12-L14@1a2b3c4d5e6f`."""

    path: str
    start_line: int
    end_line: int
    blob: str = ""
