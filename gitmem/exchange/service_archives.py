"""Opens files of the archive in which a service sends a person their data: a zip, an unpacked folder, or one file.

Each file is copied to a temporary file without a name, so that later changes of the archive do not matter.
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

SIZE_LIMIT = 4 << 30  # bytes of one unpacked file; the largest archives that people report have a quarter of it
ARCHIVE = "name the archive that the service sent"


def files_named(path: Path, names: re.Pattern[str], *, any_name: bool = False) -> list[tuple[str, IO[bytes]]]:
    """(name, private copy) of each file of the archive at `path` whose path contains a match of `names`, sorted by
    path. Of a folder only files `*.json` count. The position of a copy is its end.

    `any_name`: a plain file at `path` counts whatever its name is. Raises UsageError if there is nothing at `path`,
    GitMemError if the archive is damaged or a file in it is larger than SIZE_LIMIT.
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
        reason = getattr(error, "strerror", "") or str(error)
        raise GitMemError(f"cannot read '{path}': {reason}", "unpack it, and name the folder") from None


def _unpacked(path: Path, file: IO[bytes], names: re.Pattern[str]) -> list[tuple[str, IO[bytes]]]:
    """(name, private copy) of each file of a zip whose path `names` matches, sorted by path."""
    with zipfile.ZipFile(file) as archive:
        matches = sorted(name for name in archive.namelist() if names.search(name))
        return [(f"{path}:{name}", _copy(archive.open(name))) for name in matches]


def _copy(source: IO[bytes]) -> IO[bytes]:
    """A copy in a temporary file that is gone with the process; its position is the end. Closes `source`. Raises
    OSError above SIZE_LIMIT."""
    copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller reads it later
    with source:
        while part := source.read(1 << 20):
            copy.write(part)
            if copy.tell() > SIZE_LIMIT:
                raise OSError(errno.EFBIG, f"it is longer than {SIZE_LIMIT >> 30} GiB")
    copy.flush()
    return copy
