"""The page Today: the changes of facts since the last visit, the newest facts by writer, the last week in numbers, the
latest sessions, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from starlette.responses import Response

from gitmem.daily_logs import is_daily
from gitmem.errors import GitMemError
from gitmem.git.objects import Commit, Span
from gitmem.memory.fact import id_of_hash
from gitmem.memory.retention import SOON_DAYS, ending_soon
from gitmem.memory.snapshot import layout_at
from gitmem.memory.writing import FACT_TYPES
from gitmem.paths import Kind, kind
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.present_facts import KINDS, LONG_TERM_KINDS, PresentFact, uncommitted_facts
from gitmem.provenance.trailers import REASON, memory_trailers, values
from gitmem.provenance.writers import Writer
from gitmem.review.commit_diff import fact_changes, range_revisions, without_forgotten
from gitmem.review.fact_diff import FactChange, Op, is_archiving
from gitmem.ui.pages.first_steps import first_steps
from gitmem.ui.pages.last_week import last_week, latest_sessions, receipts_here
from gitmem.ui.pages.newest_facts import by_writer, first_written, newest_facts, writers_of
from gitmem.ui.view import View

MAX_FACTS_PER_KIND = 20  # listed
MIN_NEWEST = 6  # facts listed with writer and source, even if they are not new since the last visit
DAYS_WITHOUT_VISIT = 7  # shown when there was no visit before
LEARNED, BACK, CHANGED, FORGOTTEN = "Learned", "Put back or copied", "Changed", "Forgotten"
RETIRED = "Archived or over"
GROUPS = (LEARNED, CHANGED, BACK, FORGOTTEN, RETIRED)


@dataclass(frozen=True, slots=True)
class Refused:
    """Lines of a log that somebody rejected as a fact. `reason`: why, "" if none was given."""

    source: Span
    commit: Commit
    reason: str


def page(view: View) -> Response:
    """What is new since the last visit, or in the DAYS_WITHOUT_VISIT before the snapshot. Of each kind at most
    MAX_FACTS_PER_KIND facts are shown, and the number of all."""
    head = view.snapshot.commit or view.repo.head() or ""
    base, since = _since(view, head)
    everything = _changes(view, base, head)
    changes = _listed_facts(view, everything)
    listed = set(map(id, changes))
    noted = sum(
        change.new is not None and kind(change.path) in KINDS and id(change) not in listed for change in everything
    )
    logged = sum(change.new is not None and is_daily(change.path, view.config.memory_daily) for change in everything)
    writer_of = writers_of(view, head, changes) or view.facts.writers(view.repo, head)
    learned = _learned(view, base, head, changes, writer_of)
    learned_ids = set(map(id, learned))
    others = [(change, _group_of(view, change)) for change in changes if id(change) not in learned_ids]
    groups = []
    for title in GROUPS[1:]:
        members = [change for change, group in others if group == title]
        groups.append((title, len(members), members[:MAX_FACTS_PER_KIND]))
    facts = [(change.path, change.fact) for change in learned]
    older = newest_facts(view, writer_of, {fact.id for _, fact in facts}, max(0, MIN_NEWEST - len(facts)))
    refused, ending = _refused(view, base, head, changes), _ending(view)
    given_receipts = receipts_here(view)
    sessions, session_count = latest_sessions(view, given_receipts)
    unsaved: Sequence[PresentFact] = ()
    if not view.snapshot.past:
        unsaved = uncommitted_facts(view.repo, view.config, view.today)
    return view.render(
        "today.html", groups=groups, refused=refused[:MAX_FACTS_PER_KIND], refusals=len(refused), logged=logged,
        noted=noted, news=bool(everything or refused), since=since, base=base, head=head,
        unsaved=unsaved[:MAX_FACTS_PER_KIND], ending=ending[:MAX_FACTS_PER_KIND], endings=len(ending),
        soon_days=SOON_DAYS, learned=len(learned), shown=min(MAX_FACTS_PER_KIND, len(learned)),
        new=by_writer(view, head, writer_of, facts, MAX_FACTS_PER_KIND),
        older=by_writer(view, head, writer_of, older, MIN_NEWEST), week=last_week(view, writer_of, given_receipts),
        sessions=sessions, session_count=session_count, steps=first_steps(view), kinds=FACT_TYPES,
    )  # fmt: skip


def _listed_facts(view: View, changes: Sequence[FactChange]) -> list[FactChange]:
    """The changes of facts that the page Facts lists: those in MEMORY.md and the archive, and in notes whose file cites
    a source, or that have a comment (see `present_facts`). Other lines of notes are not facts."""
    files = {row.path for row in view.facts.rows}
    return [
        change
        for change in changes
        if kind(change.path) in LONG_TERM_KINDS
        or (kind(change.path) in KINDS and (change.path in files or bool(change.fact.meta)))
    ]


def _learned(
    view: View, base: str, head: str, changes: Sequence[FactChange], writer_of: Mapping[str, Writer]
) -> list[FactChange]:
    """The changes that added facts which a commit of the range was the first to write."""
    if not any(change.op in (Op.ADDED, Op.PROMOTED) for change in changes):
        return []
    within = {commit.oid for commit in view.repo.log(range_revisions(base, head))}
    return first_written(changes, writer_of, within)


def _ending(view: View) -> list[tuple[str, PresentFact]]:
    """(last day, fact) of the facts of MEMORY.md that expire soon, the nearest day first."""
    rows = [row for row in view.facts.rows if kind(row.path) is Kind.MEMORY and row.state != "superseded"]
    by_fact = {id(row.fact): row for row in rows}
    soon = ending_soon([row.fact for row in rows], view.today)
    return [(day.isoformat(), by_fact[id(fact)]) for day, fact in soon]


def _group_of(view: View, change: FactChange) -> str:
    """The title of the group of a change. A fact that was archived or expired was not forgotten, and neither was one
    that another file still has."""
    if change.op is Op.EXPIRED or is_archiving(change):
        return RETIRED
    if change.op in (Op.ADDED, Op.PROMOTED):
        return BACK
    if change.op is Op.REMOVED and change.fact.id not in view.facts.by_id:
        return FORGOTTEN
    return CHANGED


def _refused(view: View, base: str, head: str, changes: Sequence[FactChange]) -> list[Refused]:
    """The log lines that the range rejected as facts, without those whose fact is in `changes`."""
    if not head or base == head:
        return []
    changed = {change.old.id for change in changes if change.old}
    ledger = read_ledger(view.repo, range_revisions(base, head))
    reverted = {old for _, old in ledger.reverts}
    refused = []
    for record in ledger.records:
        if record.commit.oid in reverted:
            continue
        reason = next(iter(values(memory_trailers(record.commit.message), REASON)), "")
        for link in (*record.rejected, *record.declined):
            if link.source and id_of_hash(link.sha256) not in changed:
                refused.append(Refused(link.source, record.commit, reason))
    return refused


def _since(view: View, head: str) -> tuple[str, datetime]:
    """(the commit to compare with, its time). The commit and time of the last visit if `head` descends from that commit
    and the page is not of the past; else the last commit before DAYS_WITHOUT_VISIT days and the time so many days ago;
    "" (the empty tree) if there is no such commit."""
    visit = view.site.visit
    if visit.commit and not view.snapshot.past and visit.at is not None:
        with suppress(GitMemError):  # the commit may be gone, as after a rebase
            if view.repo.is_ancestor(view.repo.resolve(visit.commit), head):
                return visit.commit, visit.at
    moment = (view.snapshot.when or view.now) - timedelta(days=DAYS_WITHOUT_VISIT)
    older = (commit.oid for commit in view.repo.log([head], first_parent=True) if commit.commit_date <= moment)
    return (next(older, "") if head else ""), moment


def _changes(view: View, base: str, head: str) -> list[FactChange]:
    """The changed facts from `base` to `head` without forgotten texts, newest first."""
    if not head or base == head:
        return []

    def computed() -> tuple[FactChange, ...]:
        return tuple(fact_changes(view.repo, base, head, layout_at(view.repo, head, view.config), view.today))

    cached = view.site.cache.get("changes", (base, head, view.config, view.today), computed)
    changes = without_forgotten(cached, view.forgotten)
    return sorted(changes, key=lambda change: change.date.timestamp() if change.date else 0.0, reverse=True)
