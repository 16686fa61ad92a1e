"""What a change makes false: claims that are true at the merge base and not at the head.

Placeholders, build output, other repositories and prose are false on both sides, so they never speak. Lines are those
of the head: a change that mends its lines too is silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitmem.claims import wording
from gitmem.claims.agent_files import procedure
from gitmem.claims.citations import TreeCode, verdict
from gitmem.claims.cited_facts import cited_facts, finding_of, own_words
from gitmem.claims.claim import DRAWN, Kind
from gitmem.claims.code_words import LINE, PROSE, WORD, declares, defines
from gitmem.claims.documents import Documents
from gitmem.claims.extraction import SHELLS
from gitmem.claims.finding import Finding, State, in_order
from gitmem.claims.history import History
from gitmem.claims.judge import NAMED_KINDS, Judge, Said
from gitmem.claims.path_resolution import EXACT, NEAR, NOWHERE, Standing
from gitmem.errors import GitFailed
from gitmem.git.objects import LINKS, Change
from gitmem.git.repository import Repository
from gitmem.paths import MAX_MEMORY_FILE_BYTES

MOST_CHANGED = 5_000  # changed files whose removed words are compared; beyond, names are not judged, and that is said


def became_false(repo: Repository, base: str, head: str, documents: Documents) -> tuple[list[Finding], list[str]]:
    """(the claims of the head's files that were true at the base, what could not be judged)."""
    try:
        changes = repo.changes(base, head, renames=True)
    except GitFailed:  # an object that a partial clone has not: renames cannot be told, what went can
        changes = repo.changes(base, head)
    if not changes:
        return [], []
    claimed = frozenset(one.claim.token for one in documents.said if one.claim.kind in NAMED_KINDS)
    removed, names, notes = removed_words(repo, changes, claimed)
    after = Judge(repo, head, documents.said, names, entries=documents.entries)
    before = Judge(repo, base, documents.said, names, beside=after)
    after.drawn = before
    moves = {change.old_path: change.path for change in changes if change.status == "R"}
    spans = frozenset(one.claim.token for one in documents.said if one.claim.kind in NAMED_KINDS and one.claim.plain)
    findings = [
        _finding(one, was, before, after, moves, head)
        for one in documents.said
        if (was := _broken(one, before, after)) is not None and _meant(one, was, before, after, spans)
    ]
    findings += _citations(before, after, removed)
    return in_order(findings), notes


def _citations(before: Judge, after: Judge, removed: frozenset[str]) -> list[Finding]:
    """The citations of the head's facts that held at the base and do not now. Of lines that only changed a look is
    asked for where a removed line had one of the fact's own words."""
    then = TreeCode(before.tree, History(before.repo, before.tree))
    now = History(after.repo, after.tree)
    findings = []
    for fact in cited_facts(after.tree, now):
        for found in fact.verdicts:
            was = verdict(found.citation, then)
            said = finding_of(fact, found)
            if said is None or was.state is found.state or was.state in (State.GONE, State.UNKNOWN):
                continue
            if found.state is State.CHANGED:
                words = sorted(own_words(fact.fact.text) & removed)[:3]
                if not words:
                    continue
                said = said._replace(evidence=f"{found.words}, and {', '.join(words)} went with them: please look")
            findings.append(said)
    return findings


def removed_words(
    repo: Repository, changes: Sequence[Change], claimed: frozenset[str]
) -> tuple[frozenset[str], frozenset[str], list[str]]:
    """(the words that some changed file of code lost; the claimed names among them that may be gone, since no changed
    file uses them now, or a line that defined them went; what was not looked at)."""
    changed = [
        change for change in changes
        if change.old_mode not in LINKS and not PROSE.search(change.old_path or change.path)
    ]  # fmt: skip
    if len(changed) > MOST_CHANGED:
        return frozenset(), frozenset(), [f"{len(changed)} files changed: names of code were not compared"]
    sizes = repo.sizes([oid for change in changed for oid in (change.old_oid, change.new_oid) if oid])
    lost: set[str] = set()
    undefined: set[str] = set()
    after: list[
        tuple[list[str], frozenset[str]]
    ] = []  # the lines of each changed file now, and the claimed names in them
    for change in changed:
        oids = [
            oid
            for oid in (change.old_oid, change.new_oid)
            if oid and sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES
        ]
        texts = dict(repo.read_many(oids))
        old, new = ((texts.get(oid) or b"").decode("utf-8", "replace") for oid in (change.old_oid, change.new_oid))
        lines = new.split("\n")
        after.append((lines, claimed.intersection(WORD.findall(new))))
        there = set(lines)
        for line in old.split("\n"):
            if line not in there and len(line) <= LINE:
                words = set(WORD.findall(line))
                lost |= words
                undefined.update(name for name in words & claimed if name not in undefined and declares(line, name))
    used = frozenset().union(*(names for _, names in after))
    defined = {
        name
        for lines, names in after
        for name in undefined & names
        if any(name in line and defines(line[:LINE], name) for line in lines)
    }
    names = {name for name in lost & claimed if name not in used or name in undefined - defined}
    return frozenset(lost), frozenset(names), []


def _broken(one: Said, before: Judge, after: Judge) -> Standing | None:
    """How a claim stood before, where it does not stand so any more; None for all others."""
    was = before.standing(one)
    if was.unknown or was.grade == NOWHERE:
        return None
    now = after.standing(one)
    if now.unknown and one.claim.kind is Kind.COMMAND and was.grade == EXACT:
        return was  # the line that defined it went, whatever else its file may compute, or the file itself
    if now.unknown or now.grade >= was.grade:
        return None
    if now.grade == NOWHERE or (was.grade >= NEAR and one.claim.kind not in NAMED_KINDS):
        return was
    if one.claim.kind in NAMED_KINDS and was.grade == EXACT:
        return was
    return None


def _meant(one: Said, was: Standing, before: Judge, after: Judge, spans: frozenset[str]) -> bool:
    """Whether what went is what the line names. A word of a sentence is a name where code defined it, a word of an
    example where some line has it as a code span; a bare file name, where it is told which file or there was only one.
    A line that says that it is gone, or must not be used, says so already."""
    claim = one.claim
    if wording.denied(claim):
        return False
    shown = bool(claim.line.block) and claim.tool != DRAWN and claim.line.language not in SHELLS
    if claim.kind is Kind.SYMBOL and not claim.plain:
        if claim.token in spans:
            return True
        return not claim.line.block and was.grade == EXACT and after.standing(one).grade == NOWHERE
    bare = claim.kind in (Kind.PATH, Kind.DIRECTORY) and "/" not in claim.token.strip("/") and claim.tool != DRAWN
    if bare and was.grade < NEAR:
        files = before.tree.named.get(claim.token.strip("/"), ())
        return claim.plain and len(files) == 1 and not shown and not wording.naming(claim) and not procedure(one.path)
    return True


def _finding(one: Said, was: Standing, before: Judge, after: Judge, moves: dict[str, str], head: str) -> Finding:
    claim = one.claim
    renamed, cause = "", f"{claim.kind}:{claim.token}"
    match claim.kind:
        case Kind.PATH | Kind.DIRECTORY:
            renamed = _place_now(was.at, moves, after)
            if renamed:
                evidence = f"{was.at} is now {renamed}"
            else:
                evidence = f"{was.at} is not there any more"
            cause = was.at
        case Kind.COMMAND:
            evidence = f"{was.at} defines '{claim.token}' no more"
        case Kind.VERSION:
            evidence = after.standing(one).at
        case _:
            evidence = f"no line of code has {claim.token} any more"
            if claim.token in after.names.used:
                evidence = f"no line of code defines {claim.token} any more"
    if claim.kind is Kind.VERSION:
        state = State.CHANGED
    else:
        state = State.GONE
    commit = ""
    if claim.kind in (Kind.PATH, Kind.DIRECTORY):
        commit = _commit(before.repo, before.commit, head, was.at)
    return Finding(
        one.path, claim.line.number, claim.text, claim.kind.value, state, evidence, commit, renamed, True, cause
    )


def _commit(repo: Repository, base: str, head: str, path: str) -> str:
    """The last commit between the two that touched a path."""
    if not path:
        return ""
    return next((commit.oid for commit in repo.log([head, f"^{base}"], [path], limit=1)), "")


def _place_now(path: str, moves: dict[str, str], after: Judge) -> str:
    if path in moves:
        return moves[path]
    inside = {old: new for old, new in moves.items() if old.startswith(f"{path}/")}
    heads = [new[: -len(old) + len(path)] for old, new in inside.items() if new.endswith(old[len(path) :])]
    best = ""
    if heads:
        best = max(set(heads), key=heads.count)
    if best not in after.tree.folders:
        return ""
    return best


def grouped(findings: Iterable[Finding], most: int) -> tuple[list[tuple[str, list[Finding]]], int]:
    """(findings by their one cause, at most so many causes; how many causes are left out)."""
    causes: dict[str, list[Finding]] = {}
    for one in findings:
        causes.setdefault(one.cause, []).append(one)
    rows = list(causes.items())
    return rows[:most], max(0, len(rows) - most)
