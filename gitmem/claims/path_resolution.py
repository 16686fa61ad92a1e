"""Resolves the path that a line names to a path of a tree, with a grade for the certainty of the match.

A path is tried from the document's folder and the folders above it up to the root (EXACT), then from a folder that the
line, its headings or its parent items name (NEAR), then as the end of any path (ELSEWHERE). `schema.js` may match
`schema.ts`, `lib/core` may match `lib/core.py`, and a glob matches any of its files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

from gitmem.claims.claim import Claim
from gitmem.claims.path_words import as_path, parts_of
from gitmem.claims.tree import Tree, joined

EXACT, NEAR, ELSEWHERE, NOWHERE = 3, 2, 1, 0  # grades of a match, best first
TWINS = {"js": ("ts", "tsx", "mjs", "jsx", "mts"), "jsx": ("tsx",), "mjs": ("mts",), "cjs": ("cts",), "py": ("pyi",)}
GLOB = re.compile(r"[*?]|\{[^}]*,[^}]*\}")
MIN_DIAGRAM_SHARE = 0.5  # a diagram shows the tree if at least this share of its entries exists
MAX_MATCHES = 20  # folders with the name of a diagram's root, or of its first entry, that are tried
_SPAN = re.compile(r"`([^`]+)`")


class Resolution(NamedTuple):
    """The result of looking up a claim.

    `grade`: how certain the match is: EXACT, NEAR, ELSEWHERE or NOWHERE (no match). `at`: the path that was found; for
    NOWHERE a reason or "". `unknown`: whether the tree cannot answer; the claim must then not be called false.
    """

    grade: int
    at: str = ""
    unknown: bool = False


def resolve(claim: Claim, document: str, tree: Tree) -> Resolution:
    """Look up the path of a claim. `document`: the file that makes the claim. The result is unknown for an empty path
    and for a path behind a link or in a submodule."""
    token = claim.token.strip("/")
    if not token:
        return Resolution(NOWHERE, unknown=True)
    for place in base_folders(claim, document):
        whole = joined(place, token)
        if not whole:
            continue
        if tree.is_behind_link(whole):
            return Resolution(NOWHERE, unknown=True)
        if found_path := find_path(tree, whole):
            return Resolution(EXACT, found_path)
    bare = token
    while bare.startswith("../"):
        bare = bare[3:]
    if re.match(r"^[@~#]/", bare):
        bare = bare[2:]
    for folder in _named_folders(claim, document, tree):
        if found_path := _first_end(tree, claim, bare, folder):
            return Resolution(NEAR, found_path)
    if found_path := _first_end(tree, claim, bare, ""):
        return Resolution(ELSEWHERE, found_path)
    return Resolution(NOWHERE)


def _first_end(tree: Tree, claim: Claim, path: str, folder: str) -> str:
    """The first path of `_ends`, "" without one. A claim that begins with "/" and has no ending, such as the address
    `/pay/callback`, is not a file `src/pay/callback.py`."""
    is_address = claim.token.startswith("/") and "." not in path
    for end in _ends(tree, path, folder):
        if not is_address or end.endswith(path):
            return end
    return ""


def base_folders(claim: Claim, document: str) -> list[str]:
    """The folders to which the path of a claim may be relative, the likeliest first: those that its command line names,
    then the folder of the file `document` and the folders above it."""
    return [*named_folders(claim, document), *_folders_above(document)]


def named_folders(claim: Claim, document: str) -> list[str]:
    """The folders that the folder of a claim (`cd web`, `--prefix web`) may mean, the likeliest first: it may be
    relative to the document's folder or to one above. [] for a claim without a folder."""
    if not claim.folder or ":" in claim.folder or claim.folder == "*":
        return []
    return list(filter(None, [joined(place, claim.folder) for place in _folders_above(document)]))


def _folders_above(document: str) -> list[str]:
    """The folder of a file and the folders above it, "" for the root last."""
    above = [document.rpartition("/")[0]]
    while above[-1]:
        above.append(above[-1].rpartition("/")[0])
    return above


def find_path(tree: Tree, path: str) -> str:
    """The path of the tree that `path` (from the root) means: itself, the first match of its glob, the same name with
    another ending (TWINS), or for a name without ending a file with that stem; "" without one. A path that differs from
    one of the tree only in case is returned as it was given."""
    if tree.has(path):
        return path
    folder, _, name = path.rpartition("/")
    if GLOB.search(path):
        return _matching(tree, path)
    stem, _, ending = path.rpartition(".")
    for twin in TWINS.get(ending, ()):
        if tree.has(f"{stem}.{twin}"):
            return f"{stem}.{twin}"
    if folder in tree.folders and name in tree.stems:
        for candidate in tree.stems[name]:
            if candidate.rpartition("/")[0] == folder:
                return candidate
    if "[" in path and (plain := re.sub(r"\\([\[\]()])", r"\1", path)) != path:
        return find_path(tree, plain)
    if path.casefold() not in tree.folded:
        return ""
    return path


@lru_cache(maxsize=512)
def _glob(path: str) -> re.Pattern[str]:
    """A glob as a regular expression that matches whole paths. `*`, `?` and `**/` match `/` too, and `[` is an ordinary
    character. Up to four groups `{a,b}` of a glob are expanded, and at most 32 forms are kept."""
    forms = [path]
    for _ in range(4):
        expanded = []
        for form in forms:
            group = re.search(r"\{(?P<choices>[^{}]*)\}", form)
            if group:
                before, after = form[: group.start()], form[group.end() :]
                expanded += [before + choice.strip() + after for choice in group["choices"].split(",")]
        forms = expanded or forms
    parts = [translate(form.replace("**/", "*").replace("[", "[[]")) for form in forms[:32]]
    return re.compile("|".join(parts))


def _matching(tree: Tree, path: str) -> str:
    """The first file or folder of the tree that a glob matches, "" without one."""
    form = _glob(path)
    fixed = path[: min([path.find(sign) for sign in "*?{" if sign in path])].rpartition("/")[0]
    if fixed and fixed not in tree.folders:
        return ""
    return next((file for file in (*tree.oids, *tree.folders) if file.startswith(fixed) and form.match(file)), "")


def _ends(tree: Tree, path: str, folder: str) -> Iterator[str]:
    """The files and folders below `folder` ("" for the root) whose path ends with `path`, then with another ending of
    TWINS, then, if `path` has a folder and no ending, with any ending; for a glob only the first match."""
    if GLOB.search(path):
        if match := _matching(tree, f"{folder}/**/{path}".lstrip("/")):
            yield match
        return
    name = path.rpartition("/")[2]
    stem, _, ending = name.rpartition(".")
    names = [name, *(f"{stem}.{twin}" for twin in TWINS.get(ending, ()))]
    start = f"{folder}/".lstrip("/")
    for spelled_name in names:
        whole = path[: len(path) - len(name)] + spelled_name
        for candidate in tree.named.get(spelled_name, ()):
            if candidate.startswith(start) and f"/{candidate}".endswith(f"/{whole}"):
                yield candidate
    if "/" in path and name in tree.stems:
        for candidate in tree.stems[name]:
            if candidate.startswith(start) and f"/{candidate}".find(f"/{path}.") >= 0:
                yield candidate


def _named_folders(claim: Claim, document: str, tree: Tree) -> list[str]:
    """The folders of the tree that are named by the line before the claim, by its parent items or by its headings, the
    nearest first."""
    line = claim.line
    before = line.text[: max(line.text.find(claim.text), 0)]
    folders: list[str] = []
    for words in (before, *reversed(line.parents), *reversed(line.trail)):
        spans = [match[1] for match in _SPAN.finditer(words)] or words.split()
        for word in spans:
            path = as_path(word.strip("()*:,"))
            if not path or "*" in path or len(folders) > 12:
                continue
            for place in base_folders(claim._replace(folder=""), document):
                folder = joined(place, path)
                if folder not in tree.folders:
                    folder = folder.rpartition("/")[0]
                if folder and folder in tree.folders and folder not in folders and parts_of(path):
                    folders.append(folder)
                    break
    return folders


class DiagramRoots:
    """The folder that each diagram of a document shows: the folder that has most of its entries.

    `roots`: `Claim.folder` of the entries -> (folder, share of the entries that exist).
    """

    def __init__(self, document: str, claims: Iterable[Claim], tree: Tree) -> None:
        self.roots: dict[str, tuple[str, float]] = {}
        groups: dict[str, list[Claim]] = {}
        for claim in claims:
            groups.setdefault(claim.folder, []).append(claim)
        for key, members in groups.items():
            root = key.partition(":")[2]
            tried = [*base_folders(members[0]._replace(folder=""), document)]
            root_name = root.rpartition("/")[2]
            if root:
                tried += [joined(place, root) for place in list(tried)]
                tried += [path for path in tree.named.get(root_name, ()) if path in tree.folders][:MAX_MATCHES]
            else:  # a diagram whose root has a name shows no folder of another name
                first_entry = members[0].token.split("/")[0]
                tried += [path.rpartition("/")[0] for path in tree.named.get(first_entry, ())][:MAX_MATCHES]
            tried += _named_folders(members[0], document, tree)
            counts = [sum(bool(find_path(tree, joined(place, member.token))) for member in members) for place in tried]
            best = max(counts)
            self.roots[key] = (tried[counts.index(best)], best / len(members))

    def resolve(self, claim: Claim, tree: Tree) -> Resolution:
        """Look up an entry of a diagram. A missing entry of a diagram that shows another tree (`strange`) gives an
        unknown result."""
        root = self.roots[claim.folder][0]
        whole = joined(root, claim.token)
        if tree.is_behind_link(whole):
            return Resolution(NOWHERE, whole, unknown=True)
        if found_path := find_path(tree, whole):
            return Resolution(EXACT, found_path)
        return Resolution(NOWHERE, whole, unknown=self.strange(claim.folder))

    def strange(self, key: str) -> bool:
        """Whether a diagram does not show this tree: less than MIN_DIAGRAM_SHARE of its entries exists. `key`:
        `Claim.folder` of its entries."""
        return self.roots[key][1] < MIN_DIAGRAM_SHARE
