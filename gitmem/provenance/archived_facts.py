"""Finds, for a fact of the archive that a promotion replaced, the fact as it was in MEMORY.md before.

A promotion that replaces a fact moves it to the archive and adds `superseded-by=ID` to its comment. That is no edit of
the fact, so `verify`, `review`, `why` and the OKF export judge the fact as it was before. They believe no message: the
commit must have done exactly what a promotion does, with a new fact that passes the checks of every promoted fact and
may replace the old one. Any other line of the archive is judged as it is. Reads committed history only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gitmem.git.objects import Commit
from gitmem.git.ranges import shallow
from gitmem.git.repository import Repository
from gitmem.memory.archiving import superseded_line
from gitmem.memory.fact import ABOUT, Fact, text_hash
from gitmem.memory.facts import SUPERSEDED_BY, SUPERSEDES, parse_lines
from gitmem.paths import Kind, kind
from gitmem.provenance.authorship import by_machine
from gitmem.provenance.checks import Checks
from gitmem.provenance.fact_edits import newest_commit

MEMORY = "MEMORY.md"


@dataclass(frozen=True, slots=True)
class Archiving:
    """A promotion that archived a fact. `successor`: the fact that it promoted in its place."""

    commit: Commit
    successor: Fact


@dataclass(frozen=True, slots=True)
class FactVersion:
    """The version of a committed fact that is judged, and its place.

    `line_commits`: returns the commits that last touched its lines there, and runs blame. `archiving`: None for a fact
    that is judged as it is.
    """

    repo: Repository
    path: str
    fact: Fact
    line_commits: Callable[[], list[Commit]]
    archiving: Archiving | None = None

    def line_commit(self) -> Commit:
        """The newest of the commits that last touched the lines of the fact."""
        return newest_commit(self.repo, self.line_commits())

    def writer(self) -> Commit:
        """The commit that counts as the writer of the fact: the newest by an agent among those that last
        touched its lines, else the newest. When a person edited one line, an agent's other lines are still the
        agent's."""
        commits = self.line_commits()
        return newest_commit(self.repo, [commit for commit in commits if by_machine(commit)] or commits)


def judged_version(checks: Checks, version: FactVersion) -> FactVersion:
    """The version of a fact to judge: as it was in MEMORY.md before a promotion replaced and archived it, or as given.

    The promotion must be the commit that last touched the line, and have one parent. It took the fact out of MEMORY.md
    and wrote the line to the archive that a promotion writes (`superseded_line`). It put one new fact into MEMORY.md
    that names the old one alone in `supersedes`, and recorded its source and the model. The new fact passes all checks
    of the policy, may replace the old one, and is still in memory unless a person took it out.
    """
    ident = version.fact.get(SUPERSEDED_BY)
    if kind(version.path) is not Kind.ARCHIVE or not ident:
        return version
    commit = version.line_commit()
    if len(commit.parents) != 1 or commit.oid in shallow(version.repo):
        return version
    history, (parent,) = checks.attributor.history, commit.parents
    facts_before, facts_after = history.facts_in(parent, MEMORY), history.facts_in(commit.oid, MEMORY)
    old, new = _only(facts_before, version.fact.id), _only(facts_after, ident)
    if old is None or new is None or not _is_entry_of(version.fact, old, new):
        return version
    if any(fact.id == old.id for fact in (*facts_after, *history.facts_in(parent, version.path))):
        return version
    if not _is_promoted(checks, new, commit) or not _still_counts(checks, new) or not _may_replace(old, new):
        return version

    def line_commits() -> list[Commit]:
        return history.line_commits(parent, MEMORY, old)

    return FactVersion(version.repo, MEMORY, old, line_commits, Archiving(commit, new))


def _only(facts: Sequence[Fact], ident: str) -> Fact | None:
    """The fact with the id; None if there is none, or more than one."""
    matches = [fact for fact in facts if fact.id == ident]
    return None if len(matches) != 1 else matches[0]


def _is_entry_of(archived: Fact, old_fact: Fact, new_fact: Fact) -> bool:
    """Whether `archived` has the text and the comment that a promotion writes to the archive when `new_fact` replaces
    `old_fact`, and `new_fact` names `old_fact` alone."""
    try:
        line = superseded_line(old_fact, new_fact.id)
    except ValueError:
        return False
    entries = [(fact.text, fact.meta) for fact in parse_lines([line]).facts]
    superseded = [value for key, value in new_fact.meta if key == SUPERSEDES]
    return entries == [(archived.text, archived.meta)] and superseded == [old_fact.id]


def _is_promoted(checks: Checks, new_fact: Fact, commit: Commit) -> bool:
    """Whether the commit promoted the fact `new_fact` of its MEMORY.md, as its record says, and no check speaks against
    it."""
    digest = text_hash(new_fact.text)
    attribution = checks.attributor.attribution(MEMORY, new_fact, lambda: commit)
    recorded = any(
        record.commit.oid == commit.oid
        and record.model(digest)
        and any(link.sha256 == digest and link.source and link.target == MEMORY for link in record.sources)
        for record in attribution.records
    )
    if not recorded or attribution.edit:
        return False
    problems = (
        *checks.problems(new_fact, attribution),
        *checks.policy_problems(MEMORY, new_fact, attribution, lambda: commit),
    )
    return not problems


def _still_counts(checks: Checks, new_fact: Fact) -> bool:
    """Whether the fact is still in long-term memory, or a person took it out or edited it."""
    digest = text_hash(new_fact.text)
    return new_fact.id in checks.attributor.edits.present_ids or any(
        record.person and any(link.sha256 == digest for link in (*record.rejected, *record.reverted))
        for record in checks.ledger.records
    )


def _may_replace(old: Fact, new: Fact) -> bool:
    """Whether a promotion may replace `old` with `new`: as far as the words tell, it is a later statement about the
    same thing, and no person pinned or wrote the old one. `new` is judged without its heading, as in `plan.decide`."""
    from gitmem.memory.rivals import judge, with_days
    from gitmem.memory.successor import why_only_proposed

    about = tuple(value for key, value in new.meta if key == ABOUT)
    meta = tuple(pair for pair in new.meta if pair[0] in ("type", ABOUT))
    (earlier,) = with_days(MEMORY, [old])
    (later,) = with_days(MEMORY, [new])
    later = later._replace(fact=new._replace(meta=meta, trail=about))
    if judge(earlier, later).automatic:
        return True
    return not why_only_proposed(old, later, corrects=True, named=True)
