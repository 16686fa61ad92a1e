"""A file that somebody saved since it was read is not touched at all, so that no editor reads a text that goes again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem import system
from gitmem.errors import Changed
from gitmem.git import replacement
from gitmem.git.replacement import Replacement, sweep, with_added_lines


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    scratch = tmp_path / "state/writing"
    scratch.mkdir(parents=True)
    return scratch


@pytest.mark.parametrize("after", [b"- ours\n", None], ids=["write", "removal"])
def test_a_file_that_was_saved_meanwhile_is_never_out_of_its_place(
    tmp_path: Path, scratch: Path, after: bytes | None
) -> None:
    target = tmp_path / "MEMORY.md"
    target.write_bytes(b"- saved by an editor since\n")
    before = target.stat()
    file = Replacement(tmp_path, "MEMORY.md", b"- as it was read\n", after, scratch)
    with pytest.raises(Changed):
        file.apply()
    assert file.undo()
    file.close()
    now = target.stat()  # a rename would be a change of its status
    assert (now.st_ino, now.st_ctime_ns, now.st_nlink) == (before.st_ino, before.st_ctime_ns, 1)
    assert target.read_bytes() == b"- saved by an editor since\n" and not list(scratch.iterdir())


@pytest.mark.parametrize("after", [b"- ours\n", None], ids=["write", "removal"])
def test_what_is_written_into_the_old_file_right_after_the_exchange_stands_in_its_place_again(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, after: bytes | None
) -> None:
    target = tmp_path / "MEMORY.md"
    target.write_bytes(b"- old\n")
    with open(target, "ab", buffering=0) as held:
        writes = iter([b"- theirs\n"])
        monkeypatch.setattr(replacement, "sync_folder", lambda folder: held.write(next(writes, b"")))
        file = Replacement(tmp_path, "MEMORY.md", b"- old\n", after, scratch)
        with pytest.raises(Changed):
            file.apply()
    assert target.read_bytes() == b"- old\n- theirs\n"
    assert file.undo()
    file.close()
    assert target.read_bytes() == b"- old\n- theirs\n" and not list(scratch.iterdir())


def test_lines_that_a_program_writes_while_its_lines_are_brought_over_are_brought_over_too(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "MEMORY.md"
    target.write_bytes(b"- old\n")
    with open(target, "ab", buffering=0) as held:
        file = Replacement(tmp_path, "MEMORY.md", b"- old\n", b"- new\n", scratch)
        file.apply()
        held.write(b"- first\n")
        writes = iter([b"- second\n"])
        monkeypatch.setattr(replacement, "sync_folder", lambda folder: held.write(next(writes, b"")))
        file.close()
    assert sorted(target.read_text().splitlines()) == ["- first", "- new", "- second"]
    assert not list(scratch.iterdir())


def test_a_link_that_came_in_the_place_of_the_file_since_it_was_read_stays_there(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, outside = tmp_path / "MEMORY.md", tmp_path / "outside"
    target.write_bytes(b"- old\n")
    outside.write_bytes(b"- old\n")

    def exchange(one: Path, other: Path) -> bool:
        if not target.is_symlink():
            target.unlink()
            target.symlink_to(outside)
        return real(one, other)

    real = system.exchange
    monkeypatch.setattr(system, "exchange", exchange)
    file = Replacement(tmp_path, "MEMORY.md", b"- old\n", b"- new\n", scratch)
    with pytest.raises(Changed):
        file.apply()
    file.close()
    assert target.is_symlink() and outside.read_bytes() == b"- old\n" and not list(scratch.iterdir())


@pytest.mark.parametrize("before", [b"- old\n", None], ids=["write", "creation"])
@pytest.mark.parametrize("after", [b"- new\n", None], ids=["text", "removal"])
def test_a_file_system_that_cannot_exchange_files_gets_the_new_text_and_the_old_one_back(
    tmp_path: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch, before: bytes | None, after: bytes | None
) -> None:
    if before is None and after is None:
        return
    monkeypatch.setattr(system, "exchange", lambda one, other: False)
    target = tmp_path / "MEMORY.md"
    if before is not None:
        target.write_bytes(before)
    file = Replacement(tmp_path, "MEMORY.md", before, after, scratch)
    file.apply()
    assert (target.read_bytes() if target.exists() else None) == after
    assert file.undo()
    file.close()
    assert (target.read_bytes() if target.exists() else None) == before and not list(scratch.iterdir())


def test_a_sweep_removes_scratch_files_and_nothing_else(tmp_path: Path) -> None:
    for name in (".gitmem-a1b2c3d4", ".gitmem-a1b2c3d4~", ".gitmem.toml", ".gitmem-notes.md", "MEMORY.md"):
        (tmp_path / name).write_text("x")
    sweep(tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".gitmem-notes.md", ".gitmem.toml", "MEMORY.md"]


@pytest.mark.parametrize(
    ("theirs", "current", "wanted"),
    [
        ("a\nb\nnew\n", "a\nb\nours\n", "a\nb\nnew\nours\n"),
        ("new\na\nb\n", "a\n", "a\nnew\n"),
        ("a\nnew\nb\n", "a\nc\n", "a\nnew\nc\n"),
        ("", "a\nc\n", "a\nc\n"),
        ("a\nb\nnew", "", "new"),
        ("a\nb\nnew\n", "c", "c\nnew\n"),
    ],
)
def test_lines_that_were_added_stand_behind_the_line_they_followed(theirs: str, current: str, wanted: str) -> None:
    assert with_added_lines(b"a\nb\n", theirs.encode(), current.encode()) == wanted.encode()
