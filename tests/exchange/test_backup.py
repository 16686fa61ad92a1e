"""Copies of a memory that are restored (docs/at-rest.md): a bundle, one encrypted by age, a mirror; the same answers."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.git_crypt import encrypt, needs_git_crypt, stored
from tests.harness import Repo

QUESTIONS = ("where do the invoices go", "금요일 배포", "webhooks")
NO_AGE = "age is not installed (apt-get install age)"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """A memory with two commits, a tag, a branch and Korean names."""
    repo.commit(
        "one", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- The invoices go to Lisbon\n"}, "2026-02-05T10:00:00Z"
    )
    repo.git("tag", "v1")
    repo.commit("two", {"memory/배포.md": "# 배포\n\n- 금요일에는 배포하지 않는다\n"}, "2026-02-06T10:00:00Z")
    repo.git("checkout", "-q", "-b", "side")
    repo.commit("three", {"memory/api.md": "# API\n\n- We use REST webhooks\n"}, "2026-02-07T10:00:00Z")
    repo.git("checkout", "-q", "main")
    return repo


def answers(repo: Repo, side: str) -> list[object]:
    """What searches here, as of a tag and on a branch find."""
    found: list[object] = []
    for where in ([], ["--at", "v1"], ["--at", side]):
        for question in QUESTIONS:
            found.append(json.loads(repo.mem("search", "--json", "--blame", *where, question).stdout)["hits"])
    return found


def test_a_restored_bundle_gives_the_same_answers(memory: Repo, tmp_path: Path) -> None:
    memory.git("bundle", "create", "../memory.bundle", "--all")
    memory.git("bundle", "verify", "../memory.bundle")
    memory.git("clone", "-q", str(tmp_path / "memory.bundle"), str(tmp_path / "back"))
    before, after = answers(memory, "side"), answers(Repo(tmp_path / "back", init=False), "origin/side")
    assert before[0] and before[1] and before[8]
    assert after == before


def test_a_restored_mirror_gives_the_same_answers_and_follows(memory: Repo, tmp_path: Path) -> None:
    mirror = tmp_path / "mirror.git"
    memory.git("clone", "-q", "--mirror", str(memory.path), str(mirror))
    memory.commit("four", {"memory/more.md": "# More\n\n- The webhooks are signed\n"}, "2026-02-08T10:00:00Z")
    memory.git("-C", str(mirror), "remote", "update", "--prune")
    memory.git("clone", "-q", str(mirror), str(tmp_path / "back"))
    assert answers(Repo(tmp_path / "back", init=False), "origin/side") == answers(memory, "side")


@pytest.mark.skipif(shutil.which("age") is None, reason=NO_AGE)
def test_a_bundle_that_age_encrypted_says_nothing_and_is_restored(memory: Repo, tmp_path: Path) -> None:
    key, bundle, closed, back = (tmp_path / name for name in ("key.txt", "m.bundle", "m.bundle.age", "m2.bundle"))
    memory.run("age-keygen", "-o", str(key))
    recipient = memory.run("age-keygen", "-y", str(key)).stdout.strip()
    memory.git("bundle", "create", str(bundle), "--all")
    memory.run("age", "-r", recipient, "-o", str(closed), str(bundle))
    assert b"refs/heads/main" in bundle.read_bytes() and b"refs/heads" not in closed.read_bytes()
    memory.run("age", "-d", "-i", str(key), "-o", str(back), str(closed))
    memory.git("clone", "-q", str(back), str(tmp_path / "back"))
    assert answers(Repo(tmp_path / "back", init=False), "origin/side") == answers(memory, "side")


@needs_git_crypt
def test_an_encrypted_memory_is_restored_with_its_exported_key(repo: Repo, tmp_path: Path) -> None:
    encrypt(repo)
    repo.commit("one", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- The invoices go to Lisbon\n"})
    repo.run("git-crypt", "export-key", str(tmp_path / "key"))
    repo.git("bundle", "create", "../memory.bundle", "--all")
    repo.git("clone", "-q", str(tmp_path / "memory.bundle"), str(tmp_path / "back"))
    back = Repo(tmp_path / "back", init=False)
    assert json.loads(back.mem("search", "--json", "invoices").stdout)["hits"] == []
    back.run("git-crypt", "unlock", str(tmp_path / "key"))
    first, second = (json.loads(each.mem("search", "--json", "invoices").stdout)["hits"] for each in (repo, back))
    assert first and first == second and b"Lisbon" not in stored(back)
