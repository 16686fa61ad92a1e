"""Encrypted memory for tests, made by the real git-crypt: a module of its own, so that a skip is said once."""

from __future__ import annotations

import shutil

import pytest

from tests.harness import Repo

MISSING = "git-crypt is not installed (apt-get install git-crypt)"
MARK = b"\0GITCRYPT\0"
ATTRIBUTES = "*.md filter=git-crypt diff=git-crypt\n"
needs_git_crypt = pytest.mark.skipif(shutil.which("git-crypt") is None, reason=MISSING)


def encrypt(repo: Repo) -> None:
    """Have git-crypt encrypt every Markdown file from the next commit on, and the user's settings name it."""
    repo.git("config", "--global", "mem.encryption", "git-crypt")
    repo.run("git-crypt", "init")
    repo.commit("attributes", {".gitattributes": ATTRIBUTES})


def stored(repo: Repo) -> bytes:
    """Every object of the repository as Git stores it, reachable or not, without the lines of its own."""
    listed = repo.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines()
    return b"\n".join(stored_object(repo, row.split()[0], row.split()[1]) for row in listed)


def stored_object(repo: Repo, oid: str, kind: str = "blob") -> bytes:
    """The bytes of one object as Git stores it."""
    return repo.git("cat-file", kind, oid).encode("utf-8", "surrogateescape")
