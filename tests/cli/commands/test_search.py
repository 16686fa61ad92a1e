"""`git mem search` as a person sees it: what was left out, and how sure each hit is."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest

from tests.harness import Repo

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
WITHHELD = "1 line withheld as a secret, 1 file not searched: git mem status"


@pytest.fixture
def memory(repo: Repo) -> Repo:
    repo.commit(
        "o",
        {
            "MEMORY.md": f"# Memory\n\n- Invoices are rounded down.\n- 배포 토큰은 {TOKEN} 이다\n",
            "memory/옛날.md": "- 송장은 세금을 뺀다\n".encode("utf-16"),
        },
    )
    return repo


def on_a_terminal(repo: Repo, *words: str) -> str:
    """What standard error shows where it is a terminal."""
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-m", "gitmem", "search", *words]
        subprocess.run(command, cwd=repo.path, stdout=subprocess.DEVNULL, stderr=theirs, check=True, timeout=60)
        os.set_blocking(ours, False)
        try:
            return os.read(ours, 1 << 16).decode()
        except BlockingIOError:
            return ""
    finally:
        os.close(ours)
        os.close(theirs)


def test_a_person_is_told_what_search_left_out(memory: Repo) -> None:
    assert WITHHELD in on_a_terminal(memory, "invoices")
    assert WITHHELD in memory.mem("search", "zeppelin", "--lane", "lexical").stderr  # nothing found: said everywhere


def test_programs_and_other_snapshots_are_not_told(memory: Repo) -> None:
    assert memory.mem("search", "invoices").stderr == ""
    assert "withheld" not in on_a_terminal(memory, "invoices", "--json")
    assert "withheld" not in on_a_terminal(memory, "invoices", "--at", "HEAD")


@pytest.mark.parametrize("more", [(), ("--at", "HEAD"), ("--history",), ("--all-branches",)])
def test_json_says_how_many_lines_are_withheld(memory: Repo, more: tuple[str, ...]) -> None:
    for words in ("invoices", "zeppelin"):
        assert json.loads(memory.mem("search", words, "--json", *more).stdout)["withheld"] == 1


def test_nothing_left_out_is_nothing_said(repo: Repo) -> None:
    repo.commit("o", {"MEMORY.md": "# Memory\n\n- Invoices are rounded down.\n"})
    assert on_a_terminal(repo, "invoices") == ""
    assert "withheld" not in repo.mem("search", "zeppelin", "--lane", "lexical").stderr


def test_verbose_says_how_sure_each_hit_is_and_no_more(memory: Repo) -> None:
    plain, verbose = (memory.mem("search", "invoices rounded", *more).stdout for more in ((), ("-v",)))
    score = json.loads(memory.mem("search", "invoices rounded", "--json").stdout)["hits"][0]["score"]
    assert f"score {score:.2f} by words and meaning" in verbose.splitlines()[0]
    assert len(plain.splitlines()) == len(verbose.splitlines()) and "score" not in plain
    assert json.loads(memory.mem("search", "invoices", "-v", "--json").stdout)["hits"][0].get("explain") is None


def test_memory_that_a_sparse_checkout_leaves_out_is_read_at_head(repo: Repo) -> None:
    files = {
        "MEMORY.md": "# Memory\n\n- The spire light is amber\n",
        "memory/a.md": "- The organ is tuned\n",
        "src/a.txt": "x",
    }
    repo.commit("one", files)
    repo.git("sparse-checkout", "set", "--no-cone", "/src/")
    done = repo.mem("search", "spire light")
    assert (
        "amber" in done.stdout and "note: memory is left out of this sparse checkout: it is read at HEAD" in done.stderr
    )
    assert "amber" in repo.mem("search", "spire light").stdout  # the index is there now
    done = repo.mem("context", "spire light")
    assert "amber" in done.stdout and "scope project: memory is left out of this sparse checkout" in done.stderr
    shown = repo.mem("show", "MEMORY.md", check=False)
    assert shown.returncode and "git mem show MEMORY.md --at HEAD" in shown.stderr
    assert "MEMORY.md: is left out of this sparse checkout, as 1 other memory file" in repo.mem("status").stdout
    repo.git("sparse-checkout", "set", "--no-cone", "/src/", "/memory/")
    done = repo.mem("search", "organ")
    note = "left out of this sparse checkout, and not searched: 1 memory file; --at HEAD has them"
    assert "tuned" in done.stdout and note in done.stderr
    assert f"scope project: {note}" in repo.mem("context", "spire light").stderr
    assert json.loads(repo.mem("context", "--json", "spire light").stdout)["scopes"][-1]["note"] == note
    for args in ((), ("--json",)):
        assert f"note: {note}" in repo.mem("log", *args).stderr
    assert "sparse" not in repo.mem("log", "--at", "HEAD").stderr + repo.mem("context", "--at", "HEAD").stderr
    repo.git("sparse-checkout", "disable")
    for command in ("search", "context", "log"):
        done = repo.mem(command, *["spire light"] * (command != "log"))
        assert "sparse" not in done.stderr + done.stdout
    assert "amber" in repo.mem("search", "spire light").stdout


def test_settings_that_a_sparse_checkout_leaves_out_hold_all_the_same(repo: Repo) -> None:
    settings = '[memory]\npaths = ["packages/api/memory/*.md"]\n'
    files = {".gitmem.toml": settings, "packages/api/memory/a.md": "- 오르간은 조율되어 있다\n", "src/a.txt": "x"}
    repo.commit("one", {**files, "MEMORY.md": "# Memory\n\n- The bell is bronze\n"})
    whole = repo.mem("config", "--json").stdout
    repo.git("sparse-checkout", "set", "--no-cone", "/src/")
    assert not (repo.path / ".gitmem.toml").exists()
    assert "조율" in repo.mem("search", "오르간").stdout
    assert repo.mem("config", "--json").stdout == whole
    repo.git("sparse-checkout", "disable")
    (repo.path / ".gitmem.toml").unlink()
    assert "조율" not in repo.mem("search", "오르간").stdout  # a person took them away


def test_a_fact_that_is_in_no_commit_yet_is_of_today(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITMEM_NOW", "2026-02-01T12:00:00")
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- The organ is tuned by Odile\n"}, date="2026-01-05T12:00:00Z")
    repo.write("MEMORY.md", repo.read("MEMORY.md") + "- The spire light is amber <!-- mem type=decision -->\n")
    repo.write("memory/2026-01-03.md", "# 2026-01-03\n\n- The bell is bronze\n")

    def dates(question: str) -> list[object]:
        return [hit["date"] for hit in json.loads(repo.mem("search", "--json", "-n", "1", question).stdout)["hits"]]

    assert (
        dates("spire light amber") == ["2026-02-01"]
        and dates("organ tuned") == [None]
        and dates("bell") == ["2026-01-03"]
    )
    repo.git("add", "-A")
    repo.git("commit", "-q", "-m", "two")
    assert dates("spire light amber") == [None]


def test_a_search_that_memory_does_not_answer_names_the_instruction_file_that_does(repo: Repo) -> None:
    files = {"MEMORY.md": "# Memory\n\n- We deploy with rsync\n", "src/main.py": "print()\n"}
    repo.commit("o", {**files, "AGENTS.md": "# Agents\n\n- Run the linter with make lint before each commit\n"})
    question = "how do I run the linter"
    done = repo.mem("search", question)
    assert done.stderr.splitlines()[-1].endswith("git mem search ... --path AGENTS.md")
    assert "--path AGENTS.md" in json.loads(repo.mem("search", "--json", question).stdout)["notes"][-1]
    assert "make lint" in repo.mem("search", question, "--path", "AGENTS.md").stdout
    for words in ("how do we deploy with rsync", "which region has the cluster"):
        assert "AGENTS.md" not in repo.mem("search", words).stderr
