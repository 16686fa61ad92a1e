"""Finds the files of a project that a host (the program that runs an agent) loads for its agent.

These are the host's own instruction files, the files they import, and its folder of rules.

Reads the work tree; writes nothing. A file that cannot be read counts as not loaded.
"""

from __future__ import annotations

import re
from pathlib import Path

from gitmem.errors import OutsideRepository
from gitmem.gate.imported_files import MAX_IMPORT_DEPTH, import_places
from gitmem.git.worktree import read_bytes
from gitmem.hosts.host import Host
from gitmem.paths import MAX_MEMORY_FILE_BYTES

MAX_FILES = 50  # files that are read
RULES = "rules/"  # end of the path of a host's folder of rules
# Code, in which an `@path` imports nothing.
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]*`", re.M | re.S)


def loaded_files(host: Host, root: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(the paths that a host loads, folders with "/" at the end; the texts of the host's files that can be read).

    The paths are `host.loads`, whether or not such a file exists, the files that were read because another file imports
    them, and the host's folders of rules. The texts are those of `host.loads`, of the host's instruction files and of
    imported files, at most MAX_FILES.
    """
    importing = set(host.reads.imports)
    instruction_files = [path for path in host.reads.instructions if not path.endswith("/")]
    folders = [path for path in host.reads.instructions if path.endswith(RULES)]
    texts: dict[str, str] = {}
    unread = list(dict.fromkeys((*host.loads, *instruction_files)))
    imported: set[str] = set()
    for _ in range(MAX_IMPORT_DEPTH + 1):
        found_imports: list[str] = []
        for path in unread:
            text = None
            if path not in texts and len(texts) < MAX_FILES:
                text = _text(root, path)
            if text is None:
                continue
            texts[path] = text
            if path in importing or path in imported:
                targets = [_first_file(root, places) for places in import_places(path, _CODE.sub("", text))]
                found_imports += [name for name in targets if name]
        imported |= set(found_imports)
        unread = found_imports
    paths = tuple(dict.fromkeys((*host.loads, *(path for path in texts if path in imported))))
    return (*paths, *folders), tuple(texts.values())


def _text(root: Path, path: str) -> str | None:
    """The text of a file in the project; None if it cannot be read."""
    try:
        return read_bytes(root, path, MAX_MEMORY_FILE_BYTES).decode("utf-8", "replace")
    except (OSError, OutsideRepository):
        return None


def _first_file(root: Path, places: list[str]) -> str:
    """The first path of `places` that is a file inside the project; "" if there is none."""
    inside = (place for place in places if not place.startswith(("..", "/", "~")))
    return next((place for place in inside if (root / place).is_file()), "")
