"""What the gate masks of what is given is said by every writer, with how to keep it; nothing else is masked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitmem.agents.memory_tool import memory_tool
from gitmem.config import Config
from gitmem.git.opening import open_repository
from tests.harness import Repo

PHONE = "02-555-1234"
SAID = "masked: phone-number (11 characters)"
TEXT = f"Call the office ({PHONE}) on Monday"
FACT = "# Memory\n\n- Call the office on Monday\n"
TURN = {"type": "user", "sessionId": "s1", "timestamp": "2026-02-06T10:00:00Z"}
WRITERS = {
    "add": ("add", TEXT),
    "insight": ("insight", f"[office] the number is ({PHONE})"),
    "edit": ("edit", "MEMORY.md:3", TEXT, "--reason", "its number"),
    "value": ("session", "set", "office:main", TEXT),
    "flush": ("session", "flush", ".git/turns.jsonl"),
    "import": ("import", "claude", ".git/turns.jsonl"),
    "offer": ("add", "--to", "organisation", TEXT),
}


@pytest.fixture
def written(repo: Repo, tmp_path: Path) -> Repo:
    """A memory, a transcript in which a number is decided, and an organisation's memory."""
    content = {"role": "user", "content": f"We decided to call the office at {PHONE} on Mondays."}
    repo.commit("start", {"MEMORY.md": FACT})
    repo.write(".git/turns.jsonl", json.dumps({**TURN, "message": content}) + "\n")
    organisation = Repo(tmp_path / "organisation")
    organisation.commit("start", {"MEMORY.md": "# Memory\n"})
    repo.git("config", "--global", "mem.organisation", str(organisation.path))
    return repo


@pytest.mark.parametrize("writer", WRITERS)
def test_every_writer_says_what_it_masked_and_how_to_keep_it(written: Repo, writer: str) -> None:
    done = written.mem(*WRITERS[writer])
    assert SAID in done.stderr and "mem.onPersonal keep" in done.stderr
    assert PHONE not in done.stdout + done.stderr


@pytest.mark.parametrize("writer", [writer for writer in WRITERS if writer != "value"])
def test_every_json_counts_what_was_masked_by_rule(written: Repo, writer: str) -> None:
    told = json.loads(written.mem(*WRITERS[writer], "--json").stdout)
    assert told.get("totals", told)["masked"] == {"phone-number": 1}


@pytest.mark.parametrize("writer", [writer for writer in WRITERS if writer not in ("flush", "import")])
def test_personal_data_is_kept_where_a_person_says_so(written: Repo, writer: str) -> None:
    done = written.mem(*WRITERS[writer], "--keep", "pii")
    assert "masked" not in done.stderr


COMMANDS = {
    "create": {"path": "/memories/memory/new.md", "file_text": f"- {TEXT}\n"},
    "str_replace": {"path": "/memories/memory/a.md", "old_str": "Paint in May", "new_str": TEXT},
    "insert": {"path": "/memories/memory/a.md", "insert_line": 1, "insert_text": f"- {TEXT}"},
}
KEPT = "- The plumber is at 02-777-4321\n- Paint in May\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_the_memory_tool_says_what_it_masked_and_masks_no_line_that_stood_there(repo: Repo, command: str) -> None:
    repo.commit("a", {"MEMORY.md": FACT, "memory/a.md": KEPT})
    opened = open_repository(repo.path, {})
    told = memory_tool(opened, Config(), {"command": command, **COMMANDS[command]})
    opened.close()
    assert not told.is_error and SAID in told.text
    text = repo.read("memory/new.md" if command == "create" else "memory/a.md")
    assert PHONE not in text + told.text and "[phone]" in text
    assert command == "create" or "02-777-4321" in text
