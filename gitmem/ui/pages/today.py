"""The page Today: what became of facts since the last visit, the newest ones by who wrote them, the last week in
numbers, what sessions asked and were given, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.git.objects import Commit, Span
from gitmem.memory.fact import id_of_hash
from gitmem.memory.retention import SOON_DAYS, ending_soon
from gitmem.memory.snapshot import layout_at
from gitmem.memory.writing import FACT_TYPES
from gitmem.paths import Kind, is_daily, kind
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.present_facts import KINDS, LASTING, PresentFact, uncommitted
from gitmem.provenance.trailers import REASON, memory_trailers, values
from gitmem.provenance.writers import Writer
from gitmem.review.commit_diff import fact_changes, without_forgotten
from gitmem.review.fact_diff import FactChange, Op, archives
from gitmem.ui.pages.first_steps import first_steps
from gitmem.ui.pages.last_week import asked, last_week, receipts_here
from gitmem.ui.pages.newest_facts import by_writer, learned, newest, writers_of
from gitmem.ui.view import View

MAX_FACTS_PER_KIND = 20  # facts of one kind
NEWEST = 6  # facts at least whose writer and source are shown, where there are that many
WEEK = 7  # days that are told where there was no visit before
LEARNED, BACK, CHANGED, FORGOTTEN = "Learned", "Put back or copied", "Changed", "Forgotten"
RETIRED = "Archived or over"
GROUPS = (LEARNED, CHANGED, BACK, FORGOTTEN, RETIRED)


@dataclass(frozen=True, slots=True)
class Refused:
    """Lines of a log that somebody would not have as a fact, and why."""

    source: Span
    commit: Commit
    reason: str


def page(view: View) -> Response:
    """What is new since the last visit, or in the week before the snapshot."""
    head = view.snapshot.commit or view.repo.head() or ""
    base, since = _since(view, head)
    everything = _changes(view, base, head)
    changes = _of_facts(view, everything)
    told_as_facts = set(map(id, changes))
    noted = sum(
        change.new is not None and kind(change.path) in KINDS and id(change) not in told_as_facts
        for change in everything
    )
    logged = [change for change in everything if change.new and is_daily(change.path, view.config.memory_daily)]
    if changes:
        known = writers_of(view, head, changes)
    else:
        known = view.facts.writers(view.repo, head)
    new = _learned(view, base, head, changes, known)
    told = set(map(id, new))
    others = [(change, _group_of(view, change)) for change in changes if id(change) not in told]
    groups = []
    for title in GROUPS[1:]:
        own = [change for change, group in others if group == title]
        groups.append((title, len(own), own[:MAX_FACTS_PER_KIND]))
    written = [(change.path, change.fact) for change in new]
    older = newest(view, known, {fact.id for _, fact in written}, max(0, NEWEST - len(written)))
    given = receipts_here(view)
    sessions, count = asked(view, given)
    if view.snapshot.past:
        unsaved = []
    else:
        unsaved = uncommitted(view.repo, view.config, view.today)
    return view.render(
        "today.html", groups=groups, refused=(refused := _refused(view, base, head, changes))[:MAX_FACTS_PER_KIND],
        refusals=len(refused), logged=len(logged), noted=noted, news=bool(everything or refused), since=since,
        base=base, head=head,
        unsaved=unsaved[:MAX_FACTS_PER_KIND],
        ending=(ending := _ending(view))[:MAX_FACTS_PER_KIND], endings=len(ending), soon_days=SOON_DAYS,
        learned=len(new), shown=min(MAX_FACTS_PER_KIND, len(new)),
        new=by_writer(view, head, known, written, MAX_FACTS_PER_KIND),
        older=by_writer(view, head, known, older, NEWEST),
        week=last_week(view, known, given), sessions=sessions, session_count=count, steps=first_steps(view),
        kinds=FACT_TYPES,
    )  # fmt: skip


def _of_facts(view: View, changes: Sequence[FactChange]) -> list[FactChange]:
    """The changes of what the page Facts counts: lines of MEMORY.md and the archive, and of notes whose file cites a
    source or has a comment of its own (`present_facts`). The other lines of notes are no facts."""
    files = {row.path for row in view.facts.rows}
    return [
        change
        for change in changes
        if kind(change.path) in LASTING
        or (kind(change.path) in KINDS and (change.path in files or bool(change.fact.meta)))
    ]


def _learned(
    view: View, base: str, head: str, changes: Sequence[FactChange], known: Mapping[str, Writer]
) -> list[FactChange]:
    """The changes that brought facts which nobody had written before."""
    if not any(change.op in (Op.ADDED, Op.PROMOTED) for change in changes):
        return []
    within = {commit.oid for commit in view.repo.log([head, *([f"^{base}"] if base else [])])}
    return learned(changes, known, within)


def _ending(view: View) -> list[tuple[str, PresentFact]]:
    """(last day, fact) of the facts of MEMORY.md that end soon, the nearest end first."""
    rows = [row for row in view.facts.rows if kind(row.path) is Kind.MEMORY and row.state != "superseded"]
    by_fact = {id(row.fact): row for row in rows}
    soon = ending_soon([row.fact for row in rows], view.today)
    return [(day.isoformat(), by_fact[id(fact)]) for day, fact in soon]


def _group_of(view: View, change: FactChange) -> str:
    """The title of the group that a change is told in. A fact that went to the archive, or whose last day passed, was
    neither learned nor forgotten by anybody; one that another file still holds is not forgotten."""
    if change.op is Op.EXPIRED or archives(change):
        return RETIRED
    if change.op in (Op.ADDED, Op.PROMOTED):
        return BACK
    if change.op is Op.REMOVED and change.fact.id not in view.facts.by_id:
        return FORGOTTEN
    return CHANGED


def _refused(view: View, base: str, head: str, changes: Sequence[FactChange]) -> list[Refused]:
    """The lines that were refused as facts between two commits: what is told as changed or forgotten is left out."""
    if not head or base == head:
        return []
    told = {change.old.id for change in changes if change.old}
    ledger = read_ledger(view.repo, [head, *([f"^{base}"] if base else [])])
    lifted = {old for _, old in ledger.reverts}
    return [
        Refused(link.source, record.commit, next(iter(values(memory_trailers(record.commit.message), REASON)), ""))
        for record in ledger.records
        if record.commit.oid not in lifted
        for link in (*record.rejected, *record.declined)
        if link.source and id_of_hash(link.sha256) not in told
    ]


def _since(view: View, head: str) -> tuple[str, object]:
    """(the commit to compare with, "" for before the first; the moment it stands for)."""
    from datetime import timedelta

    visit = view.site.visit
    if visit.commit and not view.snapshot.past and visit.at is not None:
        try:
            if view.repo.is_ancestor(view.repo.resolve(visit.commit), head):
                return visit.commit, visit.at
        except GitMemError:  # rewritten since: a week is told
            pass
    moment = (view.snapshot.when or view.now) - timedelta(days=WEEK)
    for commit in view.repo.log([head], first_parent=True) if head else ():
        if commit.commit_date <= moment:
            return commit.oid, moment
    return "", moment


def _changes(view: View, base: str, head: str) -> list[FactChange]:
    if not head or base == head:
        return []

    def made() -> tuple[FactChange, ...]:
        return tuple(fact_changes(view.repo, base, head, layout_at(view.repo, head, view.config), view.today))

    found = view.site.kept.of("changes", (base, head, view.config, view.today), made)
    changes = without_forgotten(found, view.forgotten)
    return sorted(changes, key=lambda change: change.date.timestamp() if change.date else 0.0, reverse=True)
