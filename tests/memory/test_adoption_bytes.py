"""Adoption, a commit, undo and uninstall change no byte of existing files, and adopt only what is memory."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from gitmem.gate.policy import Policy
from gitmem.gate.scan import scan_text
from gitmem.memory.templates import LANGUAGES, files
from tests.harness import SOURCE, Repo
from tests.samples import GITHUB

NOTES = {
    "crlf.md": b"# Ideas\r\n\r\n- one\r\n",
    "bom.md": b"\xef\xbb\xbf# Day\r\n\r\n- a\r\n",
    "no-end.md": b"- no end",
    "mixed.md": b"a\r\nb\nc\r\n",
    "memory/2026-02-01.md": b"# 2026-02-01\r\n\r\n- x\r\n",
    "MEMORY.md": b"# Memory\r\n\r\n- a fact of old\r\n",
    "run.sh": b"#!/bin/sh\n",
}


def bytes_of(repo: Repo) -> dict[str, tuple[int, bytes]]:
    files = [
        path for path in repo.path.rglob("*") if path.is_file() and ".git/" not in f"{path.relative_to(repo.path)}"
    ]
    own = [repo.path / ".git" / name for name in ("config", "info/attributes")]
    hooks = [path for path in (repo.path / ".git/hooks").iterdir() if not path.name.endswith(".sample")]
    return {
        str(path.relative_to(repo.path)): (path.stat().st_mode, path.read_bytes())
        for path in (*files, *own, *hooks)
        if path.exists()
    }


@pytest.fixture
def notes(repo: Repo) -> Repo:
    repo.commit("notes", NOTES)
    os.chmod(repo.path / "run.sh", 0o755)
    repo.commit("mode")
    return repo


def test_no_line_end_changes_in_a_commit_and_undo_gives_every_byte_back(notes: Repo) -> None:
    before = bytes_of(notes)
    notes.mem("init", "--adopt")
    notes.mem("install")
    notes.mem("add", "--to", "memory/2026-02-01.md", "one line more")
    notes.mem("add", "--type", "fact", "a fact that lasts")
    assert b"\n" not in (notes.path / "memory/2026-02-01.md").read_bytes().replace(b"\r\n", b"")
    notes.git("add", "-A")
    notes.git("commit", "-qm", "adopt")
    for name in ("crlf.md", "bom.md", "no-end.md", "mixed.md"):
        there = subprocess.run(["git", "cat-file", "blob", f"HEAD:{name}"], cwd=notes.path, capture_output=True)
        assert there.stdout == NOTES[name]
    assert notes.git("ls-files", "--eol", "crlf.md", "memory/2026-02-01.md").count("i/crlf") == 2
    for _ in range(3):
        notes.mem("undo")
    notes.mem("uninstall", "--purge")
    assert bytes_of(notes) == before


def test_folders_of_others_are_out_and_listed_and_the_memory_of_hosts_is_in(repo: Repo) -> None:
    repo.commit(
        "vault",
        {
            "ideas.md": "# Ideas\n",
            "plans.md": "# Plans\n",
            "quarantine/bad.md": "x\n",
            "vendor/manual.md": "x\n",
            "skills/other/readme.md": "x\n",
            ".claude/memory/team.md": "- the office is in Ghent\n",
            ".hidden/x.md": "x\n",
        },
    )
    said = repo.mem("init", "--adopt").stdout
    assert "in:  3 notes" in said
    assert all(f"1 in {name}/" in said for name in ("quarantine", "vendor", "skills")) and "1 hidden" in said
    found = {hit["path"] for hit in json.loads(repo.mem("search", "office in Ghent", "--json").stdout)["hits"]}
    assert ".claude/memory/team.md" in found


def test_a_repository_of_code_gets_no_templates_unless_they_are_asked_for(repo: Repo, tmp_path: Path) -> None:
    repo.commit("code", {f"src/{name}.py": "1\n" for name in "abc"} | {"README.md": "# A tool\n"})
    written = json.loads(repo.mem("init", "--json").stdout)["written"]
    assert "MEMORY.md" in written and not {"SOUL.md", "USER.md", "AGENTS.md", "TOOLS.md"} & set(written)
    assert "SOUL.md" in json.loads(repo.mem("init", "--templates", "--json").stdout)["written"]


def test_a_line_goes_into_the_adopted_folder_of_daily_logs(repo: Repo) -> None:
    repo.commit("vault", {f"journal/2026-03-0{day}.md": "# day\n" for day in (1, 2, 3)})
    repo.mem("init", "--adopt")
    path = repo.mem("add", "met the printers").stdout.partition(":")[0]
    assert path.startswith("journal/20") and "- met the printers" in repo.read(path)
    assert repo.mem("add", "--agent", "bot", "a line of its own").stdout.startswith("memory/20")


def test_links_and_submodules_outside_memory_are_nobodys_business(repo: Repo) -> None:
    repo.commit("vault", {"ideas.md": "# Ideas\n", "docs/guide.md": "# Guide\n"})
    repo.mem("init", "--adopt")
    repo.mem("install")
    (repo.path / "guide.md").symlink_to("docs/guide.md")
    oid = repo.git("rev-parse", "HEAD").strip()
    repo.git("add", "-A")
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{oid},libs/tool")
    repo.git("commit", "-qm", "a link and a submodule")
    (repo.path / "memory/x.md").symlink_to("../ideas.md")
    repo.git("add", "memory/x.md")
    done = repo.run("git", "commit", "-qm", "a link in memory", check=False)
    assert done.returncode == 1 and "symlink" in done.stderr


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_init_writes_has_no_finding_in_any_language(language: str) -> None:
    found = [f for path, text in files(language).items() for f in scan_text(text, path, Policy())]
    assert [(finding.path, finding.rule) for finding in found] == []


def test_the_examples_have_no_finding() -> None:
    pages = sorted((SOURCE / "examples").rglob("*.md"))
    found = [f for page in pages for f in scan_text(page.read_text("utf-8"), f"memory/{page.name}", Policy())]
    assert pages and [(finding.path, finding.rule) for finding in found] == []


def test_one_folder_of_a_repository_of_code_is_its_memory(repo: Repo) -> None:
    repo.commit("code", {"src/a.py": "1\n", "README.md": f"# A tool\n\n- an old key {GITHUB}\n", "docs/x.md": "# X\n"})
    before = repo.git("ls-files")
    repo.mem("init", "--in", "docs/memory")
    repo.mem("install")
    path = repo.mem("add", "the printer is in the cellar").stdout.partition(":")[0]
    assert path.startswith("docs/memory/20")
    new = set(repo.git("ls-files", "--others", "--exclude-standard").split())
    assert new == {".gitmem.toml", ".gitattributes", "docs/memory/.gitkeep", path} and before
    repo.git("add", "-A")
    repo.git("commit", "-qm", "memory")
    found = {hit["path"] for hit in json.loads(repo.mem("search", "printer tool key", "--json").stdout)["hits"]}
    assert found == {path}
    repo.write(path, f"- {GITHUB}\n")
    repo.git("add", "-A")
    assert repo.run("git", "commit", "-qm", "a key", check=False).returncode == 1
    for folder in ("..", "/tmp/x", ".hidden", "."):
        assert repo.mem("init", "--in", folder, check=False).returncode == 2


def test_the_row_of_another_folder_that_ends_alike_is_not_the_row_of_this_one(repo: Repo) -> None:
    repo.commit("code", {"src/a.py": "1\n", ".gitattributes": "app/docs/memory/** -text\n"})
    repo.mem("init", "--in", "docs/memory")
    assert repo.read(".gitattributes") == "app/docs/memory/** -text\ndocs/memory/** -text\n"
    repo.mem("init", "--in", "docs/memory")
    assert repo.read(".gitattributes") == "app/docs/memory/** -text\ndocs/memory/** -text\n"


def test_a_folder_named_in_a_repository_of_notes_reports_that_it_narrows_memory(repo: Repo) -> None:
    repo.commit("notes", {f"{name}.md": "# A note\n" for name in "abc"})
    repo.mem("init", "--in", "docs/memory")
    repo.mem("install")
    repo.git("add", "-A")
    done = repo.run("git", "commit", "-qm", "memory", check=False)
    assert done.returncode == 1 and "layout-narrowed" in done.stderr


def test_init_again_in_a_repository_of_code_writes_no_templates(repo: Repo) -> None:
    repo.commit("code", {f"src/{name}.py": "1\n" for name in "abc"} | {"MEMORY.md": "# Memory\n"})
    assert "SOUL.md" not in json.loads(repo.mem("init", "--json").stdout)["written"]
