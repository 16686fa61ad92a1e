"""The full check: which claims of a commit's files are not true of its tree, and which of them may be said.

*Gone* is said of what stood in history, or when the line was written, and of a file that is missing where its folder
stands; in a line that neither denies, makes nor illustrates; never of what Git ignores. All else is a suspicion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from gitmem.claims import wording
from gitmem.claims.agent_files import procedure, procedure_of
from gitmem.claims.cited_facts import cited_facts, finding_of
from gitmem.claims.claim import Claim, Kind
from gitmem.claims.departure import Departure
from gitmem.claims.documents import Documents
from gitmem.claims.finding import Finding, State, in_order
from gitmem.claims.history import History
from gitmem.claims.judge import NAMED, Judge, Said
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, GLOB, NEAR, NOWHERE, places
from gitmem.claims.path_words import parts_of
from gitmem.claims.tree import joined
from gitmem.claims.tree_diagrams import DRAWN
from gitmem.errors import GitFailed
from gitmem.git.repository import Repository

LANGUAGES = ("python", "node", "node.js", "nodejs", "go", "golang", "rust", "java", "jdk")
DIAGRAM = "diagram"  # the kind of a finding about a whole drawing
FEWEST_DRAWN = 4  # entries of a drawing that is judged as a whole
MOST_WRITTEN = 8  # commits that wrote lines whose trees are asked
PATHS = (Kind.PATH, Kind.DIRECTORY)


class Checked(NamedTuple):
    """The findings, sure ones first; how many claims were looked at; what was not looked at."""

    findings: list[Finding]
    claims: int
    notes: list[str]


def check(repo: Repository, commit: str, documents: Documents) -> Checked:
    """Judge the claims of these files of a commit."""
    plain = frozenset(one.claim.token for one in documents.said if one.claim.kind in NAMED and one.claim.plain)
    judge = Judge(repo, commit, documents.said, plain, defining=False, entries=documents.entries)
    missing = [one for one in documents.said if _missing(one, judge)]
    foreign = _foreign(documents.said, judge)
    missing = [one for one in missing if procedure_of(one.path) not in foreign]
    history = History(repo, judge.tree)
    notes = list(documents.notes)
    if history.shallow:
        notes.append("this clone is shallow: what stood before is not known")
    written = _Written(repo, judge, missing)
    findings = [found for one in missing if (found := _finding(one, judge, history, written))]
    findings += _strange_drawings(
        [one for one in documents.said if procedure_of(one.path) not in foreign], judge, history
    )
    for fact in cited_facts(judge.tree, history):
        if fact.path in set(documents.paths):
            findings += [found for each in fact.verdicts if (found := finding_of(fact, each))]
    return Checked(in_order(findings), len(documents.said), notes)


def _foreign(said: Sequence[Said], judge: Judge) -> set[str]:
    """The procedures that speak of no repository, or of another: most of the paths that they name do not stand here."""
    stand: Counter[str] = Counter()
    for one in said:
        claim = one.claim
        if procedure(one.path) and claim.kind in PATHS and claim.plain and claim.tool != DRAWN and "/" in claim.token:
            standing, own = judge.standing(one), procedure_of(one.path)
            brought = f"{standing.at}/".startswith(f"{own}/")  # what the skill itself brings along says nothing
            if not standing.unknown and not brought and not wording.placeholder(claim.text):
                stand[own] += 1 if standing.grade >= NEAR else -1
    return {procedure_of(one.path) for one in said if procedure(one.path) and stand[procedure_of(one.path)] <= 0}


def _missing(one: Said, judge: Judge) -> bool:
    """Whether a claim stands nowhere, and may be spoken of at all."""
    claim = one.claim
    standing = judge.standing(one)
    if standing.unknown or standing.grade != NOWHERE or wording.placeholder(claim.text):
        return False
    if claim.tool == DRAWN and wording.placeholder(claim.folder):
        return False  # the layout of what somebody is to make
    if claim.kind in PATHS:
        first = claim.token.partition("/")[0]
        imported = (
            claim.kind is Kind.DIRECTORY and first not in judge.tree.folders and first in judge.manifests.packages
        )
        if imported or wording.repository(claim):
            return False  # what code imports, `package/part`, or `owner/name`
        if claim.token.startswith("/") or not (claim.plain or ("/" in claim.token and claim.kind is Kind.PATH)):
            return False
        whole = [*_whole(one), *judge.tree.below_ends(claim.token)]
        return not any(judge.tree.ignored(path) for path in whole) and not _escapes(one)
    return claim.plain or claim.kind is Kind.VERSION


def _whole(one: Said) -> list[str]:
    """The paths from the root that a claim may mean."""
    found = [joined(place, one.claim.token) for place in places(one.claim, one.path)]
    return [path for path in found if path]


def _escapes(one: Said) -> bool:
    """Whether the path leads out of the repository."""
    return one.claim.token.startswith("../") and not joined(one.path.rpartition("/")[0], one.claim.token)


class _Written:
    """The trees in which lines were written: whether a claim stood then."""

    def __init__(self, repo: Repository, judge: Judge, missing: Sequence[Said]) -> None:
        self.repo = repo
        self._by_line: dict[tuple[str, int], str] = {}
        self._judges: dict[str, Judge] = {}
        by_file: dict[str, list[Said]] = {}
        for one in missing:
            if not (wording.denied(one.claim) or wording.made(one.claim)):
                by_file.setdefault(one.path, []).append(one)
        for path, ones in by_file.items():
            numbers = [one.claim.line.number for one in ones]
            try:
                rows = repo.blame(path, min(numbers), max(numbers), judge.commit)
            except GitFailed:
                continue
            self._by_line.update({(path, row.line): row.commit for row in rows if row.line in set(numbers)})
        commits = Counter(
            self._by_line[key] for one in missing if (key := (one.path, one.claim.line.number)) in self._by_line
        )
        for oid, _ in commits.most_common(MOST_WRITTEN):
            there = [one for one in missing if self._by_line.get((one.path, one.claim.line.number)) == oid]
            self._judges[oid] = Judge(repo, oid, there, beside=judge)

    def stood(self, one: Said) -> str:
        """The commit that wrote the line, where the claim stood in its tree; "" where it did not."""
        oid = self._by_line.get((one.path, one.claim.line.number), "")
        judge = self._judges.get(oid)
        if judge is None:
            return ""
        standing = judge.standing(one)
        least = EXACT if one.claim.kind is Kind.SYMBOL else ELSEWHERE  # a name that was only used may be a library's
        return oid if standing.grade >= least and not standing.unknown else ""


def _finding(one: Said, judge: Judge, history: History, written: _Written) -> Finding | None:
    claim = one.claim
    left = _departure(one, history) if claim.kind in PATHS else None
    stood = written.stood(one)
    if wording.denied(claim) or wording.made(claim):
        return None
    seen = bool(stood) or left is not None
    sure = seen and claim.plain and not wording.about_other_times(claim) and not _loose(one, bool(stood))
    if not sure:
        if _held_back(one, judge):
            return None
        sure = not seen and _certain(one, judge)
        if not sure and not (seen or _suspect(one, judge)):
            return None
    evidence, cause = _evidence(one, left, stood, judge), f"{claim.kind}:{claim.token}"
    state = State.CHANGED if claim.kind is Kind.VERSION else State.GONE
    return Finding(
        one.path, claim.line.number, claim.text, claim.kind.value, state, evidence, left.commit if left else "",
        left.renamed_to if left else "", sure, left.path if left else cause,
    )  # fmt: skip


def _held_back(one: Said, judge: Judge) -> bool:
    """Whether what never stood may be an illustration. A path whose folder stands, two levels deep or more, is one only
    where the line or its section calls it an example: common words as `any` and `format` make none of it."""
    claim = one.claim
    if _personal(claim):
        return True
    folder = _parent(claim.token.rstrip("/"))
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
        if len(entries) < FEWEST_DRAWN or any(map(wording.placeholder, names)) or about_others:
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


def _personal(claim: Claim) -> bool:
    """Whether a claim is hidden or lies in a hidden folder: as often a person's own settings as the project's."""
    return claim.token.startswith(".") and not claim.token.startswith((".github/", "./", "../"))


def _departure(one: Said, history: History) -> Departure | None:
    if GLOB.search(one.claim.token):
        return None
    for path in _whole(one):
        if left := history.of_path(path):
            return left
    bare = "/".join(part for part in parts_of(one.claim.token) if part != "..")
    return history.of_end(bare) if "/" in bare or one.claim.kind is Kind.PATH else None


def _evidence(one: Said, left: Departure | None, stood: str, judge: Judge) -> str:
    claim = one.claim
    if left:
        went = f", now {left.renamed_to}" if left.renamed_to else ""
        return f"{left.path} went in {left.commit[:12]}{went}"
    if claim.kind is Kind.VERSION:
        return judge.standing(one).at
    what = {
        Kind.COMMAND: f"no {_TOOLS.get(claim.tool.rstrip('?'), claim.tool)} '{claim.token}' is defined",
        Kind.PATH: f"there is no file {claim.token}",
        Kind.DIRECTORY: f"there is no folder {claim.token}",
    }.get(claim.kind, f"no line of code has {claim.token}")
    return what + (f"; there was when the line was written ({stood[:12]})" if stood else "")


_TOOLS = {"node": "script", "make": "target", "just": "recipe", "task": "task", "crate": "crate", "gradle": "module"}


def _loose(one: Said, stood: bool) -> bool:
    """Whether what stood once need not be what is meant: a hidden file; in a procedure a bare name, which it may give
    to something of its own; in a line of examples the name of a file."""
    claim = one.claim
    bare = claim.kind in NAMED or (claim.kind in PATHS and "/" not in claim.token.strip("/") and claim.tool != DRAWN)
    if claim.kind is Kind.PATH and "/" not in claim.token and wording.exampled(claim):
        return True
    return (_personal(claim) and not stood) or (bare and procedure(one.path))


def _certain(one: Said, judge: Judge) -> bool:
    """Whether a claim that history does not know is false for its form alone: a leaf of a folder that stands, a script
    that no manifest defines, a version of the language below what a manifest asks for."""
    claim = one.claim
    if not claim.plain:
        return False
    if claim.kind is Kind.COMMAND:
        return not claim.tool.endswith("?")
    if claim.kind is Kind.VERSION:
        return claim.tool in LANGUAGES
    told = claim.kind is Kind.PATH and not claim.tool and not claim.folder and "/" in claim.token
    return told and not GLOB.search(claim.token) and _parent(claim.token) in judge.tree.folders


def _suspect(one: Said, judge: Judge) -> bool:
    """Whether it is worth a look although history does not know it."""
    claim = one.claim
    if claim.kind is Kind.VERSION or not claim.plain or claim.kind in NAMED:
        return claim.kind is Kind.VERSION
    if claim.tool == DRAWN or claim.kind is Kind.COMMAND:
        return True
    told = "/" in claim.token if claim.kind is Kind.PATH else claim.text.endswith("/")
    return told and any(_parent(path) in judge.tree.folders for path in _whole(one))


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "?"
