"""Every command and tool reads memory files only (docs/threats.md, A46)."""

from __future__ import annotations

import os
from pathlib import Path
from unicodedata import normalize

import pytest

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.git.opening import open_repository
from gitmem.memory.files import read_memory_file
from tests.harness import Repo

KEPT_BACK = {
    ".env": "TOKEN=12345\n",
    "src/app.py": "print('x')\n",
    "README.md": "# about\n",
    "docs/memory/2026-01-01.md.txt": "x\n",
    "memory/table.csv": "a,b\n",
    "memory/private/diary.md": "- mine\n",
}


def filled(repo: Repo) -> Repo:
    repo.write(".gitignore", ".env\nmemory/private/\n")
    repo.commit("start", {"MEMORY.md": "# Memory\n\n- fact\n", "memory/note.md": "- a note\n", **KEPT_BACK})
    for path in (".env", "memory/private/diary.md"):
        assert path in repo.git("status", "--ignored", "--porcelain", "-uall")
    return repo


def read(repo: Repo, path: str, commit: str = "", config: Config | None = None) -> bytes:
    opened = open_repository(repo.path, os.environ)
    try:
        return read_memory_file(opened, config or Config(), path, opened.resolve(commit) if commit else "")
    finally:
        opened.close()


@pytest.mark.parametrize("path", [*KEPT_BACK, ".git/config", "../x.md", "/etc/passwd", "memory", "memory/../.env", ""])
@pytest.mark.parametrize("commit", ["", "HEAD"])
def test_what_is_not_memory_is_not_read(repo: Repo, path: str, commit: str) -> None:
    filled(repo)
    with pytest.raises(GitMemError) as error:
        read(repo, path, commit)
    assert "12345" not in str(error.value)


@pytest.mark.parametrize("path", KEPT_BACK)
def test_show_and_why_read_memory_only(repo: Repo, path: str) -> None:
    filled(repo)
    for command in (
        ("show", path),
        ("show", path, "--at", "HEAD"),
        ("why", f"{path}:1"),
        ("why", f"{path}:1", "--at", "HEAD"),
    ):
        done = repo.mem(*command, check=False)
        assert done.returncode == 3 and done.stdout == "" and "there is no memory file" in done.stderr, command


def test_memory_is_read_from_the_work_tree_and_from_a_commit(repo: Repo) -> None:
    filled(repo)
    repo.write("memory/note.md", "- another\n")
    assert read(repo, "memory/note.md") == b"- another\n" and read(repo, "memory/note.md", "HEAD") == b"- a note\n"
    assert read(repo, "src/app.py", config=Config()._replace(memory_paths=("src/*.py",))) == b"print('x')\n"


def test_in_a_folder_of_notes_every_markdown_file_is_memory(repo: Repo) -> None:
    repo.commit("notes", {"topic.md": "- fact\n", "other.txt": "x\n"})
    assert read(repo, "topic.md") == read(repo, "topic.md", "HEAD") == b"- fact\n"
    with pytest.raises(GitMemError):
        read(repo, "other.txt")


def test_links_and_repositories_inside_are_not_followed(repo: Repo, tmp_path: Path) -> None:
    filled(repo)
    (tmp_path / "outside.md").write_text("- outside\n")
    (repo.path / "memory" / "link.md").symlink_to(tmp_path / "outside.md")
    (repo.path / "memory" / "folder").symlink_to(tmp_path)
    os.mkfifo(repo.path / "memory" / "pipe.md")
    Repo(repo.path / "memory" / "inner").commit("x", {"a.md": "- inner\n"})
    for path in ("memory/link.md", "memory/folder/outside.md", "memory/pipe.md", "memory/inner/a.md"):
        with pytest.raises(GitMemError):
            read(repo, path)


def test_a_file_beyond_the_limit_is_refused(repo: Repo) -> None:
    repo.commit("big", {"MEMORY.md": "x" * ((1 << 20) + 1)})
    for commit in ("", "HEAD"):
        with pytest.raises(GitMemError, match="larger"):
            read(repo, "MEMORY.md", commit)


def test_a_path_that_is_mistyped_is_answered_with_the_one_that_is_meant(repo: Repo) -> None:
    repo.commit("notes", {"Deploy window.md": "- a\n", "프로젝트/결제 설계.md": "- b\n", "secret.txt": "x\n"})
    for typed, meant in (
        ("deploy window.md", "Deploy window.md"), ("Deploy windw.md", "Deploy window.md"),
        ("결제 설계.md", "프로젝트/결제 설계.md"), ("프로젝트/결제 설게.md", "프로젝트/결제 설계.md"),
    ):  # fmt: skip
        for more in ((), ("--at", "HEAD")):
            done = repo.mem("show", typed, *more, check=False)
            assert done.returncode == 3 and f"did you mean '{meant}'?" in done.stderr, (typed, more)
    assert "did you mean" not in repo.mem("show", "secret.txt", check=False).stderr


def test_a_name_typed_in_other_code_points_is_found_where_the_file_is_not_on_disk(repo: Repo, tmp_path: Path) -> None:
    stored, typed = normalize("NFD", "memory/배송.md"), normalize("NFC", "memory/배송.md")
    repo.commit("note", {"MEMORY.md": "# Memory\n", stored: "# 배송\n\n- 배송 창고는 부산으로 결정했다\n"})
    repo.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    bare = Repo(tmp_path / "bare.git", init=False)
    (repo.path / stored).unlink()
    for place in (repo, bare):
        assert "부산으로" in place.mem("show", typed, "--at", "HEAD").stdout
        assert "부산으로" in place.mem("why", f"{typed}:3", "--at", "HEAD").stdout
