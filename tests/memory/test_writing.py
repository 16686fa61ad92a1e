"""`git mem init` and `git mem add`: files are created once, lines are appended, nothing is overwritten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness import Repo
from tests.samples import GITHUB

NOW = {"GITMEM_NOW": "2026-02-05T14:30:00"}


def test_init_in_a_new_folder_makes_a_repository_and_commits_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "init", str(tmp_path / "새 기억"), "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    answer = json.loads(done.stdout)
    assert answer["initialised"] and "MEMORY.md" in answer["written"]
    repo = Repo(tmp_path / "새 기억", init=False)
    assert repo.git("rev-list", "--all") == "" and repo.git("status", "--porcelain").count("??") >= 5
    assert "Never store" in repo.read("AGENTS.md") and (repo.path / "memory").is_dir()


def test_init_twice_overwrites_nothing(repo: Repo) -> None:
    repo.write("MEMORY.md", "- mine\n")
    repo.write(".gitattributes", "*.png binary")
    repo.mem("init", "--lang", "ko")
    again = json.loads(repo.mem("init", "--json").stdout)
    assert repo.read("MEMORY.md") == "- mine\n" and again["written"] == [] and not again["initialised"]
    assert repo.read(".gitattributes").startswith("*.png binary\n") and "merge=gitmem" in repo.read(".gitattributes")
    assert "저장하지 않는" in repo.read("AGENTS.md")


def test_init_dry_run_writes_nothing(repo: Repo) -> None:
    repo.mem("init", "--dry-run")
    assert os.listdir(repo.path) == [".git"]


def test_a_log_entry_goes_under_date_and_time(repo: Repo) -> None:
    first = repo.mem("add", "배포 완료", env=NOW).stdout.strip()
    second = repo.mem("add", "rolled", "back", env=NOW).stdout.strip()
    assert (first, second) == ("memory/2026-02-05.md:5", "memory/2026-02-05.md:6")
    assert repo.read("memory/2026-02-05.md") == "# 2026-02-05\n\n## 14:30\n\n- 배포 완료\n- rolled back\n"
    later = {"GITMEM_NOW": "2026-02-05T15:00:00"}
    repo.mem("add", "x", "--topic", "deploy", "--tag", "ops", env=later)
    assert repo.read("memory/2026-02-05.md").endswith("\n\n## 15:00 - deploy\n\n- x <!-- mem tags=ops -->\n")


def test_an_agent_has_its_own_log(repo: Repo) -> None:
    assert repo.mem("add", "x", "--agent", "coder", env=NOW).stdout == "memory/2026-02-05.coder.md:5\n"


@pytest.mark.parametrize("name", [GITHUB, "010-9876-5432"])
@pytest.mark.parametrize("to", ["daily", "memory"])
def test_an_agents_name_with_a_secret_or_personal_data_is_refused(repo: Repo, name: str, to: str) -> None:
    repo.commit("first")
    done = repo.mem("add", "We deployed", "--to", to, "--agent", name, check=False)
    assert done.returncode == 1 and "not written: the agent's name has" in done.stderr and name not in done.stderr
    agent = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "mem.agent", "GIT_CONFIG_VALUE_0": name}
    assert repo.mem("add", "We deployed", "--to", to, "--commit", env=agent, check=False).returncode == 1
    assert repo.git("status", "--porcelain") == "" and repo.git("rev-list", "--count", "HEAD") == "1\n"


def test_lasting_facts_go_to_memory_lessons_to_agents(repo: Repo) -> None:
    repo.mem("init", "--lang", "en")
    where = repo.mem("add", "--type", "decision", "We use REST webhooks", env=NOW).stdout.strip()
    path, line = where.split(":")
    assert path == "MEMORY.md"
    lines = repo.read("MEMORY.md").split("\n")
    assert lines[int(line) - 1] == "- We use REST webhooks <!-- mem type=decision -->"
    assert repo.mem("add", "--type", "decision", "We use  REST webhooks", env=NOW).stdout.strip() == where
    assert repo.mem("add", "--type", "lesson", "Look at the log first").stdout.startswith("AGENTS.md:")
    assert repo.read("AGENTS.md").endswith("## Lessons\n\n- Look at the log first <!-- mem type=lesson -->\n")
    assert repo.mem("add", "--type", "lesson", "`make` needs -j2").stdout.startswith("TOOLS.md:")


def test_the_topic_of_a_lasting_fact_is_what_its_comment_says_it_is_about(repo: Repo) -> None:
    def place(*options: str) -> str:
        return repo.mem("add", "--type", "decision", *options, "The API port is 8080").stdout.strip()

    falcon, eagle, none = place("--topic", "Falcon"), place("--topic", "Eagle Two"), place()
    lines = [line for line in repo.read("MEMORY.md").splitlines() if line.startswith("- ")]
    assert lines == [
        "- The API port is 8080 <!-- mem type=decision -->",
        "- The API port is 8080 <!-- mem type=decision about=Eagle%20Two -->",
        "- The API port is 8080 <!-- mem type=decision about=Falcon -->",
    ]
    assert (falcon, eagle, none) == ("MEMORY.md:5",) * 3  # a newer fact is added above the others
    before = repo.read("MEMORY.md")
    assert [place("--topic", "Falcon"), place("--topic", "Eagle Two"), place()] == [f"MEMORY.md:{n}" for n in (7, 6, 5)]
    assert repo.read("MEMORY.md") == before


def test_the_topic_of_a_line_of_a_note_is_in_its_comment_and_passes_the_gate(repo: Repo) -> None:
    repo.mem("add", "--to", "memory/ports.md", "--topic", "Falcon", "The API port is 8080")
    assert repo.read("memory/ports.md") == "- The API port is 8080 <!-- mem about=Falcon -->\n"
    done = repo.mem("add", "--to", "memory", "--topic", GITHUB, "The API port is 8080", check=False)
    assert done.returncode == 1 and not (repo.path / "MEMORY.md").exists()
    offered = repo.mem("add", "--to", "user", "--topic", "Falcon", "The API port is 8080", check=False)
    assert offered.returncode == 2 and "--topic goes without --to" in offered.stderr


def test_text_comes_from_standard_input_too(repo: Repo) -> None:
    repo.mem("add", "-", input="한 줄\n두 줄\n", env=NOW)
    assert repo.read("memory/2026-02-05.md").endswith("- 한 줄 두 줄\n")


def test_nothing_is_written_outside_the_repository(repo: Repo, tmp_path: Path) -> None:
    os.symlink(tmp_path / "out.md", repo.path / "link.md")
    for to in ("../out.md", "/tmp/out.md", ".git/x.md", "link.md"):
        done = repo.mem("add", "x", "--to", to, check=False)
        assert done.returncode == 3 and "Traceback" not in done.stderr, to
    assert not (tmp_path / "out.md").exists()
    assert repo.mem("add", "x", "--to", "notes.txt", check=False).returncode == 2
    assert repo.mem("add", "  ", check=False).returncode == 2


def test_ten_writers_at_once_lose_nothing(repo: Repo) -> None:
    command = [sys.executable, "-m", "gitmem", "add"]
    env = {**os.environ, **NOW}
    writers = [
        subprocess.Popen([*command, f"entry {n}"], cwd=repo.path, env=env, stdout=subprocess.DEVNULL) for n in range(10)
    ]
    assert [writer.wait() for writer in writers] == [0] * 10
    text = repo.read("memory/2026-02-05.md")
    assert all(f"- entry {n}\n" in text for n in range(10)) and text.count("## ") == 1


def test_the_first_line_of_memory_in_a_repository_of_notes_says_what_is_searched_no_longer(repo: Repo) -> None:
    repo.commit(
        "notes",
        {
            "docs/deploy.md": "- the deploy window is Tuesday\n",
            "README.md": "# A project\n\nThe lorries are in Ghent.\n",
        },
    )
    done = repo.mem("add", "standup moved")
    assert "2 other Markdown files are no longer searched" in done.stderr and "git mem init --adopt" in done.stderr
    assert repo.mem("add", "standup moved again").stderr == ""
    repo.mem("init", "--adopt")
    assert "docs/deploy.md" in repo.mem("search", "deploy window").stdout
    assert "README.md" in repo.mem("search", "lorries").stdout


def test_the_first_line_of_memory_where_there_is_nothing_else_says_only_its_place(repo: Repo) -> None:
    assert repo.mem("add", "standup moved").stderr == ""


@pytest.mark.parametrize("path", ["README.md", "src/new.md", "docs/guide.md", ".github/note.md"])
def test_only_memory_is_written_or_changed(repo: Repo, path: str) -> None:
    repo.commit("start", {"README.md": "# Readme\n\n- A line of the readme\n", "MEMORY.md": "# Memory\n\n- A fact\n"})
    before = repo.git("rev-parse", "HEAD")
    done = repo.mem("add", "A new line", "--to", path, check=False)
    assert done.returncode == 2 and "is no file of memory" in done.stderr
    for words in (
        ("edit", f"{path}:3", "Other words", "--reason", "x"),
        ("forget", f"{path}:3", "--reason", "x"),
        ("forget", f"{path}:3", "--everywhere", "--reason", "x"),
    ):
        done = repo.mem(*words, check=False)
        assert done.returncode in (2, 3) and "there is no memory file" in done.stderr, (words, done.stderr)
    assert repo.git("status", "--porcelain") == "" and repo.git("rev-parse", "HEAD") == before


def test_a_note_among_notes_and_a_path_of_ones_own_are_memory(repo: Repo) -> None:
    repo.git("config", "mem.memoryPaths", "docs/*.md")
    assert repo.mem("add", "A new line", "--to", "docs/guide.md").returncode == 0
    assert "A new line" in repo.read("docs/guide.md")


def test_bytes_that_are_no_text_are_refused_before_anything_is_written(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- A fact\n"})
    odd = os.fsdecode(b"a \xff\xfe b")
    for words in (
        ("add", odd),
        ("edit", "MEMORY.md:3", odd, "--reason", "x"),
        ("insight", f"[entity 1] margin fell to 3 percent {odd}"),
    ):
        done = repo.mem(*words, check=False)
        assert done.returncode in (1, 2) and "UTF-8" in done.stderr, (words, done)
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("kind", [(), ("--type", "decision")], ids=["log", "memory"])
@pytest.mark.parametrize("text", ["# Decision: use REST", "#", "---", "``` js", "~~~"])
def test_a_text_that_markdown_reads_as_no_statement_is_refused(repo: Repo, text: str, kind: tuple[str, ...]) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n## Decisions\n\n- We use REST\n"})
    done = repo.mem("add", *kind, "--", text, check=False)
    assert done.returncode == 2 and "as Markdown the text would be" in done.stderr
    assert repo.git("status", "--porcelain") == ""


@pytest.mark.parametrize("text", ["the flow is client --> gateway", "a <!-- b", "a <!-- b --> c"])
def test_a_fact_with_the_mark_of_a_comment_is_refused_and_a_line_of_a_log_is_not(repo: Repo, text: str) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    done = repo.mem("add", "--type", "decision", text, check=False)
    assert done.returncode == 2 and "one line of text without comment marks" in done.stderr
    assert repo.git("status", "--porcelain") == ""
    repo.mem("add", text)
    assert f"- {text}\n" in next((repo.path / "memory").glob("*.md")).read_text()


@pytest.mark.parametrize("opening", ["```", "<!-- to do"])
def test_a_fact_is_not_written_into_an_open_fence_or_comment(repo: Repo, opening: str) -> None:
    repo.commit("start", {"MEMORY.md": f"# Memory\n\n{opening}\n"})
    done = repo.mem("add", "--type", "decision", "We use REST", check=False)
    assert done.returncode == 3 and "close it in an editor" in done.stderr
    assert repo.git("status", "--porcelain") == ""


def test_standard_input_in_another_encoding_is_refused(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n"})
    command = [sys.executable, "-m", "gitmem", "add", "-"]
    done = subprocess.run(command, cwd=repo.path, input="결제는 자정에 한다".encode("cp949"), capture_output=True)
    assert done.returncode == 1 and b"no UTF-8 text" in done.stderr
    assert repo.git("status", "--porcelain") == ""
