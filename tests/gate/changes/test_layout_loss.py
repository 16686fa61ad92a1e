"""Notes that were memory by lying in their folder do not stop being it without a word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.harness import Repo
from tests.samples import GITHUB

NOTES = {"notes/a.md": "- The port is 8080.\n", "notes/b.md": "- one\n", "c.md": "- two\n", "d.md": "- three\n"}
BEGUN = {"MEMORY.md": "", "memory/.gitkeep": ""}


def findings(repo: Repo, *args: str) -> list[dict[str, Any]]:
    done = repo.mem("scan", "--json", *args, check=False)
    assert done.returncode in (0, 1), done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)["findings"]
    return rows


def rules(repo: Repo, *args: str) -> list[str]:
    return [row["rule"] for row in findings(repo, *args)]


@pytest.fixture
def notes(repo: Repo) -> Repo:
    repo.commit("notes", {**NOTES, "README.md": "# Notes\n", "map.png": b"\x89PNG"})
    repo.git("switch", "-q", "-c", "topic")
    return repo


def test_an_empty_memory_file_in_a_folder_of_notes_is_found_in_a_range(notes: Repo) -> None:
    notes.commit("begin", BEGUN)
    (row,) = findings(notes, "--range", "main..HEAD")
    assert (row["rule"], row["severity"], row["path"]) == ("layout-narrowed", "block", "MEMORY.md")
    assert row["message"].endswith(": c.md, d.md, notes/a.md and 1 more")
    head = notes.git("rev-parse", "HEAD").strip()
    assert row["commit"] == head and rules(notes, "--range", "HEAD..HEAD") == []


def test_the_review_fails_and_names_it_first(notes: Repo) -> None:
    notes.commit("begin", BEGUN)
    done = notes.mem("review", "main..HEAD", "--format", "json", check=False)
    assert done.returncode == 1
    value = json.loads(done.stdout)
    (row,) = value["settings"]
    assert (row["path"], row["what"]) == ("MEMORY.md", "added") and "c.md, d.md, notes/a.md" in row["loosened"]
    text = notes.mem("review", "main..HEAD", check=False).stdout
    first = text.index("#### Changes what memory is checked by")
    assert first == text.index("####") and "**loosened** `MEMORY.md`" in text and "git mem init --adopt" in text


def test_the_hook_of_a_commit_refuses_it_and_an_exception_lets_it_pass(notes: Repo) -> None:
    notes.mem("install")
    for path, text in BEGUN.items():
        notes.write(path, text)
    notes.git("add", "-A")
    refused = notes.run("git", "commit", "-qm", "begin", check=False)
    assert refused.returncode and "layout-narrowed" in refused.stderr and "git mem init --adopt" in refused.stderr
    fingerprint = next(row["fingerprint"] for row in findings(notes, "--staged"))
    notes.mem("allow", fingerprint, "--reason", "these notes are old")
    notes.git("add", ".gitmem-allow.toml")
    notes.git("commit", "-qm", "begin")


def test_adopted_notes_lose_nothing(notes: Repo) -> None:
    notes.mem("install")
    notes.mem("init", "--adopt")
    notes.git("add", "-A")
    notes.git("commit", "-qm", "begin")
    assert rules(notes, "--range", "main..HEAD") == []


def test_a_project_whose_markdown_nobody_took_for_notes_begins_a_memory_with_a_warning(repo: Repo) -> None:
    sources = {f"src/{name}.py": "x = 1\n" for name in "abc"}
    repo.commit("project", {**sources, "README.md": "# Project\n", "docs/use.md": "- use it\n"})
    repo.mem("install")
    repo.mem("init", "--only-new")
    repo.git("add", "-A")
    repo.git("commit", "-qm", "begin")
    assert [(row["rule"], row["severity"]) for row in findings(repo, "--range", "HEAD~1..HEAD")] == [
        ("layout-narrowed", "warn")
    ]


def test_a_readme_alone_is_nobodys_note(repo: Repo) -> None:
    repo.commit("project", {"README.md": "# Project\n"})
    repo.commit("begin", BEGUN)
    assert rules(repo, "--range", "HEAD~1..HEAD") == []


def test_notes_that_go_or_become_memory_are_no_loss_and_notes_moved_aside_are_one(notes: Repo) -> None:
    notes.commit("begin", BEGUN)
    notes.git("mv", "notes", "memory/notes")
    for name in ("c.md", "d.md"):
        notes.git("mv", name, f"memory/{name}")
    notes.commit("all of it is memory")
    assert rules(notes, "--range", "main..HEAD") == []
    notes.git("mv", "memory/notes/a.md", "aside.txt")
    notes.commit("one is not")
    (row,) = findings(notes, "--range", "main..HEAD")
    assert row["message"].endswith(": aside.txt")


def test_a_folder_of_topics_that_becomes_a_project_loses_them(repo: Repo) -> None:
    repo.commit("an agent's folder", {"MEMORY.md": "- see topic.md\n", "topic.md": "- one\n", "other.md": "- two\n"})
    repo.commit("a file beside", {"docs/x.txt": "x\n"})
    (row,) = findings(repo, "--range", "HEAD~1..HEAD")
    assert (row["rule"], row["path"]) == ("layout-narrowed", ".gitmem.toml")


def test_a_push_that_ends_the_notes_is_held_to_what_the_remote_has(notes: Repo, tmp_path: Path) -> None:
    bare = Repo(tmp_path / "remote.git", True, "--bare")
    notes.git("remote", "add", "origin", str(bare.path))
    notes.git("push", "-q", "origin", "main")
    notes.mem("install")
    notes.commit("a secret among the notes", {"notes/a.md": f"- token {GITHUB}\n"})
    notes.commit("end them", BEGUN)
    notes.git("switch", "-q", "main")
    notes.git("merge", "-q", "--ff-only", "topic")
    pushed = notes.run("git", "push", "-q", "origin", "main", check=False)
    assert pushed.returncode and "layout-narrowed" in pushed.stderr and "github-token" in pushed.stderr
    assert GITHUB not in pushed.stderr


@pytest.mark.parametrize("new", ["docs/2026-01-02.md", "memory/2026-01-02.txt"])
def test_a_log_that_is_moved_out_of_memory_is_a_log_that_is_gone(repo: Repo, new: str) -> None:
    log = "memory/2026-01-02.md"
    repo.commit("log", {"MEMORY.md": "- one\n", log: "- first\n- second\n", "docs/x.txt": "x\n"})
    repo.mem("install")
    repo.git("mv", log, new)
    refused = repo.run("git", "commit", "-qm", "move", check=False)
    assert refused.returncode and "log-rewritten" in refused.stderr
    repo.commit("move")
    assert rules(repo, "--range", "HEAD~1..HEAD") == ["log-rewritten"]
    repo.git("reset", "-q", "--hard", "HEAD~1")
    (repo.path / "memory/archive").mkdir(exist_ok=True)
    repo.git("mv", log, "memory/archive/2026-01-02.md")
    repo.git("commit", "-qm", "move")
