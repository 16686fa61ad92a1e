"""`git mem index`, `status`, `doctor`: what is asked wrongly or cannot be done is one line, what to type, a code."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitmem.git.worktree import locked
from tests.harness import Repo


def refusal(repo: Repo, *args: str, code: int = 3) -> str:
    done = repo.mem(*args, check=False)
    assert done.returncode == code, (args, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stderr


def test_a_folder_that_is_no_repository_says_how_to_make_one(tmp_path: Path) -> None:
    nowhere = Repo(tmp_path / "plain", init=False)
    for command in ("index", "status", "doctor"):
        assert "git mem init" in refusal(nowhere, command)


def test_an_unknown_revision_is_named(repo: Repo) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    assert "there is no commit 'nosuch'" in refusal(repo, "index", "--rev", "nosuch")
    assert "'--all' is not a revision" in refusal(repo, "index", "--rev=--all")


def test_prune_stands_alone(repo: Repo) -> None:
    assert "stands alone" in refusal(repo, "index", "--prune", "--full", code=2)


def test_a_locked_index_says_so_and_changes_nothing(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    repo.mem("index")
    before = (repo.path / ".git/gitmem/index.sqlite").read_bytes()
    repo.write("memory/b.md", "- beta\n")
    with locked(repo.path / ".git", "index", 0):
        done = repo.mem("index", "--hook")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "another git mem is at work" in (repo.path / ".git/gitmem/hooks.log").read_text()
    assert (repo.path / ".git/gitmem/index.sqlite").read_bytes() == before


def test_a_hook_never_fails_a_commit(repo: Repo) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    (repo.path / ".git/gitmem").write_text("not a folder")
    done = repo.mem("index", "--hook")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_unreadable_file_is_named_and_the_rest_indexed(repo: Repo) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    os.mkfifo(repo.path / "memory/pipe.md")
    repo.write("memory/large.md", b"x" * (2 << 20))
    repo.mem("index")
    found = json.loads(repo.mem("status", "--json").stdout)
    assert [odd["path"] for odd in found["odd"]] == ["memory/large.md"] and found["indexed"] == 1


def test_status_names_files_that_nothing_reads_for_their_ending(repo: Repo) -> None:
    repo.commit(
        files={"memory/a.md": "- a\n", "memory/UPPER.MD": "- u\n", "MEMORY.markdown": "- m\n", "src/x.markdown": "x\n"}
    )
    for path in (
        "memory/long plan.markdown",
        "memory/list.txt",
        "memory/picture.png",
        "memory/ignored.txt",
        "notes.txt",
    ):
        repo.write(path, "x\n")
    repo.write(".gitignore", "ignored.txt\n")
    expected = {
        "MEMORY.markdown": "git mv -- MEMORY.markdown MEMORY.md",
        "memory/UPPER.MD": "git mv -- memory/UPPER.MD memory/UPPER.md",
        "memory/list.txt": "mv -- memory/list.txt memory/list.md",
        "memory/long plan.markdown": "mv -- 'memory/long plan.markdown' 'memory/long plan.md'",
    }
    for _ in ("without an index", "with one"):
        named = json.loads(repo.mem("status", "--json").stdout)["odd"]
        assert {odd["path"]: odd["hint"] for odd in named} == expected
        repo.mem("index")
    repo.write(".gitmem.toml", '[memory]\npaths = ["memory/*.txt"]\n')
    repo.mem("index")
    assert "memory/list.txt" not in repo.mem("status").stdout


def test_status_says_what_changed_since_and_doctor_what_to_type(repo: Repo) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    assert json.loads(repo.mem("status", "--json").stdout)["exists"] is False
    assert "no index yet: the first search makes it" in repo.mem("doctor").stdout
    first = json.loads(repo.mem("index", "--json").stdout)
    assert (first["blobs"], first["chunks"]) == (1, 1)
    repo.write("memory/b.md", "- beta\n")
    found = json.loads(repo.mem("status", "--json").stdout)
    assert found["stale"] and found["reason"] == "1 file changed since" and found["branches"] == [["main", True]]
    assert "1 file changed since: the next search reads them" in repo.mem("doctor").stdout
    repo.mem("index")
    assert json.loads(repo.mem("status", "--json").stdout)["stale"] is False
    assert repo.mem("index").stdout == "the index is current\n"


def test_a_repository_without_memory_is_no_error(repo: Repo) -> None:
    repo.mem("index")
    assert "0 of 0 indexed" in repo.mem("status").stdout
    assert repo.mem("doctor").returncode == 0
    repo.mem("index", "--prune")


def test_a_fresh_clone_is_well_to_doctor_before_and_after_its_first_search(repo: Repo, tmp_path: Path) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    repo.git("clone", "-q", str(repo.path), str(tmp_path / "clone"))
    clone = Repo(tmp_path / "clone", init=False)
    assert "wrong" not in clone.mem("doctor").stdout
    clone.mem("search", "alpha")
    clone.commit(files={"memory/b.md": "- beta\n"})
    clone.mem("search", "beta")
    assert "wrong" not in clone.mem("doctor").stdout
