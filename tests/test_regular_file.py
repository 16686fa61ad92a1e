"""A path from outside is read in bounds: a pipe is not waited for, a device not read, a folder not opened."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from gitmem.errors import GitMemError
from gitmem.regular_file import append_private, read_input, read_regular, writable_file


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def test_a_regular_file_is_read_whole_and_behind_a_link_too(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 3_000_000)
    (tmp_path / "link").symlink_to("a")
    assert read_regular(tmp_path / "a") == read_regular(tmp_path / "link") == b"x" * 3_000_000
    assert len(read_regular(tmp_path / "a", 3_000_000)) == 3_000_000
    (tmp_path / "empty").touch()
    assert read_regular(tmp_path / "empty") == b""


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/full", "/proc/self/status", "/proc/self/mem", "/proc/self/pagemap",
                                  "/", "/none/x", "a\0b", "x" * 5000])  # fmt: skip
def test_what_is_no_regular_file_is_an_error_with_a_reason(name: str, pipe: Path) -> None:
    for path in (Path(name), pipe):
        with pytest.raises(OSError) as refused:
            read_regular(path)
        assert refused.value.strerror


def test_more_than_the_limit_is_refused_from_a_file_and_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x" * 11)
    with pytest.raises(OSError, match="longer than 10 bytes"):
        read_regular(tmp_path / "a", 10)
    with pytest.raises(GitMemError, match="longer than 10 bytes"):
        read_input(Path("-"), io.BytesIO(b"x" * 11), 10)
    assert read_input(Path("-"), io.BytesIO(b"x" * 10), 10) == b"x" * 10


def test_writing_follows_a_link_and_replaces_no_pipe_folder_or_device(tmp_path: Path, pipe: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    assert writable_file(tmp_path / "link") == tmp_path / "new" and writable_file(tmp_path / "b") == tmp_path / "b"
    (tmp_path / "loop").symlink_to("loop")
    for path in (pipe, tmp_path, Path("/dev/null"), Path(""), tmp_path / "a\0b", tmp_path / "loop"):
        with pytest.raises(GitMemError, match="no regular file"):
            writable_file(path)


def test_a_private_file_grows_and_a_link_is_not_followed(tmp_path: Path) -> None:
    assert append_private(tmp_path / "log", b"a\n") == 2
    assert append_private(tmp_path / "log", b"bc\n") == 5
    assert (tmp_path / "log").read_bytes() == b"a\nbc\n" and (tmp_path / "log").stat().st_mode & 0o777 == 0o600
    (tmp_path / "link").symlink_to("log")
    with pytest.raises(OSError):
        append_private(tmp_path / "link", b"d\n")
