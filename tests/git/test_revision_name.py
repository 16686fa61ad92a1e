"""Revisions from outside: names, oids and steps to parents, and no program of Git's language of revisions."""

from __future__ import annotations

import os
import random

import pytest

from gitmem.errors import GitMemError, UnknownRevision
from gitmem.git.library import open_library
from gitmem.git.opening import open_repository
from gitmem.git.revision_name import is_revision_name
from tests.harness import Repo

NAMES = [
    "HEAD",
    "@",
    "main",
    "refs/heads/main",
    "v1.0^2~3",
    "HEAD~2",
    "HEAD^",
    "a" * 40,
    "1a2b3c4",
    "브랜치",
    "feature/x-y_z",
]
PROGRAMS = [
    ":/(a|aa)+x", "HEAD^{/(a|aa)+x}", "HEAD^{commit}", "HEAD@{1}", "main@{upstream}", "@{-1}", ":0:MEMORY.md", "HEAD:x",
    "main..HEAD", "--all", "", "a b", "x" * 10_000, "HEAD" + "~1" * 40, "HEAD~99999999999", "refs/heads/*", "a\nb", "a\0b",
]  # fmt: skip


@pytest.mark.parametrize("text", NAMES)
def test_a_name_an_oid_and_steps_to_parents_are_a_revision(text: str) -> None:
    assert is_revision_name(text)


@pytest.mark.parametrize("text", PROGRAMS)
def test_anything_else_of_gits_language_of_revisions_is_refused_by_both_adapters(repo: Repo, text: str) -> None:
    assert not is_revision_name(text)
    repo.commit("a" * 20_000)
    for opened in (open_repository(repo.path, os.environ), open_library(repo.path, os.environ)):
        with pytest.raises(UnknownRevision):
            opened.resolve(text)
        with pytest.raises(UnknownRevision):
            opened.tree(text)
        opened.close()


@pytest.mark.parametrize("count", [300, pytest.param(100_000, marks=pytest.mark.stress)])
def test_random_revisions_end_no_process(repo: Repo, count: int) -> None:
    repo.commit("a" * 20_000)
    repo.git("tag", "v1.0")
    random.seed(5)
    parts = [*NAMES, *PROGRAMS, "^{/", "}", "~", "^", "@{", ":/", "(a|aa)+x", "1", "\udc80", "é"]
    opened = open_library(repo.path, os.environ)
    for _ in range(count):
        text = "".join(random.choices(parts, k=random.randint(1, 4)))
        try:
            assert len(opened.resolve(text)) == 40
        except GitMemError:
            continue
