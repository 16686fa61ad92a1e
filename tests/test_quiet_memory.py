"""Quiet by default: what we write ourselves has no finding, and a commit tells what it brings and nothing older."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.memory.templates import LANGUAGES
from tests.harness import SOURCE, Repo

NOTE = "# People\n\n- Reach Mina Park at mina.park@acme-corp.io for access.\n"
NOW = {"GITMEM_NOW": "2026-01-25T21:00:00+09:00"}
TOLD_TO_DO = "- *look at*: what an agent is told to do changes"


def problems(repo: Repo, base: str) -> list[str]:
    text = repo.mem("review", f"{base}..HEAD", "--format", "comment", env=NOW).stdout
    return [line for line in text.partition("<details>")[0].split("\n") if line.startswith("- *look")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_init_writes_has_no_finding_alone_or_in_a_review(repo: Repo, language: str) -> None:
    base = repo.commit("start")
    repo.mem("init", "--lang", language)
    assert repo.mem("scan", "--severity", "warn").stdout.startswith("clean")
    repo.commit("memory: lay out")
    assert " 0 findings" in repo.mem("check").stderr
    checked = repo.mem("verify")
    assert "no finding" in checked.stdout + checked.stderr
    assert problems(repo, base) == [TOLD_TO_DO]


def test_an_empty_memory_has_no_finding(repo: Repo) -> None:
    assert repo.mem("scan", "--severity", "warn").stdout.startswith("clean")
    checked = repo.mem("check")
    assert " 0 findings" in checked.stdout + checked.stderr
    assert "0 blocking, 0 warnings" in repo.mem("status").stdout


def test_the_memory_of_the_demo_has_no_finding(repo: Repo) -> None:
    place = SOURCE / "examples" / "workspace"
    files = {path.relative_to(place).as_posix(): path.read_bytes() for path in sorted(place.rglob("*.md"))}
    base = repo.commit("start", {"src/app.py": "print(1)\n"})
    repo.commit("memory", files, date="2026-01-25T12:00:00Z")
    assert repo.mem("scan", "--severity", "warn", env=NOW).stdout.startswith("clean")
    assert " 0 findings" in repo.mem("check", env=NOW).stderr
    repo.mem("promote", "--max", "8", env=NOW)
    assert "repeats" not in repo.mem("review", f"{base}..HEAD", env=NOW).stdout
    found = problems(repo, base)
    assert TOLD_TO_DO in found and [row for row in found if "without a source" not in row] == [TOLD_TO_DO]


def test_a_commit_says_what_it_brings_and_counts_what_was_there_before(repo: Repo) -> None:
    repo.commit("before", {"MEMORY.md": "# Memory\n", "memory/people.md": NOTE})
    repo.mem("install")
    env = {"PATH": os.pathsep.join([str(Path(SOURCE, ".venv", "bin")), os.environ["PATH"]])}
    repo.write("memory/people.md", NOTE + "- The desk is on floor 3.\n")
    said = repo.run("git", "commit", "-qam", "more", env=env).stderr
    assert "1 warning stood there before this change: git mem scan" in said and "people.md" not in said
    repo.write("memory/people.md", NOTE + "- Or reach Jun Lee at jun.lee@acme-corp.io.\n")
    said = repo.run("git", "commit", "-qam", "again", env=env).stderr
    assert "memory/people.md:4:" in said and "people.md:3:" not in said and "1 warning stood there" in said
