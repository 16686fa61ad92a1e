"""The memory tool's commands beside what the file system tool of Anthropic's SDK answered to them (recorded:
tools/memory_tool_reference.py). Each difference stands here by name, and in docs/agents.md."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from gitmem.agents.memory_tool import Answer, memory_tool
from gitmem.config import Config
from gitmem.git.opening import open_repository
from tests.harness import Repo

RECORDED = json.loads((Path(__file__).parent / "memory_tool_reference.json").read_text(encoding="utf-8"))
NOT_MEMORY = "{} is not a memory file; use /memories/MEMORY.md or a .md file below /memories/memory"
MISSING = "The path {} does not exist. Please provide a valid path."
# By command and path: what memory's rules answer where the reference answers otherwise.
DIFFERENCES = {
    ("create", "/memories/memory/note.txt"): Answer(NOT_MEMORY.format("/memories/memory/note.txt"), True),
    ("view", "/memories/memory/note.txt"): Answer(MISSING.format("/memories/memory/note.txt"), True),
    ("view", "/memories/memory/last"): Answer(MISSING.format("/memories/memory/last"), True),
    ("view", "/memoriesMEMORY.md"): Answer("Path must start with /memories, got: /memoriesMEMORY.md", True),
}


def test_every_command_answers_as_the_reference_does(repo: Repo) -> None:
    opened = open_repository(repo.path, os.environ)
    different = []
    for step in RECORDED["steps"]:
        command = step["command"]
        expected = Answer(by_our_rules(step["text"]), step["is_error"])
        expected = DIFFERENCES.get((command["command"], command.get("path")), expected)
        found = memory_tool(opened, Config(), command)
        if (folder_sizes_left_out(found.text), found.is_error) != expected:
            different.append((command, found, expected))
    opened.close()
    assert different == [] and len(RECORDED["steps"]) >= 70
    files = {path: text for path, text in RECORDED["files"].items() if path != "memory/note.txt"}
    ours = {
        path.relative_to(repo.path).as_posix(): path.read_bytes().decode()
        for path in repo.path.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }
    assert ours == files


def by_our_rules(text: str) -> str:
    """An answer of the reference as memory's rules spell it: markup, and no carriage return at the end of a line."""
    return re.sub(r"<(?=[/A-Za-z])", "&lt;", text).replace("\r\n", "\n")


def folder_sizes_left_out(text: str) -> str:
    """As the record has listings: how large a folder itself is, the file system says."""
    if not text.startswith("Here're the files"):
        return text
    head, top, *rows = text.split("\n")
    folders = [re.sub(r"^\d\S*", "FOLDER", row) if row.endswith("/") else row for row in rows]
    return "\n".join([head, re.sub(r"^\d\S*", "FOLDER", top), *folders])
