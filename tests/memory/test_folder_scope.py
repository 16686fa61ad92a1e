"""For which folder a statement holds: its own scope, its parent's, its note's, its memory folder's; faulty ones count
as none."""

from __future__ import annotations

import unicodedata

import pytest

from gitmem.memory.document import parse
from gitmem.memory.folder_scope import (
    FoldersInUse,
    faulty_scopes,
    folder_name,
    folder_of_path,
    folders_of,
    globs_of_folders,
)
from gitmem.paths import matches


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("packages/api", "packages/api"), ("packages/api/", "packages/api"), ("./packages/api", "packages/api"),
        (".", ""), ("패키지/결제", "패키지/결제"), (unicodedata.normalize("NFD", "패키지/결제"), "패키지/결제"),
        ("..", None), ("../other", None), ("packages/../..", None), ("/etc", None), ("C:/Windows", None), ("a//b", None),
        ("a\\b", None), ("a\x1b[2J", None), ("a\u202eb", None), ("a/.git/hooks", None), ("a/.GIT", None), ("", None),
        ("x" * 401, None), ("a\nb", None), ("~root:", None),
    ],
)  # fmt: skip
def test_a_scope_is_a_folder_of_the_repository_or_none(value: str, name: str | None) -> None:
    assert folder_name(value) == name


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("MEMORY.md", ""), ("memory/a.md", ""), (".claude/MEMORY.md", ""), ("memory/projects/api/memory/a.md", ""),
        ("packages/api/MEMORY.md", "packages/api"), ("packages/api/memory/2026-02-05.md", "packages/api"),
        ("packages/api/.claude/memory/a.md", "packages/api"), ("패키지/결제/memory/a.md", "패키지/결제"),
        ("docs/memory/a.md", "docs"), ("packages/api/README.md", ""),
    ],
)  # fmt: skip
def test_a_file_of_a_memory_folder_holds_for_the_folder_around_it(path: str, folder: str) -> None:
    assert folder_of_path(path) == folder
    assert folder_of_path("docs/memory/a.md", ("docs/memory",)) == ""


def test_a_statement_has_its_own_scope_else_that_of_its_parent_of_its_note_of_its_folder() -> None:
    text = "- one <!-- mem scope=packages/web -->\n  - below it\n- two\n- three <!-- mem scope=../x -->\n- all <!-- mem scope=. -->\n"
    document = parse(text.encode(), "packages/api/memory/a.md")
    names = folders_of(document.statements, document.path, document.front_matter)
    assert names == ["packages/web", "packages/web", "packages/api", "packages/api", ""]
    assert faulty_scopes(document.statements, document.front_matter) == [(4, "../x")]
    front = parse(b"---\nscope: packages/db\n---\n- one\n", "packages/api/memory/b.md")
    assert folders_of(front.statements, front.path, front.front_matter)[-1] == "packages/db"


def test_a_folder_is_in_hand_for_what_lies_in_it_and_where_it_is_named() -> None:
    hand = FoldersInUse(("packages/api/src/a.py",))
    assert [hand.depth(name) for name in ("", "packages", "packages/api", "packages/api/src", "packages/ap", "web")] == [
        0, 1, 2, 3, -1, -1,
    ]  # fmt: skip
    assert FoldersInUse(every=True).depth("packages/web") == 2 and FoldersInUse().depth("packages/web") == -1
    for text in ("why does packages/web fail?", "the Web is slow", "web: why?"):
        assert FoldersInUse(asked=text).depth("packages/web") == 2
    assert FoldersInUse(asked="webhooks of the cobweb").depth("packages/web") == -1
    assert FoldersInUse(asked="결제는 왜 실패하지?").depth("패키지/결제") == 2


def test_memory_of_folders_is_named_by_the_globs_that_take_it() -> None:
    found = globs_of_folders([
        "MEMORY.md", "memory/2026-02-05.md", "packages/api/memory/2026-02-05.md", "packages/api/memory/notes.md",
        "packages/api/memory/deep/er.md", "packages/web/MEMORY.md", "패키지/결제/memory/메모.md", "a[1]/memory/x.md",
        "src/memory/README.md", "src/memory/pool.c", "node_modules/x/memory/x.md", ".claude/memory/x.md",
    ])  # fmt: skip
    assert found == [
        "a[[]1]/memory/*.md",
        "packages/api/memory/*.md",
        "packages/web/MEMORY.md",
        "패키지/결제/memory/*.md",
    ]
    assert matches("a[1]/memory/x.md", found[0]) and matches("패키지/결제/memory/메모.md", found[3])
