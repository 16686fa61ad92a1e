"""A file in conflict is read as HEAD has it: no reader of memory shows conflict markers."""

from __future__ import annotations

import json

import pytest

from tests.harness import Repo

LOG = "memory/2026-02-05.md"
START = {
    "MEMORY.md": "# Memory\n\n## Facts\n\n- the crane holds 10 tons\n- 회의는 월요일 10시에 한다\n",
    LOG: "# 2026-02-05\n\n- the crane was painted\n",
}


@pytest.fixture
def torn(repo: Repo) -> Repo:
    """A repository with a merge that stopped at conflicts in MEMORY.md and in a log."""
    repo.commit("start", START)
    repo.mem("search", "crane")
    repo.git("switch", "-qc", "other")
    theirs = {path: text.replace("10 tons", "30 tons").replace("painted", "sold") for path, text in START.items()}
    repo.commit("theirs", theirs)
    repo.git("switch", "-q", "-")
    repo.commit("ours", {path: text.replace("10", "20").replace("painted", "moved") for path, text in START.items()})
    assert repo.run("git", "-c", "merge.conflictStyle=diff3", "merge", "other", check=False).returncode == 1
    assert "<<<<<<<" in repo.read("MEMORY.md") and "|||||||" in repo.read(LOG)
    return repo


def marked(text: str) -> bool:
    return any(mark in text for mark in ("<<<<<<<", "|||||||", "=======", ">>>>>>>", "30 tons", "sold"))


NOTE = "MEMORY.md and 1 other memory file are in conflict, and are read as HEAD has them: git status shows them"


def test_search_and_context_read_the_version_of_head_and_say_so_once(torn: Repo) -> None:
    for args in (
        ["search", "crane"],
        ["search", "<<<<<<< HEAD ours crane"],
        ["context", "how much does the crane hold"],
    ):
        done = torn.mem(*args)
        assert not marked(done.stdout) and "20 tons" in done.stdout, done.stdout
        assert done.stderr.count("in conflict") == 1 and NOTE in done.stderr, done.stderr
    done = torn.mem("show", "MEMORY.md")
    assert "20 tons" in done.stdout and not marked(done.stdout)
    assert "note: MEMORY.md is in conflict" in done.stderr


def test_status_names_the_files(torn: Repo) -> None:
    said = torn.mem("status").stdout
    assert "MEMORY.md is in conflict, and is read as HEAD has it" in " ".join(said.split()).replace(": is", " is"), said


def test_settle_finds_no_pair_of_ours_with_theirs(torn: Repo) -> None:
    assert json.loads(torn.mem("settle", "--json").stdout)["pairs"] == []


def test_the_work_tree_is_read_again_once_the_conflict_is_settled(torn: Repo) -> None:
    torn.mem("search", "crane")
    torn.write("MEMORY.md", "# Memory\n\n## Facts\n\n- the crane holds 50 tons\n")
    assert "20 tons" in torn.mem("search", "crane holds").stdout  # not settled yet
    torn.git("add", "MEMORY.md", LOG)
    done = torn.mem("search", "crane holds")
    assert "50 tons" in done.stdout and "20 tons" not in done.stdout and "in conflict" not in done.stderr


def test_a_file_that_we_deleted_is_no_memory_while_in_conflict(repo: Repo) -> None:
    repo.commit("start", START)
    repo.git("switch", "-qc", "other")
    repo.commit("theirs", {LOG: START[LOG] + "- the crane was sold\n"})
    repo.git("switch", "-q", "-")
    repo.git("rm", "-q", LOG)
    repo.git("commit", "-qm", "ours")
    assert repo.run("git", "merge", "other", check=False).returncode == 1 and (repo.path / LOG).exists()
    done = repo.mem("search", "crane")
    assert "10 tons" in done.stdout and "sold" not in done.stdout and f"{LOG} is in conflict" in done.stderr


def test_a_stash_that_does_not_apply_is_a_conflict_too(repo: Repo) -> None:
    repo.commit("start", START)
    repo.write("MEMORY.md", START["MEMORY.md"].replace("10 tons", "30 tons"))
    repo.git("stash", "-q")
    repo.commit("ours", {"MEMORY.md": START["MEMORY.md"].replace("10 tons", "20 tons")})
    assert repo.run("git", "stash", "pop", check=False).returncode == 1
    done = repo.mem("search", "crane holds")
    assert not marked(done.stdout) and "20 tons" in done.stdout and "MEMORY.md is in conflict" in done.stderr


WRITERS = (
    ["add", "--type", "decision", "We keep the crane: it is paid for"],
    ["insight", "[Crane] it is paid for"],
    ["add", "--to", "MEMORY.md", "the crane is paid for"],
    ["edit", "MEMORY.md:5", "the crane holds 40 tons", "--reason", "measured"],
    ["forget", "MEMORY.md:5", "--reason", "sold"],
    ["promote"],
    ["promote", "--stage"],
)


@pytest.mark.parametrize("args", WRITERS, ids=" ".join)
def test_a_writer_leaves_a_file_in_conflict_and_says_what_to_type(repo: Repo, args: list[str]) -> None:
    repo.commit("start", START)
    repo.write("MEMORY.md", START["MEMORY.md"].replace("10 tons", "30 tons"))
    repo.git("stash", "-q")
    log = START[LOG] + "- decision: the crane stays in hall 2 because the floor is firm\n"
    repo.commit("ours", {"MEMORY.md": START["MEMORY.md"].replace("10 tons", "20 tons"), LOG: log})
    assert repo.run("git", "stash", "pop", check=False).returncode == 1
    before, head = repo.read("MEMORY.md"), repo.git("rev-parse", "HEAD")

    done = repo.mem(*args, check=False)

    assert done.returncode == 3, done.stdout + done.stderr
    assert "'MEMORY.md' is in conflict" in done.stderr and "git add MEMORY.md" in done.stderr, done.stderr
    assert repo.read("MEMORY.md") == before and repo.git("rev-parse", "HEAD") == head
    assert "30 tons" in before and "20 tons" in before


def test_add_leaves_a_log_in_conflict_and_writes_other_files(torn: Repo) -> None:
    before = torn.read(LOG)
    done = torn.mem("add", "--to", LOG, "the crane is paid for", check=False)
    assert done.returncode == 3 and f"'{LOG}' is in conflict" in done.stderr and torn.read(LOG) == before
    torn.mem("add", "--to", "daily", "the crane is paid for")
    torn.write("MEMORY.md", START["MEMORY.md"])
    torn.git("add", "MEMORY.md")
    torn.mem("add", "--type", "decision", "We keep the crane: it is paid for")
    assert "We keep the crane" in torn.read("MEMORY.md")
