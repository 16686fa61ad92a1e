"""Where a fact came from in code: `code=PATH#L10-L24@BLOB12~FP8` in its comment, and whether that still holds.

Pure but for `verdict`, which reads one tree. The fingerprint is of the lines' text, white space collapsed and empty
lines out: it stands by itself where the blob is lost. Nothing here moves an anchor; `anchoring` makes one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from gitmem.claims import definitions
from gitmem.claims.finding import State
from gitmem.claims.history import History
from gitmem.claims.tree import Tree
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, decode, encode
from gitmem.paths import LIMIT

KEY = "code"
MOST = 3  # citations of one fact
FINGERPRINT = 8  # hex digits
LONGEST = 120  # lines of one citation
_FORM = re.compile(r"^([^#@\s]+)#(?:L(\d{1,7})(?:-L(\d{1,7}))?|([\w$.:-]+))(?:@([0-9a-f]{4,64}))?~([0-9a-f]{8})$")


class Citation(NamedTuple):
    """Lines `start` to `end` of a file, or the definition of `symbol` in it (then both are 0)."""

    path: str
    start: int
    end: int
    symbol: str
    blob: str
    fingerprint: str

    @property
    def place(self) -> str:
        """As a person writes it: `src/auth.py:10-24`, `src/auth.py#Session.open`."""
        if self.symbol:
            return f"{self.path}#{self.symbol}"
        return f"{self.path}:{self.start}" + (f"-{self.end}" if self.end != self.start else "")


class Verdict(NamedTuple):
    """What became of a citation: its state, a word on it, and where it is now (`start` 0: not found)."""

    citation: Citation
    state: State
    words: str
    path: str = ""
    start: int = 0
    end: int = 0
    commit: str = ""


def parse(value: str) -> Citation | None:
    """One value of the key; None for what is no citation."""
    match = _FORM.match(value)
    if match is None:
        return None
    start = int(match[2] or 0)
    end = int(match[3] or start)
    if not match[4] and not 1 <= start <= end < start + LONGEST * 10:
        return None
    return Citation(decode(match[1]), start, end, match[4] or "", match[5] or "", match[6])


def compose(citation: Citation) -> str:
    """The value: `parse` gives the same citation back."""
    lines = f"L{citation.start}" + (f"-L{citation.end}" if citation.end != citation.start else "")
    blob = f"@{citation.blob[:12]}" if citation.blob else ""
    return f"{encode(citation.path, '@#~')}#{citation.symbol or lines}{blob}~{citation.fingerprint}"


def cited(fact: Fact) -> list[Citation]:
    """The citations of a fact, `MOST` at most."""
    return [found for key, value in fact.meta if key == KEY and (found := parse(value))][:MOST]


def fingerprint(lines: Sequence[str]) -> str:
    """Of the lines' text alone: how they are indented and where blank ones stand does not matter."""
    return sha256("\n".join(_telling(lines)).encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT]


def _telling(lines: Sequence[str]) -> list[str]:
    return [text for line in lines if (text := " ".join(line.split()))]


def verdict(citation: Citation, tree: Tree, history: History) -> Verdict:
    """The state of a citation in a tree, the cheapest question first."""
    path = citation.path
    if tree.beyond(path):
        return Verdict(citation, State.UNKNOWN, "it lies in a submodule or behind a link")
    if path in tree.closed:
        return Verdict(citation, State.UNKNOWN, "it is a link now")
    if path in tree.oids:
        if citation.blob and tree.oids[path].startswith(citation.blob):
            return Verdict(citation, State.HOLDS, "unchanged", path, citation.start, citation.end)
        return _in_file(citation, tree, path, "")
    if tree.ignored(path):
        return Verdict(citation, State.UNKNOWN, "Git ignores it")
    left = history.of_path(path)
    if left and left.renamed_to in tree.oids:
        return _in_file(citation, tree, left.renamed_to, left.commit)
    if left is None and history.shallow:
        return Verdict(citation, State.UNKNOWN, "this clone is shallow")
    words = f"{path} went in {left.commit[:12]}" if left else f"there is no {path}"
    return Verdict(citation, State.GONE, words, commit=left.commit if left else "")


def _in_file(citation: Citation, tree: Tree, path: str, commit: str) -> Verdict:
    """The state of a citation whose file is `path` now."""
    size = tree.repo.sizes([tree.oids[path]]).get(tree.oids[path])
    if size is None or size > LIMIT:
        return Verdict(citation, State.UNKNOWN, "the file is too large, or is not here")
    lines = blob_lines(tree.repo.read(tree.oids[path]))
    renamed = f", in {path} now" if path != citation.path else ""
    if citation.symbol:
        found = definitions.lines_of(lines, path, citation.symbol)
        if found is None:
            words = f"{path} defines {citation.symbol} no more"
            return Verdict(citation, State.GONE, words, path, commit=commit)
        same = fingerprint(lines[found[0] - 1 : found[1]]) == citation.fingerprint
        state = State.HOLDS if same else State.CHANGED
        return Verdict(citation, state, ("unchanged" if same else "its body changed") + renamed, path, *found, commit)
    at = window(lines, citation, _length(citation, tree))
    if at:
        moved = "unchanged" if at[0] == citation.start else f"moved to line {at[0]}"
        return Verdict(citation, State.HOLDS, moved + renamed, path, *at, commit)
    return Verdict(citation, State.CHANGED, "these lines changed" + renamed, path, commit=commit)


def _length(citation: Citation, tree: Tree) -> int:
    """How many telling lines were cited, 0 where their blob is not here to count them."""
    found = tree.repo.objects_with(citation.blob) if citation.blob else []
    if len(found) != 1:
        return 0
    data = next(iter(tree.repo.read_many(found)))[1]
    return len(_telling(blob_lines(data or b"")[citation.start - 1 : citation.end]))


def window(lines: Sequence[str], citation: Citation, length: int) -> tuple[int, int] | None:
    """The first and last line of a window with the fingerprint, the nearest to where it was."""
    telling = [(number, text) for number, line in enumerate(lines, 1) if (text := " ".join(line.split()))]
    span = min(citation.end - citation.start + 1, LONGEST)
    for size in [length] if length else range(span, max(0, span - 12), -1):
        for at in sorted(range(len(telling) - size + 1), key=lambda at: abs(telling[at][0] - citation.start)):
            texts = "\n".join(text for _, text in telling[at : at + size])
            if sha256(texts.encode("utf-8", "surrogateescape")).hexdigest()[:FINGERPRINT] == citation.fingerprint:
                return telling[at][0], telling[at + size - 1][0]
    return None
