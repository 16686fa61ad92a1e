"""The full check: finds the claims of a commit's files that are not true of its tree, and decides which ones to report.

A claim is reported as *gone* if history, or the tree of the commit that wrote the line, had the named thing, or if a
file is missing from a folder that exists. The line must not deny, create or illustrate the thing, and Git must not
ignore it. Every other claim whose thing is missing is only a suspicion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitmem.claims import wording
from gitmem.claims.agent_files import is_about_change, is_procedure, skill_folder
from gitmem.claims.cited_facts import cited_facts, finding_of
from gitmem.claims.claim import DIAGRAM_TOOL, Claim, Kind
from gitmem.claims.claim_lookup import NAMED_KINDS, ClaimLookup, FileClaim, NameSearch
from gitmem.claims.departure import Departure
from gitmem.claims.documents import Documents
from gitmem.claims.extraction import LINK, SHELLS
from gitmem.claims.finding import Finding, State, in_order
from gitmem.claims.grounds import is_certain, is_suspect, only_place, parent_of
from gitmem.claims.history import History
from gitmem.claims.path_resolution import ELSEWHERE, EXACT, GLOB, NEAR, NOWHERE, base_folders
from gitmem.claims.path_words import is_file_name, parts_of
from gitmem.claims.tree import joined
from gitmem.claims.writing_commits import VENDORED, WritingCommits
from gitmem.git.repository import Repository

_COMMON = re.compile(r"^[A-Z]+\.md$")  # a file name such as DEVELOPING.md, which many folders have
_GENERIC = re.compile(
    r"^(?:manifest|config(?:uration)?|settings|package|index|main|app|util(?:itie)?s?|helpers?|types?|constants|schemas?|"
    r"setup|tests?|data|tasks?|models?|api|server|client|cli|projects?|docs?|src|lib|scripts|examples|common|shared|core)"
    r"(?:\.\w+)?$",
    re.IGNORECASE,
)
DIAGRAM = "diagram"  # the kind of a finding about a whole diagram
MIN_DIAGRAM_ENTRIES = 4  # a diagram with fewer entries is not judged as a whole
# Folders that hold build results and are never committed, and those that hold them but may be committed.
NEVER_KEPT = frozenset(("node_modules", "dist", "target", "coverage", ".venv", "venv", "__pycache__", ".next", "tmp"))
MADE_FOLDERS = NEVER_KEPT | {"build", "out", "bin", "obj", "output", "outputs", "logs", "temp", "cache", ".cache"}
PATHS = (Kind.PATH, Kind.DIRECTORY)


class CheckResult(NamedTuple):
    """The result of a full check. `findings`: sure ones first. `claims`: the number of claims that the files make, with
    those that were left out because they do not describe this repository. `notes`: sentences for a person about files
    that were left out and about a shallow clone."""

    findings: list[Finding]
    claims: int
    notes: list[str]


def check(repo: Repository, commit: str, documents: Documents) -> CheckResult:
    """Check the claims and the code citations in the files that `documents` has read from `commit`. The result has a
    finding for each claim or citation that is false or suspect. Raises GitMemError if Git lacks an object."""
    plain = frozenset(claim.token for _, claim in documents.claims if claim.kind in NAMED_KINDS and claim.plain)
    search = NameSearch(plain, find_definitions=False)
    lookup = ClaimLookup(repo, commit, documents.claims, search, entries=documents.entries)
    history = History(repo, lookup.tree)
    foreign = _foreign(documents.claims, lookup, history)
    claims = [file_claim for file_claim in documents.claims if skill_folder(file_claim.path) not in foreign]
    missing = [file_claim for file_claim in claims if _missing(file_claim, lookup, history)]
    elsewhere = [file_claim for file_claim in claims if _moved(file_claim, lookup, history)]
    notes = list(documents.notes)
    if history.shallow:
        notes.append("this clone is shallow: what stood before is not known")
    affirmed = [file_claim for file_claim in (*missing, *elsewhere) if not wording.is_denied(file_claim.claim)]
    lasting = [file_claim for file_claim in affirmed if not wording.is_to_be_made(file_claim.claim, existed=True)]
    writing_commits = WritingCommits(repo, lookup, lasting)
    findings = [
        *filter(None, (_finding(file_claim, lookup, history, writing_commits) for file_claim in missing)),
        *filter(None, (_moved_finding(file_claim, history, writing_commits) for file_claim in elsewhere)),
    ]
    findings += _wrong_diagrams(claims, lookup, history)
    for fact in cited_facts(lookup.tree, history):
        if fact.path in set(documents.paths):
            findings += filter(None, (finding_of(fact, verdict) for verdict in fact.verdicts))
    return CheckResult(in_order(findings), len(documents.claims), notes)


def _foreign(claims: Sequence[FileClaim], lookup: ClaimLookup, history: History) -> set[str]:
    """The procedures (`skill_folder`) that do not describe this repository: at most half of the paths that they name
    exist here, or they name none.

    Instructions in a folder that contains only Markdown are judged in the same way, because the folder may collect
    examples from other projects. For them a path that existed in any commit counts as existing.
    """
    votes: Counter[str] = Counter()
    paths = {file_claim.path for file_claim in claims}
    collected = _collected(paths, lookup)
    for file_claim in claims:
        claim = file_claim.claim
        if file_claim.path in collected and claim.kind is Kind.COMMAND and claim.plain:
            resolution = lookup.resolve(file_claim)
            if not resolution.unknown:
                votes[file_claim.path] += 1 if resolution.grade > NOWHERE else -1
            continue
        has_vote = is_procedure(file_claim.path) or file_claim.path in collected
        if has_vote and claim.kind in PATHS and claim.plain and claim.tool != DIAGRAM_TOOL and "/" in claim.token:
            resolution, folder = lookup.resolve(file_claim), skill_folder(file_claim.path)
            in_skill = f"{resolution.at}/".startswith(f"{folder}/")  # a file in the skill's own folder is no evidence
            if not resolution.unknown and not in_skill and not wording.is_placeholder(claim.text):
                exists = resolution.grade >= NEAR
                exists = exists or (file_claim.path in collected and any(map(history.of_path, _whole(file_claim))))
                votes[folder] += 1 if exists else -1
    judged = {skill_folder(path) for path in paths if is_procedure(path)} | collected
    return {path for path in judged if votes[path] <= 0}


def _collected(paths: Iterable[str], lookup: ClaimLookup) -> set[str]:
    """The instruction files, at least two folders deep, that are in a folder with only Markdown."""
    deep_files = {path for path in paths if path.count("/") >= 2 and "/." not in f"/{path}" and not is_procedure(path)}
    if not deep_files:
        return deep_files
    folders = {path.rpartition("/")[0] for path in deep_files}
    for path in lookup.tree.oids:
        if not path.endswith((".md", ".mdc")):
            while path := path.rpartition("/")[0]:
                folders.discard(path)
    return {path for path in deep_files if path.rpartition("/")[0] in folders}


def _missing(file_claim: FileClaim, lookup: ClaimLookup, history: History) -> bool:
    """Whether the tree lacks the thing that a claim names, and a claim of this form may be reported."""
    claim = file_claim.claim
    resolution = lookup.resolve(file_claim)
    if resolution.unknown or resolution.grade != NOWHERE or wording.is_placeholder(claim.text):
        return False
    if claim.tool == DIAGRAM_TOOL and wording.is_placeholder(claim.folder):
        return False  # the layout of a folder that the reader is to make
    if claim.kind is Kind.VERSION and not wording.is_project_version(claim):
        return False
    if claim.kind in PATHS:
        if GLOB.search(claim.token.partition("/")[0]) and claim.tool != DIAGRAM_TOOL:
            return False  # a pattern for names, such as `*-plan.md`
        top_folder = claim.token.partition("/")[0]
        is_folder = claim.kind is Kind.DIRECTORY
        if top_folder in MADE_FOLDERS and claim.tool != LINK and (is_folder or top_folder in NEVER_KEPT):
            return False  # a build result, even if some of these files were committed once
        imported = is_folder and top_folder not in lookup.tree.folders and top_folder in lookup.manifests.packages
        if imported or wording.is_repository(claim):
            return False  # an import (`package/part`) or a repository (`owner/name`)
        if claim.token.startswith(("/", "@")) or not (claim.plain or ("/" in claim.token and claim.kind is Kind.PATH)):
            return False
        ignored = [place for place in base_folders(claim, file_claim.path) if place and lookup.tree.ignored(place)]
        whole = [path for path in _whole(file_claim) if not any(path.startswith(f"{place}/") for place in ignored)]
        if any(lookup.tree.ignored(path, is_file=history.had_file(path)) for path in whole) or _escapes(file_claim):
            return False
        # The path may be relative to a package that the line does not name.
        below = lookup.tree.below_ends(claim.token)
        if not any(map(lookup.tree.ignored, below)):
            return True
        departures = filter(None, map(history.of_path, whole))
        return any(departure.renamed_to for departure in departures)
    return claim.plain or claim.kind is Kind.VERSION


def _whole(file_claim: FileClaim) -> list[str]:
    """The paths from the root of the repository that a claim may mean, the likeliest first; [] for a path that leaves
    the repository."""
    paths = [joined(place, file_claim.claim.token) for place in base_folders(file_claim.claim, file_claim.path)]
    return [path for path in paths if path]


def _escapes(file_claim: FileClaim) -> bool:
    """Whether the path of a claim leads out of the repository."""
    path, claim = file_claim
    return claim.token.startswith("../") and not joined(path.rpartition("/")[0], claim.token)


def _finding(file_claim: FileClaim, lookup: ClaimLookup, history: History, writers: WritingCommits) -> Finding | None:
    """The finding about a claim whose thing is missing. None if the line denies it, plans it, speaks of another time or
    may be an illustration, and if nothing but its absence speaks against it."""
    claim = file_claim.claim
    departure = _departure(file_claim, history) if claim.kind in PATHS else None
    written_in = writers.commit_of(file_claim)
    existed = bool(written_in) or departure is not None
    if wording.is_denied(claim) or wording.is_to_be_made(claim, existed=existed):
        return None
    in_example = claim.line.block and claim.tool != DIAGRAM_TOOL and claim.line.language not in SHELLS
    is_whole = departure is not None and "/" in claim.token and departure.path in _whole(file_claim)
    is_name = claim.plain or (is_whole and not in_example)
    past = wording.is_about_other_times(claim) or is_about_change(file_claim.path)
    sure = existed and is_name and not past and claim.kind is not Kind.PORT and not _loose(file_claim, bool(written_in))
    if not sure:
        if past or _may_be_illustration(file_claim, lookup) or (in_example and not claim.plain):
            return None
        sure = not existed and is_certain(file_claim, lookup)
        if not sure and not (existed or is_suspect(file_claim, lookup)):
            return None
    state = State.CHANGED if claim.kind is Kind.VERSION else State.GONE
    commit, renamed, cause = "", "", f"{claim.kind}:{claim.token}"
    if departure:
        commit, renamed, cause = departure.commit, departure.renamed_to, departure.path
    else:
        renamed = only_place(file_claim, lookup)
    evidence = _evidence(file_claim, departure, written_in, lookup)
    return Finding(
        file_claim.path, claim.line.number, claim.text, claim.kind.value, state, evidence, commit, renamed, sure, cause
    )


def _moved(file_claim: FileClaim, lookup: ClaimLookup, history: History) -> bool:
    """Whether a commit removed the path that a claim names, while the tree has another path with the same ending."""
    claim = file_claim.claim
    if claim.kind not in PATHS or not claim.plain or "/" not in claim.token.strip("/") or claim.tool == DIAGRAM_TOOL:
        return False
    if lookup.resolve(file_claim).grade != ELSEWHERE or GLOB.search(claim.token) or wording.is_placeholder(claim.text):
        return False
    return any(history.of_path(path) for path in _whole(file_claim))


def _moved_finding(file_claim: FileClaim, history: History, writers: WritingCommits) -> Finding | None:
    """The finding about a path that was renamed since the commit that wrote the line, which had the path at exactly
    that place.

    None otherwise, and for a claim that is denied, personal, about something to be made or about other times.
    """
    document, claim = file_claim
    if wording.is_denied(claim) or wording.is_to_be_made(claim, existed=True) or wording.is_about_other_times(claim):
        return None
    departure = next(filter(None, map(history.of_path, _whole(file_claim))), None)
    if departure is None or not departure.renamed_to or _personal(claim) or not writers.commit_of(file_claim, EXACT):
        return None
    path, commit, renamed_to = departure
    evidence = f"{path} went in {commit[:12]}, now {renamed_to}"
    return Finding(
        document, claim.line.number, claim.text, claim.kind.value, State.GONE, evidence, commit, renamed_to, True, path
    )


def _may_be_illustration(file_claim: FileClaim, lookup: ClaimLookup) -> bool:
    """Whether a thing that never existed may be meant only as an illustration.

    For a link, and for a path whose folder exists and is at least two levels deep, the line or its section must call it
    an example. For all others a common word such as `any` or `format` is enough.
    """
    claim = file_claim.claim
    if _personal(claim) or wording.is_other_repository(claim):
        return True
    folder = parent_of(claim.token.rstrip("/"))
    is_below = claim.kind in PATHS and "/" in folder and folder in lookup.tree.folders
    if claim.tool == LINK or (is_below and not GLOB.search(claim.token)):
        return wording.is_example(claim)
    return wording.is_illustrated(claim) or is_procedure(file_claim.path)


def _wrong_diagrams(claims: Sequence[FileClaim], lookup: ClaimLookup, history: History) -> list[Finding]:
    """One finding for each diagram of folders of which less than half exists. It is sure if half of the missing entries
    existed once."""
    diagrams: dict[tuple[str, str], list[FileClaim]] = {}
    for file_claim in claims:
        path, claim = file_claim
        if claim.tool == DIAGRAM_TOOL and lookup.diagrams(path).strange(claim.folder):
            diagrams.setdefault((path, claim.folder), []).append(file_claim)
    findings = []
    for (path, key), entries in diagrams.items():
        first = entries[0].claim
        lost = [file_claim for file_claim in entries if lookup.resolve(file_claim).grade == NOWHERE]
        about_others = is_procedure(path) or wording.is_about_others(first) or wording.is_to_be_made(first)
        texts = [claim.text for _, claim in entries]
        has_files = any(text.endswith("/") or is_file_name(text) for text in texts)
        is_placeholder = any(map(wording.is_placeholder, [key, *texts]))
        if len(entries) < MIN_DIAGRAM_ENTRIES or is_placeholder or about_others or not has_files:
            continue
        root = lookup.diagrams(path).roots[key][0]
        departures = list(filter(None, (history.of_path(joined(root, file_claim.claim.token)) for file_claim in lost)))
        evidence = f"of {len(entries)} entries of this drawing {len(lost)} are not there"
        commit = next((departure.commit for departure in departures), "")
        sure = 2 * len(departures) >= len(lost)
        line, text = first.line.number, first.text
        cause = f"{DIAGRAM}:{path}:{key}"
        findings.append(Finding(path, line, text, DIAGRAM, State.GONE, evidence, commit, "", sure, cause))
    return findings


def _has_line_number(claim: Claim) -> bool:
    """Whether a line number follows the path in its line, as in the output of a tool."""
    return bool(re.search(rf"{re.escape(claim.text)}:\d", claim.line.text)) or bool(re.search(r":\d+$", claim.text))


def _personal(claim: Claim) -> bool:
    """Whether the first part of the path is hidden, and is not `.github`, so that the path may belong to a person and
    not to the project."""
    return claim.token.startswith(".") and not claim.token.startswith((".github/", "./", "../"))


def _departure(file_claim: FileClaim, history: History) -> Departure | None:
    """The departure of the path that a claim names, None without one.

    A generic name without a folder (`config.py`) counts only if it was in the folder of the document or below it.
    """
    if GLOB.search(file_claim.claim.token):
        return None
    folder = file_claim.path.rpartition("/")[0]
    name = file_claim.claim.token.strip("/")
    is_generic = "/" not in name and file_claim.claim.tool != DIAGRAM_TOOL and bool(_GENERIC.match(name))
    prefix = ""
    if is_generic and folder and not folder.startswith("."):
        prefix = f"{folder}/"
    for path in _whole(file_claim):
        if (departure := history.of_path(path)) and path.startswith(prefix):
            return departure
    bare = "/".join(part for part in parts_of(file_claim.claim.token) if part != "..")
    if "/" not in bare and (file_claim.claim.kind is not Kind.PATH or _COMMON.match(bare)):
        return None
    departure = history.of_end(bare)
    if departure is None or not departure.path.startswith(prefix):
        return None
    if VENDORED.search(departure.path):
        return None  # a file of a library: `testify/assert` is imported, wherever its files are
    return departure


def _evidence(file_claim: FileClaim, departure: Departure | None, written_in: str, lookup: ClaimLookup) -> str:
    """The reason why a claim is false, as a sentence. `written_in`: the commit that wrote the claim while it was true,
    "" if unknown."""
    claim = file_claim.claim
    if departure:
        evidence = f"{departure.path} went in {departure.commit[:12]}"
        if departure.renamed_to:
            evidence += f", now {departure.renamed_to}"
        return evidence
    if claim.kind is Kind.VERSION:
        return lookup.resolve(file_claim).at
    place = only_place(file_claim, lookup)
    evidence = {
        Kind.COMMAND: f"no {_TOOLS.get(claim.tool.rstrip('?'), claim.tool)} '{claim.token}' is defined",
        Kind.PATH: f"there is no file {claim.token}",
        Kind.DIRECTORY: f"there is no folder {claim.token}",
    }.get(claim.kind, f"no line of code has {claim.token}")
    if place:
        evidence += f", one of its name is {place}"
    if written_in:
        evidence += f"; there was when the line was written ({written_in[:12]})"
    return evidence


_TOOLS = {"node": "script", "make": "target", "just": "recipe", "task": "task", "crate": "crate", "gradle": "module"}


def _loose(file_claim: FileClaim, was_true: bool) -> bool:
    """Whether a claim may mean something else than the thing of this name that existed once.

    True for a path in the output of a tool, for a file name in a line of examples, for a hidden path unless it existed
    when the line was written (`was_true`), and for a bare name in a procedure, which may define the name itself.
    """
    claim = file_claim.claim
    is_bare_path = claim.kind in PATHS and "/" not in claim.token.strip("/") and claim.tool != DIAGRAM_TOOL
    in_procedure = is_procedure(file_claim.path)
    if claim.kind is Kind.PATH and (claim.line.block or in_procedure) and _has_line_number(claim):
        return True
    if (
        claim.kind is Kind.PATH
        and "/" not in claim.token
        and (wording.is_example(claim) or wording.is_about_naming(claim))
    ):
        return True
    return (_personal(claim) and not was_true) or (in_procedure and (is_bare_path or claim.kind in NAMED_KINDS))
