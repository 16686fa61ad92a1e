"""What the gate holds a change to: which paths, which detectors, which limits, which exceptions. Pure values.

A policy is built from the tree that is trusted for the case at hand (the staged tree in a hook, the base in
CI); this module never reads one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

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
    is_daily,
    is_memory,
    kind,
    leads_to_instructions,
)

MESSAGE = "COMMIT_EDITMSG"  # the path a finding in a commit message has
NOTHING = Allowlist()
MEMORY_ONLY = (Layout(),)


@dataclass(frozen=True, slots=True)
class Policy:
    """`layouts` are united: what any of them takes as memory is scanned.

    `detectors` are names of `gitmem.gate.detectors.DETECTORS`, empty for all; `rules` are more token rules (of
    `--rules`); `daily` are patterns of daily logs; `today` ends exceptions; `strict`: what would warn blocks;
    `ids` are oids of commits, which no rule about random values takes for a secret; `imported` are files that another
    leads agents to (`gate/imported_files.py`); `encryption` is the user's `mem.encryption` ("" for none): what that
    program encrypted is scanned as its text, so its filter is no finding.
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

    def concerns(self, path: str) -> bool:
        """Whether the gate reads this path: memory, what some file system would take for memory, what agents read.

        Other text among memory counts too: an agent that looks around there opens it, and a link may lead to it.
        """
        folded = canonical(path)
        beside = folded.endswith(".mdc") and self.remembers(path[:-1])
        if folded.startswith("memory/"):
            beside = folded.endswith((*TEXT_ENDINGS, *NOTE_ENDINGS)) or "." not in folded.rpartition("/")[2]
        return self.remembers(path) or agents_read(path) or path in self.imported or beside

    def instructs(self, path: str) -> bool:
        """Whether instructions belong in this file, so that they only warn there."""
        return holds_instructions(path) or (path in self.imported and kind(path) is Kind.OTHER)

    def remembers(self, path: str) -> bool:
        """Whether this path is memory, or what some file system would take for it."""
        return any(is_memory(path, layout) or is_memory(canonical(path), layout) for layout in self.layouts)

    def holds(self, path: str) -> bool:
        """Whether something that is no plain file at `path` (a link, a submodule) would stand in memory.

        Where every note is memory (a folder of notes, `paths = ["*.md"]`) a link or submodule is nobody's: what counts
        is memory by its place, and a folder that the settings name.
        """
        return self._is_placed(path) or self._is_placed(f"{path.rstrip('/')}/x.md")

    def _is_placed(self, path: str) -> bool:
        named = tuple(dict.fromkeys(glob for each in self.layouts for glob in each.extra if glob[:1] not in "*?["))
        layout = Layout(extra=named)
        return is_memory(path, layout) or is_memory(canonical(path), layout)

    def guides(self, path: str) -> bool:
        """Whether a link or submodule at `path` would stand for files that agents read and that are no memory.

        A link there is common (CLAUDE.md to AGENTS.md) and fine where it leads to what is scanned.
        """
        own = (Kind.OTHER, Kind.INSTRUCTIONS)
        return leads_to_instructions(path) and kind(path) in own and kind(f"{path.rstrip('/')}/x.md") in own

    def keeps_history(self, path: str) -> bool:
        """Whether the history rules look at a change of this path: a daily log or MEMORY.md."""
        return kind(path) is Kind.MEMORY or is_daily(path, self.daily)

    def protects(self, path: str) -> bool:
        """Whether `protected` names the path."""
        return any(fnmatchcase(path, glob) or fnmatchcase(canonical(path), glob) for glob in self.protected)


UPPER = {name.casefold(): name for name in (*INSTRUCTIONS, "MEMORY.md")}


def canonical(path: str) -> str:
    """The spelling a case-folding, normalising file system would find: `Memory/X.MD` -> `memory/x.md`."""
    folded = unicodedata.normalize("NFC", path).casefold()
    head, _, name = folded.rpartition("/")
    if head == ".claude" and name in UPPER:
        return f"{head}/{UPPER[name]}"
    return UPPER.get(folded, folded)


def distinct(layouts: Iterable[Layout]) -> tuple[Layout, ...]:
    """Layouts without repeats, in order."""
    return tuple(dict.fromkeys(layouts))
