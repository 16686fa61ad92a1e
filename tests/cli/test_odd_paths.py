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


@pytest.mark.parametrize("source", ["chatgpt", "claude"])
@pytest.mark.parametrize("kind", ["pipe", "/dev/zero", "/none/here"])
def test_nothing_is_imported_from_what_is_no_file(source: str, kind: str, repo: Repo, tmp_path: Path) -> None:
    done = repo.mem("import", source, odd(kind, tmp_path), check=False)
    assert done.returncode in (2, 3) and done.stdout == "" and "git mem:" in done.stderr


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


NOBODY = "~nobody-of-that-name/x"
OF_NOBODY = {
    "mem.model": (f"gguf:{NOBODY}", "promote"),
    "mem.embedder": (f"gguf:{NOBODY}", "search x"),
    "mem.tokenizer": (f"gguf:{NOBODY}", "context x"),
    "mem.httpKeyFile": (NOBODY, "promote --model http:http://127.0.0.1:9/v1#m"),
    "mem.organisation": (NOBODY, "add --to organisation x"),
    "mem.personal": (NOBODY, "context x"),
    "mem.profile.other.root": (NOBODY, "--profile other status"),
    "mem.historyRepos": (NOBODY, "search --history x"),
}


@pytest.mark.parametrize("key", OF_NOBODY)
def test_a_setting_that_names_the_folder_of_a_user_who_is_not_there_is_no_bug(key: str, repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- A fact\n", "memory/2026-02-05.md": "- Decided: tea at four.\n"})
    value, words = OF_NOBODY[key]
    repo.git("config", "--global", key, value)
    done = repo.mem(*words.split(), check=False)
    assert done.returncode in (0, 1, 2, 3) and "a bug" not in done.stderr, done.stderr


@pytest.mark.parametrize("words", ["init --from @", "profile add other @"])
def test_the_folder_of_a_user_who_is_not_there_is_no_bug(words: str, repo: Repo) -> None:
    done = repo.mem(*words.replace("@", NOBODY).split(), check=False)
    assert done.returncode == 2 and not (repo.path / "~nobody-of-that-name").exists()


def test_a_key_in_a_pipe_is_not_waited_for(repo: Repo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "key")
    repo.git("config", "--global", "mem.httpKeyFile", str(tmp_path / "key"))
    repo.commit("start", {"memory/2026-02-05.md": "- Decided: tea at four.\n"})
    done = repo.mem("promote", "--model", "http:http://127.0.0.1:9/v1#m", check=False)
    assert done.returncode == 3 and "mem.httpKeyFile cannot be read" in done.stderr


def test_a_model_in_a_pipe_is_not_waited_for(repo: Repo, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "model.gguf")
    repo.git("config", "--global", "mem.embedder", f"gguf:{tmp_path}/model.gguf")
    done = repo.mem("search", "tea", check=False)
    assert done.returncode in (0, 1, 2, 3) and "a bug" not in done.stderr


@pytest.mark.parametrize("words", ["context x", "search x", "status", "import claude", "profile add other"])
def test_a_user_without_a_home_folder_is_no_bug(words: str, repo: Repo, tmp_path: Path) -> None:
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- A fact\n"})
    nobody = "import os, pwd\ndef none(uid):\n    raise KeyError(uid)\npwd.getpwuid = none\nos.environ.pop('HOME')\n"
    (tmp_path / "sitecustomize.py").write_text(nobody)
    done = repo.mem(*words.split(), check=False, env={"PYTHONPATH": str(tmp_path), "XDG_DATA_HOME": ""})
    assert done.returncode in (0, 1, 2) and "a bug" not in done.stderr, done.stderr
    assert not list(repo.path.glob("~*"))


@pytest.mark.parametrize("words", ["add --to MEMORY.md note", "promote", "forget MEMORY.md:1 --reason x"])
def test_a_folder_in_the_place_of_a_memory_file_is_named(words: str, repo: Repo) -> None:
    repo.commit("start", {"MEMORY.md": "- a\n"})
    (repo.path / "MEMORY.md").unlink()
    (repo.path / "MEMORY.md").mkdir()
    done = repo.mem(*words.split(), check=False)
    assert done.returncode == 3 and "MEMORY.md" in done.stderr.split("\n")[0]
