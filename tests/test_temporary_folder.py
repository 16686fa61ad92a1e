"""Folders for other programs' files: gone afterwards, also what a killed process left, and never another's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.system import PREFIX, make_folder, remove_folder, temporary_folder

HOLDER = """
import sys
from gitmem.system import make_folder
folder = make_folder()
(folder / "note.md").write_text("text of memory")
print(folder, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


def holder() -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_folder_is_private_and_gone_afterwards(temporary: Path) -> None:
    with temporary_folder() as folder:
        assert folder.parent == temporary and folder.stat().st_mode & 0o777 == 0o700
        (folder / "a").write_text("x")
    assert not list(temporary.iterdir())


def test_what_a_killed_process_left_goes_when_the_next_folder_is_made(temporary: Path) -> None:
    process, left = holder()
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert (left / "note.md").exists()
    with temporary_folder() as folder:
        assert not left.exists() and folder.exists()


def test_a_folder_that_a_process_holds_stays(temporary: Path) -> None:
    process, theirs = holder()
    mine = make_folder()
    with temporary_folder():
        assert (theirs / "note.md").exists() and mine.exists()
    remove_folder(mine)
    process.communicate("")
    assert [path for path in temporary.iterdir() if path != theirs] == []


def test_a_link_and_a_file_of_that_name_are_left_alone(temporary: Path) -> None:
    kept = temporary / "kept"
    kept.mkdir()
    (kept / "note.md").write_text("mine")
    (temporary / f"{PREFIX}link").symlink_to(kept)
    (temporary / f"{PREFIX}file").write_text("a file")
    with temporary_folder():
        pass
    assert (kept / "note.md").exists()
    assert {path.name for path in temporary.iterdir()} == {"kept", f"{PREFIX}link", f"{PREFIX}file"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_left_alone(temporary: Path) -> None:
    theirs = temporary / f"{PREFIX}theirs"
    theirs.mkdir()
    os.chown(theirs, 65534, 65534)
    with temporary_folder():
        assert theirs.exists()
