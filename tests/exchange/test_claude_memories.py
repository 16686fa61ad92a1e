"""What Claude remembered comes along with its archive as notes of an agent, through the gate, and is nobody's fact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.exchange.claude_memories import read_memories
from tests.harness import Repo
from tests.sessions.test_conversation_exports import claude, zipped

PROJECT = "6f1c2d3e-0000-4000-8000-000000000001"
REMEMBERED = {
    "conversations_memory": "**Work context**\n\nMina runs the crane at the north yard.\n",
    "project_memories": {PROJECT: "**Purpose**\n\nThe winch is to lift four tons."},
    "account_uuid": "a1",
}
PROJECTS = [{"uuid": PROJECT, "name": "Winch\nbook", "docs": []}]


def test_an_archive_brings_its_memories_and_its_conversations(repo: Repo, tmp_path: Path) -> None:
    repo.commit("first")
    archive = zipped(tmp_path / "a.zip", conversations=[claude()], memories=[REMEMBERED], projects=PROJECTS)
    first = repo.mem("import", "claude-export", str(archive)).stdout
    assert "imported 2 files, 0 there already, 0 left out\n" in first and "imported 1 session" in first
    note = repo.read("memory/claude-export/memory.md")
    assert note == (
        '---\ntype: "note"\norigin: "agent"\nsource: "claude-export memories.json#conversations_memory"\n---\n\n'
        "# What Claude remembered\n\n**Work context**\n\nMina runs the crane at the north yard.\n"
    )
    assert "# What Claude remembered of Winch book\n" in repo.read(f"memory/claude-export/project-{PROJECT}.md")
    hit = json.loads(repo.mem("search", "who runs the crane", "--json", "--path", "memory/claude-export/*").stdout)
    assert hit["hits"][0]["origin"] == "agent"
    assert "0 files, 2 there already" in repo.mem("import", "claude-export", str(archive)).stdout
    repo.mem("undo", "--yes")
    assert not (repo.path / "memory/claude-export").exists()


@pytest.mark.parametrize("name", ["memories.json", "memories/a1.json"])
def test_memories_alone_are_enough_in_either_form(repo: Repo, tmp_path: Path, name: str) -> None:
    repo.commit("first")
    file = tmp_path / "unpacked" / name
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps([REMEMBERED] if name == "memories.json" else {**REMEMBERED, "memory_files": []}))
    would = json.loads(repo.mem("import", "claude-export", str(tmp_path / "unpacked"), "--dry-run", "--json").stdout)
    assert [row["path"] for row in would["memories"]["files"]] == [
        "memory/claude-export/memory.md", f"memory/claude-export/project-{PROJECT}.md",
    ]  # fmt: skip
    assert would["sessions"] == [] and not (repo.path / "memory/claude-export").exists()
    repo.mem("import", "claude-export", str(file))
    assert "lift four tons" in repo.read(f"memory/claude-export/project-{PROJECT}.md")


def test_memories_pass_the_gate_and_nothing_is_written_over(repo: Repo, tmp_path: Path) -> None:
    repo.commit("first", {"memory/claude-export/memory.md": "mine\n"})
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    value = {**REMEMBERED, "project_memories": {"p": f"The key is {key}.", "q": "Call 010-4821-7735 about the winch."}}
    archive = zipped(tmp_path / "a.zip", conversations=[], memories=[value])
    done = repo.mem("import", "claude-export", str(archive), check=False)
    assert done.returncode == 1 and key not in done.stdout + done.stderr
    assert "'memory/claude-export/memory.md' is there already and says something else" in done.stderr
    assert repo.read("memory/claude-export/memory.md") == "mine\n"
    written = "".join(path.read_text() for path in (repo.path / "memory/claude-export").iterdir())
    assert key not in written and "010-4821-7735" not in written
    repo.mem("undo", "--yes")
    repo.mem("import", "claude-export", str(archive), "--keep", "pii", check=False)
    assert "010-4821-7735" in repo.read("memory/claude-export/project-q.md")


@pytest.mark.parametrize(
    "value", [{"memory_files": [{"a": 1}]}, {"conversations_memory": 7, "project_memories": ["x"]}, 3, "text", [[]]]
)
def test_what_is_no_memory_makes_no_note(tmp_path: Path, value: Any) -> None:
    assert read_memories(zipped(tmp_path / "a.zip", memories=[value])) == ([], [])


def test_what_cannot_be_read_or_is_not_known_is_named(tmp_path: Path) -> None:
    assert read_memories(zipped(tmp_path / "a.zip", memories=b"{"))[1][0][1].startswith("cannot be read: it is no JSON")
    newer = {**REMEMBERED, "memory_files": [{"name": "x"}]}
    assert read_memories(zipped(tmp_path / "b.zip", memories=[newer]))[1][0][1] == "is of a form that is not known"


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(max_size=20), st.text(max_size=20), max_size=4), st.text(max_size=40))
def test_no_project_names_a_path_outside_its_folder(
    tmp_path_factory: pytest.TempPathFactory, projects: dict[str, str], text: str
) -> None:
    archive = tmp_path_factory.mktemp("archive") / "memories.json"
    archive.write_text(json.dumps([{"conversations_memory": text, "project_memories": projects}]))
    notes, _ = read_memories(archive)
    assert len(notes) == sum(bool(said.strip()) for said in (text, *projects.values()))
    for note in notes:
        folder, _, name = note.path.rpartition("/")
        assert folder == "memory/claude-export" and name.endswith(".md") and name.strip(".") == name
        note.data.decode()
