"""What decides how memory is checked, as a reviewer is told of it."""

from __future__ import annotations

import os

import pytest

from gitmem.git.opening import open_repository
from gitmem.review.settings_changes import SettingsChange, settings_changes
from tests.harness import Repo


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit("start", {"MEMORY.md": "- one\n", "memory/2026-01-02.md": "- a\n", ".gitignore": "*.log\n"})
    return repo


def changes(repo: Repo, files: dict[str, str]) -> list[SettingsChange]:
    repo.commit("x", files)
    opened = open_repository(repo.path, os.environ)
    try:
        return settings_changes(opened, opened.resolve("HEAD~1"), opened.resolve("HEAD"))
    finally:
        opened.close()


@pytest.mark.parametrize(
    ("path", "text", "named"),
    [
        (".gitignore", "*.log\nmemory/\n", "memory/2026-01-01.md, memory/topic.md"),
        (".gitignore", "*.md\n!MEMORY.md\n", "SOUL.md"),
        ("memory/.gitignore", "2*.md\n", "memory/2026-01-01.md"),
        ("memory/skills/.gitignore", "*\n!.gitignore\n", "memory/skills/skill.md"),
    ],
)
def test_new_memory_that_a_change_has_git_ignore_is_said(memory: Repo, path: str, text: str, named: str) -> None:
    (row,) = changes(memory, {path: text})
    assert row.path == path and "never committed: " + named in row.loosened


def test_what_was_ignored_before_and_what_is_no_memory_is_not_said(memory: Repo) -> None:
    assert changes(memory, {".gitignore": "*.log\nbuild/\n", "docs/.gitignore": "*.md\n"}) == []
    memory.commit("private", {".gitignore": "memory/\n"})
    assert changes(memory, {".gitignore": "memory/\n*.tmp\n"}) == []


def test_lines_that_git_mem_init_writes_into_attributes_are_no_change_of_the_checks(memory: Repo) -> None:
    own = "# Memory\nMEMORY.md -text merge=gitmem\nmemory/*.md merge=gitmem\n"
    assert changes(memory, {".gitattributes": own}) == []
    for more in ("*.md filter=x\n", "[attr]x -text\n", "memory/*.md merge=gitmem filter=x\n", ""):
        found = changes(memory, {".gitattributes": own + more if more else "# Memory\n"})
        assert [row.path for row in found] == [".gitattributes"], more
