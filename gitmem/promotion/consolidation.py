"""`git mem consolidate`: one commit that merges repeated facts, archives facts that later ones surely replaced, lowers
the importance of facts that nobody was given, and writes digests of old episodes.

Only committed files are read. A fact that leaves MEMORY.md goes to the archive, and an episode is never changed. Pairs
that are not sure, or of which a person wrote one, are named for `git mem settle`. Nothing is written before the plan is
complete.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.gate.policy import Policy
from gitmem.git.branch_worktree import branch_tip, bring_up_to_date, detached_worktree, updated_branch_worktree
from gitmem.git.commit import ensure_can_commit
from gitmem.git.opening import Repository
from gitmem.git.transaction import CommitDraft, Reading, commit, text_at
from gitmem.git.worktree import locked
from gitmem.memory import facts
from gitmem.memory.archiving import ArchiveEntry, with_archives
from gitmem.memory.fact import Fact, fact_id, render_span, text_hash
from gitmem.memory.facts import Memory, by_person
from gitmem.memory.percent_encoding import encode
from gitmem.memory.rivals import MEMORY, Rival, judge
from gitmem.paths import MAX_MEMORY_FILE_BYTES, log_date
from gitmem.plural import counted
from gitmem.promotion import episode_digest, logs
from gitmem.promotion.episode_digest import Digest
from gitmem.promotion.lowered_importance import LOWERED_IMPORTANCE, LoweredFact, Receipts, lower_importance
from gitmem.promotion.open_pairs import dated_facts, open_fact_pairs, shown_pair
from gitmem.promotion.past_consolidations import SUBJECT, Declined, declined
from gitmem.promotion.plan import Rules, max_losses
from gitmem.promotion.promote import blocking_rule
from gitmem.promotion.proposal import Log, Model
from gitmem.promotion.repetitions import Merge, merge_repetitions, wording
from gitmem.promotion.settlement import Change, put_in_place
from gitmem.provenance import trailers
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.line_origins import log_origin

BRANCH = "memory/consolidate"  # branch for consolidations that run by themselves


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a consolidation."""

    since: str = ""  # a revision or a day; only what was written since then is looked at, "" for all
    dry_run: bool = False
    branch: str = ""  # where the commit goes, "" for the current branch
    receipts: Receipts | None = None  # None when this clone has none


@dataclass(frozen=True, slots=True)
class Replacement:
    """A fact (`gone`) that a later one (`kept`) surely replaced or ended."""

    kept: Fact
    gone: Fact
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a consolidation, or of its plan.

    `merges`: facts that are joined. `replaced`: facts that a later one replaces. `lowered`: facts whose importance is
    lowered. `digests`: digests of old months. `model`: its id. `branch`: the branch of the commit, "" for the current
    one.
    """

    merges: tuple[Merge, ...] = ()
    replaced: tuple[Replacement, ...] = ()
    lowered: tuple[LoweredFact, ...] = ()
    digests: tuple[Digest, ...] = ()
    asked: tuple[Rival, ...] = ()  # pairs for a person to decide
    notes: tuple[str, ...] = ()  # what was not looked at, and why
    model: str = ""
    branch: str = ""
    commit: str = ""  # "" for a dry run, and when there was nothing to write

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write; there may still be pairs to ask about."""
        return not (self.merges or self.replaced or self.lowered or self.digests)


@dataclass(frozen=True, slots=True)
class Run:
    """The parameters of a consolidation. `place`: the repository, or a work tree of another branch. `policy`: of the
    gate. `request`: what the caller asked for. `now`: the time of the run."""

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
class ConsolidationPlan:
    """A plan that is not written yet. `outcome`: what it would do. `contents`: path -> new bytes. `head`: the commit
    that it was made for."""

    outcome: Outcome
    contents: Mapping[str, bytes]
    head: str


def consolidate(
    repo: Repository, config: Config, model: Model, policy: Policy, request: Request, now: datetime
) -> Outcome:
    """Run one consolidation: one commit, or none when there is nothing to write (`Outcome.empty`) and for a dry run.

    With `request.branch` HEAD is merged into that branch and the commit goes there; the work tree stays as it is.
    Raises GitMemError when it cannot run (no commit, edits of MEMORY.md, a merge in progress, a lock, a conflict with
    the branch), UnknownRevision for `request.since`, Changed when another process commits meanwhile, GitFailed when a
    hook refuses the commit, and ModelUnavailable. Nothing is written then.
    """
    head = repo.head()
    if head is None:
        raise GitMemError("there is no commit here yet, so no memory to read", "git add -A && git commit")
    run = Run(repo, config, model, policy, request, now)
    if request.dry_run:
        return replace(_plan_on_branch(run, head), branch=request.branch)
    ensure_can_commit(repo)
    with locked(repo.common_dir, "promote", wait=0):
        if not request.branch or repo.branch() == request.branch:
            return _commit_plan(run, _make_plan(run))
        with updated_branch_worktree(repo, request.branch, head) as worktree:
            run = replace(run, place=worktree)
            return replace(_commit_plan(run, _make_plan(run)), branch=request.branch)


def _plan_on_branch(run: Run, head: str) -> Outcome:
    """The outcome that a consolidation on the branch `run.request.branch` would have, for a dry run.

    The plan is made for the branch with `head` merged into it, in a worktree of its own, and nothing stays of it.
    Raises GitMemError when the branch conflicts with `head`.
    """
    branch = run.request.branch
    start = branch_tip(run.place, branch, head)
    if start == head:
        return _make_plan(run).outcome
    with detached_worktree(run.place, start) as worktree:
        bring_up_to_date(worktree, branch, head)
        return _make_plan(replace(run, place=worktree)).outcome


def _commit_plan(run: Run, planned: ConsolidationPlan) -> Outcome:
    """Commit the plan unless it is empty; returns its outcome with the commit. Raises Changed after another commit,
    GitMemError for a file with uncommitted edits, GitFailed."""
    if planned.outcome.empty:
        return planned.outcome

    def plan(reading: Reading) -> CommitDraft[Outcome]:
        if reading.repo.head() != planned.head:
            raise Changed("there was a commit while this ran; nothing was written", "run it again")
        for path in planned.contents:
            reading.committed_or_new(path)
        return CommitDraft(planned.contents, planned.outcome, _message(run, planned.outcome))

    outcome, oid = commit(run.place, plan)
    return replace(outcome, commit=oid)


# -- the plan ------------------------------------------------------------------------------------------------


def _make_plan(run: Run) -> ConsolidationPlan:
    """The plan for HEAD of `run.place`. Writes nothing.

    Repetitions are merged first, then sure pairs are replaced; both together remove at most `max_losses` facts. Other
    pairs that are worth asking about are in `Outcome.asked`. Raises GitMemError for uncommitted edits of MEMORY.md,
    UnknownRevision for `request.since`, ModelUnavailable.
    """
    place, today = run.place, run.today
    head = place.head()
    assert head is not None
    memory = facts.parse(Reading(place).committed_or_new(MEMORY))
    base = ""
    if run.request.since:
        base = logs.since_commit(place, run.request.since, head, run.now)
    reverted = declined(place, head)
    may_consolidate = _pair_filter(place, base, reverted)
    limit = max_losses(len(memory.facts))
    dated = dated_facts(place, memory.facts, today)
    memory, merges, moved = merge_repetitions(memory, today, limit, may_consolidate)
    merged = {(merge.gone.id, merge.gone.line) for merge in merges}
    pairs = [
        pair for pair in open_fact_pairs(dated, today)
        if may_consolidate(pair.new.fact, pair.old.fact)
        and not any((row.fact.id, row.fact.line) in merged for row in (pair.new, pair.old))
    ]  # fmt: skip
    memory, replacements, replaced = _replace_sure_pairs(memory, pairs, today, limit - len(moved))
    moved += replaced
    replaced_ids = {(replacement.gone.id, replacement.kept.id) for replacement in replacements}
    to_ask = []
    for pair in pairs:
        earlier, later = pair.earlier_first
        if (earlier.fact.id, later.fact.id) not in replaced_ids and _is_worth_asking(pair):
            to_ask.append(pair)
    memory, lowered, notes = lower_importance(memory, dated, run.request.receipts, today, reverted.lowered)
    contents: dict[str, bytes] = {}
    if moved or lowered:
        contents = with_archives({MEMORY: memory.data()}, moved, lambda path: text_at(place, head, path))
    digests, files, digest_notes = _digests(run, head, base, memory.facts)
    outcome = Outcome(
        tuple(merges), tuple(replacements), tuple(lowered), tuple(digests), tuple(to_ask),
        (*notes, *digest_notes), run.model.id,
    )  # fmt: skip
    return ConsolidationPlan(outcome, {**contents, **files}, head)


def _pair_filter(repo: Repository, base: str, reverted: Declined) -> Callable[[Fact, Fact], bool]:
    """A function that returns whether two facts may be consolidated: the MEMORY.md of the commit `base` lacks one of
    them (no such condition for ""), and no consolidation of them was reverted."""
    if not base:
        return lambda fact, other: not reverted.has_pair(fact.id, other.id)
    entry = next((entry for entry in repo.entries(base, [MEMORY]) if entry.path == MEMORY), None)
    data = b""
    if entry is not None and entry.is_file:
        data = repo.read(entry.oid)
    base_facts = {(fact.id, fact.trail) for fact in facts.parse(data).facts}

    def may_consolidate(fact: Fact, other: Fact) -> bool:
        is_new = (fact.id, fact.trail) not in base_facts or (other.id, other.trail) not in base_facts
        return is_new and not reverted.has_pair(fact.id, other.id)

    return may_consolidate


def _replace_sure_pairs(
    memory: Memory, pairs: Iterable[Rival], today: date, limit: int
) -> tuple[Memory, list[Replacement], list[ArchiveEntry]]:
    """(memory after the replacements of sure pairs, the replacements, the facts to add to the archive). At most `limit`
    facts leave."""
    replacements: list[Replacement] = []
    moved: list[ArchiveEntry] = []
    for pair in pairs:
        change = None
        if len(moved) < limit and _is_sure(pair):
            change = _replacement(memory, pair, today)
        if change is not None:
            earlier, later = pair.earlier_first
            replacements.append(Replacement(later.fact, earlier.fact, pair.reason))
            memory = change.memory
            moved += change.moved
    return memory, replacements, moved


def _is_sure(pair: Rival) -> bool:
    """Whether a pair needs no person: the later fact surely replaces or ends the earlier one, and neither is pinned,
    about health or written by hand."""
    earlier, later = pair.earlier_first
    return pair.automatic and not by_person(earlier.fact) and not by_person(later.fact)


def _is_worth_asking(pair: Rival) -> bool:
    """Whether the outcome names the pair. A repetition is named when both facts have the same wording. Another pair is
    named when its comment proposes it, when it would be sure if no person had written one of its facts, or when the
    earlier fact is about health. `git mem settle` lists the other pairs too."""
    earlier, later = pair.earlier_first
    if pair.repeats:
        return wording(earlier.fact) == wording(later.fact)
    from gitmem.memory.relation import about_health

    return (
        any(key == "proposes" for key, _ in later.fact.meta)
        or judge(earlier, later, as_if_derived=True).automatic
        or (about_health(earlier.fact.text) and earlier.day < later.day)
    )


def _replacement(memory: Memory, pair: Rival, today: date) -> Change | None:
    """The change that puts the later fact in the place of both; None when one of them is gone, items are below both, or
    the text cannot be in that place."""
    earlier, later = pair.earlier_first
    try:
        return put_in_place(memory, later, earlier, today)
    except (Changed, UsageError, ValueError):
        return None


# -- the episodes --------------------------------------------------------------------------------------------


def _digests(run: Run, head: str, base: str, known: Sequence[Fact]) -> tuple[list[Digest], dict[str, bytes], list[str]]:
    """(new digests, path -> bytes of their files, notes about episodes that are too large and digests that the gate
    stops). `known`: the facts of MEMORY.md. Only old months count (`stale_month`). Episodes that are the same in the
    commit `base`, and those that a digest cites, are left out. Raises ModelUnavailable as `make_digest`."""
    place = run.place
    entries = [entry for entry in place.entries(head, ["memory"]) if entry.is_file]
    base_oids: dict[str, str] = {}
    if base:
        base_oids = {entry.path: entry.oid for entry in place.entries(base, ["memory"])}
    files = {entry.path: entry.oid for entry in entries if episode_digest.is_digest(entry.path)}
    months: dict[str, dict[str, str]] = defaultdict(dict)  # month -> path -> oid
    for entry in entries:
        month = episode_digest.stale_month(entry.path, run.today)
        if month and base_oids.get(entry.path) != entry.oid:
            months[month][entry.path] = entry.oid
    if not months:
        return [], {}, []
    oids = [*files.values(), *(oid for members in months.values() for oid in members.values())]
    blobs = logs.small_blobs(place, oids)
    digested = {path: episode_digest.digested_episodes(blobs.get(oid, b"")) for path, oid in files.items()}
    episodes = {
        month: [
            _episode(path, oid, blobs[oid])
            for path, oid in sorted(members.items())
            if oid in blobs and path not in digested.get(f"{episode_digest.FOLDER}/{month}.md", ())
        ]
        for month, members in sorted(months.items())
    }
    notes = [
        f"{path}: not read, larger than {MAX_MEMORY_FILE_BYTES >> 20} MiB"
        for members in months.values() for path, oid in sorted(members.items()) if oid not in blobs
    ]  # fmt: skip
    rules = _rules(run, head, known, [log for members in episodes.values() for log in members])
    digests, contents = [], {}
    for month, of_month in episodes.items():
        digest = episode_digest.make_digest(month, of_month, known, run.model, rules)
        if not digest.lines:
            continue
        data = episode_digest.digest_file(blobs.get(files.get(digest.path, ""), b""), digest)
        if rule := blocking_rule(data.decode("utf-8", "replace"), run.policy, digest.path):
            notes.append(f"{digest.path}: the gate stops it: {rule}")
            continue
        digests.append(digest)
        contents[digest.path] = data
    return digests, contents, notes


def _episode(path: str, oid: str, data: bytes) -> Log:
    """An episode as a log of which every line is new."""
    day = log_date(path)
    assert day is not None
    lines = logs.split_log(data)
    return Log(path, oid, day, lines, frozenset(range(1, len(lines) + 1)), log_origin(lines))


def _rules(run: Run, head: str, memory_facts: Sequence[Fact], episodes: Sequence[Log]) -> Rules:
    """The rules for the lines of a digest: those of a promotion. Texts that a person removed do not come back."""
    past = logs.read_precedents(run.place, read_ledger(run.place, [head]), head, memory_facts, episodes)
    return Rules(
        today=run.today, gate=lambda text: blocking_rule(text, run.policy), limit=episode_digest.MAX_LINES,
        covered=past.covered, refused=past.refused, archived=past.archived,
    )  # fmt: skip


# -- the message, and the answer -----------------------------------------------------------------------------


def _message(run: Run, outcome: Outcome) -> str:
    """The message of the commit: places and ids, no text of memory, and the sources of digests as trailers.
    `past_consolidations.declined` parses its lines."""
    lines = [f"{SUBJECT}{summary(outcome)}", ""]
    for merge in outcome.merges:
        lines.append(f"- {MEMORY}:{merge.gone.line} {merge.gone.id} says the same as {merge.kept.id}")
    for pair in outcome.replaced:
        lines.append(f"- {MEMORY}:{pair.gone.line} {pair.gone.id} was replaced by {pair.kept.id}")
    for lower in outcome.lowered:
        lines.append(
            f"- {MEMORY}:{lower.fact.line} {lower.fact.id} importance {lower.before:g} -> {LOWERED_IMPORTANCE:g}"
        )
    for digest in outcome.digests:
        count = counted(len(digest.lines), "line")
        lines.append(f"- {encode(digest.path)}: {count} of {len(digest.episodes)} episodes")
        lines += [f"  {render_span(span._replace(blob=''))}" for line in digest.lines for span in line.sources]
    links = [
        trailers.Link(span, digest.path, text_hash(line.text))
        for digest in outcome.digests for line in digest.lines for span in line.sources
    ]  # fmt: skip
    rewrite = ""
    lost = len(outcome.merges) + len(outcome.replaced)
    if lost >= BULK_LINES:
        rewrite = f"{lost} moved to the archive by consolidation"
    recorded = trailers.CommitRecord(
        sources=tuple(links), model=outcome.model, agent=run.config.agent, reason="memory says it once", rewrite=rewrite
    )
    return trailers.with_record("\n".join(lines), recorded)


def summary(outcome: Outcome) -> str:
    """The numbers of changes, such as `2 merges, 1 replacement, 1 lowered, 1 digest`; "" for no change."""
    lowered = len(outcome.lowered)
    counts = (
        (len(outcome.merges), counted(len(outcome.merges), "merge")),
        (len(outcome.replaced), counted(len(outcome.replaced), "replacement")),
        (lowered, f"{lowered} lowered"),
        (len(outcome.digests), counted(len(outcome.digests), "digest")),
    )
    return ", ".join(words for count, words in counts if count)


def as_value(outcome: Outcome, *, dry_run: bool) -> dict[str, Any]:
    """The value that `git mem consolidate --json` prints (docs/json.md). The classes do not list these keys, because
    each fact gets its path here, which a `Fact` lacks."""
    return {
        "merges": [{"kept": _fact(merge.kept), "gone": _fact(merge.gone)} for merge in outcome.merges],
        "replaced": [
            {"kept": _fact(pair.kept), "gone": _fact(pair.gone), "reason": pair.reason} for pair in outcome.replaced
        ],
        "lowered": [
            {**_fact(lower.fact), "importance": LOWERED_IMPORTANCE, "importance_before": lower.before}
            for lower in outcome.lowered
        ],
        "digests": [
            {
                "path": digest.path,
                "episodes": list(digest.episodes),
                "lines": [
                    {
                        "id": fact_id(line.text), "text": line.text, "type": dict(line.meta).get("type", "fact"),
                        "subject": line.subject, "sources": [span._asdict() for span in line.sources],
                    }
                    for line in digest.lines
                ],
            }
            for digest in outcome.digests
        ],
        "asked": [shown_pair(pair) for pair in outcome.asked],
        "model": outcome.model,
        "branch": outcome.branch or None,
        "commit": outcome.commit or None,
        "dry_run": dry_run,
        "notes": list(outcome.notes),
    }  # fmt: skip


def _fact(fact: Fact) -> dict[str, Any]:
    return {"path": MEMORY, "line": fact.line, "id": fact.id, "text": fact.text}
