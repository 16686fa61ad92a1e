"""A hash of the package's own files, so that a cache on disk is emptied when the code that filled it changes."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent
SUFFIXES = frozenset((".py", ".json", ".bin", ".tsv", ".words"))  # of files on which a result may depend


@cache
def state_of(*folders: str) -> str:
    """A hash of name, size and modification time of every file with one of SUFFIXES in these folders of the package.

    `folders`: paths below the package, such as "models/static". "" if a file cannot be read, so that nothing is cached.
    """
    digest = hashlib.sha256()
    try:
        for folder in folders:
            for path in sorted((PACKAGE / folder).rglob("*")):
                if path.suffix in SUFFIXES:
                    status = path.stat()
                    digest.update(f"{path.name} {status.st_size} {status.st_mtime_ns}\n".encode())
    except OSError:
        return ""
    return digest.hexdigest()
