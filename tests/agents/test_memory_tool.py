"""What memory's rules ask of the memory tool; its answers beside the reference's: test_memory_tool_reference.py."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.agents.memory_tool import MAX_ANSWER_CHARACTERS, memory_tool
from gitmem.config import Config
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.git.opening import open_repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from tests.harness import Repo

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
Tool = Callable[..., str]


@pytest.fixture
def tool(repo: Repo) -> Iterator[Tool]:
    opened = open_repository(repo.path, os.environ)

    def call(command: str, **more: Any) -> str:
        return memory_tool(opened, Config(), {"command": command, **more}).text

    yield call
    opened.close()


def test_a_write_says_what_its_statements_differ_from_and_writes_them_all_the_same(repo: Repo, tool: Tool) -> None:
    repo.write("MEMORY.md", "# Memory\n\n- The request timeout is 45 seconds\n")
    said = "differs from MEMORY.md:3 'The request timeout is 45 seconds': git mem settle"
    new = "- The request timeout is now 30 seconds\n"
    assert said in tool("create", path="/memories/memory/notes.md", file_text=new)
    assert "differs" not in tool("create", path="/memories/memory/other.md", file_text="- Lunch is at noon\n")
    assert said in tool("insert", path="/memories/MEMORY.md", insert_line=3, insert_text=new)
    assert new in repo.read("memory/notes.md") and "45 seconds" in repo.read("MEMORY.md")


def test_a_folder_is_moved_and_deleted_whole_or_not_at_all(repo: Repo, tool: Tool) -> None:
    repo.write("memory/a/one.md", "1\n")
    repo.write("memory/a/b/two.md", "2\n")
    assert tool("rename", old_path="/memories/memory/a", new_path="/memories/memory/c").endswith("/memories/memory/c")
    assert repo.read("memory/c/b/two.md") == "2\n" and not (repo.path / "memory/a").exists()
    repo.write("memory/c/b/data.csv", "x")
    for refused in (
        tool("delete", path="/memories/memory/c"),
        tool("rename", old_path="/memories/memory/c", new_path="/memories/memory/d"),
    ):
        assert refused == "/memories/memory/c holds files that are not memory"
    into_itself = tool("rename", old_path="/memories/memory/c", new_path="/memories/memory/c/d")
    assert into_itself == "Cannot rename /memories/memory/c into itself, /memories/memory/c/d"
    assert tool("rename", old_path="/memories/memory/c/one.md", new_path="/memories/x.py").startswith(
        "/memories/x.py is"
    )
    assert repo.read("memory/c/one.md") == "1\n"
    (repo.path / "memory/c/b/data.csv").unlink()
    assert tool("delete", path="/memories/memory/c") == "Successfully deleted /memories/memory/c"
    assert not (repo.path / "memory/c").exists()


def test_lines_copied_from_a_view_of_a_file_with_carriage_returns_are_replaced_with_them(
    repo: Repo, tool: Tool
) -> None:
    repo.write("MEMORY.md", "one\r\n<b>\r\nthree\r\n")
    assert tool("view", path="/memories/MEMORY.md").endswith("     1\tone\n     2\t&lt;b>\n     3\tthree\n     4\t")
    tool("str_replace", path="/memories/MEMORY.md", old_str="one\n&lt;b>\n", new_str="1\n2\n")
    assert (repo.path / "MEMORY.md").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_an_error_is_marked_as_one(repo: Repo) -> None:
    opened = open_repository(repo.path, os.environ)
    for command in (
        {},
        {"command": "view"},
        {"command": "format"},
        {"command": "create", "path": "/memories/MEMORY.md"},
    ):
        assert memory_tool(opened, Config(), command).is_error
    assert not memory_tool(opened, Config(), {"command": "view", "path": "/memories"}).is_error
    opened.close()


def test_a_folder_is_listed_two_levels_deep_without_what_is_no_memory(repo: Repo, tool: Tool) -> None:
    repo.write("MEMORY.md", "x" * 2048)
    repo.write("memory/a/b/c.md", "y" * 10)
    repo.write("secret.env", "no")
    os.symlink("/etc/passwd", repo.path / "memory/link.md")
    listing = tool("view", path="/memories").split("\n")
    assert listing[0].endswith("2 levels deep in /memories, excluding hidden items:")
    assert [row.partition("\t")[2] for row in listing[1:]] == [
        "/memories", "/memories/MEMORY.md", "/memories/memory/", "/memories/memory/a/",
    ]  # fmt: skip
    assert listing[2] == "2K\t/memories/MEMORY.md"


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
    assert not answer.startswith("File created") and (tmp_path / "out").read_text() == "secret"
    assert not (repo.path.parent / "x.md").exists()


@pytest.mark.parametrize("name", ["a\nb.md", "a\x1bb.md", "a\x85b.md", "a\u2028b.md", "\udcff.md"])
def test_no_file_gets_a_name_that_breaks_lines_or_is_no_text(repo: Repo, tool: Tool, name: str) -> None:
    repo.write("memory/old.md", "- one\n")
    words = "holds a line break or another control character, or is no Unicode text"
    assert tool("create", path=f"/memories/memory/{name}", file_text="- x\n").endswith(words)
    assert tool("rename", old_path="/memories/memory/old.md", new_path=f"/memories/memory/{name}").endswith(words)
    assert [path.name for path in (repo.path / "memory").iterdir()] == ["old.md"]


def test_a_new_text_that_is_no_text_is_refused(repo: Repo, tool: Tool) -> None:
    repo.write("MEMORY.md", "- one\n")
    answer = tool("str_replace", path="/memories/MEMORY.md", old_str="one", new_str={"text": "two"})
    assert answer == "missing or invalid parameter `new_str`"
    assert repo.read("MEMORY.md") == "- one\n"


def test_a_destination_that_leads_out_is_the_path_that_is_named(repo: Repo, tool: Tool) -> None:
    repo.write("memory/old.md", "- one\n")
    answer = tool("rename", old_path="/memories/memory/old.md", new_path="/memories/memory/../../out.md")
    assert answer == "Path /memories/memory/../../out.md would escape /memories directory"


def test_every_write_passes_the_gate(repo: Repo, tool: Tool) -> None:
    repo.write("memory/a.md", "one\n")
    for answer in (
        tool("create", path="/memories/memory/b.md", file_text=f"토큰은{TOKEN}를 쓴다\n"),
        tool("str_replace", path="/memories/memory/a.md", old_str="one", new_str=TOKEN),
        tool("insert", path="/memories/memory/a.md", insert_line=0, insert_text=TOKEN),
    ):
        assert answer.startswith("not written: ") and TOKEN not in answer
    assert repo.read("memory/a.md") == "one\n" and not (repo.path / "memory/b.md").exists()


def masking(repo: Repo, command: str, **more: Any) -> str:
    """The answer to a call on one file, where secrets are masked."""
    opened = open_repository(repo.path, os.environ)
    try:
        arguments = {"command": command, "path": "/memories/memory/a.md", **more}
        return memory_tool(opened, Config(on_secret="mask"), arguments).text
    finally:
        opened.close()


@pytest.mark.parametrize(
    "change",
    [
        {"command": "insert", "insert_line": 1, "insert_text": "# Password\n"},
        {"command": "str_replace", "old_str": "notes", "new_str": "# Password"},
    ],
)
def test_a_line_that_a_change_makes_a_secret_is_masked(repo: Repo, change: dict[str, Any]) -> None:
    masking(repo, "create", file_text="notes\nTr0ub4dor&3xyz!\n")
    answer = masking(repo, **change)
    text = repo.read("memory/a.md")
    assert "masked: " in answer and "Tr0ub4dor" not in text and "# Password" in text
    assert not [found for found in scan_text(text, "memory/a.md", Policy()) if found.severity is Severity.BLOCK]


def test_a_line_that_a_person_kept_as_it_is_stays_so_beside_a_change(repo: Repo) -> None:
    kept = f"token: {TOKEN}"
    repo.write("memory/a.md", f"{kept}\nnotes\nTr0ub4dor&3xyz!\n")
    assert "masked" not in masking(repo, "insert", insert_line=3, insert_text="more")
    assert repo.read("memory/a.md") == f"{kept}\nnotes\nTr0ub4dor&3xyz!\nmore\n"
    assert "masked: " in masking(repo, "str_replace", old_str="notes", new_str="# Password")
    text = repo.read("memory/a.md")
    assert kept in text and "Tr0ub4dor" not in text


def test_a_file_that_would_be_too_large_to_read_is_not_written(repo: Repo, tool: Tool) -> None:
    line = "a line of memory, 기억 한 줄\n"
    large = line * (MAX_MEMORY_FILE_BYTES // len(line.encode()) + 1)
    said = tool("create", path="/memories/memory/a.md", file_text=large)
    assert (
        f"at most {MAX_MEMORY_FILE_BYTES:,}" in said and "split it" in said and not (repo.path / "memory/a.md").exists()
    )
    before = "- the first line\n" + large[: len(large) // 2]
    repo.write("memory/b.md", before)
    for command in (
        {"command": "insert", "insert_line": 1, "insert_text": large[: len(large) // 2 + len(line)]},
        {"command": "str_replace", "old_str": "the first line", "new_str": large},
    ):
        assert "Nothing was written" in tool(path="/memories/memory/b.md", **command)
        assert repo.read("memory/b.md") == before


def test_a_file_that_somebody_else_made_too_large_can_be_made_smaller(repo: Repo, tool: Tool) -> None:
    repo.write("memory/a.md", "- the first line\n" + "- another line\n" * (MAX_MEMORY_FILE_BYTES // 14))
    said = tool("str_replace", path="/memories/memory/a.md", old_str="- the first line\n", new_str="")
    assert said.startswith("The memory file has been edited") and not repo.read("memory/a.md").startswith("- the")


def test_a_view_is_bounded_and_says_how_to_see_the_rest(repo: Repo, tool: Tool) -> None:
    repo.write("memory/a.md", "".join(f"- {number} {'x' * 95}\n" for number in range(5_000)))
    seen, first = [], 1
    while first:
        said = tool("view", path="/memories/memory/a.md", view_range=[first, -1])
        assert len(said) < 1.2 * MAX_ANSWER_CHARACTERS
        lines = said.split("\n")[1:]
        rest = re.fullmatch(r"Lines (\d+) to 5001 are not shown: view them with view_range \[\1, 5001\]\.", lines[-1])
        seen += [line.split("\t")[1] for line in (lines[:-1] if rest else lines)]
        first = int(rest[1]) if rest else 0
    assert "\n".join(seen) == repo.read("memory/a.md")
    repo.write("memory/b.md", "가" * 2 * MAX_ANSWER_CHARACTERS + "\nshort\n")
    said = tool("view", path="/memories/memory/b.md")
    assert (
        len(said) < 1.2 * MAX_ANSWER_CHARACTERS
        and "Line 1 has 200,000 characters" in said
        and "view_range [2, 3]" in said
    )


def test_a_name_that_is_no_memory_tells_nothing_of_what_is_there(repo: Repo, tool: Tool) -> None:
    repo.commit("start", {"MEMORY.md": "- a\n", "src/app.py": "x\n", ".env": "KEY=1\n"})
    for name in ("src/app.py", ".env", "src/none.py", ".none"):
        answer = tool("rename", old_path="/memories/MEMORY.md", new_path=f"/memories/{name}")
        assert answer.startswith(f"/memories/{name} is not a memory file"), name
    assert repo.read("MEMORY.md") == "- a\n"
