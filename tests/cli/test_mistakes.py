"""Every mistake that a person makes ends in a sentence and what to type next."""

from __future__ import annotations

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from tests.harness import Repo

FACTS = "# Memory\n\n## Facts\n\n- The deploy window is Tuesday.\n"

MISTAKES = """
serach foo
help serach
search
search foo --limt 3
search foo --limit abc
search foo --at nowhere
search foo --since 11/3
search foo --since friday --until 2020
log --since tommorow
add
add --typ fact x
add --type facts x
why
why MEMORY.md
why MEMORY.md:999
why MEMROY.md:3
show nothere.md
show MEMORY.md:90-99
show MEMORY.md:9-3
edit MEMORY.md:5 x
edit MEMORY.md:1 x --reason y
edit nothere.md:1 x --reason y
forget MEMORY.md:5
forget nothere.md:1 --reason x
scan nothere.md
review main
review main..nobranch
changes abc
revert
revert --source typo.md --reason x
bisect deploy --since nothing
config foo
config mem.limt
config mem.limit abc
profile switch nobody
completion tcsh
export pdf x
export skills out
import notion x
import notes /nonexistent
import chatgpt
import skills nothere
session end
session end nothere.jsonl
context --budget 0 hello
allow nothing
eval nothere.tsv
uninstal
promote --accept zzz
promote --branch a --commit
promote --interactive
publish
sync nowhere
undo
verify a..b
redact nothere.md
index --depth
-C nowhere status
--profile nobody status
ui --port abc
merge-driver a b c
"""


@pytest.mark.parametrize("words", [line for line in MISTAKES.splitlines() if line])
def test_a_mistake_is_answered_with_what_to_type(repo: Repo, words: str) -> None:
    repo.commit("start", {"MEMORY.md": FACTS})
    done = repo.mem(*words.split(), check=False)
    assert done.returncode in (2, 3), (done.returncode, done.stdout, done.stderr)
    assert "a bug" not in done.stderr and "Traceback" not in done.stderr
    assert done.stderr.startswith("git mem: ") and "\nhint: " in done.stderr, done.stderr


def test_a_name_that_a_mac_wrote_is_found_as_it_is_typed(repo: Repo) -> None:
    typed = "memory/회의록.md"
    stored = unicodedata.normalize("NFD", typed)
    assert stored != typed
    repo.commit("start", {"MEMORY.md": FACTS, stored: "# 회의\n\n- 주간 회의는 월요일 10시\n"})
    for words in (("show", typed), ("why", f"{typed}:3"), ("scan", typed), ("search", "주간 회의", "--path", typed)):
        assert repo.mem(*words).returncode == 0, words
    assert stored in repo.mem("search", "주간 회의", "--path", typed).stdout
    repo.mem("forget", f"{typed}:3", "--reason", "moved")
    assert "월요일" not in repo.read(stored) and not Path(repo.path, typed).exists()


def test_who_commits_is_asked_for_in_the_words_of_git(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": FACTS})
    repo.git("config", "user.useConfigOnly", "true")
    nobody = {name: "" for name in os.environ if name.startswith(("GIT_AUTHOR", "GIT_COMMITTER"))}
    env = {name: value for name, value in {**os.environ, "EMAIL": ""}.items() if name not in nobody}
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", "add", "--commit", "x"], cwd=repo.path, env={**env, "HOME": str(repo.path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3 and "hint: git config --global user.name" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "words",
    ["search window", "status", "profile list", "log", "promote --dry-run", "why MEMORY.md:5", "scan", "context x"],
)
def test_a_machine_without_git_is_told_to_install_it(repo: Repo, tmp_path: Path, words: str) -> None:
    repo.commit("start", {"MEMORY.md": FACTS})
    done = subprocess.run(
        [sys.executable, "-m", "gitmem", *words.split()], cwd=repo.path, env={**os.environ, "PATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "a bug" not in done.stderr, done.stderr
    assert done.returncode == 0 or (done.returncode == 3 and "git is not installed" in done.stderr), done.stderr


def test_a_commit_that_no_branch_holds_is_said(repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": FACTS})
    assert "no branch" not in repo.mem("add", "--commit", "on main").stderr
    repo.git("checkout", "-q", "--detach")
    for words in (("add", "--commit", "x"), ("forget", "MEMORY.md:5", "--reason", "gone"), ("undo", "--yes")):
        done = repo.mem(*words)
        assert f"hint: git branch NAME {repo.git('rev-parse', 'HEAD')[:12]}" in done.stderr, words
