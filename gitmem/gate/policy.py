"""`Policy`: the paths, detectors, limits and exceptions that the gate applies to a change. Pure values.

`gate/tree_policies.py` builds a policy from a tree that is trusted: the staged one in a hook, the base in CI. This
module reads no tree.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from gitmem.daily_logs import is_daily
from gitmem.gate.detectors.rule_file import Rule
from gitmem.gate.exceptions import Allowlist
from gitmem.paths import (
    INSTRUCTIONS,
    MAX_MEMORY_FILE_BYTES,
    NOTE_ENDINGS,
    TEXT_ENDINGS,
    Kind,
    Layout,
    agents_read,
    holds_instructions,
    is_memory,
    kind,
    leads_to_instructions,
)

MESSAGE = "COMMIT_EDITMSG"  # the path of a finding in a commit message
NOTHING = Allowlist()
MEMORY_ONLY = (Layout(),)


@dataclass(frozen=True, slots=True)
class Policy:
    """What the gate scans, and how.

    `layouts`: a path that any of them takes as memory is scanned. `detectors`: names of `registry.DETECTORS`, empty for
    all. `protected`: globs of files that no change may touch. `daily`: patterns of daily logs. `allow`: exceptions and
    baseline. `today`: the day on which exceptions are checked; by default none has ended. `limit`: bytes that a memory
    file may have. `rules`: more token rules (`--rules`). `strict`: whether warnings block. `ids`: oids of commits,
    which no rule for random values takes for a secret. `imported`: files that agents read only because another file
    names them (`gate/imported_files.py`). `encryption`: the user's `mem.encryption`, "" for none; files of that program
    are scanned as plain text, so its filter in .gitattributes is not a finding.
    """

    layouts: tuple[Layout, ...] = MEMORY_ONLY
    detectors: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    daily: tuple[str, ...] = ()
    allow: Allowlist = NOTHING
    today: date = date.min
    limit: int = MAX_MEMORY_FILE_BYTES
    rules: tuple[Rule, ...] = ()
    strict: bool = False
    ids: frozenset[str] = frozenset()
    imported: frozenset[str] = frozenset()
    encryption: str = ""

    def scans(self, path: str) -> bool:
        """Whether the gate scans the file at this path: memory, a path that some file system would open as memory, or a
        file that agents read. Other text files below memory/ are scanned too, since an agent that lists the folder may
        open them."""
        folded = canonical(path)
        beside = folded.endswith(".mdc") and self.is_memory(path[:-1])
        if folded.startswith("memory/"):
            beside = folded.endswith((*TEXT_ENDINGS, *NOTE_ENDINGS)) or "." not in folded.rpartition("/")[2]
        return self.is_memory(path) or agents_read(path) or path in self.imported or beside

    def expects_instructions(self, path: str) -> bool:
        """Whether the file at this path is meant to hold instructions, so that an instruction in it only warns."""
        return holds_instructions(path) or (path in self.imported and kind(path) is Kind.OTHER)

    def is_memory(self, path: str) -> bool:
        """Whether this path is memory, or a file system that ignores case or Unicode form would open it as memory."""
        return any(is_memory(path, layout) or is_memory(canonical(path), layout) for layout in self.layouts)

    def is_place_of_memory(self, path: str) -> bool:
        """Whether a link or submodule at `path` would be a part of memory, because it is in a folder of memory or in
        one that a glob of the settings names. A glob without a folder (`paths = ["*.md"]`) does not count."""
        return self._is_placed(path) or self._is_placed(f"{path.rstrip('/')}/x.md")

    def _is_placed(self, path: str) -> bool:
        """Whether a path is memory under the globs that name a place: those that do not begin with a wildcard."""
        globs = tuple(dict.fromkeys(glob for layout in self.layouts for glob in layout.extra if glob[:1] not in "*?["))
        placed = Layout(extra=globs)
        return is_memory(path, placed) or is_memory(canonical(path), placed)

    def is_place_of_instructions(self, path: str) -> bool:
        """Whether a link or submodule at `path`, outside memory, would take the place of files that agents read as
        instructions. Such a link is common (CLAUDE.md to AGENTS.md), and is not a finding when its target is
        scanned."""
        kinds = (Kind.OTHER, Kind.INSTRUCTIONS)
        return leads_to_instructions(path) and kind(path) in kinds and kind(f"{path.rstrip('/')}/x.md") in kinds

    def keeps_history(self, path: str) -> bool:
        """Whether the history rules apply to this path: a daily log or MEMORY.md."""
        return kind(path) is Kind.MEMORY or is_daily(path, self.daily)

    def protects(self, path: str) -> bool:
        """Whether a glob of `protected` matches the path, or its spelling of `canonical`. `*` matches `/` too."""
        return any(fnmatchcase(path, glob) or fnmatchcase(canonical(path), glob) for glob in self.protected)


UPPER = {name.casefold(): name for name in (*INSTRUCTIONS, "MEMORY.md")}


def canonical(path: str) -> str:
    """The spelling of a path under which a file system that ignores case and Unicode form would open it: `Memory/X.MD`
    -> `memory/x.md`. The names of INSTRUCTIONS and MEMORY.md keep their capitals."""
    folded = unicodedata.normalize("NFC", path).casefold()
    head, _, name = folded.rpartition("/")
    if head == ".claude" and name in UPPER:
        return f"{head}/{UPPER[name]}"
    return UPPER.get(folded, folded)
