"""Work-tree files: nothing outside is touched, no link followed, nothing half-written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import GitMemError, Locked, OutsideRepository
from gitmem.git.worktree import locked, read_bytes, read_files, relative, resolve, state_dir, write_atomic


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../x", ".git/config", "memory/.GIT/config", "a\0b", ".git"]
)
def test_no_spelling_leaves_the_repository(tmp_path: Path, path: str) -> None:
    with pytest.raises(OutsideRepository):
        resolve(tmp_path, path)
    with pytest.raises(OutsideRepository):
        write_atomic(tmp_path, path, b"x")


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "secret").write_text("s")
    os.symlink(tmp_path / "secret", root / "link.md")
    os.symlink(tmp_path, root / "folder")
    for path in ("link.md", "folder/secret"):
        with pytest.raises(OutsideRepository):
            read_bytes(root, path)
        with pytest.raises(OutsideRepository):
            write_atomic(root, path, b"x")
    os.mkfifo(root / "pipe.md")
    with pytest.raises(OutsideRepository):
        read_bytes(root, "pipe.md")


def test_many_files_are_read_as_each_of_them_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "memory" / "deep").mkdir(parents=True)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret")
    for path in ("a.md", "memory/b.md", "memory/deep/c.md"):
        (root / path).write_text(path * 100)
    (tmp_path / "outside.md").write_text("outside")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    (root / "folder").symlink_to(tmp_path)
    os.mkfifo(root / "pipe.md")
    good = ["a.md", "memory/b.md", "memory/deep/c.md", "memory/b.md"]
    bad = [
        "link.md",
        "folder/outside.md",
        "pipe.md",
        "memory",
        "none.md",
        "none/a.md",
        "../outside.md",
        ".git/config",
        "",
    ]
    found = list(read_files(root, [*good, *bad, "a.md"], 150))
    assert [path for path, _ in found] == [*good, *bad, "a.md"]
    assert [data for _, data in found[:4]] == [read_bytes(root, path, 150) for path in good]
    assert all(isinstance(data, OSError | OutsideRepository) for _, data in found[4:-1])
    assert isinstance(found[8][1], FileNotFoundError) and found[-1][1] == found[0][1]


def test_a_typed_path_is_taken_from_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    assert relative(tmp_path, "a.md", tmp_path / "memory") == "memory/a.md"
    assert relative(tmp_path, str(tmp_path / "MEMORY.md")) == "MEMORY.md"
    with pytest.raises(OutsideRepository) as error:
        relative(tmp_path, "../../a.md", tmp_path / "memory")
    assert "git ls-files" in error.value.hint
    with pytest.raises(OutsideRepository):
        relative(tmp_path, str(tmp_path) + "-other/a.md")


def test_writing_keeps_the_mode_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    write_atomic(tmp_path, "memory/새.md", b"one")
    os.chmod(tmp_path / "memory/새.md", 0o640)
    write_atomic(tmp_path, "memory/새.md", b"two")
    assert read_bytes(tmp_path, "memory/새.md") == b"two"
    assert (tmp_path / "memory/새.md").stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path / "memory") == ["새.md"]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_atomic(tmp_path, "memory/새.md", b"one")

    def interrupted(handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path, "memory/새.md", b"two")
    assert [path.read_bytes() for path in (tmp_path / "memory").iterdir()] == [b"one"]


def test_a_lock_is_held_against_others_and_given_back(tmp_path: Path) -> None:
    with locked(tmp_path, "index"), pytest.raises(Locked), locked(tmp_path, "index", wait=0):
        pass
    with locked(tmp_path, "index", wait=0):
        pass
    assert state_dir(tmp_path).stat().st_mode & 0o777 == 0o700


def test_a_state_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "gitmem")
    with pytest.raises(GitMemError):
        state_dir(tmp_path)


def test_a_file_in_place_of_the_state_folder_is_said(tmp_path: Path) -> None:
    (tmp_path / "gitmem").write_text("")
    with pytest.raises(GitMemError, match="is no folder") as stopped:
        state_dir(tmp_path)
    assert "remove" in stopped.value.hint
