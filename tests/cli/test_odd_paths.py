"""A path that is no file ends a command with a sentence and 2 or 3: nothing is waited for, and nothing is a bug."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.harness import Repo

READERS = (
    "session flush @", "session end @", "session compact @ --force", "session prune @", "context --transcript @ x",
    "eval @", "eval --promote @",
)  # fmt: skip


def odd(kind: str, folder: Path) -> str:
    if kind == "pipe":
        os.mkfifo(folder / "pipe")
        return str(folder / "pipe")
    return str(folder) if kind == "folder" else kind


@pytest.mark.parametrize("words", READERS)
@pytest.mark.parametrize("kind", ["pipe", "folder", "/dev/zero", "/proc/self/status", "/none/here", ""])
def test_a_path_that_is_no_file_is_refused_in_words(words: str, kind: str, repo: Repo, tmp_path: Path) -> None:
    path = odd(kind, tmp_path)
    done = repo.mem(*[word.replace("@", path) for word in words.split()], check=False)
    assert done.returncode in (2, 3) and done.stdout == "" and done.stderr, (done.returncode, done.stderr)


@pytest.mark.parametrize("kind", ["pipe", "folder", "/none/here", ""])
def test_a_transcript_is_never_written_over_what_is_no_file(kind: str, repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id": "t1", "role": "user", "text": "hello"}\n')
    path = odd(kind, tmp_path)
    done = repo.mem("session", "prune", str(tmp_path / "t.jsonl"), "-o", path, check=False)
    assert done.returncode in (2, 3) and "git mem:" in done.stderr
    assert kind != "pipe" or stat.S_ISFIFO(os.stat(path).st_mode)


@pytest.mark.parametrize("name", ["/proc/x", "/proc/self/x/y", "/dev/null/x", "x" * 300, "/sys/x"])
@pytest.mark.parametrize("words", ["init @", "init @ --from ../other", "init new --from @"])
def test_a_memory_is_not_laid_out_where_none_can_be(name: str, words: str, repo: Repo, tmp_path: Path) -> None:
    (repo.path.parent / "other").mkdir(exist_ok=True)
    done = repo.mem(*[word.replace("@", name) for word in words.split()], check=False)
    assert done.returncode in (2, 3) and "git mem:" in done.stderr, done.stderr


def test_the_folder_of_a_user_who_is_not_there_is_no_bug(repo: Repo) -> None:
    assert repo.mem("init", "--from", "~nobody-of-that-name/x", check=False).returncode == 2
