"""Judges a claim whose thing is missing and never existed in history: by its form alone it is false, suspect, or
neither."""

from __future__ import annotations

import re

from gitmem.claims.agent_files import is_procedure
from gitmem.claims.claim import DIAGRAM_TOOL, Kind
from gitmem.claims.claim_lookup import NAMED_KINDS, ClaimLookup, FileClaim
from gitmem.claims.code_words import PROSE
from gitmem.claims.extraction import LINK
from gitmem.claims.path_resolution import GLOB, base_folders
from gitmem.claims.path_words import as_path
from gitmem.claims.tree import joined
from gitmem.paths import Kind as FileKind
from gitmem.paths import kind

LANGUAGES = ("python", "node", "node.js", "nodejs", "go", "golang", "rust", "java", "jdk")
_IN_FILE = re.compile(r"(?:\s+\w+){0,2},?\s*(?:\bin|\bfrom|\bat|\bsee|\()\s*`(?P<path>[^`]+)`", re.IGNORECASE)
_FILE_FIRST = re.compile(
    r"^\s*(?:[-*+]|\d+\.|\|)\s*(?:\*\*)?`(?P<path>[^`]+)`(?:\*\*)?\s*(?:[:—–|-]|\bdefines\b|\bexports\b)"
)
_LEADS = re.compile(r"^\s*[-*+]\s+(?:\*\*)?`$")  # the claim is the first word of a list item
_TESTS = re.compile(
    r"\b(?:pytest|jest|vitest|mocha|playwright|rspec|phpunit|unittest|(?:go|cargo|dotnet|mix|swift|bun|deno) test|"
    r"(?:npm|pnpm|yarn)(?: run)? test\S*|lint\S*|ruff|eslint|mypy)\b"
)
_LISTED = re.compile(r"^\s*(?:[-*+|]|\d+\.)")


def is_certain(file_claim: FileClaim, lookup: ClaimLookup) -> bool:
    """Whether the form of a claim is enough to call it false. The caller has found that its thing is missing or other.

    True, only for a plain claim, for a path that should exist (`_leaf`), a script of a manifest, a name that the line
    places in a file that exists, and the version of a language. False for a script whose word may be an argument, for
    one in a note of memory, which may tell of work in another repository, and for environment variables and ports.
    """
    claim = file_claim.claim
    if not claim.plain:
        return False
    match claim.kind:
        case Kind.COMMAND:
            return not claim.tool.endswith("?") and kind(file_claim.path) is not FileKind.NOTE
        case Kind.VERSION:
            return claim.tool in LANGUAGES
        case Kind.SYMBOL:
            return _located(file_claim, lookup)
        case Kind.ENVIRONMENT | Kind.PORT:
            return False
        case Kind.PATH | Kind.DIRECTORY:
            return not GLOB.search(claim.token) and _leaf(file_claim, lookup)


def _leaf(file_claim: FileClaim, lookup: ClaimLookup) -> bool:
    """Whether a path should exist. A file should if it is the target of a link, if the tree has it elsewhere
    (`only_place`), or if its folder exists and no test command precedes it. A folder should if its parent exists and it
    is the target of a link, has two folders above it, or is the subject of a list item."""
    claim = file_claim.claim
    before = claim.line.text.partition(claim.text)[0]
    folder = file_claim.path.rpartition("/")[0]
    parents = {parent_of(claim.token.rstrip("/"))}
    if folder and "/" in claim.token.strip("/"):
        parents.add(joined(folder, parent_of(claim.token.rstrip("/"))) or "?")
    has_parent = any(parent in lookup.tree.folders for parent in parents)
    if claim.kind is Kind.DIRECTORY:
        if not has_parent or claim.folder or claim.tool not in ("", LINK):
            return False
        deep = claim.token.strip("/").count("/") >= 2
        return claim.tool == LINK or (not is_procedure(file_claim.path) and (deep or bool(_LEADS.match(before))))
    if claim.tool == LINK or only_place(file_claim, lookup):
        return True
    if _TESTS.search(before):
        return False  # an example such as `pytest tests/x_test.py`: the reader chooses the file
    return has_parent and not claim.tool and not claim.folder and "/" in claim.token


def only_place(file_claim: FileClaim, lookup: ClaimLookup) -> str:
    """The path of the only file of the tree with the missing file's name, if it is below the same top folder. "" if
    there is no such file or several, and for a claim that is not a path with at least two folders."""
    token = file_claim.claim.token
    if file_claim.claim.kind is not Kind.PATH or token.count("/") < 2 or file_claim.claim.tool or GLOB.search(token):
        return ""
    same_name = [path for path in lookup.tree.named.get(token.rpartition("/")[2], ()) if path in lookup.tree.oids]
    first_step = token.partition("/")[0]
    tops = list(filter(None, [joined(place, first_step) for place in base_folders(file_claim.claim, file_claim.path)]))
    tops = [top for top in tops if top in lookup.tree.folders]
    if len(same_name) == 1 and any(same_name[0].startswith(f"{top}/") for top in tops):
        return same_name[0]
    return ""


def _located(file_claim: FileClaim, lookup: ClaimLookup) -> bool:
    """Whether the line names the file that has the name (`name` in `src/x.py`, or `src/x.py`: `name`), and that file
    exists."""
    before, text, after = file_claim.claim.line.text.partition(f"`{file_claim.claim.text}`")
    match = _IN_FILE.match(after) or _FILE_FIRST.match(before)
    if not text or not match:
        return False
    path = as_path(match["path"])
    if not path or PROSE.search(path) or "." not in path.rpartition("/")[2]:
        return False
    places = [joined(folder, path) for folder in base_folders(file_claim.claim, file_claim.path)]
    return any(place and place in lookup.tree.oids for place in places)


def is_suspect(file_claim: FileClaim, lookup: ClaimLookup) -> bool:
    """Whether a missing thing is worth a warning though it never existed in history: a version in a list, or, if the
    claim is plain, a command or diagram entry, or a path in a folder that exists. A name never is."""
    claim = file_claim.claim
    if claim.kind is Kind.VERSION:
        return bool(_LISTED.match(claim.line.text))
    if not claim.plain or claim.kind in NAMED_KINDS:
        return False
    if claim.tool == DIAGRAM_TOOL or claim.kind is Kind.COMMAND:
        return True
    is_path = "/" in claim.token if claim.kind is Kind.PATH else claim.text.endswith("/")
    whole = list(filter(None, [joined(place, claim.token) for place in base_folders(claim, file_claim.path)]))
    return is_path and any(parent_of(path.rstrip("/")) in lookup.tree.folders for path in whole)


def parent_of(path: str) -> str:
    """The folder of a path; "?", which no tree has, for a path without a folder."""
    return path.rpartition("/")[0] or "?"
