"""Memory that git-crypt encrypts: read as its text here, never stored in clear, and refused where it cannot be read."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path

import pytest

from gitmem.gate.changes.attributes import check_attributes
from gitmem.gate.policy import Policy
from gitmem.git import encryption
from gitmem.git.blame import blame_work_tree
from gitmem.git.library import open_library
from gitmem.git.opening import open_repository
from tests.git_crypt import ATTRIBUTES, MARK, encrypt, needs_git_crypt, stored, stored_object
from tests.harness import Repo

WORDS = ("Tuesdays", "화요일", "Lisbon")
LOG = "# 2026-11-20\n\n## 10:00 - release\n\n- Decision: we deploy on Tuesdays only.\n- 결정: 화요일에만 배포한다.\n"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    """An encrypted memory with our hooks and one committed log."""
    encrypt(repo)
    repo.mem("install")
    repo.write("memory/2026-11-20.md", LOG)
    repo.write("memory/메모.md", "# 메모\n\n- 화요일 회의는 리스본(Lisbon)에서 한다.\n")
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "log")
    return repo


def locked_clone(memory: Repo, tmp_path: Path) -> Repo:
    """A clone without the key."""
    memory.git("clone", "-q", str(memory.path), str(tmp_path / "locked"))
    return Repo(tmp_path / "locked", init=False)


@needs_git_crypt
def test_every_writer_stores_memory_encrypted_and_no_message_says_its_text(memory: Repo) -> None:
    memory.mem("add", "--commit", "The invoices go to Lisbon")
    memory.mem("add", "--commit", "--type", "decision", "화요일에만 배포한다")
    memory.mem("promote")
    line = (
        memory.read("MEMORY.md")
        .split("\n")
        .index(next(s for s in memory.read("MEMORY.md").split("\n") if "Tuesdays" in s))
    )
    memory.mem("forget", f"MEMORY.md:{line + 1}", "--reason", "asked")
    memory.mem("undo")
    everything = stored(memory)
    assert MARK in everything
    assert [word for word in WORDS if word.encode() in everything] == []
    assert "화요일" in memory.read("MEMORY.md") and memory.git("status", "--short") == ""
    assert memory.mem("verify").returncode == 0


@needs_git_crypt
def test_search_answers_from_encrypted_files_as_committed_and_names_their_blob(memory: Repo) -> None:
    hits = json.loads(memory.mem("search", "--json", "--blame", "Lisbon 회의").stdout)["hits"]
    assert hits[0]["path"] == "memory/메모.md" and "Lisbon" in hits[0]["text"]
    assert hits[0]["blob"] == memory.git("rev-parse", "HEAD:memory/메모.md").strip()[: len(hits[0]["blob"])]
    assert hits[0]["commit"] == memory.git("rev-parse", "HEAD").strip()[: len(hits[0]["commit"])]
    at = json.loads(memory.mem("search", "--json", "--at", "HEAD", "Tuesdays").stdout)["hits"]
    assert at[0]["path"] == "memory/2026-11-20.md"


@needs_git_crypt
def test_the_gate_reads_encrypted_blobs_as_text(memory: Repo) -> None:
    memory.write("memory/2026-11-21.md", "# 2026-11-21\n\n## 09:00 - key\n\n- AKIA" + "QYLPMN5HHHFPZAM2\n")
    memory.git("add", "-A")
    refused = memory.git("commit", "-q", "-m", "key", check=False)
    assert memory.git("rev-list", "--count", "HEAD").strip() == "2", refused
    assert "aws" in memory.mem("scan", "--staged", check=False).stdout
    memory.git("commit", "-q", "--no-verify", "-m", "key")
    found = json.loads(memory.mem("scan", "--history", "--json", check=False).stdout)["findings"]
    assert {row["path"] for row in found} == {"memory/2026-11-21.md"}


@needs_git_crypt
def test_what_cannot_be_decrypted_is_unscannable_and_never_clean(memory: Repo, tmp_path: Path) -> None:
    clone = locked_clone(memory, tmp_path)
    for way in (["--history"], []):
        done = clone.mem("scan", "--json", *way, check=False)
        rules = {(row["rule"], row["severity"]) for row in json.loads(done.stdout)["findings"]}
        assert done.returncode == 1 and ("unscannable", "block") in rules
    found = clone.mem("search", "--json", "Lisbon")
    assert json.loads(found.stdout)["hits"] == []


@needs_git_crypt
def test_a_clone_that_was_never_unlocked_stores_nothing_in_clear(memory: Repo, tmp_path: Path) -> None:
    clone = locked_clone(memory, tmp_path)
    clone.mem("install")
    refused = clone.mem("add", "--commit", "The harbour is Mombasa", check=False)
    assert refused.returncode == 3 and "git-crypt unlock" in refused.stderr
    clone.write("memory/새.md", "# 새\n\n- 항구는 Mombasa\n")
    clone.git("add", "memory/새.md")
    rules = {row["rule"] for row in json.loads(clone.mem("scan", "--staged", "--json", check=False).stdout)["findings"]}
    assert rules == {"stored-in-clear"}
    assert clone.run("git", "commit", "-q", "-m", "x", check=False).returncode != 0
    assert clone.git("log", "--format=%s", "-1").strip() == "log"


@needs_git_crypt
def test_without_the_users_setting_the_filter_and_the_blobs_block(memory: Repo) -> None:
    memory.git("config", "--global", "--unset", "mem.encryption")
    memory.git("config", "mem.encryption", "git-crypt")  # a clone's own configuration says nothing
    done = memory.mem("scan", "--history", "--json", check=False)
    assert {row["rule"] for row in json.loads(done.stdout)["findings"]} == {"encoding-attribute", "unscannable"}
    refused = memory.mem("add", "--commit", "more", check=False)
    assert refused.returncode == 3 and "mem.encryption" in refused.stderr
    assert memory.git("log", "--format=%s", "-1").strip() == "log"


@needs_git_crypt
def test_the_filter_of_the_clone_is_never_run(memory: Repo, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    for key in ("filter.git-crypt.smudge", "filter.git-crypt.clean", "diff.git-crypt.textconv"):
        memory.git("config", key, f"touch '{ran}'; cat")
    memory.mem("scan", "--history")
    memory.mem("scan", "--staged")
    assert "Lisbon" in memory.mem("search", "--blame", "Lisbon").stdout
    memory.mem("why", "memory/2026-11-20.md:5")
    assert not ran.exists()


@needs_git_crypt
def test_two_sides_merge_fact_by_fact_and_the_result_is_encrypted(memory: Repo) -> None:
    memory.write(".gitattributes", ATTRIBUTES + "MEMORY.md merge=gitmem\n")
    memory.mem("add", "--commit", "--type", "decision", "Backups run at night")
    memory.git("add", "-A")
    memory.git("commit", "-q", "-m", "driver")
    memory.git("checkout", "-q", "-b", "side")
    memory.mem("add", "--commit", "--type", "decision", "The invoices go to Lisbon")
    memory.git("checkout", "-q", "main")
    memory.mem("add", "--commit", "--type", "decision", "배포는 화요일에만 한다")
    memory.git("merge", "-q", "--no-edit", "side")
    assert "Lisbon" in memory.read("MEMORY.md") and "화요일" in memory.read("MEMORY.md")
    assert [word for word in WORDS if word.encode() in stored(memory)] == []


@needs_git_crypt
def test_a_merge_without_the_key_is_a_conflict_and_changes_nothing(memory: Repo, tmp_path: Path) -> None:
    clone = locked_clone(memory, tmp_path)
    sides = [tmp_path / name for name in ("base", "ours", "theirs")]
    oid = clone.git("rev-parse", "HEAD:memory/2026-11-20.md").strip()
    for side in sides:
        side.write_bytes(stored_object(clone, oid))
    done = clone.mem("merge-driver", *map(str, sides), "7", "memory/2026-11-20.md", check=False)
    assert done.returncode == 3 and "git-crypt unlock" in done.stderr
    assert sides[1].read_bytes() == stored_object(clone, oid)


@needs_git_crypt
def test_sync_and_promotion_on_a_branch_merge_and_store_encrypted_in_a_temporary_work_tree(
    memory: Repo, tmp_path: Path
) -> None:
    memory.git("init", "-q", "--bare", str(tmp_path / "remote.git"))
    memory.git("remote", "add", "origin", str(tmp_path / "remote.git"))
    memory.git("push", "-q", "-u", "origin", "main")
    memory.run("git-crypt", "export-key", str(tmp_path / "key"))
    memory.git("clone", "-q", str(tmp_path / "remote.git"), str(tmp_path / "other"))
    other = Repo(tmp_path / "other", init=False)
    other.run("git-crypt", "unlock", str(tmp_path / "key"))
    other.mem("install")
    other.mem("add", "--commit", "--type", "decision", "The invoices go to Lisbon")
    other.mem("sync")
    memory.mem("add", "--commit", "--type", "decision", "배포는 화요일에만 한다")
    memory.mem("sync")
    assert "Lisbon" in memory.read("MEMORY.md") and "화요일" in memory.read("MEMORY.md")
    memory.mem("promote", "--branch", "memory/next")
    assert memory.git("diff", "--stat", "main", "memory/next") != ""
    assert memory.git("worktree", "list").count("\n") == 1 and memory.git("status", "--short") == ""
    for repo in (memory, other, Repo(tmp_path / "remote.git", init=False)):
        everything = stored(repo)
        assert [word for word in WORDS if word.encode() in everything] == []


@needs_git_crypt
def test_a_masked_staged_text_is_staged_encrypted(memory: Repo) -> None:
    memory.write(
        "memory/topic.md", "# Topic\n\n- The key of Lisbon is AKIA" + "QYLPMN5HHHFPZAM2 for now, and the rest stays\n"
    )
    memory.git("add", "-A")
    memory.mem("redact", "--staged", "memory/topic.md")
    assert stored_object(memory, memory.git("rev-parse", ":memory/topic.md").strip()).startswith(MARK)
    assert b"Lisbon" not in stored(memory) and "AKIAQY" not in memory.read("memory/topic.md")


@needs_git_crypt
def test_blame_of_encrypted_lines_names_the_commit_that_wrote_each(memory: Repo) -> None:
    first = memory.git("rev-parse", "HEAD").strip()
    memory.write("memory/2026-11-20.md", LOG.replace("- 결정", "- the second line is new\n- 결정"))
    second = memory.commit("more")
    memory.commit("other", {"memory/other.md": "# Other\n"})
    with_git = open_repository(memory.path, os.environ)
    with_library = open_library(memory.path, os.environ)
    memory.write("memory/2026-11-20.md", memory.read("memory/2026-11-20.md") + "- not committed\n")
    for opened in (with_git, with_library):
        rows = opened.blame("memory/2026-11-20.md", 5, 7, "HEAD")
        assert [(row.line, row.commit, row.source_line) for row in rows] == [
            (5, first, 5),
            (6, second, 6),
            (7, first, 6),
        ]
        last = blame_work_tree(opened, "memory/2026-11-20.md", 7, 8)
        assert [row.commit for row in last] == [first, "0" * len(first)]
        opened.close()


@needs_git_crypt
def test_a_text_hashes_to_its_encrypted_blob_only_where_that_is_stored(memory: Repo) -> None:
    opened = open_repository(memory.path, os.environ)
    assert opened.hash_blob(LOG.encode()) == memory.git("rev-parse", "HEAD:memory/2026-11-20.md").strip()
    plain = memory.git("hash-object", "--no-filters", "--stdin", input="never stored\n").strip()
    assert opened.hash_blob(b"never stored\n") == plain
    opened.close()


@needs_git_crypt
def test_a_purge_does_not_claim_to_have_masked_encrypted_history(memory: Repo) -> None:
    memory.mem("add", "--commit", "--type", "decision", "The invoices go to Lisbon")
    line = next(n for n, text in enumerate(memory.read("MEMORY.md").split("\n"), 1) if "Lisbon" in text)
    done = memory.mem("forget", f"MEMORY.md:{line}", "--purge", "--yes", "--reason", "asked", check=False)
    assert done.returncode != 0 and "git-crypt" in done.stderr
    assert "Lisbon" in memory.read("MEMORY.md")


# -- the program -----------------------------------------------------------------------------------------------------


def program(folder: Path, body: str) -> Path:
    """A program of the name git-crypt in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "git-crypt"
    file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    file.chmod(0o755)
    return file


def with_key(tmp_path: Path) -> Path:
    """A Git directory with the key of an unlocked clone."""
    keys = tmp_path / "git" / "git-crypt" / "keys"
    keys.mkdir(parents=True)
    (keys / "default").write_bytes(b"key")
    return tmp_path / "git"


def test_a_program_of_the_work_tree_or_of_a_relative_path_is_not_run(tmp_path: Path) -> None:
    git_dir, root = with_key(tmp_path), tmp_path / "root"
    program(root / "bin", "cat")
    for path in (str(root / "bin"), ".", "bin", ""):
        assert encryption.find("git-crypt", [git_dir], root, {"PATH": path}) is None
    good = program(tmp_path / "usr", "cat")
    assert (
        encryption.find("git-crypt", [git_dir], root, {"PATH": f"{root / 'bin'}{os.pathsep}{good.parent}"}) is not None
    )
    assert encryption.find("none", [git_dir], root, {"PATH": str(good.parent)}) is None
    assert encryption.find("sh", [git_dir], root, {"PATH": os.environ["PATH"]}) is None


@pytest.mark.parametrize(
    "body",
    ["exit 1", "head -c 3", "cat; echo more than there was", "cat; exit 1", "kill -9 $$"],
    ids=["fails", "short", "long", "text and failure", "killed"],
)
def test_a_program_that_fails_gives_no_text(tmp_path: Path, body: str) -> None:
    made = program(tmp_path / "usr", body)
    found = encryption.find("git-crypt", [with_key(tmp_path)], None, {"PATH": f"{made.parent}:{os.environ['PATH']}"})
    assert found is not None
    assert found.text(MARK + b"123456789012" + b"some text") is None
    assert found.encrypted_as(b"text", MARK + b"123456789012" + b"some text") is None
    assert list(found.encryptions(b"text")) == []


def test_a_program_that_hangs_is_ended_and_not_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "MAX_SECONDS", 0.05)
    made = program(tmp_path / "usr", "exec sleep 600")
    found = encryption.find("git-crypt", [with_key(tmp_path)], None, {"PATH": f"{made.parent}:{os.environ['PATH']}"})
    assert found is not None
    assert found.text(MARK + bytes(20)) is None
    program(tmp_path / "usr", "tail -c +23")  # this one would answer
    monkeypatch.setattr(encryption, "MAX_SECONDS", 60.0)
    assert found.text(MARK + bytes(12) + b"text") is None


def test_a_blob_above_the_limit_is_not_given_to_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = program(tmp_path / "usr", "tail -c +23")
    found = encryption.find("git-crypt", [with_key(tmp_path)], None, {"PATH": f"{made.parent}:{os.environ['PATH']}"})
    assert found is not None and found.text(MARK + bytes(12) + b"text") == b"text"
    monkeypatch.setattr(encryption, "MAX_BYTES", 25)
    assert found.text(MARK + bytes(12) + b"other") is None


@pytest.mark.parametrize("line", ["*.md filter=git-crypt", "memory/** filter=git-crypt-team diff=git-crypt-team"])
def test_only_the_named_programs_own_filter_is_no_finding(line: str) -> None:
    policy = Policy(today=date(2026, 2, 5), encryption="git-crypt")
    assert list(check_attributes(".gitattributes", line, policy)) == []
    assert list(check_attributes(".gitattributes", line, Policy(today=date(2026, 2, 5))))
    for other in (
        "*.md filter=git-crypt2",
        "*.md filter=x",
        "*.md filter",
        "*.md filter=git-crypt working-tree-encoding=UTF-16",
    ):
        assert list(check_attributes(".gitattributes", other, policy)), other


def test_a_locked_file_is_not_written_over(repo: Repo) -> None:
    repo.commit("locked", {"MEMORY.md": MARK + b"\1" * 30})
    done = repo.mem("add", "--type", "decision", "We deploy on Tuesdays", check=False)
    assert done.returncode == 3 and "git-crypt unlock" in done.stderr
    assert (repo.path / "MEMORY.md").read_bytes() == MARK + b"\1" * 30
