"""Record what the file system memory tool of Anthropic's SDK answers to a sequence of commands.

    python -m venv /tmp/reference && /tmp/reference/bin/pip install anthropic==2.14.0
    /tmp/reference/bin/python tools/memory_tool_reference.py

writes tests/agents/memory_tool_reference.json, which tests/agents/test_memory_tool_reference.py puts to
`gitmem.agents.memory_tool`. The sequence is in this file; the tests need no SDK. Sizes of folders depend on the file
system and are written as FOLDER.
"""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent.parent / "tests" / "agents" / "memory_tool_reference.json"


def view(path: str, *lines: int) -> dict[str, Any]:
    return {"command": "view", "path": path, **({"view_range": list(lines)} if lines else {})}


def create(path: str, text: str) -> dict[str, Any]:
    return {"command": "create", "path": path, "file_text": text}


def replace(path: str, old: str, new: str) -> dict[str, Any]:
    return {"command": "str_replace", "path": path, "old_str": old, "new_str": new}


def insert(path: str, line: int, text: str) -> dict[str, Any]:
    return {"command": "insert", "path": path, "insert_line": line, "insert_text": text}


def delete(path: str) -> dict[str, Any]:
    return {"command": "delete", "path": path}


def rename(old: str, new: str) -> dict[str, Any]:
    return {"command": "rename", "old_path": old, "new_path": new}


TOP, LOG, LONG, CRLF = (
    "/memories/MEMORY.md",
    "/memories/memory/log.md",
    "/memories/memory/long.md",
    "/memories/memory/crlf.md",
)
COMMANDS = [
    view("/memories"),
    view(TOP),
    view("/memories/memory"),
    replace(TOP, "a", "b"),
    insert(TOP, 0, "a"),
    delete(TOP),
    rename(TOP, LOG),
    create(TOP, "# Memory\n\n- first\n- second\n- first\n"),
    create(TOP, "again"),
    view(TOP),
    view(TOP, 2, 3),
    view(TOP, 3, -1),
    view(TOP, 0, 2),
    view(TOP, -4, 2),
    view(TOP, 4, 2),
    view(TOP, 40, 50),
    view(TOP, 2, 50),
    view(TOP, 2, -3),
    view(TOP, 2),
    view(TOP + "/"),
    view("/memories/memory/../MEMORY.md", 1, 1),
    view("/memories//MEMORY.md", 1, 1),
    replace(TOP, "absent", "x"),
    replace(TOP, "first", "x"),
    replace(TOP, "- second", "- 2nd"),
    replace(TOP, "- 2nd\n", "- 2nd\n- one\n- two\n- three\n- four\n"),
    replace(TOP, "# Memory", "# Long-term memory"),
    replace(TOP, "- four\n", ""),
    create("/memories/memory/일정.md", "하나\n둘\n"),
    replace("/memories/memory/일정.md", "둘", "2"),
    delete("/memories/memory/일정.md"),
    create(LOG, "no newline at the end"),
    view(LOG),
    insert(LOG, 1, "second"),
    view(LOG),
    insert(LOG, 0, "zeroth\n"),
    insert(LOG, 3, "end\n\n\n"),
    insert(LOG, 1, "a\nb"),
    insert(LOG, 2, ""),
    insert(LOG, 9, "x"),
    insert(LOG, -1, "x"),
    view(LOG),
    create("/memories/memory/empty.md", ""),
    view("/memories/memory/empty.md"),
    insert("/memories/memory/empty.md", 0, "filled"),
    view("/memories/memory/empty.md"),
    create(LONG, "".join(f"line {number}\n" for number in range(1, 1001))),
    view(LONG, 998, 1000),
    replace(LONG, "line 500\n", "line five hundred\n"),
    replace(LONG, "line 1000\n", "end"),
    replace(LONG, "line 1\n", "start\n"),
    replace(LONG, "e 99", "e"),
    create("/memories/memory/aaaa.md", "aaaa\naaa"),
    replace("/memories/memory/aaaa.md", "aa", "b"),
    create("/memories/memory/topics/food/fruit.md", "apples\n" * 300),
    create("/memories/memory/topics/plan.md", "p"),
    create("/memories/memory/.hidden.md", "h"),
    view("/memories"),
    view("/memories/memory"),
    view("/memories/memory/topics"),
    view("/memories/memory/topics/", 1, 2),
    replace("/memories/memory/topics", "a", "b"),
    insert("/memories/memory/topics", 0, "b"),
    view("/memories/memory/.hidden.md"),
    rename(LOG, LONG),
    rename(LOG, "/memories/memory/topics/log.md"),
    view(LOG),
    rename("/memories/memory/topics", "/memories/memory/subjects"),
    rename("/memories/memory/subjects", "/memories/memory/subjects"),
    rename("/memories/memory/nothing.md", "/memories/memory/x.md"),
    rename("/memories", "/memories/memory/x"),
    view("/memories/memory"),
    delete("/memories/memory/subjects/food"),
    view("/memories/memory/subjects"),
    delete("/memories/memory/subjects"),
    delete("/memories/memory/subjects"),
    delete("/memories"),
    delete("/memories/memory/nothing.md"),
    view("/memories/memory/subjects"),
    view("/memories/../../etc/passwd"),
    create("/memories/../x.md", "x"),
    view("/etc/passwd"),
    {"command": "format", "path": TOP},
    create(CRLF, "one\r\ntwo\r\nthree\r\n"),
    insert(CRLF, 1, "half"),
    replace(CRLF, "two", "2"),
    view(CRLF),
    replace(TOP, "", "x"),
    create("/memories/memory/note.txt", "x"),
    view("/memories/memory/note.txt"),
    create("/memories/memory/last/one.md", "x"),
    delete("/memories/memory/last/one.md"),
    view("/memories/memory/last"),
    view("/memoriesMEMORY.md"),
    create("/memories/memory/markup.md", "<b>bold</b>\n"),
    view("/memories/memory/markup.md"),
]


def main() -> None:
    """Run the sequence in an empty folder and write what was answered."""
    import anthropic
    from anthropic.lib.tools import ToolError
    from anthropic.tools.memory import BetaLocalFilesystemMemoryTool

    steps = []
    with tempfile.TemporaryDirectory() as folder:
        tool = BetaLocalFilesystemMemoryTool(folder)
        for command in COMMANDS:
            try:
                text, is_error = tool.call(command), False
            except (ToolError, NotImplementedError) as error:
                text, is_error = str(error), True
            steps.append({"command": command, "text": folder_sizes_left_out(str(text)), "is_error": is_error})
        root = Path(folder) / "memories"
        files = {str(path.relative_to(root)): path.read_bytes().decode() for path in root.rglob("*") if path.is_file()}
    record = {"sdk": f"anthropic {anthropic.__version__}", "steps": steps, "files": dict(sorted(files.items()))}
    RECORDED.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(steps)} commands")


def folder_sizes_left_out(text: str) -> str:
    """A listing without the sizes of its folders (the first row and those that end in a slash)."""
    if not text.startswith("Here're the files"):
        return text
    head, top, *rows = text.split("\n")
    return "\n".join(
        [head, *(re.sub(r"^\S+", "FOLDER", row) if row == top or row.endswith("/") else row for row in [top, *rows])]
    )


if __name__ == "__main__":
    main()
