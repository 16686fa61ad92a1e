"""The files of an archive that a service sent a person of their data: a zip, a folder unpacked from one, or one of its
files. Each is copied to a temporary file that has no name: what is read stays as it was when it was looked at.
"""

from __future__ import annotations

import errno
import lzma
import re
import tempfile
import zipfile
import zlib
from pathlib import Path
from typing import IO

from gitmem.errors import GitMemError, UsageError
from gitmem.regular_file import open_regular

SIZE_LIMIT = 4 << 30  # bytes of one file unpacked: the largest archives people report have a quarter of it
ARCHIVE = "name the archive that the service sent"


def files_named(path: Path, names: re.Pattern[str], *, any_name: bool = False) -> list[tuple[str, IO[bytes]]]:
    """(name, private copy) of each file in the archive `path` whose path there `names` finds, in order. With `any_name`
    a file that is no zip is taken for one of them whatever its name.

    Raises UsageError where there is nothing at `path`, GitMemError for an archive that is damaged or too large.
    """
    try:
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*.json") if names.search(file.as_posix()) and file.is_file())
            return [(str(file), _copy(open_regular(file))) for file in inside]
        if not path.exists():
            raise UsageError(f"there is no file or folder '{path}'", ARCHIVE)
        with open_regular(path) as file:
            packed = zipfile.is_zipfile(file)
            file.seek(0)
            if packed:
                return _unpacked(path, file, names)
            if any_name or names.search(path.as_posix()):
                return [(str(path), _copy(file))]
            return []
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError) as error:
        if isinstance(error, OSError) and error.strerror:
            reason = error.strerror
        else:
            reason = str(error)
        raise GitMemError(f"cannot read '{path}': {reason}", "unpack it, and name the folder") from None


def _unpacked(path: Path, file: IO[bytes], names: re.Pattern[str]) -> list[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(file) as archive:
        found = sorted(name for name in archive.namelist() if names.search(name))
        return [(f"{path}:{name}", _copy(archive.open(name))) for name in found]


def _copy(source: IO[bytes]) -> IO[bytes]:
    """The bytes in a temporary file that goes with the process. Raises OSError."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - it is read as long as what it holds is
    with source:
        while part := source.read(1 << 20):
            copy.write(part)
            if copy.tell() > SIZE_LIMIT:
                raise OSError(errno.EFBIG, f"it is longer than {SIZE_LIMIT >> 30} GiB")
    copy.flush()
    return copy
