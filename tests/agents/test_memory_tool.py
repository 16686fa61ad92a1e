"""The memory tool's six commands, with the exact words its documentation gives, over a memory repository."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents.memory_tool import memory_tool
from gitmem.config import Config
from gitmem.git.opening import open_repository
from tests.harness import Repo

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
Tool = Callable[..., str]


@pytest.fixture
def tool(repo: Repo) -> Iterator[Tool]:
    opened = open_repository(repo.path, os.environ)

    def call(command: str, *, read_only: bool = False, **more: Any) -> str:
        return memory_tool(opened, Config(), {"command": command, **more}, read_only=read_only)

    yield call
    opened.close()


def test_create_view_edit_rename_delete(repo: Repo, tool: Tool) -> None:
    path = "/memories/memory/일정.md"
    assert tool("create", path=path, file_text="one\ntwo\n") == f"File created successfully at: {path}"
    assert tool("create", path=path, file_text="x") == f"Error: File {path} already exists"
    assert (
        tool("view", path=path)
        == f"Here's the content of {path} with line numbers:\n     1\tone\n     2\ttwo\n     3\t"
    )
    assert tool("view", path=path, view_range=[2, 2]).endswith("numbers:\n     2\ttwo")
    assert tool("str_replace", path=path, old_str="two", new_str="2").startswith(
        "The memory file has been edited.\n     1\tone\n     2\t2"
    )
    assert tool("insert", path=path, insert_line=1, insert_text="between\n") == f"The file {path} has been edited."
    assert repo.read("memory/일정.md") == "one\nbetween\n2\n"
    new = "/memories/memory/plans.md"
    assert tool("rename", old_path=path, new_path=new) == f"Successfully renamed {path} to {new}"
    assert tool("delete", path=new) == f"Successfully deleted {new}" and not (repo.path / "memory/plans.md").exists()


def test_errors_use_the_documented_words(repo: Repo, tool: Tool) -> None:
    repo.write("MEMORY.md", "a\nb\na\n")
    path = "/memories/MEMORY.md"
    assert (
        tool("view", path="/memories/no.md") == "The path /memories/no.md does not exist. Please provide a valid path."
    )
    assert (
        tool("str_replace", path=path, old_str="zz", new_str="")
        == f"No replacement was performed, old_str `zz` did not appear verbatim in {path}."
    )
    assert tool("str_replace", path=path, old_str="a", new_str="") == (
        "No replacement was performed. Multiple occurrences of old_str `a` in lines: 1, 3. Please ensure it is unique"
    )
    assert tool("insert", path=path, insert_line=9, insert_text="x") == (
        "Error: Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]"
    )
    assert tool("delete", path="/memories/memory/no.md") == "Error: The path /memories/memory/no.md does not exist"
    assert tool("rename", old_path="/memories/memory/no.md", new_path="/memories/memory/x.md").startswith(
        "Error: The path /memories/memory/no.md"
    )
    repo.write("memory/x.md", "x")
    assert (
        tool("rename", old_path="/memories/memory/x.md", new_path=path)
        == f"Error: The destination {path} already exists"
    )
    assert "Unknown command" in tool("format") and "missing" in tool("create", path=path)


def test_a_folder_is_listed_two_levels_deep_without_what_is_no_memory(repo: Repo, tool: Tool) -> None:
    repo.write("MEMORY.md", "x" * 2048)
    repo.write("memory/a/b/c.md", "y" * 10)
    repo.write("secret.env", "no")
    os.symlink("/etc/passwd", repo.path / "memory/link.md")
    listing = tool("view", path="/memories").split("\n")
    assert (
        listing[0]
        == "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:"
    )
    assert listing[1:] == [
        "2.0K\t/memories",
        "2.0K\t/memories/MEMORY.md",
        "10\t/memories/memory",
        "10\t/memories/memory/a",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/memories/../x.md",
        "/etc/passwd",
        "/memories/.git/config",
        "/memories/memory/link.md",
        "/memories/x.py",
        "/memories/memory/..%2fx",
    ],
)
def test_no_path_leads_out_or_to_other_files(repo: Repo, tool: Tool, path: str, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("secret")
    (repo.path / "memory").mkdir()
    os.symlink(tmp_path / "out", repo.path / "memory/link.md")
    for command in ("view", "delete"):
        assert "secret" not in tool(command, path=path)
    answer = tool("create", path=path, file_text="x")
    assert answer.startswith("Error") and (tmp_path / "out").read_text() == "secret"
    assert not (repo.path.parent / "x.md").exists()


def test_every_write_passes_the_gate_and_read_only_means_it(repo: Repo, tool: Tool) -> None:
    repo.write("memory/a.md", "one\n")
    for answer in (
        tool("create", path="/memories/memory/b.md", file_text=f"토큰은{TOKEN}를 쓴다\n"),
        tool("str_replace", path="/memories/memory/a.md", old_str="one", new_str=TOKEN),
        tool("insert", path="/memories/memory/a.md", insert_line=0, insert_text=TOKEN),
    ):
        assert answer.startswith("Error: ") and TOKEN not in answer
    assert repo.read("memory/a.md") == "one\n" and not (repo.path / "memory/b.md").exists()
    assert tool("delete", path="/memories/memory/a.md", read_only=True) == "Error: this memory is read-only"
