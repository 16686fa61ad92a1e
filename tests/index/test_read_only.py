"""A repository that cannot be written and was never indexed is searched all the same, and nothing is left of it."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

import pytest

from gitmem.system import PREFIX
from tests.harness import Repo
from tests.read_only import read_only_mem, read_only_run

NOTE = "the memory was indexed for this search alone"


@pytest.fixture
def memory(repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repo:
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    repo.commit("Move deploys to Tuesday", {"MEMORY.md": "# Memory\n\n- Deploys happen on Tuesdays\n"})
    repo.commit("결제 메모", {"MEMORY.md": "# Memory\n\n- 결제 타임아웃은 30초이다\n"})
    return repo


def temporary(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "temporary").iterdir() if path.name.startswith(PREFIX)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("결제 타임아웃",), "30초이다"),
        (("deploys", "--at", "HEAD~1"), "Tuesdays"),
        (("--history-only", "move deploys"), "Move deploys to Tuesday"),
    ],
    ids=["work tree", "commit", "history"],
)
def test_a_search_answers_and_leaves_nothing(memory: Repo, tmp_path: Path, words: tuple[str, ...], found: str) -> None:
    done = read_only_mem(memory, "search", "--json", *words)
    answer = json.loads(done.stdout)
    assert any(found in hit["text"] for hit in answer["hits"]), done
    assert not answer["stale"] and NOTE in done.stderr
    assert not (memory.path / ".git/gitmem").exists() and not temporary(tmp_path)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder to another user")
@pytest.mark.parametrize("words", [("결제 타임아웃",), ("결제 타임아웃", "--at", "HEAD")], ids=["work tree", "commit"])
def test_an_index_of_another_user_is_neither_read_nor_an_obstacle(
    memory: Repo, tmp_path: Path, words: tuple[str, ...]
) -> None:
    memory.mem("search", "타임아웃")
    give_away(memory.path / ".git/gitmem")
    done = memory.mem("search", *words)
    assert "30초이다" in done.stdout and NOTE in done.stderr and not temporary(tmp_path)
    assert "30초이다" in memory.mem("context", "결제 타임아웃").stdout


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_write_beside_the_state_of_another_user_says_whose_it_is_and_what_to_type(memory: Repo) -> None:
    folder = memory.path / ".git/gitmem"
    memory.mem("search", "타임아웃")
    give_away(folder)
    for words in (("add", "x"), ("index",), ("status",), ("doctor",), ("undo", "--dry-run")):
        done = memory.mem(*words, check=False)
        assert done.returncode == 3 and f"'{folder}' belongs to another user" in done.stderr, (words, done)
        assert f'hint: sudo chown -R "$(id -un)" {folder}' in done.stderr, (words, done)
        assert "nothing to undo" not in done.stderr


def give_away(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, 65534, 65534)


def test_an_index_without_the_commit_that_is_asked_is_not_the_last_word(memory: Repo, tmp_path: Path) -> None:
    memory.mem("search", "타임아웃")
    assert NOTE not in read_only_mem(memory, "search", "타임아웃").stderr
    done = read_only_mem(memory, "search", "deploys", "--at", "HEAD~1")
    assert "Tuesdays" in done.stdout and NOTE in done.stderr and not temporary(tmp_path)


def test_where_the_person_indexes_nothing_is_indexed(memory: Repo) -> None:
    memory.git("config", "--global", "mem.autoIndex", "false")
    done = read_only_mem(memory, "search", "타임아웃")
    assert "30초" not in done.stdout and "git mem index" in done.stderr


def test_nothing_is_sent_to_an_endpoint_whose_log_would_not_stay(memory: Repo) -> None:
    memory.git("config", "--global", "mem.embedder", "http:http://127.0.0.1:9/v1#none")
    done = read_only_mem(memory, "search", "--json", "결제 타임아웃")
    assert json.loads(done.stdout)["lanes"] == ["lexical", "vector"] and "127.0.0.1" not in done.stderr


def test_a_promotion_is_planned(memory: Repo) -> None:
    memory.commit("log", {"memory/2026-01-05.md": "# 2026-01-05\n\n- Decided: deploys wait for row locks\n"})
    done = read_only_mem(memory, "promote", "--dry-run")
    assert done.returncode == 0 and "deploys wait for row locks" in done.stdout, done
    asked = read_only_mem(memory, "promote", "--dry-run", "--model", "http:http://127.0.0.1:9/v1#none")
    assert asked.returncode == 3 and "nothing is sent without a place for the egress log" in asked.stderr, asked


@pytest.mark.parametrize("command", ["context", "session list", "status", "doctor", "undo --dry-run"])
def test_what_only_reads_works(memory: Repo, command: str) -> None:
    done = read_only_mem(memory, *command.split())
    words = {"context": "타임아웃", "undo --dry-run": "nothing to undo"}.get(command, "")
    assert done.returncode == (3 if "undo" in command else 0) and words in done.stdout + done.stderr, done


def test_doctor_names_an_index_folder_that_cannot_be_written(memory: Repo) -> None:
    memory.mem("search", "타임아웃")
    folder = Repo(memory.path / ".git/gitmem", init=False)
    done = read_only_run(folder, "sh", "-c", f'cd ../.. && "{sys.executable}" -m gitmem doctor')
    assert done.returncode == 1 and f"writable: {folder.path} cannot be written" in done.stdout, done
    assert f"chmod -R u+rwX {folder.path}" in done.stdout
    assert "writable" not in memory.mem("doctor").stdout


def test_doctor_says_of_a_repository_without_state_that_there_is_none(memory: Repo) -> None:
    done = memory.mem("doctor")
    assert "only you read" not in done.stdout and f"there is no {memory.path / '.git/gitmem'} yet" in done.stdout


def test_doctor_says_where_nothing_can_be_written(memory: Repo) -> None:
    done = read_only_mem(memory, "doctor")
    assert done.returncode == 0 and "nothing can be written in" in done.stdout, done


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can give a folder to another user")
def test_the_history_is_searched_beside_an_index_of_another_user(memory: Repo, tmp_path: Path) -> None:
    memory.mem("search", "--history", "deploys")
    give_away(memory.path / ".git/gitmem")
    for option in ("--history", "--history-only"):
        assert "Move deploys to Tuesday" in memory.mem("search", option, "move deploys").stdout
    assert not temporary(tmp_path)


def test_a_history_that_cannot_be_read_is_no_answer_that_there_is_nothing(memory: Repo) -> None:
    memory.mem("search", "--history", "deploys")
    history = memory.path / ".git/gitmem/history.sqlite"
    history.rename(history.with_name("other.sqlite"))
    history.symlink_to("other.sqlite")
    done = memory.mem("search", "--history", "--type", "rule", "deploys", check=False)
    assert done.returncode == 3 and "is a symbolic link" in done.stderr and "nothing found" not in done.stderr
    found = memory.mem("search", "--history", "타임아웃")
    assert "30초" in found.stdout and "no history: " in found.stderr
    memory.git("config", "--global", "mem.contextEvidence", "1")
    weak = memory.mem("search", "--history", "타임아웃")
    assert "30초" in weak.stdout and "nothing here seems to answer this" in weak.stderr
