"""Drawings of a folder's contents in a fenced block: `├── src/`, or names indented below names.

Pure. Each entry is a claim with the entries it is drawn below as its folder; which folder of the repository the drawing
begins in is for the tree to say (`path_resolution`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gitmem.claims.claim import DRAWN, Claim, Kind
from gitmem.claims.lines import MarkedLine
from gitmem.claims.path_words import file_name

_BRANCH = re.compile(r"^([\s│|┃║]*)(?:├|└|┣|┗|╠|╚|\+|\||`)(?:[─━═-]{1,4}|--+)[ \t]*(.*)$")
_ROOT = re.compile(r"^\s*([\w.@/-]+/|\.)\s*(?:[#←(].*|[ \t]{2,}.*)?$")
_NAME = re.compile(r"^([\w.@+\[\]()*{},/-]+(?: [\w.-]+\.\w+)?)(.*)$")


def is_diagram(lines: Sequence[MarkedLine]) -> bool:
    """Whether a block is a drawing: two branches at least, on half of its lines."""
    branches = sum(bool(_BRANCH.match(line.text)) for line in lines)
    return branches >= 2 and branches * 2 >= len(lines)


def claims_of(lines: Sequence[MarkedLine]) -> Iterator[Claim]:
    """The entries, each with the folder it is drawn in; a line that begins at the margin begins another drawing."""
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
        named = _NAME.match(branch[2].strip())
        above = [pair for pair in above if pair[0] < depth]
        if named is None or "..." in named[1] or named[1].startswith("(") or named[2].startswith(("<", "$")):
            continue
        name = named[1].rstrip(",").lstrip("/") or "/"
        folder = "/".join(part for _, part in above)
        if file_name(name.rsplit("/", 1)[-1]):
            kind = Kind.PATH
        else:
            kind = Kind.DIRECTORY
        if folder:
            inside = f"{folder}/{name}"
        else:
            inside = name
        yield Claim(line, name, kind, inside.strip("/"), tool=DRAWN, folder=f"{line.block}:{root}")
        above.append((depth, name.strip("/")))
