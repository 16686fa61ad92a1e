"""Consolidation: what MEMORY.md and the episodes say twice, what a later fact surely replaced, what nobody asked for.

The flow behind `git mem consolidate`: it reads what is committed, plans, and writes one commit. What is taken out of
MEMORY.md goes to the archive with the fact that stays; an episode is never changed. What is not sure, or is a person's,
is named and left to `git mem settle`. Nothing is written before the plan is complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.gate.policy import Policy
from gitmem.git.branch_worktree import branch_worktree, detached_worktree
from gitmem.git.objects import EXECUTABLE, REGULAR, Span
from gitmem.git.opening import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit
from gitmem.git.worktree import locked
from gitmem.git.write import ensure_can_commit
from gitmem.json_values import json_object
from gitmem.memory import facts
from gitmem.memory.fact import Fact, encode, fact_id, render_span, text_hash
from gitmem.memory.facts import Memory, Moved, importance, pinned
from gitmem.memory.rivals import MEMORY, Placed, Rival, by_person, judge, without_secrets
from gitmem.paths import MAX_MEMORY_FILE_BYTES
from gitmem.plural import counted
from gitmem.promotion import logs
from gitmem.promotion.episode_digest import FOLDER as DIGESTS
from gitmem.promotion.episode_digest import Digest, digest_of, digested, is_digest, stale_month, written
from gitmem.promotion.past_consolidations import SUBJECT, Declined, declined
from gitmem.promotion.plan import LOSS, LOSS_SHARE, Rules
from gitmem.promotion.promote import archived, branch_tip, bring_up_to_date, stopped_by
from gitmem.promotion.proposal import Log, Model
from gitmem.promotion.repetitions import Merge, merge_repetitions, wording
from gitmem.promotion.settlement import as_value as pair_value
from gitmem.promotion.settlement import dated, pairs_of, put_in_place
from gitmem.provenance import trailers
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.line_origins import log_origin

RECEIPT_DAYS = 90  # days that receipts must span before "nobody asked for it" says anything
RECEIPT_DATES = 20  # of these days on which there must be a receipt
RECEIPTS_LAST = 14  # days since the newest receipt, at most: an unused computer knows nothing
LOWERED = 0.3  # importance of a fact that nobody was given or asked for
LASTING = ("rule", "policy", "constraint", "exception")  # types that are not lowered: they hold unasked
BRANCH = "memory/consolidate"  # of the proposals that nobody typed


@dataclass(frozen=True, slots=True)
class Receipts:
    """What receipts of this clone say. `first`, `last`: days of the oldest and the newest; `dates`: number of days that
    have any; `given`: ids of texts that a context or a search gave."""

    first: date
    last: date
    dates: int
    given: Collection[str]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `since`: a revision or a day; only what was written since is looked at, "" for all. `branch`:
    where the commit goes, "" for the current one. `receipts`: None where this clone has none."""

    since: str = ""
    dry_run: bool = False
    branch: str = ""
    receipts: Receipts | None = None


@dataclass(frozen=True, slots=True)
class Replaced:
    """A fact that a later one surely replaced or ended."""

    kept: Fact
    gone: Fact
    reason: str


@dataclass(frozen=True, slots=True)
class Lowered:
    """A fact that no receipt names, and its importance before."""

    fact: Fact
    before: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done, or would be. `asked`: pairs that a person decides. `commit`: "" for a dry run and where there was
    nothing to write. `notes`: what was not looked at, and why."""

    merges: tuple[Merge, ...] = ()
    replaced: tuple[Replaced, ...] = ()
    lowered: tuple[Lowered, ...] = ()
    digests: tuple[Digest, ...] = ()
    asked: tuple[Rival, ...] = ()
    notes: tuple[str, ...] = ()
    model: str = ""
    branch: str = ""
    commit: str = ""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write; a person may be asked all the same."""
        return not (self.merges or self.replaced or self.lowered or self.digests)


@dataclass(frozen=True, slots=True)
class Run:
    """One consolidation of the repository `place`: the user's own, or a work tree of the branch."""

    place: Repository
    config: Config
    model: Model
    policy: Policy
    request: Request
    now: datetime

    @property
    def today(self) -> date:
        return self.now.date()


@dataclass(frozen=True, slots=True)
class Planned:
    """The outcome of a plan, the new bytes of the files that it changes, and the commit that it was made for."""

    outcome: Outcome
    contents: Mapping[str, bytes]
    head: str


def consolidate(
    repo: Repository, config: Config, model: Model, policy: Policy, request: Request, now: datetime
) -> Outcome:
    """Run one consolidation.

    Raises GitMemError where it cannot run (no commit, MEMORY.md has edits, a merge in progress, a lock), Changed where
    somebody commits meanwhile, ModelUnavailable; nothing is written then.
    """
    head = repo.head()
    if head is None:
        raise GitMemError("there is no commit here yet, so no memory to read", "git add -A && git commit")
    run = Run(repo, config, model, policy, request, now)
    if request.dry_run:
        return replace(_as_on_branch(run, head), branch=request.branch)
    ensure_can_commit(repo)
    with locked(repo.common_dir, "promote", wait=0):
        if not request.branch or repo.branch() == request.branch:
            return _written(run, _planned(run))
        start = branch_tip(repo, request.branch, head)
        with branch_worktree(repo, request.branch, start) as there:
            if not repo.is_ancestor(head, start):
                bring_up_to_date(there, head, request.branch)
            run = replace(run, place=there)
            return replace(_written(run, _planned(run)), branch=request.branch)


def _as_on_branch(run: Run, head: str) -> Outcome:
    """What a run would do where its commit would go; nothing is written. Raises GitMemError where the branch conflicts
    with `head`."""
    branch = run.request.branch
    start = branch_tip(run.place, branch, head)
    if start == head:
        return _planned(run).outcome
    with detached_worktree(run.place, start) as there:
        if not there.is_ancestor(head, start):
            bring_up_to_date(there, head, branch)
        return _planned(replace(run, place=there)).outcome


def _written(run: Run, planned: Planned) -> Outcome:
    """Commit what is planned, if anything; the outcome with its commit. Raises Changed, Refused, GitFailed."""
    if planned.outcome.empty:
        return planned.outcome

    def plan(reading: Reading) -> CommitDraft[Outcome]:
        if reading.repo.head() != planned.head:
            raise Changed("there was a commit while this ran; nothing was written", "run it again")
        for path in planned.contents:
            if reading.raw(path) is not None:
                reading.committed(path)
        return CommitDraft(planned.contents, planned.outcome, _message(run, planned.outcome))

    outcome, oid = commit(run.place, plan)
    return replace(outcome, commit=oid)


# -- the plan ------------------------------------------------------------------------------------------------


def _planned(run: Run) -> Planned:
    """What is to be done at HEAD of `run.place`. Reads only."""
    place, today = run.place, run.today
    head = place.head()
    assert head is not None
    reading = Reading(place)
    data = reading.raw(MEMORY)
    memory = facts.parse(reading.committed(MEMORY) if data is not None else b"")
    base = ""
    if run.request.since:
        base = logs.since(place, run.request.since, head, run.now)
    taken_back = declined(place, head)
    is_new = _newness(place, base, taken_back)
    limit = max(LOSS, int(LOSS_SHARE * len(memory.facts)))
    known = dated(place, MEMORY, memory.facts, today)
    after, merges, moved = merge_repetitions(memory, today, limit, is_new)
    pairs = [pair for pair in pairs_of(known, today) if is_new(pair.new.fact, pair.old.fact)]
    gone = {(each.gone.id, each.gone.line) for each in merges}
    pairs = [pair for pair in pairs if not any((row.fact.id, row.fact.line) in gone for row in (pair.new, pair.old))]
    replacements: list[Replaced] = []
    for pair in pairs:
        if len(moved) < limit and _acts(pair):
            done = _replacement(after, pair, today)
            if done is not None:
                after, filed = done
                earlier, later = pair.earlier_first
                replacements.append(Replaced(later.fact, earlier.fact, pair.reason))
                moved = [*moved, *filed]
    acted = {(each.kept.id, each.gone.id) for each in replacements}
    asked = [
        pair for pair in pairs
        if tuple(row.fact.id for row in reversed(pair.earlier_first)) not in acted and _asks(pair)
    ]  # fmt: skip
    after, lowered, notes = _lowered(after, known, run.request.receipts, today, taken_back)
    if moved or lowered:
        contents = archived(place, head, {MEMORY: after.data()}, moved)
    else:
        contents = {}
    digests, files, more = _digests(run, head, base, after.facts)
    outcome = Outcome(
        tuple(merges), tuple(replacements), tuple(lowered), tuple(digests), tuple(asked), (*notes, *more), run.model.id,
    )  # fmt: skip
    return Planned(outcome, {**contents, **files}, head)


def _newness(repo: Repository, base: str, taken_back: Declined) -> Callable[[Fact, Fact], bool]:
    """A test of two facts: whether MEMORY.md lacked one of them at the commit `base` ("": every pair is looked at), and
    no person took their consolidation back."""
    if not base:
        return lambda one, other: not taken_back.holds(one.id, other.id)
    entry = next((each for each in repo.entries(base, [MEMORY]) if each.path == MEMORY), None)
    old = b""
    if entry is not None and entry.mode in (REGULAR, EXECUTABLE):
        old = repo.read(entry.oid)
    known = {(fact.id, fact.trail) for fact in facts.parse(old).facts}

    def is_new(one: Fact, other: Fact) -> bool:
        fresh = (one.id, one.trail) not in known or (other.id, other.trail) not in known
        return fresh and not taken_back.holds(one.id, other.id)

    return is_new


def _acts(pair: Rival) -> bool:
    """Whether a pair needs no person: the later fact surely replaces or ends the earlier one, and neither is pinned,
    about health or written by hand."""
    earlier, later = pair.earlier_first
    return pair.automatic and not by_person(earlier.fact) and not by_person(later.fact)


def _asks(pair: Rival) -> bool:
    """Whether a pair is worth a person's time here: an agent or a model proposes it, both say the same in the same
    words, or the answer would be sure if no person had written it. `git mem settle` lists the others too."""
    earlier, later = pair.earlier_first
    if pair.repeats:
        return wording(earlier.fact) == wording(later.fact)
    from gitmem.memory.relation import about_health

    return (
        any(key == "proposes" for key, _ in later.fact.meta)
        or judge(earlier, later, as_if_derived=True).automatic
        or (about_health(earlier.fact.text) and earlier.day < later.day)
    )


def _replacement(memory: Memory, pair: Rival, today: date) -> tuple[Memory, tuple[Moved, ...]] | None:
    """The memory with the later fact in the place of both, and what goes to the archive; None where one stands there no
    more, or other facts stand below both."""
    earlier, later = pair.earlier_first
    try:
        done = put_in_place(memory, later, earlier, today)
    except (Changed, UsageError, ValueError):
        return None
    return done.memory, done.moved


def _lowered(
    memory: Memory, known: Sequence[Placed], receipts: Receipts | None, today: date, taken_back: Declined
) -> tuple[Memory, list[Lowered], list[str]]:
    """The memory with a lower importance for what no receipt names, those facts, and why it was not looked at."""
    if receipts is None or not _cover(receipts, today):
        why = f"importance is left alone: receipts of {RECEIPT_DAYS} days are needed, on {RECEIPT_DATES} of them"
        return memory, [], [why]
    rows = {row.fact.id: row for row in known}  # with the lines before this run
    lowered = []
    for at in range(len(memory.entries)):
        entry = memory.entries[at]
        fact = entry.fact
        if fact.id in taken_back.lowered:
            continue
        if fact.id in rows and _was_never_given(fact, rows[fact.id].day, receipts) and importance(fact) > LOWERED:
            meta = [pair for pair in fact.meta if pair[0] != "importance"] + [("importance", f"{LOWERED:g}")]
            lowered.append(Lowered(rows[fact.id].fact, importance(fact)))
            memory = facts.with_comment(memory, entry, meta)
    return memory, lowered, []


def _cover(receipts: Receipts, today: date) -> bool:
    """Whether receipts say enough for what they do not name to count as not asked for."""
    long = (today - receipts.first).days >= RECEIPT_DAYS and receipts.dates >= RECEIPT_DATES
    return long and (today - receipts.last).days <= RECEIPTS_LAST


def _was_never_given(fact: Fact, day: str, receipts: Receipts) -> bool:
    """Whether a fact that a promotion wrote before the first receipt is named by none, and may lose."""
    from gitmem.memory.relation import about_health

    if by_person(fact) or pinned(fact) or fact.get("type") in LASTING or not day:
        return False
    return day < receipts.first.isoformat() and fact.id not in receipts.given and not about_health(fact.text)


# -- the episodes --------------------------------------------------------------------------------------------


def _digests(run: Run, head: str, base: str, known: Sequence[Fact]) -> tuple[list[Digest], dict[str, bytes], list[str]]:
    """The new digests, the bytes of their files, and what could not be read."""
    place = run.place
    entries = [each for each in place.entries(head, ["memory"]) if each.mode in (REGULAR, EXECUTABLE)]
    months: dict[str, dict[str, str]] = defaultdict(dict)  # month -> path -> oid
    if base:
        before = {each.path: each.oid for each in place.entries(base, ["memory"])}
    else:
        before = {}
    files = {each.path: each.oid for each in entries if is_digest(each.path)}
    for each in entries:
        month = stale_month(each.path, run.today)
        if month and before.get(each.path) != each.oid:
            months[month][each.path] = each.oid
    if not months:
        return [], {}, []
    read = _contents(place, [*files.values(), *(oid for found in months.values() for oid in found.values())])
    done = {path: digested(read.get(oid, b"")) for path, oid in files.items()}
    episodes = {
        month: [
            _log(path, oid, read[oid])
            for path, oid in sorted(found.items())
            if oid in read and path not in done.get(f"{DIGESTS}/{month}.md", ())
        ]
        for month, found in sorted(months.items())
    }
    notes = [
        f"{path}: not read, larger than {MAX_MEMORY_FILE_BYTES >> 20} MiB"
        for found in months.values() for path, oid in sorted(found.items()) if oid not in read
    ]  # fmt: skip
    rules = _rules(run, head, known, [log for found in episodes.values() for log in found])
    digests, contents = [], {}
    for month, found in episodes.items():
        digest = digest_of(month, found, known, run.model, rules)
        if not digest.lines:
            continue
        data = written(read.get(files.get(digest.path, ""), b""), digest)
        if stopped := stopped_by(data.decode("utf-8", "replace"), run.policy, digest.path):
            notes.append(f"{digest.path}: the gate stops it: {stopped}")
            continue
        digests.append(digest)
        contents[digest.path] = data
    return digests, contents, notes


def _contents(repo: Repository, oids: Iterable[str]) -> dict[str, bytes]:
    wanted = sorted(set(oids))
    sizes = repo.sizes(wanted)
    small = [oid for oid in wanted if sizes.get(oid, MAX_MEMORY_FILE_BYTES + 1) <= MAX_MEMORY_FILE_BYTES]
    return {oid: data for oid, data in repo.read_many(small) if data is not None}


def _log(path: str, oid: str, data: bytes) -> Log:
    """An episode as a model reads it: every line is new."""
    from gitmem.paths import log_date

    day = log_date(path)
    assert day is not None
    lines = logs.split(data)
    return Log(path, oid, day, lines, frozenset(range(1, len(lines) + 1)), log_origin(lines))


def _rules(run: Run, head: str, known: Sequence[Fact], episodes: Sequence[Log]) -> Rules:
    """What the lines of a digest are held to: the checks of a promotion; what a person took out never comes again."""
    from gitmem.promotion.episode_digest import LINES

    past = logs.past(run.place, read_ledger(run.place, [head]), head, known, episodes)
    return Rules(
        today=run.today, gate=lambda text: stopped_by(text, run.policy), limit=LINES, covered=past.covered,
        refused=past.refused, archived=past.archived,
    )  # fmt: skip


# -- the message, and the answer -----------------------------------------------------------------------------


def _message(run: Run, outcome: Outcome) -> str:
    """The message of the commit: places and ids, no text of memory; the sources of digests as trailers.
    `past_consolidations.declined` reads the rows."""
    lines = [f"{SUBJECT}{summary(outcome)}", ""]
    for merge in outcome.merges:
        lines.append(f"- {MEMORY}:{merge.gone.line} {merge.gone.id} says the same as {merge.kept.id}")
    for each in outcome.replaced:
        lines.append(f"- {MEMORY}:{each.gone.line} {each.gone.id} was replaced by {each.kept.id}")
    for lower in outcome.lowered:
        lines.append(f"- {MEMORY}:{lower.fact.line} {lower.fact.id} importance {lower.before:g} -> {LOWERED:g}")
    for digest in outcome.digests:
        lines.append(
            f"- {encode(digest.path)}: {counted(len(digest.lines), 'line')} of {len(digest.episodes)} episodes"
        )
        lines += [f"  {render_span(span._replace(blob=''))}" for line in digest.lines for span in line.sources]
    links = [
        trailers.Link(span, digest.path, text_hash(line.text))
        for digest in outcome.digests for line in digest.lines for span in line.sources
    ]  # fmt: skip
    lost = len(outcome.merges) + len(outcome.replaced)
    recorded = trailers.Recorded(
        sources=tuple(links),
        model=outcome.model,
        agent=run.config.agent,
        reason="memory says it once",
        rewrite=f"{lost} moved to the archive by consolidation" if lost >= BULK_LINES else "",
    )
    return trailers.with_record("\n".join(lines), recorded)


def summary(outcome: Outcome) -> str:
    """`2 merges, 1 replacement, 1 digest`: what is there to do, "" for nothing."""
    counts = (
        (len(outcome.merges), "merge"), (len(outcome.replaced), "replacement"),
        (len(outcome.lowered), "lower importance"), (len(outcome.digests), "digest"),
    )  # fmt: skip
    named = [
        f"{count} lowered" if noun.startswith("lower") else counted(count, noun) for count, noun in counts if count
    ]
    return ", ".join(named)


def as_value(outcome: Outcome, *, dry_run: bool) -> dict[str, Any]:
    """The JSON of docs/json.md, "git mem consolidate"."""
    return {
        "merges": [{"kept": _fact(each.kept), "gone": _fact(each.gone)} for each in outcome.merges],
        "replaced": [
            {"kept": _fact(each.kept), "gone": _fact(each.gone), "reason": each.reason} for each in outcome.replaced
        ],
        "lowered": [
            {**_fact(each.fact), "importance": LOWERED, "importance_before": each.before} for each in outcome.lowered
        ],
        "digests": [
            {
                "path": digest.path,
                "episodes": list(digest.episodes),
                "lines": [
                    {
                        "id": fact_id(line.text), "text": line.text, "type": dict(line.meta).get("type", "fact"),
                        "subject": line.subject, "sources": [_place(span) for span in line.sources],
                    }
                    for line in digest.lines
                ],
            }
            for digest in outcome.digests
        ],
        "asked": [pair_value(without_secrets(pair)) for pair in outcome.asked],
        "model": outcome.model,
        "branch": outcome.branch or None,
        "commit": outcome.commit or None,
        "dry_run": dry_run,
        "notes": list(outcome.notes),
    }  # fmt: skip


def _fact(fact: Fact) -> dict[str, Any]:
    return {"path": MEMORY, "line": fact.line, "id": fact.id, "text": fact.text}


def _place(span: Span) -> dict[str, Any]:
    return json_object(span, "path start_line end_line blob")
