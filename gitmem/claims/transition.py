"""Finds the claims that a change makes false: they are true at the merge base and false at the head.

Placeholders, build output, other repositories and prose are false on both sides and never reported. Only lines of the
head are checked, so a change that also corrects its lines has no findings.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from gitmem.claims import wording
from gitmem.claims.agent_files import is_procedure
from gitmem.claims.citations import TreeCode, verdict
from gitmem.claims.cited_facts import cited_facts, finding_of, own_words
from gitmem.claims.claim import DIAGRAM_TOOL, Kind
from gitmem.claims.claim_lookup import NAMED_KINDS, ClaimLookup, FileClaim, NameSearch
from gitmem.claims.code_words import MAX_LINE_CHARS, PROSE, WORD, declares, defines
from gitmem.claims.documents import Documents
from gitmem.claims.extraction import SHELLS
from gitmem.claims.finding import Finding, State, in_order
from gitmem.claims.history import History
from gitmem.claims.path_resolution import EXACT, NEAR, NOWHERE, Resolution
from gitmem.errors import GitFailed
from gitmem.git.objects import LINKS, Change
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES

MAX_CHANGED_FILES = 5_000  # if more files changed, names of code are not compared, and a note says so


def became_false(repo: Repository, base: str, head: str, documents: Documents) -> tuple[list[Finding], list[str]]:
    """(findings about claims and citations of the head's files that were true at the commit `base` and are false at the
    commit `head`, notes for a person about comparisons that were left out). `documents`: as read from `head`."""
    try:
        changes = repo.changes(base, head, renames=True)
    except GitFailed:  # a partial clone lacks an object: renames cannot be found, removals can
        changes = repo.changes(base, head)
    if not changes:
        return [], []
    claimed = frozenset(claim.token for _, claim in documents.claims if claim.kind in NAMED_KINDS)
    removed, names, notes = removed_words(repo, changes, claimed)
    after = ClaimLookup(repo, head, documents.claims, NameSearch(names), entries=documents.entries)
    before = ClaimLookup(repo, base, documents.claims, NameSearch(names), similar=after)
    after.diagram_lookup = before
    moves = {change.old_path: change.path for change in changes if change.status == "R"}
    spans = frozenset(claim.token for _, claim in documents.claims if claim.kind in NAMED_KINDS and claim.plain)
    findings = []
    for file_claim in documents.claims:
        old = _broken(file_claim, before, after)
        if old is not None and _meant(file_claim, old, before, after, spans):
            findings.append(_finding(file_claim, old, before, after, moves, head))
    findings += _citations(before, after, removed, documents.paths)
    return in_order(findings), notes


def _citations(
    before: ClaimLookup, after: ClaimLookup, removed: frozenset[str], paths: Collection[str]
) -> list[Finding]:
    """The findings about citations, held at the base, of the head's facts in the files `paths`.

    Changed lines are a finding only if a removed line had one of the words that identify the fact.
    """
    base_code = TreeCode(before.tree, History(before.repo, before.tree))
    head_history = History(after.repo, after.tree)
    findings = []
    for fact in (fact for fact in cited_facts(after.tree, head_history) if fact.path in paths):
        for checked in fact.verdicts:
            old_state = verdict(checked.citation, base_code).state
            finding = finding_of(fact, checked)
            if finding is None or old_state in (checked.state, State.GONE, State.UNKNOWN):
                continue
            if checked.state is State.CHANGED:
                words = sorted(own_words(fact.fact.text) & removed)[:3]
                if not words:
                    continue
                evidence = f"{checked.words}, and {', '.join(words)} went with them: please look"
                finding = finding._replace(evidence=evidence)
            findings.append(finding)
    return findings


def removed_words(
    repo: Repository, changes: Sequence[Change], claimed: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], list[str]]:
    """Compare the changed code files: (removed words, names that may be gone, notes).

    A removed word was on a line that a file lost. A name of `claimed` may be gone in two cases: it is a removed word
    and no changed file uses it now, or a removed line defined it and no changed file defines it now. Files above
    MAX_MEMORY_FILE_BYTES count as empty, and removed lines above MAX_LINE_CHARS do not count. With more than
    MAX_CHANGED_FILES files nothing is compared, and a note says so.
    """
    changed = [
        change for change in changes
        if change.old_mode not in LINKS and not PROSE.search(change.old_path or change.path)
    ]  # fmt: skip
    if len(changed) > MAX_CHANGED_FILES:
        return frozenset(), frozenset(), [f"{len(changed)} files changed: names of code were not compared"]
    sizes = repo.sizes([oid for change in changed for oid in (change.old_oid, change.new_oid) if oid])
    lost: set[str] = set()
    undefined: set[str] = set()
    new_files: list[tuple[list[str], frozenset[str]]] = []  # the lines of each changed file, and their claimed names
    for change in changed:
        oids = (change.old_oid, change.new_oid)
        small = [oid for oid in oids if oid and sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
        texts = dict(repo.read_many(small))
        old_text, new_text = ((texts.get(oid) or b"").decode("utf-8", "replace") for oid in oids)
        lines = new_text.split("\n")
        new_files.append((lines, claimed.intersection(WORD.findall(new_text))))
        kept_lines = set(lines)
        for line in old_text.split("\n"):
            if line not in kept_lines and len(line) <= MAX_LINE_CHARS:
                words = set(WORD.findall(line))
                lost |= words
                undefined.update(name for name in words & claimed if name not in undefined and declares(line, name))
    used = frozenset().union(*(names for _, names in new_files))
    defined: set[str] = set()
    for new_lines, new_names in new_files:
        for name in undefined & new_names:
            if any(name in line and defines(line[:MAX_LINE_CHARS], name) for line in new_lines):
                defined.add(name)
    names = {name for name in lost & claimed if name not in used or name in undefined - defined}
    return frozenset(lost), frozenset(names), []


def _broken(file_claim: FileClaim, before: ClaimLookup, after: ClaimLookup) -> Resolution | None:
    """The resolution of a claim before the change, if the change made it worse; None if not, or if it was not found
    before."""
    old = before.resolve(file_claim)
    if old.unknown or old.grade == NOWHERE:
        return None
    new = after.resolve(file_claim)
    if new.unknown and file_claim.claim.kind is Kind.COMMAND and old.grade == EXACT:
        return old  # the file or its line with the definition is gone, even if the new file may compute others
    if new.unknown or new.grade >= old.grade:
        return None
    min_grade = EXACT if file_claim.claim.kind in NAMED_KINDS else NEAR
    return old if new.grade == NOWHERE or old.grade >= min_grade else None


def _meant(
    file_claim: FileClaim, old: Resolution, before: ClaimLookup, after: ClaimLookup, spans: frozenset[str]
) -> bool:
    """Whether the line means the thing that is gone, and does not itself say that the thing is gone or must not be
    used.

    A word of a sentence counts as a name if code defined it, and any word if some line has it as a code span (`spans`).
    A file name without a folder counts if the line names a folder elsewhere or the tree had only one such file.
    """
    claim = file_claim.claim
    if wording.is_denied(claim):
        return False
    in_example = bool(claim.line.block) and claim.tool != DIAGRAM_TOOL and claim.line.language not in SHELLS
    if claim.kind is Kind.SYMBOL and not claim.plain:
        if claim.token in spans:
            return True
        return not claim.line.block and old.grade == EXACT and after.resolve(file_claim).grade == NOWHERE
    is_bare = (
        claim.kind in (Kind.PATH, Kind.DIRECTORY) and "/" not in claim.token.strip("/") and claim.tool != DIAGRAM_TOOL
    )
    if is_bare and old.grade < NEAR:
        files = before.tree.named.get(claim.token.strip("/"), ())
        if not claim.plain or len(files) != 1 or in_example:
            return False
        return not wording.is_about_naming(claim) and not is_procedure(file_claim.path)
    return True


def _finding(
    file_claim: FileClaim, old: Resolution, before: ClaimLookup, after: ClaimLookup, moves: dict[str, str], head: str
) -> Finding:
    """The finding about a claim that the change made false. `old`: its resolution before. `moves`: old path -> new path
    of renamed files."""
    claim = file_claim.claim
    state, commit, renamed, cause = State.GONE, "", "", f"{claim.kind}:{claim.token}"
    match claim.kind:
        case Kind.PATH | Kind.DIRECTORY:
            renamed = _renamed_to(old.at, moves, after)
            evidence = f"{old.at} is not there any more"
            if renamed:
                evidence = f"{old.at} is now {renamed}"
            commit, cause = _last_commit(before.repo, before.commit, head, old.at), old.at
        case Kind.COMMAND:
            evidence = f"{old.at} defines '{claim.token}' no more"
        case Kind.VERSION:
            state, evidence = State.CHANGED, after.resolve(file_claim).at
        case _:
            verb = "defines" if claim.token in after.names.used else "has"
            evidence = f"no line of code {verb} {claim.token} any more"
    return Finding(
        file_claim.path, claim.line.number, claim.text, claim.kind.value, state, evidence, commit, renamed, True, cause
    )


def _last_commit(repo: Repository, base: str, head: str, path: str) -> str:
    """The last commit from `base` to `head` that touched a path, "" for the path "" or if none did."""
    if not path:
        return ""
    return next((commit.oid for commit in repo.log([head, f"^{base}"], [path], limit=1)), "")


def _renamed_to(path: str, moves: dict[str, str], after: ClaimLookup) -> str:
    """The new path of a renamed file, or of a folder most of whose renamed files went to one other folder; else ""."""
    if path in moves:
        return moves[path]
    inside = {old: new for old, new in moves.items() if old.startswith(f"{path}/")}
    folders = [new[: -len(old) + len(path)] for old, new in inside.items() if new.endswith(old[len(path) :])]
    best = max(set(folders), key=folders.count, default="")
    return "" if best not in after.tree.folders else best


def by_cause(findings: Iterable[Finding], max_causes: int) -> tuple[list[tuple[str, list[Finding]]], int]:
    """(the first `max_causes` causes as (`Finding.cause`, its findings), the number of causes that are left out)."""
    causes: dict[str, list[Finding]] = {}
    for finding in findings:
        causes.setdefault(finding.cause, []).append(finding)
    rows = list(causes.items())
    return rows[:max_causes], max(0, len(rows) - max_causes)
