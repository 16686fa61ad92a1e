"""Where a path that a line names stands in a tree, and how surely it is that one.

From the root, from the document's folder and those above it, from a folder that the headings or the parent items name,
else anywhere by its end. `schema.js` may be `schema.ts`, `lib/core` may be `lib/core.py`, a glob is what matches it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from gitmem.claims.claim import Claim
from gitmem.claims.path_words import parts_of, spelled
from gitmem.claims.tree import Tree, joined

EXACT, NEAR, ELSEWHERE, NOWHERE = 3, 2, 1, 0
TWINS = {"js": ("ts", "tsx", "mjs", "jsx", "mts"), "jsx": ("tsx",), "mjs": ("mts",), "cjs": ("cts",), "py": ("pyi",)}
GLOB = re.compile(r"[*?]|\{[^}]*,[^}]*\}")
HALF = 0.5  # share of a drawing's entries from which it is a picture of the tree
_SPAN = re.compile(r"`([^`]+)`")


class Standing(NamedTuple):
    """How surely a claim stands (`grade`), and at what; `unknown` where the tree cannot say."""

    grade: int
    at: str = ""
    unknown: bool = False


def standing(claim: Claim, document: str, tree: Tree) -> Standing:
    """Where the path of a claim is."""
    token = claim.token.rstrip("/")
    if not token or token.startswith("/"):
        token = token.strip("/")
        if not token:
            return Standing(NOWHERE, unknown=True)
    for place in places(claim, document):
        whole = joined(place, token)
        if not whole:
            continue
        if tree.beyond(whole):
            return Standing(NOWHERE, unknown=True)
        if at := found(tree, whole):
            return Standing(EXACT, at)
    bare = token
    while bare.startswith("../"):
        bare = bare[3:]
    if re.match(r"^[@~#]/", bare):
        bare = bare[2:]
    for folder in _told_folders(claim, document, tree):
        if at := next(_ends(tree, bare, folder), ""):
            return Standing(NEAR, at)
    ends = list(_first(_ends(tree, bare, ""), 40))
    if ends:
        return Standing(ELSEWHERE, ends[0])
    return Standing(NOWHERE)


def _first(items: Iterable[str], most: int) -> Iterator[str]:
    for item, _ in zip(items, range(most), strict=False):
        yield item


def places(claim: Claim, document: str) -> list[str]:
    """The folders from which a path of the document is read, the likeliest first."""
    own = document.rpartition("/")[0]
    above = [own]
    while above[-1]:
        above.append(above[-1].rpartition("/")[0])
    if claim.folder and ":" not in claim.folder and claim.folder != "*":
        inside = [where for place in above if (where := joined(place, claim.folder))]
        return [*inside, *above]
    return above


def found(tree: Tree, path: str) -> str:
    """The path in the tree that this one spells, "" where there is none."""
    if tree.has(path):
        return path
    folder, _, name = path.rpartition("/")
    if GLOB.search(path):
        return _matching(tree, path)
    stem, _dot, ending = name.rpartition(".")
    prefix = ""
    if folder:
        prefix = f"{folder}/"
    for twin in TWINS.get(ending, ()):
        if tree.has(f"{prefix}{stem}.{twin}"):
            return f"{prefix}{stem}.{twin}"
    if folder in tree.folders and name in tree.stems:
        for candidate in tree.stems[name]:
            if candidate.rpartition("/")[0] == folder:
                return candidate
    if "[" in path and (plain := re.sub(r"\\([\[\]()])", r"\1", path)) != path:
        return found(tree, plain)
    if path.casefold() not in tree.folded:
        return ""
    return path


@lru_cache(maxsize=512)
def _glob(path: str) -> re.Pattern[str]:
    forms = [path]
    for _ in range(4):
        forms = [
            form[: match.start()] + choice.strip() + form[match.end() :]
            for form in forms
            for match in [re.search(r"\{([^{}]*)\}", form)]
            if match
            for choice in match[1].split(",")
        ] or forms
    parts = [translate(form.replace("**/", "*").replace("[", "[[]")) for form in forms[:32]]
    return re.compile("|".join(parts))


def _matching(tree: Tree, path: str) -> str:
    form = _glob(path)
    fixed = path[: min([path.find(sign) for sign in "*?{" if sign in path])].rpartition("/")[0]
    if fixed and fixed not in tree.folders:
        return ""
    return next((file for file in (*tree.oids, *tree.folders) if file.startswith(fixed) and form.match(file)), "")


def _ends(tree: Tree, path: str, folder: str) -> Iterator[str]:
    """What stands anywhere below a folder and ends with a path."""
    if GLOB.search(path):
        if at := _matching(tree, f"{folder}/**/{path}".lstrip("/")):
            yield at
        return
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    names = [name, *(f"{stem}.{twin}" for twin in TWINS.get(ending, ()))]
    start = ""
    if folder:
        start = f"{folder}/"
    for spelled_name in names:
        whole = path[: len(path) - len(name)] + spelled_name
        for candidate in tree.named.get(spelled_name, ()):
            if candidate.startswith(start) and f"/{candidate}".endswith(f"/{whole}"):
                yield candidate
    if "/" in path and name in tree.stems:
        for candidate in tree.stems[name]:
            if candidate.startswith(start) and f"/{candidate}".find(f"/{path}.") >= 0:
                yield candidate


def _told_folders(claim: Claim, document: str, tree: Tree) -> list[str]:
    """The folders that the line's headings and parent items, or the line itself before the claim, name."""
    line = claim.line
    before = line.text[: max(line.text.find(claim.text), 0)]
    folders: list[str] = []
    for words in (before, *reversed(line.parents), *reversed(line.trail)):
        spans = [match[1] for match in _SPAN.finditer(words)] or words.split()
        for word in spans:
            path = spelled(word.strip("()*:,"))
            if not path or "*" in path or len(folders) > 12:
                continue
            for place in places(claim._replace(folder=""), document):
                whole = joined(place, path)
                if whole in tree.folders:
                    folder = whole
                else:
                    folder = whole.rpartition("/")[0]
                if folder and folder in tree.folders and folder not in folders and parts_of(path):
                    folders.append(folder)
                    break
    return folders


class DiagramRoots:
    """Where each drawing of a document begins: the folder from which most of its entries stand."""

    def __init__(self, document: str, claims: Iterable[Claim], tree: Tree) -> None:
        self.roots: dict[str, tuple[str, float]] = {}
        groups: dict[str, list[Claim]] = {}
        for claim in claims:
            groups.setdefault(claim.folder, []).append(claim)
        for key, members in groups.items():
            root = key.partition(":")[2]
            tried = [*places(members[0]._replace(folder=""), document)]
            last = root.rpartition("/")[2]
            if root:
                tried += [joined(place, root) for place in list(tried)]
                tried += [path for path in tree.named.get(last, ()) if path in tree.folders][:20]
            else:  # with a name of its own it is no picture of just any folder of that shape
                first = members[0].token.split("/")[0]
                tried += [path.rpartition("/")[0] for path in tree.named.get(first, ())][:20]
            tried += _told_folders(members[0], document, tree)
            best = max(
                (
                    (sum(bool(found(tree, joined(place, one.token))) for one in members), -at)
                    for at, place in enumerate(tried)
                ),
                default=(0, 0),
            )
            self.roots[key] = (tried[-best[1]] if tried else "", best[0] / len(members))

    def standing(self, claim: Claim, tree: Tree) -> Standing:
        """Where an entry is; unknown where less than half of its drawing is there."""
        root = self.roots[claim.folder][0]
        whole = joined(root, claim.token)
        if tree.beyond(whole):
            return Standing(NOWHERE, whole, unknown=True)
        at = found(tree, whole)
        if at:
            return Standing(EXACT, at)
        return Standing(NOWHERE, whole, unknown=self.strange(claim.folder))

    def strange(self, key: str) -> bool:
        """Whether a drawing is no picture of the tree: less than half of it stands."""
        return self.roots[key][1] < HALF
