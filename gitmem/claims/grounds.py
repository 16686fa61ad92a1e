"""On which ground a claim is said that history does not know: its form alone makes it false, or worth a look."""

from __future__ import annotations

import re

from gitmem.claims.agent_files import procedure
from gitmem.claims.claim import DRAWN, Kind
from gitmem.claims.code_words import PROSE
from gitmem.claims.extraction import LINK
from gitmem.claims.judge import NAMED_KINDS, Judge, Said
from gitmem.claims.path_resolution import GLOB, places
from gitmem.claims.path_words import spelled
from gitmem.claims.tree import joined

LANGUAGES = ("python", "node", "node.js", "nodejs", "go", "golang", "rust", "java", "jdk")
_IN_FILE = re.compile(r"(?:\s+\w+){0,2},?\s*(?:\bin|\bfrom|\bat|\bsee|\()\s*`(?P<path>[^`]+)`", re.IGNORECASE)
_FILE_FIRST = re.compile(
    r"^\s*(?:[-*+]|\d+\.|\|)\s*(?:\*\*)?`(?P<path>[^`]+)`(?:\*\*)?\s*(?:[:—–|-]|\bdefines\b|\bexports\b)"
)
_LEADS = re.compile(r"^\s*[-*+]\s+(?:\*\*)?`$")  # before what a list item is about
_TESTS = re.compile(
    r"\b(?:pytest|jest|vitest|mocha|playwright|rspec|phpunit|unittest|(?:go|cargo|dotnet|mix|swift|bun|deno) test|"
    r"(?:npm|pnpm|yarn)(?: run)? test\S*|lint\S*|ruff|eslint|mypy)\b"
)
_LISTED = re.compile(r"^\s*(?:[-*+|]|\d+\.)")


def certain(one: Said, judge: Judge) -> bool:
    """Whether a claim that history does not know is false for its form alone: a leaf of a folder that stands, a script
    that no manifest defines, what a link leads to, a name that is said to be in a file that stands, a version of the
    language below what a manifest asks for."""
    claim = one.claim
    if not claim.plain:
        return False
    match claim.kind:
        case Kind.COMMAND:
            return not claim.tool.endswith("?")
        case Kind.VERSION:
            return claim.tool in LANGUAGES
        case Kind.SYMBOL:
            return _located(one, judge)
        case Kind.ENVIRONMENT | Kind.PORT:
            return False
        case Kind.PATH | Kind.DIRECTORY:
            return not GLOB.search(claim.token) and _leaf(one, judge)


def _leaf(one: Said, judge: Judge) -> bool:
    """Whether a path leads to what should be there and is not: a link does, and a file whose folder stands; a folder,
    where that lies two levels deep or more, or a list item is about it."""
    claim = one.claim
    before = claim.line.text.partition(claim.text)[0]
    own = one.path.rpartition("/")[0]
    parents = {parent_of(claim.token.rstrip("/"))}
    if own and "/" in claim.token.strip("/"):
        parents.add(joined(own, parent_of(claim.token.rstrip("/"))) or "?")
    stands = any(parent in judge.tree.folders for parent in parents)
    if claim.kind is Kind.DIRECTORY:
        if not stands or claim.folder or claim.tool not in ("", LINK):
            return False
        deep = claim.token.strip("/").count("/") >= 2
        return claim.tool == LINK or (not procedure(one.path) and (deep or bool(_LEADS.match(before))))
    if claim.tool == LINK or only_place(one, judge):
        return True
    if _TESTS.search(before):
        return False  # `pytest tests/x_test.py`: which one is the reader's to choose
    return stands and not claim.tool and not claim.folder and "/" in claim.token


def only_place(one: Said, judge: Judge) -> str:
    """Where a file is that does not lie where a long path says: the one place of the tree that has a file of that
    name, below the same top folder; "" where there is none, or several are."""
    token = one.claim.token
    if one.claim.kind is not Kind.PATH or token.count("/") < 2 or one.claim.tool or GLOB.search(token):
        return ""
    found = [path for path in judge.tree.named.get(token.rpartition("/")[2], ()) if path in judge.tree.oids]
    tops = [top for place in places(one.claim, one.path) if (top := joined(place, token.partition("/")[0]))]
    tops = [top for top in tops if top in judge.tree.folders]
    if len(found) == 1 and any(found[0].startswith(f"{top}/") for top in tops):
        return found[0]
    return ""


def _located(one: Said, judge: Judge) -> bool:
    """Whether the line says in which file a name is (`name` in `src/x.py`, `src/x.py`: `name`), and it stands."""
    before, text, after = one.claim.line.text.partition(f"`{one.claim.text}`")
    match = None
    if text:
        match = _IN_FILE.match(after) or _FILE_FIRST.match(before)
    path = ""
    if match:
        path = spelled(match["path"])
    if not path or PROSE.search(path) or "." not in path.rpartition("/")[2]:
        return False
    return any(place in judge.tree.oids for folder in places(one.claim, one.path) if (place := joined(folder, path)))


def suspect(one: Said, judge: Judge) -> bool:
    """Whether it is worth a look although history does not know it."""
    claim = one.claim
    if claim.kind is Kind.VERSION:
        return bool(_LISTED.match(claim.line.text))
    if not claim.plain or claim.kind in NAMED_KINDS:
        return False
    if claim.tool == DRAWN or claim.kind is Kind.COMMAND:
        return True
    if claim.kind is Kind.PATH:
        told = "/" in claim.token
    else:
        told = claim.text.endswith("/")
    return told and any(parent_of(path.rstrip("/")) in judge.tree.folders for path in _whole(one))


def _whole(one: Said) -> list[str]:
    return [path for place in places(one.claim, one.path) if (path := joined(place, one.claim.token))]


def parent_of(path: str) -> str:
    """The folder of a path, "?" (which no tree has) for one that names none."""
    return path.rpartition("/")[0] or "?"
