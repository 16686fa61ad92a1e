"""`git mem init` in a folder that holds notes already: what stays memory, and that this is said."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tomllib
from datetime import date
from pathlib import Path

import pytest

from tests.harness import Repo

NOTES = {
    "Ideas.md": "# Ideas\n\nThe staging database lives in Frankfurt.\n",
    "Projects/배포.md": "배포는 매주 화요일 오후에 한다.\n",
    "journal/2026/2026-11-01.md": "- the invoice day is the 5th\n",
    ".trash/old.md": "The staging database lived in Dublin.\n",
    "node_modules/x/README.md": "staging database of a package\n",
    "drafts/secret.md": "staging database of nobody\n",
    ".gitignore": "drafts/\n",
    "attachments/a.png": "png",
}


@pytest.fixture
def vault(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "vault", init=False)
    for path, text in NOTES.items():
        repo.write(path, text)
    return repo


def hits(repo: Repo, query: str) -> set[str]:
    return {hit["path"] for hit in json.loads(repo.mem("search", query, "--json").stdout)["hits"]}


def today() -> str:
    return f"{date.today().isoformat()}.md"


def test_a_folder_of_notes_is_adopted_and_says_what_is_in_and_out(vault: Repo) -> None:
    said = vault.mem("init").stdout
    assert "in:  3 notes" in said and "out: 1 not Markdown, 1 hidden, 1 in node_modules/" in said
    vault.mem("add", "a first fact of its own")
    assert (
        {"Ideas.md", "Projects/배포.md"}
        <= hits(vault, "staging database 배포")
        <= {*NOTES, f"journal/{today()[:4]}/{today()}"}
    )
    assert not hits(vault, "staging database") & {".trash/old.md", "node_modules/x/README.md", "drafts/secret.md"}


def test_adopted_notes_pass_the_gate_at_a_commit(vault: Repo) -> None:
    vault.mem("init", "--adopt")
    vault.mem("install")
    vault.write("Projects/key.md", "The token is ghp_" + "R4nd0mL3tt3rsAndD1g1tsThatAreLong99x" + "\n")
    vault.git("add", "-A")
    done = vault.run("git", "commit", "-qm", "notes", check=False)
    assert done.returncode == 1 and "Projects/key.md" in done.stderr


def test_only_new_says_what_is_memory_no_more_and_adopt_takes_it_back(vault: Repo) -> None:
    said = vault.mem("init", "--only-new").stdout
    assert "out: 3 notes" in said and "git mem init --adopt" in said
    vault.mem("add", "a first fact of its own")
    assert hits(vault, "staging database") & set(NOTES) == set()
    vault.mem("init", "--adopt")
    assert hits(vault, "staging database") & set(NOTES) == {
        "Ideas.md",
        "Projects/배포.md",
        "journal/2026/2026-11-01.md",
    }


def test_a_project_is_not_adopted_unless_somebody_says_so(tmp_path: Path) -> None:
    project = Repo(tmp_path / "project")
    for path in ("README.md", "src/a.py", "src/b.py"):
        project.write(path, "text\n")
    assert json.loads(project.mem("init", "--dry-run", "--json").stdout)["adopted"] is False
    assert "out: 1 note, not searched any more once the first log is written (" in project.mem("init").stdout
    assert not (project.path / ".gitmem.toml").exists()


def test_a_repository_of_memory_has_nothing_to_decide(tmp_path: Path) -> None:
    memory = Repo(tmp_path / "memory")
    memory.mem("init")
    memory.write("README.md", "text\n")
    assert "out:" not in memory.mem("init").stdout


def test_settings_that_are_there_are_kept(vault: Repo) -> None:
    vault.write(".gitmem.toml", "[promote]\nmax-facts = 5")
    vault.mem("init", "--adopt")
    assert vault.read(".gitmem.toml").startswith("[promote]\nmax-facts = 5\n\n[memory]\n")
    again = vault.mem("init", "--adopt").stdout
    assert ".gitmem.toml" not in again.replace("in .gitmem.toml", "")


@pytest.mark.parametrize("text", ['[memory]\npaths = ["a/*.md"]\n', "[memory\n", "[memory]\npaths = 3\n"])
def test_settings_that_would_have_to_be_rewritten_are_left_to_the_person(vault: Repo, text: str) -> None:
    vault.write(".gitmem.toml", text)
    done = vault.mem("init", "--adopt", check=False)
    assert done.returncode == 2 and ".gitmem.toml" in done.stderr and vault.read(".gitmem.toml") == text
    assert not (vault.path / "MEMORY.md").exists()


@pytest.mark.parametrize(("key", "adopted"), [("\n", True), ("n\n", False)])
def test_on_a_terminal_it_asks(vault: Repo, key: str, adopted: bool) -> None:
    host, terminal = pty.openpty()
    os.write(host, key.encode())
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "init"], cwd=vault.path, stdin=terminal, stderr=terminal,
        stdout=subprocess.PIPE, timeout=300, check=True,
    )  # fmt: skip
    os.close(terminal)
    assert b"keep them searched and gated?" in os.read(host, 10_000)
    os.close(host)
    assert (vault.path / ".gitmem.toml").exists() is adopted and bool(done.stdout)


DAILY = {
    "journals/2026_02_05.md": "- We decided that phase 1 uses REST webhooks: easier to debug.\n",
    "Daily/2026/02/2026-02-06.md": "# Friday\n\n- We agreed that the deploy window is before 11.\n",
    "journal/2026/2026-02-07.md": "- We decided to use oak for the mast.\n",
    "days/2026/02/08.md": "- We decided to use pine for the deck.\n",
    "posts/2026-02-05-an-essay.md": "- We decided that essays are no logs.\n",
}


def test_daily_notes_of_an_adopted_folder_are_daily_logs(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "vault", init=False)
    for path, text in DAILY.items():
        repo.write(path, text)
    repo.write(".obsidian/daily-notes.json", '{"folder": "Tagebuch/", "format": "YYYY-MM-DD"}')
    proposed = repo.mem("init", "--adopt", "--dry-run").stdout
    assert "log: 1 daily log by journals/YYYY_MM_DD.md" in proposed and not (repo.path / ".gitmem.toml").exists()
    repo.mem("init", "--adopt")
    settings = tomllib.loads(repo.read(".gitmem.toml"))["memory"]
    assert settings["daily"] == [
        "Daily/YYYY/MM/YYYY-MM-DD.md", "Tagebuch/YYYY-MM-DD.md", "days/YYYY/MM/DD.md", "journal/YYYY/YYYY-MM-DD.md",
        "journals/YYYY_MM_DD.md",
    ]  # fmt: skip
    repo.commit("adopted")
    shown = json.loads(repo.mem("log", "--json").stdout)["days"]
    assert [day["date"] for day in shown] == ["2026-02-08", "2026-02-07", "2026-02-06", "2026-02-05"]
    assert repo.mem("promote").stdout.startswith("add ")
    memory = repo.read("MEMORY.md")
    assert "src=journals/2026_02_05.md#L1@" in memory and "REST webhooks" in memory and "pine" in memory
    assert "essays" not in memory
    assert "4 facts checked, no finding" in repo.mem("verify").stderr
    repo.write("Tagebuch/2026-02-09.md", "- a day that is not committed yet\n")
    assert json.loads(repo.mem("log", "-n", "1", "--json").stdout)["days"][0]["date"] == "2026-02-09"
    assert "nothing to promote" in repo.mem("promote").stdout or "no new" in repo.mem("promote").stdout


def test_obsidian_settings_that_say_nonsense_are_no_pattern(tmp_path: Path) -> None:
    for number, text in enumerate(
        ["[", '["x"]', '{"format": "dddd"}', '{"folder": "a\\u007fb"}', '{"folder": {}}', "\0"]
    ):
        repo = Repo(tmp_path / str(number), init=False)
        repo.write("note.md", "words\n")
        repo.write(".obsidian/daily-notes.json", text)
        repo.mem("init", "--adopt")
        tomllib.loads(repo.read(".gitmem.toml"))
        repo.mem("log")


def test_patterns_that_settings_lack_are_said_and_stop_nothing(vault: Repo) -> None:
    text = '[memory]\npaths = ["*.md"]\n'
    vault.write(".gitmem.toml", text)
    for day in range(1, 9):
        vault.write(f"journals/2026_05_{day:02}.md", "- a line\n")
    done = vault.mem("init", "--adopt")
    assert 'add ["' in done.stderr and "journals/YYYY_MM_DD.md" in done.stderr and "log: " not in done.stdout
    assert vault.read(".gitmem.toml") == text and (vault.path / "MEMORY.md").exists()


def test_memory_of_folders_that_nothing_reads_is_named_until_the_settings_take_it(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "mono")
    repo.commit("code", {"packages/api/memory/notes.md": "- Handlers never panic.\n", "packages/api/x.py": "x = 1\n"})
    line = '[memory] paths = ["packages/api/memory/*.md"]'
    assert line in repo.mem("init").stdout and not hits(repo, "handlers panic")
    assert line in repo.mem("doctor").stdout
    repo.write(".gitmem.toml", line.replace("] ", "]\n") + "\n")
    assert "packages/api" not in repo.mem("init").stdout + repo.mem("doctor").stdout
    assert hits(repo, "handlers panic") == {"packages/api/memory/notes.md"}
    assert "Handlers never panic" in repo.mem("context", "--for", "packages/api/x.py").stdout


def test_a_memory_that_git_ignores_is_named_by_init_and_doctor(repo: Repo) -> None:
    repo.commit("code", {".gitignore": "MEMORY.md\n", "README.md": "x\n"})
    said = repo.mem("init").stderr
    assert "note: Git ignores MEMORY.md: not searched, and in no commit" in said
    assert "hint: git add --force -- MEMORY.md, or take the rule out of .gitignore" in said
    assert "Git ignores MEMORY.md" in repo.mem("doctor", check=False).stdout
    repo.git("add", "--force", "--", "MEMORY.md")
    assert "Git ignores" not in repo.mem("doctor", check=False).stdout
    assert "Git ignores" not in repo.mem("init").stderr
