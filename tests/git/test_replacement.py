"""A file that somebody saved since it was read is not touched at all, so that no editor reads a text that goes again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.errors import Changed
from gitmem.git import replacement
from gitmem.git.replacement import Replacement


@pytest.mark.parametrize("after", [b"- ours\n", None], ids=["write", "removal"])
def test_a_file_that_was_saved_meanwhile_is_never_out_of_its_place(tmp_path: Path, after: bytes | None) -> None:
    scratch, target = tmp_path / "scratch", tmp_path / "MEMORY.md"
    scratch.mkdir()
    target.write_bytes(b"- saved by an editor since\n")
    before = target.stat()
    file = Replacement(tmp_path, "MEMORY.md", b"- as it was read\n", after, scratch)
    with pytest.raises(Changed):
        file.apply()
    assert file.undo() and file.late_write() is None
    file.close()
    now = target.stat()  # a rename would be a change of its status
    assert (now.st_ino, now.st_ctime_ns, now.st_nlink) == (before.st_ino, before.st_ctime_ns, 1)
    assert target.read_bytes() == b"- saved by an editor since\n" and not list(scratch.iterdir())


@pytest.mark.parametrize("after", [b"- ours\n", None], ids=["write", "removal"])
def test_what_is_written_into_the_old_file_right_after_the_exchange_stands_in_its_place_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bytes | None
) -> None:
    scratch, target = tmp_path / "scratch", tmp_path / "MEMORY.md"
    scratch.mkdir()
    target.write_bytes(b"- old\n")
    with open(target, "ab", buffering=0) as held:
        writes = iter([b"- theirs\n"])
        monkeypatch.setattr(replacement, "sync_folder", lambda folder: held.write(next(writes, b"")))
        file = Replacement(tmp_path, "MEMORY.md", b"- old\n", after, scratch)
        with pytest.raises(Changed):
            file.apply()
    assert target.read_bytes() == b"- old\n- theirs\n"
    assert file.undo() and file.late_write() is None
    file.close()
    assert target.read_bytes() == b"- old\n- theirs\n" and not list(scratch.iterdir())
