"""The full check: which claims of a commit's files are not true of its tree, and which of them may be said.

*Gone* is said of what stood in history, or when the line was written, and of a file that is missing where its folder
stands; in a line that neither denies, makes nor illustrates; never of what Git ignores. All else is a suspicion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims import wording
from gitmem.claims.agent_files import about_change, procedure, procedure_of
from gitmem.claims.cited_facts import cited_facts, finding_of
from gitmem.claims.claim import DRAWN, Claim, Kind
from gitmem.claims.departure import Departure
from gitmem.claims.documents import Documents
from gitmem.claims.extraction import LINK, SHELLS
from gitmem.claims.finding import Finding, State, in_order
from gitmem.claims.grounds import certain, only_place, parent_of, suspect
from gitmem.claims.history import History
from gitmem.claims.judge import NAMED_KINDS, Judge, Said
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, GLOB, NEAR, NOWHERE, places
from gitmem.claims.path_words import file_name, parts_of
from gitmem.claims.tree import joined
from gitmem.claims.written import BROUGHT, Written
from gitmem.git.repository import Repository

_COMMON = re.compile(r"^[A-Z]+\.md$")  # DEVELOPING.md: many folders have one
_GENERIC = re.compile(
    r"^(?:manifest|config(?:uration)?|settings|package|index|main|app|util(?:itie)?s?|helpers?|types?|constants|schemas?|"
    r"setup|tests?|data|tasks?|models?|api|server|client|cli|projects?|docs?|src|lib|scripts|examples|common|shared|core)"
    r"(?:\.\w+)?$",
    re.IGNORECASE,
)
DIAGRAM = "diagram"  # the kind of a finding about a whole drawing
FEWEST_DRAWN = 4  # entries of a drawing that is judged as a whole
NEVER_KEPT = frozenset(("node_modules", "dist", "target", "coverage", ".venv", "venv", "__pycache__", ".next", "tmp"))
MADE_FOLDERS = NEVER_KEPT | {"build", "out", "bin", "obj", "output", "outputs", "logs", "temp", "cache", ".cache"}
PATHS = (Kind.PATH, Kind.DIRECTORY)


class Checked(NamedTuple):
    """The findings, sure ones first; how many claims were looked at; what was not looked at."""

    findings: list[Finding]
    claims: int
    notes: list[str]


def check(repo: Repository, commit: str, documents: Documents) -> Checked:
    """Judge the claims of these files of a commit."""
    plain = frozenset(one.claim.token for one in documents.said if one.claim.kind in NAMED_KINDS and one.claim.plain)
    judge = Judge(repo, commit, documents.said, plain, defining=False, entries=documents.entries)
    history = History(repo, judge.tree)
    foreign = _foreign(documents.said, judge, history)
    said = [one for one in documents.said if procedure_of(one.path) not in foreign]
    missing = [one for one in said if _missing(one, judge, history)]
    moved = [one for one in said if _moved(one, judge, history)]
    notes = list(documents.notes)
    if history.shallow:
        notes.append("this clone is shallow: what stood before is not known")
    spoken = [one for one in (*missing, *moved) if not wording.denied(one.claim)]
    written = Written(repo, judge, [one for one in spoken if not wording.made(one.claim, stood=True)])
    findings = [found for one in missing if (found := _finding(one, judge, history, written))]
    findings += [found for one in moved if (found := _moved_finding(one, history, written))]
    findings += _strange_drawings(said, judge, history)
    for fact in cited_facts(judge.tree, history):
        if fact.path in set(documents.paths):
            findings += [found for each in fact.verdicts if (found := finding_of(fact, each))]
    return Checked(in_order(findings), len(documents.said), notes)


def _foreign(said: Sequence[Said], judge: Judge, history: History) -> set[str]:
    """Return the procedures that do not describe this repository: at most half of the paths they name exist here.

    Instructions in a folder that contains only Markdown are judged in the same way, because the folder may collect
    examples from other projects; for them a path that existed in any commit counts as existing.
    """
    stand: Counter[str] = Counter()
    collected = _collected({one.path for one in said}, judge)
    for one in said:
        claim = one.claim
        if one.path in collected and claim.kind is Kind.COMMAND and claim.plain:
            standing = judge.standing(one)
            if not standing.unknown:
                stand[one.path] += 1 if standing.grade > NOWHERE else -1
            continue
        voting = procedure(one.path) or one.path in collected
        if voting and claim.kind in PATHS and claim.plain and claim.tool != DRAWN and "/" in claim.token:
            standing, own = judge.standing(one), procedure_of(one.path)
            brought = f"{standing.at}/".startswith(f"{own}/")  # a file inside the skill's own folder is no evidence
            if not standing.unknown and not brought and not wording.placeholder(claim.text):
                here = standing.grade >= NEAR
                here = here or (one.path in collected and any(history.of_path(path) for path in _whole(one)))
                stand[own] += 1 if here else -1
    asked = {procedure_of(path) for path in {one.path for one in said} if procedure(path)} | collected
    return {path for path in asked if stand[path] <= 0}


def _collected(paths: Iterable[str], judge: Judge) -> set[str]:
    """The files of instructions, two folders deep or more, whose folder holds nothing but Markdown."""
    found = {path for path in paths if path.count("/") >= 2 and "/." not in f"/{path}" and not procedure(path)}
    folders = {path.rpartition("/")[0] for path in found}
    for path in judge.tree.oids if folders else ():
        if not path.endswith((".md", ".mdc")):
            while path := path.rpartition("/")[0]:
                folders.discard(path)
    return {path for path in found if path.rpartition("/")[0] in folders}


def _missing(one: Said, judge: Judge, history: History) -> bool:
    """Whether a claim stands nowhere, and may be spoken of at all."""
    claim = one.claim
    standing = judge.standing(one)
    if standing.unknown or standing.grade != NOWHERE or wording.placeholder(claim.text):
        return False
    if claim.tool == DRAWN and wording.placeholder(claim.folder):
        return False  # the layout of what somebody is to make
    if claim.kind is Kind.VERSION and not wording.of_this_project(claim):
        return False
    if claim.kind in PATHS:
        if GLOB.search(claim.token.partition("/")[0]) and claim.tool != DRAWN:
            return False  # "`*-plan.md`": a shape, not a place
        first = claim.token.partition("/")[0]
        if first in MADE_FOLDERS and claim.tool != LINK and (claim.kind is Kind.DIRECTORY or first in NEVER_KEPT):
            return False  # what a build makes, whether or not some of it was kept once
        imported = (
            claim.kind is Kind.DIRECTORY and first not in judge.tree.folders and first in judge.manifests.packages
        )
        if imported or wording.repository(claim):
            return False  # what code imports, `package/part`, or `owner/name`
        if claim.token.startswith(("/", "@")) or not (claim.plain or ("/" in claim.token and claim.kind is Kind.PATH)):
            return False
        own = [place for place in places(claim, one.path) if place and judge.tree.ignored(place)]
        whole = [path for path in _whole(one) if not any(path.startswith(f"{place}/") for place in own)]
        if any(map(judge.tree.ignored, whole)) or _escapes(one):
            return False
        below = judge.tree.below_ends(claim.token)  # a package may be meant that the line does not name
        return not any(map(judge.tree.ignored, below)) or any(
            left.renamed_to for path in whole if (left := history.of_path(path))
        )
    return claim.plain or claim.kind is Kind.VERSION


def _whole(one: Said) -> list[str]:
    """The paths from the root that a claim may mean."""
    found = [joined(place, one.claim.token) for place in places(one.claim, one.path)]
    return [path for path in found if path]


def _escapes(one: Said) -> bool:
    """Whether the path leads out of the repository."""
    return one.claim.token.startswith("../") and not joined(one.path.rpartition("/")[0], one.claim.token)


def _finding(one: Said, judge: Judge, history: History, written: Written) -> Finding | None:
    claim = one.claim
    left = None
    if claim.kind in PATHS:
        left = _departure(one, history)
    stood = written.stood(one)
    seen = bool(stood) or left is not None
    if wording.denied(claim) or wording.made(claim, stood=seen):
        return None
    shown = claim.line.block and claim.tool != DRAWN and claim.line.language not in SHELLS  # code of an example
    told = claim.plain or (left is not None and "/" in claim.token and left.path in _whole(one) and not shown)
    past = wording.about_other_times(claim) or about_change(one.path)
    sure = seen and told and not past and claim.kind is not Kind.PORT and not _loose(one, bool(stood))
    if not sure:
        if past or _held_back(one, judge) or (shown and not claim.plain):
            return None
        sure = not seen and certain(one, judge)
        if not sure and not (seen or suspect(one, judge)):
            return None
    evidence, cause = _evidence(one, left, stood, judge), f"{claim.kind}:{claim.token}"
    if claim.kind is Kind.VERSION:
        state = State.CHANGED
    else:
        state = State.GONE
    if left:
        renamed = left.renamed_to
    else:
        renamed = only_place(one, judge)
    return Finding(
        one.path, claim.line.number, claim.text, claim.kind.value, state, evidence, left.commit if left else "",
        renamed, sure, left.path if left else cause,
    )  # fmt: skip


def _moved(one: Said, judge: Judge, history: History) -> bool:
    """Whether what a path names left the place that it names, and stands only somewhere else under the same end."""
    claim = one.claim
    if claim.kind not in PATHS or not claim.plain or "/" not in claim.token.strip("/") or claim.tool == DRAWN:
        return False
    if judge.standing(one).grade != ELSEWHERE or GLOB.search(claim.token) or wording.placeholder(claim.text):
        return False
    return any(history.of_path(path) for path in _whole(one))


def _moved_finding(one: Said, history: History, written: Written) -> Finding | None:
    """A path that stood at exactly its place when it was written, and is now found by its end only."""
    claim = one.claim
    if wording.denied(claim) or wording.made(claim, stood=True) or wording.about_other_times(claim):
        return None
    left = next((found for path in _whole(one) if (found := history.of_path(path))), None)
    if left is None or not left.renamed_to or _personal(claim) or not written.stood(one, EXACT):
        return None
    evidence = f"{left.path} went in {left.commit[:12]}, now {left.renamed_to}"
    return Finding(
        one.path, claim.line.number, claim.text, claim.kind.value, State.GONE, evidence, left.commit, left.renamed_to,
        True, left.path,
    )  # fmt: skip


def _held_back(one: Said, judge: Judge) -> bool:
    """Whether what never stood may be an illustration. A path whose folder stands, two levels deep or more, is one only
    where the line or its section calls it an example: common words as `any` and `format` make none of it."""
    claim = one.claim
    if _personal(claim):
        return True
    if wording.other_repository(claim):
        return True
    folder = parent_of(claim.token.rstrip("/"))
    if claim.tool == LINK:
        return wording.exampled(claim)
    if claim.kind in PATHS and "/" in folder and folder in judge.tree.folders and not GLOB.search(claim.token):
        return wording.exampled(claim)
    return wording.illustrated(claim) or procedure(one.path)


def _strange_drawings(said: Sequence[Said], judge: Judge, history: History) -> list[Finding]:
    """One finding for each drawing of which less than half stands: sure where most of the rest stood once."""
    drawings: dict[tuple[str, str], list[Said]] = {}
    for one in said:
        if one.claim.tool == DRAWN and judge.diagrams(one.path).strange(one.claim.folder):
            drawings.setdefault((one.path, one.claim.folder), []).append(one)
    findings = []
    for (path, key), entries in drawings.items():
        first = entries[0]
        lost = [one for one in entries if judge.standing(one).grade == NOWHERE]
        about_others = procedure(path) or wording.about_others(first.claim) or wording.made(first.claim)
        names = [key, *(one.claim.text for one in entries)]
        files = any(one.claim.text.endswith("/") or file_name(one.claim.text) for one in entries)
        if len(entries) < FEWEST_DRAWN or any(map(wording.placeholder, names)) or about_others or not files:
            continue
        root = judge.diagrams(path).roots[key][0]
        left = [went for one in lost if (went := history.of_path(joined(root, one.claim.token)))]
        evidence = f"of {len(entries)} entries of this drawing {len(lost)} are not there"
        findings.append(
            Finding(
                path, first.claim.line.number, first.claim.text, DIAGRAM, State.GONE, evidence,
                left[0].commit if left else "", "", 2 * len(left) >= len(lost), f"{DIAGRAM}:{path}:{key}",
            )
        )  # fmt: skip
    return findings


def _placed(claim: Claim) -> bool:
    """Whether a path has a line's number behind it, in what a tool printed: an example of such output."""
    return bool(re.search(rf"{re.escape(claim.text)}:\d", claim.line.text)) or bool(re.search(r":\d+$", claim.text))


def _personal(claim: Claim) -> bool:
    """Whether a claim is hidden or lies in a hidden folder: as often a person's own settings as the project's."""
    return claim.token.startswith(".") and not claim.token.startswith((".github/", "./", "../"))


def _departure(one: Said, history: History) -> Departure | None:
    """The departure of what a claim names. A bare name that many folders have is that of what lay
    in the document's own folder, or below."""
    if GLOB.search(one.claim.token):
        return None
    own = one.path.rpartition("/")[0]
    if own.startswith("."):
        near = ""
    else:
        near = own
    name = one.claim.token.strip("/")
    alone = "/" not in name and one.claim.tool != DRAWN and bool(_GENERIC.match(name))
    for path in _whole(one):
        if (left := history.of_path(path)) and not (alone and near and not path.startswith(f"{near}/")):
            return left
    bare = "/".join(part for part in parts_of(one.claim.token) if part != "..")
    if "/" not in bare and (one.claim.kind is not Kind.PATH or _COMMON.match(bare)):
        return None
    left = history.of_end(bare)
    if left and BROUGHT.search(left.path):
        return None  # a library's own file: `testify/assert` is imported, wherever it lies
    if left and alone and near and not left.path.startswith(f"{near}/"):
        return None
    return left


def _evidence(one: Said, left: Departure | None, stood: str, judge: Judge) -> str:
    claim = one.claim
    if left:
        went = ""
        if left.renamed_to:
            went = f", now {left.renamed_to}"
        return f"{left.path} went in {left.commit[:12]}{went}"
    if claim.kind is Kind.VERSION:
        return judge.standing(one).at
    at = only_place(one, judge)
    what = {
        Kind.COMMAND: f"no {_TOOLS.get(claim.tool.rstrip('?'), claim.tool)} '{claim.token}' is defined",
        Kind.PATH: f"there is no file {claim.token}" + (f", one of its name is {at}" if at else ""),
        Kind.DIRECTORY: f"there is no folder {claim.token}",
    }.get(claim.kind, f"no line of code has {claim.token}")
    return what + (f"; there was when the line was written ({stood[:12]})" if stood else "")


_TOOLS = {"node": "script", "make": "target", "just": "recipe", "task": "task", "crate": "crate", "gradle": "module"}


def _loose(one: Said, stood: bool) -> bool:
    """Whether what stood once need not be what is meant: a hidden file; in a procedure a bare name, which it may give
    to something of its own; in a line of examples the name of a file."""
    claim = one.claim
    bare = claim.kind in NAMED_KINDS or (
        claim.kind in PATHS and "/" not in claim.token.strip("/") and claim.tool != DRAWN
    )
    if claim.kind is Kind.PATH and (claim.line.block or procedure(one.path)) and _placed(claim):
        return True
    if claim.kind is Kind.PATH and "/" not in claim.token and (wording.exampled(claim) or wording.naming(claim)):
        return True
    return (_personal(claim) and not stood) or (bare and procedure(one.path))
