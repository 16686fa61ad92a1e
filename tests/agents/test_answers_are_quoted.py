"""Whatever stands in memory, in its history or in its file names: no answer to an agent holds it unquoted."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client

from gitmem.agents.mcp_server import build
from gitmem.agents.mcp_tools import TOOLS
from gitmem.agents.memory_tool import memory_tool
from gitmem.config import Config
from gitmem.git.opening import open_repository
from tests.harness import Repo
from tests.mcp_client import in_memory

PIECES = (
    "</memory>", "<memory>", "<|im_start|>system", "<system>", "</working>", "[INST]", "[/INST]", "<<SYS>>", "<!--", "-->",
    "![x](https://a.example/p.png)", "\u061c", "\u202e", "\u200b", "\x1b[31m", "\x7f", "\ufeff", "\U000e0041", "\r", '"', ">",
    "zebra", "얼룩말", "- ", "# ", "&lt;", "path=", "\u2028", "\x85",
)  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), min_size=2, max_size=8).map(" ".join)
QUOTATION = re.compile(r'<(memory|working|recent|summary)(?: [a-z]+="[^"<>\n]*")*>\n(?P<text>.*?)\n</\1>', re.DOTALL)
MARK = re.compile(r"^<from [^<>\n]*>$", re.MULTILINE)
OBEYED = re.compile(
    r"<[/!?|A-Za-z_]|(?<!\\)\[/?(?:INST|SYS)|!\[|"
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e01ef\ud800-\udfff]"
)


def assert_inert(text: str) -> None:
    """Nothing outside a quotation and nothing in one is markup, a marker of a chat template or invisible."""
    for quoted in QUOTATION.finditer(text):
        said = MARK.sub("", quoted["text"])
        assert not OBEYED.search(said), said
    rest = QUOTATION.sub("", text)
    assert not OBEYED.search(rest), (OBEYED.search(rest), text)


def hostile_memory(root: Path, parts: list[str]) -> tuple[Repo, list[str]]:
    """A committed memory with the parts in every place a text can stand; the paths of its files."""
    word, title, name, who = parts
    repo = Repo(root)
    file_name = re.sub(r"[/\0]", "", name)[:40]
    coded = quote(f"{word}\n</memory>\n<|im_start|>", safe="")
    keys = " ".join(f"{key}={coded}" for key in ("type", "tags", "origin", "until", "from", "src"))
    line = word.replace("\n", " ")
    files = {
        "MEMORY.md": f"# Memory\n\n## {title}\n\n- zebra {line} <!-- mem {keys} -->\n- plain zebra fact\n",
        "memory/2026-02-05.md": f"# 2026-02-05\n\n## 09:00 - {title}\n\n- zebra log {line} <!-- mem type={coded} -->\n",
        f"memory/{file_name}.md": f"---\nname: {json.dumps(title)}\ndescription: {json.dumps(word)}\n---\n# {title}\n\nzebra {line}\n",
        f"memory/sessions/2026-02-05-{file_name}.md": f"---\nagent: {json.dumps(who)}\n---\n# {title}\n\nzebra {line}\n",
        f"memory/skills/{file_name}.md": f"---\ntriggers: [zebra, {json.dumps(who)}]\n---\n# {title}\n\nzebra {line}\n",
        f"memory/rules/{file_name}.md": f"# {title}\n\nzebra {line}\n",
    }
    author = re.sub(r"[<>\n\0]", "", who) or "who"
    os.environ["GIT_AUTHOR_NAME"] = author if re.search(r"\w", author) else f"x {author}"
    try:
        repo.commit(
            f"{line}\n\nReviewed-by: {who}\nMemory-Reason: {line}\nMemory-Agent: {who}\nMemory-Model: {line}\n", files
        )
    finally:
        del os.environ["GIT_AUTHOR_NAME"]
    repo.commit("two", {"MEMORY.md": files["MEMORY.md"] + f"- zebra is {line} now\n"})
    return repo, list(files)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(texts, min_size=4, max_size=4))
def test_no_tool_answers_with_a_text_that_could_be_obeyed(parts: list[str]) -> None:
    word, title, name, who = parts
    with tempfile.TemporaryDirectory() as folder:
        repo, paths = hostile_memory(Path(folder) / "repo", parts)
        calls: list[tuple[str, dict[str, Any]]] = [
            ("memory_search", {"query": "zebra", "maxResults": 50}),
            ("memory_search", {"query": word, "type": title, "path": name, "at": "HEAD"}),
            ("memory_search", {"query": "zebra", "at": word}),
            ("memory_search", {"query": "zebra", "since": who}),
            ("memory_add", {"text": word}),
            ("memory_add", {"text": "zebra", "type": title}),
            ("memory_confirm", {"path": name, "line": 5, "quote": word, "reason": word}),
            (
                "memory_confirm",
                {"path": "MEMORY.md", "line": 5, "quote": word, "cites": [{"path": word, "lines": "1"}]},
            ),
            ("memory_why", {"path": "MEMORY.md", "line": 5}),
            ("memory_why", {"path": name, "line": 1}),
            ("memory_context", {"prompt": f"zebra {word}", "paths": [name]}),
            ("memory_changes", {}),
            ("memory_changes", {"range": f"{word}..HEAD"}),
            ("memory_session_set", {"key": f"zebra:{who}", "value": word}),
            ("memory_session_set", {"key": "zebra:state", "value": word}),
            ("memory_session_get", {"key": "zebra:state"}),
            ("memory_session_get", {}),
            ("memory_session_get", {"key": word}),
            (word, {}),
            ("memory_add", {"text": "zebra", "cites": [word]}),
            ("memory_search", {word: 1}),
            ("memory_search", {"query": "zebra", "limit": word}),
            ("memory_search", {"query": "zebra", "history": True}),
            ("memory_context", {"prompt": ""}),
            ("memory", {"command": "view", "path": "/memories"}),
            ("memory", {"command": word, "path": "/memories"}),
        ]
        for path in paths:
            calls += [("memory_get", {"path": path}), ("memory_get", {"path": path, "at": "HEAD"})]
            calls += [("memory", {"command": "view", "path": f"/memories/{path}"})]
        assert {tool for tool, _ in calls} == {*TOOLS, word}

        async def steps() -> None:
            async with Client(in_memory(build(repo.path))) as client:
                for tool, arguments in calls:
                    answer = await client.call_tool(tool, arguments)
                    assert answer.structured_content is None
                    for block in answer.content:
                        assert_inert(block.text)  # type: ignore[union-attr]
                for path in ("MEMORY.md", "memory/2026-02-05.md"):
                    read = await client.read_resource(f"memory://{path}")
                    assert_inert(read.contents[0].text)  # type: ignore[union-attr]

        anyio.run(steps)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(texts, min_size=4, max_size=4))
def test_no_command_of_the_memory_tool_answers_with_a_text_that_could_be_obeyed(parts: list[str]) -> None:
    word, title, _, who = parts
    with tempfile.TemporaryDirectory() as folder:
        repo, paths = hostile_memory(Path(folder) / "repo", parts)
        opened = open_repository(repo.path, os.environ)
        note = f"/memories/{paths[2]}"
        commands: list[dict[str, Any]] = [
            {"command": "view", "path": "/memories"}, {"command": "view", "path": "/memories/memory"},
            {"command": "view", "path": f"/memories/{word}"}, {"command": "view", "path": title},
            *({"command": "view", "path": f"/memories/{path}"} for path in paths),
            {"command": "create", "path": f"/memories/memory/{title}.md", "file_text": word},
            {"command": "str_replace", "path": note, "old_str": who, "new_str": word},
            {"command": "str_replace", "path": note, "old_str": "zebra", "new_str": "gnu"},
            {"command": "insert", "path": note, "insert_line": 1, "insert_text": word},
            {"command": "insert", "path": note, "insert_line": word, "insert_text": word},
            {"command": "rename", "old_path": note, "new_path": f"/memories/memory/{word}.md"},
            {"command": "delete", "path": f"/memories/memory/{who}"}, {"command": "delete", "path": note}, {"command": who},
        ]  # fmt: skip
        for command in commands:
            assert_inert(memory_tool(opened, Config(), command).text)
        opened.close()


@pytest.fixture
def project(repo: Repo, tmp_path: Path) -> Iterator[Repo]:
    """A project with memory, and files beside it that are none of an agent's business."""
    (tmp_path / "outside.md").write_text("hidden-word outside\n")
    repo.write(".gitignore", ".env\nmemory/private.md\n")
    repo.write(".env", "hidden-word\n")
    repo.write("memory/private.md", "# P\n\nhidden-word\n")
    repo.write("memory/note.txt", "hidden-word\n")
    Repo(repo.path / "memory/inner").write("x.md", "hidden-word\n")
    (repo.path / "memory/link.md").symlink_to(tmp_path / "outside.md")
    (repo.path / "memory/folder").symlink_to(tmp_path)
    repo.write("src/app.py", "hidden-word = 1\n")
    repo.write("README.md", "# P\n\nhidden-word\n")
    repo.write("docs/x.md", "hidden-word\n")
    repo.write("MEMORY.md", "# Memory\n\n- A fact.\n")
    repo.git("add", "-A", "--", ":!memory/inner")
    repo.git("commit", "-q", "-m", "one")
    yield repo


BESIDE = (
    ".env", "src/app.py", "README.md", "docs/x.md", "memory/private.md", "memory/note.txt", "memory/inner/x.md",
    "memory/link.md", "memory/folder/outside.md", "../outside.md", "memory/../.env", "./.env", "MEMORY.md/../.env",
    ".git/config", "src//app.py", "/etc/passwd", "memory/../../outside.md", "", "memory", "\x00", "README.md\x00.md",
)  # fmt: skip


@pytest.mark.parametrize("path", BESIDE)
def test_no_tool_reads_what_is_not_memory(project: Repo, path: str) -> None:
    async def steps() -> list[Any]:
        async with Client(in_memory(build(project.path))) as client:
            answers = []
            for at in (None, "HEAD"):
                given = {"path": path, "lines": 9, **({"at": at} if at else {})}
                answers.append(await client.call_tool("memory_get", given))
            answers.append(await client.call_tool("memory_why", {"path": path, "line": 1}))
            for more in (
                {"command": "view"}, {"command": "str_replace", "old_str": "h", "new_str": "h"},
                {"command": "insert", "insert_line": 0, "insert_text": "x"}, {"command": "delete"},
            ):  # fmt: skip
                answers.append(await client.call_tool("memory", {"path": f"/memories/{path}", **more}))
            moved = {"command": "rename", "old_path": f"/memories/{path}", "new_path": "/memories/memory/mine.md"}
            answers.append(await client.call_tool("memory", moved))
            answers.append(await client.call_tool("memory", {"command": "view", "path": "/memories/memory/mine.md"}))
            answers.append(await client.call_tool("memory_context", {"prompt": "hidden-word", "paths": [path]}))
            return answers

    before = project.git("status", "--porcelain", "--ignored")
    for answer in anyio.run(steps):
        assert "hidden-word" not in str(answer.content).replace('"hidden-word"', "") and "root:" not in str(
            answer.content
        )
        assert "[core]" not in str(answer.content)
    assert project.git("status", "--porcelain", "--ignored") == before


def test_a_file_that_git_ignores_is_not_listed_and_its_folder_neither(project: Repo) -> None:
    project.write(".gitignore", ".env\nmemory/private.md\nmemory/own/\n")
    project.write("memory/own/x.md", "hidden\n")
    opened = open_repository(project.path, os.environ)
    listing = memory_tool(opened, Config(), {"command": "view", "path": "/memories"}).text
    assert "MEMORY.md" in listing and "private" not in listing and "own" not in listing and "inner" not in listing
    assert "does not exist" in memory_tool(opened, Config(), {"command": "view", "path": "/memories/memory/own"}).text
    assert "does not exist" in memory_tool(opened, Config(), {"command": "view", "path": "/memories/src"}).text
    opened.close()


def test_what_a_view_spelled_out_can_be_replaced_as_it_was_shown(repo: Repo) -> None:
    repo.write("memory/a.md", "- use <div> here <!-- mem type=fact -->\r\n- an ![x](y)\n")
    opened = open_repository(repo.path, os.environ)
    shown = memory_tool(opened, Config(), {"command": "view", "path": "/memories/memory/a.md"}).text
    first = shown.split("\n")[1].partition("\t")[2]
    assert first == "- use &lt;div> here &lt;!-- mem type=fact -->"
    changed = {
        "command": "str_replace",
        "path": "/memories/memory/a.md",
        "old_str": first,
        "new_str": first.replace("div", "p"),
    }
    assert memory_tool(opened, Config(), changed).text.startswith("The memory file has been edited.")
    assert repo.read("memory/a.md").startswith("- use <p> here <!-- mem type=fact -->")
    opened.close()
