"""Reads the entries of a diagram of folders in a fenced block (`├── src/`). Pure.

Each entry is a claim for its path within the diagram. `path_resolution.DiagramRoots` finds the folder of the repository
that the diagram shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitmem.claims.claim import DIAGRAM_TOOL, Claim, Kind, path_kind
from gitmem.claims.lines import MarkedLine

_BRANCH = re.compile(r"^([\s│|┃║]*)(?:├|└|┣|┗|╠|╚|\+|\||`)(?:[─━═-]{1,4}|--+)[ \t]*(.*)$")
_ROOT = re.compile(r"^\s*([\w.@/-]+/|\.)\s*(?:[#←(].*|[ \t]{2,}.*)?$")
_NAME = re.compile(r"^([\w.@+\[\]()*{},/-]+(?: [\w.-]+\.\w+)?)(.*)$")


def is_diagram(lines: Sequence[MarkedLine]) -> bool:
    """Whether a block is a diagram: at least two branches, on at least half of its lines."""
    branches = sum(bool(_BRANCH.match(line.text)) for line in lines)
    return branches >= 2 and branches * 2 >= len(lines)


def claims_of(lines: Sequence[MarkedLine]) -> Iterator[Claim]:
    """The entries of a diagram in a fenced block, each as the claim that its path within the diagram exists. A folder
    name without a branch before it is the root of a new diagram.

    `Claim.folder` of an entry is `BLOCK:ROOT`, the number of the block and the name of the root.
    """
    above: list[tuple[int, str]] = []
    root = ""
    for line in lines:
        branch = _BRANCH.match(line.text)
        if branch is None:
            if begin := _ROOT.match(line.text):
                root, above = begin[1].strip("/"), []
                if root == ".":
                    root = ""
            continue
        depth = len(branch[1])
        match = _NAME.match(branch[2].strip())
        above = [pair for pair in above if pair[0] < depth]
        if match is None or "..." in match[1] or match[1].startswith("(") or match[2].startswith(("<", "$")):
            continue
        name = match[1].rstrip(",").lstrip("/") or "/"
        path = "/".join([*(part for _, part in above), name]).strip("/")
        kind = path_kind(name)
        if name.endswith("/"):
            kind = Kind.DIRECTORY
        yield Claim(line, name, kind, path, tool=DIAGRAM_TOOL, folder=f"{line.block}:{root}")
        above.append((depth, name.strip("/")))
