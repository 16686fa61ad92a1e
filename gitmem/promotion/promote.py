"""Promotion: reads the new lines of committed daily logs, asks a model for facts, commits approved facts to MEMORY.md.

`git mem promote` and the post-commit hook use this module. Only committed content decides, so that a laptop and CI give
the same answer. Nothing is written before the plan is complete, and a refused commit leaves every file as it was.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from gitmem.config import Config
from gitmem.daily_logs import log_day
from gitmem.errors import Changed, GitMemError, ModelUnavailable, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.gate.detectors.finding import Severity, Skipped
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.git import undo_record
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.commit import ensure_can_commit
from gitmem.git.git_index import is_committed
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.opening import Repository
from gitmem.git.signing import run_commit
from gitmem.git.transaction import (  # fmt: skip
    TRIES,
    Contents,
    Position,
    Reading,
    commit_files,
    ensure_position,
    ensure_utf8,
    position,
    replaced,
    writer,
)
from gitmem.git.worktree import locked, write_atomic
from gitmem.git.write import run_git
from gitmem.json_values import json_keys
from gitmem.memory import archiving, facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import fact_id, render_span, text_hash
from gitmem.memory.facts import Memory
from gitmem.memory.new_statements import rivals_between
from gitmem.memory.recent_lines import RECENT_DAYS
from gitmem.memory.rivals import PlacedFact, Rival, rivals_in_memory, without_secrets
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.promotion import logs
from gitmem.promotion.plan import RETRIED_CHECKS, Approved, Check, Plan, Rules, decide, max_losses
from gitmem.promotion.proposal import Log, Model, Op, Proposal
from gitmem.promotion.settlement import dated_facts, statement_facts
from gitmem.provenance import trailers
from gitmem.provenance.agent_trailers import PENDING
from gitmem.provenance.ledger import PROMOTES, read_ledger

MEMORY = "MEMORY.md"
BRANCH = "memory/promote"


class Mode(StrEnum):
    """How the result is written."""

    COMMIT = "commit"
    EACH = "commit-per-fact"
    BRANCH = "branch"
    STAGE = "stage"
    NOTHING = "dry-run"


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a promotion."""

    mode: Mode = Mode.COMMIT
    since: str = ""  # a revision or a day in place of the cursor
    limit: int = 0  # facts of this run; 0: the setting alone limits them
    branch: str = ""  # where Mode.BRANCH commits and what a dry run plans for, "" for the current branch
    accept: tuple[str, ...] = ()  # ids of facts of origin web or tool that a person accepts
    reviewed: bool = False  # a person looked at each fact; the commit names them
    agent: str = ""  # "" for the setting `mem.agent`
    shown: Mapping[str, str] | None = None  # fact id -> id that it replaces ("" for none): promote exactly these
    tidy: bool = True  # also archive facts that have ended or no longer fit
    plan_only: bool = False  # a dry run without archiving and without `Outcome.differs`


@json_keys(
    "facts=plan.approved skipped=plan.refused differs archived cursor? model mode branch? commits lines_read=lines"
    " why_nothing? notes=all_notes"
)
@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a promotion, or of its plan.

    JSON: `facts`: the facts that are promoted. `skipped`: the operations that are not applied. `differs`: facts that
    the new ones repeat, replace, end or conflict with, and facts that a line which stays in its log may replace, end or
    contradict. `archived`: facts that moved to the archive. `cursor`: the commit up to which logs count as read, null
    for none. `lines_read`: how many new lines were read. `why_nothing`: why there are no facts. `notes`: what a model
    or a file lacked.
    """

    plan: Plan
    model: str
    cursor: str  # the commit up to which logs count as read
    mode: Mode
    commits: tuple[str, ...] = ()  # empty for a dry run and for staging
    archived: tuple[ArchiveEntry, ...] = ()
    skipped: tuple[Skipped, ...] = ()  # logs that could not be read
    notes: tuple[str, ...] = ()
    branch: str = ""
    lines: int = 0  # new lines that were read
    why_nothing: str = ""  # why no fact is promoted, a sentence
    differs: tuple[Rival, ...] = ()  # all these facts stay

    @property
    def all_notes(self) -> tuple[str, ...]:
        """The notes, with a sentence for each log that could not be read."""
        return (*self.notes, *(f"{log.path}: {log.reason}" for log in self.skipped))


@dataclass(frozen=True, slots=True)
class CommitStep:
    """One commit of a promotion: new contents of files, its facts, and the facts that it archives by `tidy`."""

    contents: Mapping[str, bytes]
    approved: tuple[Approved, ...]
    moved: tuple[ArchiveEntry, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """The parameters of a promotion. `repo`: where logs are read; `place`: where facts are written, `repo` itself or a
    work tree of another branch."""

    repo: Repository
    place: Repository
    config: Config
    model: Model
    policy: Policy
    request: Request
    now: datetime


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """The commits that a run would make, and its outcome without them."""

    steps: tuple[CommitStep, ...]
    outcome: Outcome


def promote(repo: Repository, config: Config, model: Model, policy: Policy, request: Request, now: datetime) -> Outcome:
    """Run one promotion. When another process commits while the model works, the plan is made again on that commit.
    When no fact is approved, nothing is written and `Outcome.why_nothing` says why.

    Raises GitMemError when it cannot run (no commit, edits of MEMORY.md, a merge, a lock), UnknownRevision for
    `request.since`, Changed when the branch or MEMORY.md changed meanwhile or the plan is not `request.shown`,
    UsageError for facts to accept that are not there or that an agent accepts, Refused when the gate or a hook refuses
    the commit, ModelUnavailable when the model gives no answer. Nothing is written then.
    """
    if request.accept and config.agent:
        raise UsageError("only a person accepts what came from the web or a tool", "unset mem.agent, or leave it")
    head = repo.head()
    if head is None:
        raise GitMemError("there is no commit here yet, so no log to read", "git add -A && git commit")
    run = Run(repo, repo, config, model, policy, request, now)
    if request.mode is Mode.NOTHING:
        return _make_plan(run, head, branch_tip(repo, request.branch, head)).outcome
    ensure_can_commit(repo)
    with locked(repo.common_dir, "promote", wait=0):
        if request.mode is Mode.BRANCH and repo.branch() != request.branch:
            return _promote_on_branch(run, head)
        return _promote_here(run)


def branch_tip(repo: Repository, branch: str, head: str) -> str:
    """The commit on which a promotion on `branch` builds: the tip of the branch when `head` does not contain it, else
    `head`."""
    if not branch:
        return head
    tip = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    if tip and not repo.is_ancestor(tip, head):
        return tip
    return head


def _promote_here(run: Run) -> Outcome:
    """Plan without a lock, since the model is slow, then take the lock and write if nothing has changed.

    After a commit in between it plans again. Raises Changed after TRIES plans, and if the branch was switched.
    """
    repo = run.repo
    with writer(repo) as undone:
        before = position(repo)
        _ensure_clean(repo, before)
    notes = tuple(f"{path} is as it was before a run that was killed" for path in undone)
    for _ in range(TRIES):
        assert before.head is not None
        planned = _make_plan(run, before.head, before.head)
        if not planned.steps:
            break
        with writer(repo):
            now = position(repo)
            if now.branch == before.branch and now.head != before.head and now.head is not None:
                before = now
                continue
            ensure_position(repo, before)
            planned = _commit_plan(run, planned, before, _ensure_clean(repo, before))
            break
    else:
        raise Changed("there were commits all the time while this ran; nothing was written", "run it again")
    return replace(planned.outcome, notes=(*notes, *planned.outcome.notes))


def _promote_on_branch(run: Run, head: str) -> Outcome:
    """Promote in a temporary work tree of the branch, after merging `head` into it. Raises GitFailed for a name that no
    branch can have, GitMemError when the branch conflicts with `head`."""
    repo, name = run.repo, run.request.branch
    run_git(repo, ["check-ref-format", "--branch", name])
    start = branch_tip(repo, name, head)
    with branch_worktree(repo, name, start) as there:
        if not repo.is_ancestor(head, start):
            bring_up_to_date(there, head, name)
        tip = there.head()
        assert tip is not None
        run = replace(run, place=there)
        planned = _make_plan(run, head, tip)
        if not planned.steps:
            return planned.outcome
        with writer(there):
            before = position(there)
            return _commit_plan(run, planned, before, _ensure_clean(there, before)).outcome


def _make_plan(run: Run, head: str, tip: str) -> PromotionPlan:
    """Read the logs at `head`, ask the model, and plan the change of the MEMORY.md of `tip`. Writes nothing. The model
    is not asked when no log has new lines. Raises ModelUnavailable, UnknownRevision for `since`, UsageError for an
    unknown id to accept, Changed when the plan is not the one shown."""
    repo, place, request, config = run.repo, run.place, run.request, run.config
    ledger = read_ledger(repo, [tip])
    read_to = logs.read_cursor(repo, ledger, tip)
    base = read_to
    if request.since:
        base = logs.since_commit(repo, request.since, head, run.now)
    elif request.accept and not request.reviewed:
        base = ""  # the lines of facts to accept were read by an earlier run
    reading = logs.new_logs(repo, head, base, config.memory_daily)
    memory = facts.parse(file_at(place, tip, MEMORY))
    proposal = Proposal(())
    if reading.logs:
        proposal = run.model.propose(reading.logs, memory.facts)
    if proposal.unreadable:
        raise ModelUnavailable(
            Message("the model gave no readable answer: {}", proposal.unreadable), "nothing was written; run it again"
        )
    today = run.now.date()
    days = _commit_days(place, memory, today) if reading.logs else {}
    rules = _rules(run, logs.read_precedents(repo, ledger, tip, memory.facts, reading.logs), days)
    plan = decide(proposal.operations, reading.logs, memory, rules)
    _ensure_known(request.accept, plan)
    _ensure_shown(request.shown, plan)
    # The cursor does not pass lines that a later run must read again.
    unfinished = request.since or not proposal.complete or any(plan.refused_by(why) for why in RETRIED_CHECKS)
    outcome = Outcome(
        plan, run.model.id, read_to if unfinished else head, request.mode, skipped=reading.skipped,
        notes=proposal.notes, lines=reading.lines, branch=request.branch if request.mode is Mode.BRANCH else "",
    )  # fmt: skip
    plan_only = request.plan_only and request.mode is Mode.NOTHING
    if plan_only and plan.approved:
        return PromotionPlan((), outcome)
    if not plan.approved:
        left = _rivals_left_in_logs(reading.logs, plan, memory.data(), today, days)
        return PromotionPlan((), replace(outcome, why_nothing=_why_nothing(reading, plan), differs=left))
    steps = tuple(_steps(run, tip, memory, plan))
    after = steps[-1].contents[MEMORY]
    differs = (
        *rivals_between(memory.data(), after, today, days),
        *_rivals_left_in_logs(reading.logs, plan, after, today, days),
    )
    archived_facts = tuple(moved for step in steps for moved in step.moved)
    notes = (*outcome.notes, *_size_note(after, config.memory_lines))
    return PromotionPlan(steps, replace(outcome, archived=archived_facts, differs=differs, notes=notes))


def _size_note(memory: bytes, budget: int) -> tuple[str, ...]:
    """A sentence for a MEMORY.md of more than `budget` lines after a promotion, since no promotion moves what people
    wrote; () for a shorter one."""
    count = len(blob_lines(memory))
    if count <= budget:
        return ()
    words = "MEMORY.md has {} lines, more than mem.memoryLines ({}). git mem ui lists what may leave"
    return (Message(words, count, budget),)


def _commit_days(place: Repository, memory: Memory, today: date) -> dict[str, str]:
    """Fact id -> ISO day of the commit that wrote the fact, for facts without a day of their own; {} in a bare
    repository."""
    undated = [fact for fact in memory.facts if not facts.fact_date(fact)]
    if not undated or place.root is None:
        return {}
    return {row.fact.id: row.day for row in dated_facts(place, MEMORY, undated, today)}


def _rivals_left_in_logs(
    read: Sequence[Log], plan: Plan, memory: bytes, today: date, days: Mapping[str, str]
) -> tuple[Rival, ...]:
    """The rivals of the lines that the model skipped: facts of `memory` that they may replace, end or contradict, as
    `git mem settle` lists them. Lines of logs older than RECENT_DAYS, which it does not read, are left out. `days`: the
    result of `_commit_days`."""
    by_place = {(log.path, log.blob): log for log in read if log.day >= today - timedelta(days=RECENT_DAYS)}
    skipped: dict[tuple[str, str], set[int]] = {}
    for item in plan.refused_by(Check.MODEL):
        for span in item.operation.sources:
            if (span.path, span.blob) in by_place:
                skipped.setdefault((span.path, span.blob), set()).add(span.start_line)
    lines = []
    for (path, blob), numbers in skipped.items():
        log = by_place[path, blob]
        for fact in statement_facts(log.lines):
            if not numbers.isdisjoint(range(fact.line, fact.end + 1)):
                lines.append(PlacedFact(path, fact, log.day.isoformat()))
    found = rivals_in_memory(lines, memory, today, days)
    return tuple(without_secrets(rival) for rival in found if not rival.repeats)


def _ensure_known(accepted: Sequence[str], plan: Plan) -> None:
    """Raise UsageError when one of the ids to accept is not the beginning of the id of an operation in the plan."""
    operations = [item.operation for item in plan.approved] + [item.operation for item in plan.refused]
    ids = [fact_id(operation.text) for operation in operations]
    for given in accepted:
        if not any(ident.startswith(given) for ident in ids):
            raise UsageError(
                Message("there is no fact '{}' to accept", given), "git mem promote --dry-run --explain shows them"
            )


def _ensure_shown(shown: Mapping[str, str] | None, plan: Plan) -> None:
    """Raise Changed when the plan differs from `shown` (`Request.shown`); None allows any plan."""
    planned = {fact_id(item.operation.text): item.old.id if item.old else "" for item in plan.approved}
    if shown is not None and planned != shown:
        raise Changed("memory or its logs changed since this was shown; nothing was written", "look at it as it is now")


def _rules(run: Run, past: logs.Precedents, days: Mapping[str, str]) -> Rules:
    """The state and the limits for `plan.decide`. `days`: the result of `_commit_days`."""
    max_facts = run.config.max_facts
    return Rules(
        today=run.now.date(),
        gate=lambda text: blocking_rule(text, run.policy),
        limit=min(run.request.limit or max_facts, max_facts),
        covered=past.covered,
        refused=past.refused,
        accepted=frozenset(run.request.accept),
        archived=past.archived,
        days=days,
        retention=run.config.retention,
    )


def _commit_plan(run: Run, planned: PromotionPlan, before: Position, noted: dict[str, bytes | None]) -> PromotionPlan:
    """Stage the only step or commit all steps; returns the plan with its commits. The caller holds the lock of writers.

    `noted`: path -> bytes that the file must still have, None for no file; it is updated with what each step writes.
    """
    steps, outcome = planned.steps, planned.outcome
    agent = run.request.agent or run.config.agent
    by = ""
    if run.request.accept or run.request.reviewed:
        by = reviewer(run.place)
    for path in {path for step in steps for path in step.contents}:
        noted.setdefault(path, None)
    if run.request.mode is Mode.STAGE:
        _stage(
            run.place,
            noted,
            steps[0],
            trailers.record_trailers(record_of_step(steps[0], outcome, agent, by, last=True)),
        )
        return planned
    commits = []
    with undo_record.together():
        for number, step in enumerate(steps, 1):
            message = commit_message(run, step, outcome, agent, by, last=number == len(steps))
            commits.append(commit_files(run.place, before, noted, step.contents, message))
            before = before._replace(head=commits[-1])
            noted |= step.contents
    return replace(planned, outcome=replace(outcome, commits=tuple(commits)))


def blocking_rule(text: str, policy: Policy, path: str = MEMORY) -> str:
    """The rule of the gate that keeps the text out of the file at `path`: any that blocks, or that finds a secret or
    personal data. "scanner-failed" when a detector fails, "" when the text may be there."""
    from gitmem.gate.examine import inspect

    inspection = inspect(text, path, policy)
    if inspection.failures:
        return "scanner-failed"
    return next((m.rule for m in inspection.matches if m.severity is Severity.BLOCK or m.secret), "")


def _why_nothing(reading: logs.NewLogs, plan: Plan) -> str:
    """A sentence on why no fact is promoted: no new lines, no candidate, or all refused."""
    if not reading.logs:
        if reading.base:
            return Message("no daily log has new lines since {}", reading.base[:12])
        return "no daily log has new lines"
    if not plan.refused:
        return Message("{}, no candidate among them", counted(reading.lines, "new line"))
    return Message("{}, none let through; --explain lists them", counted(len(plan.refused), "candidate"))


def file_at(repo: Repository, commit: str, path: str) -> bytes:
    """The bytes of a memory file at a commit, b"" for no file. Raises GitMemError for a link or text that is not
    UTF-8."""
    entry = next((e for e in repo.entries(commit, [path]) if e.path == path), None)
    if entry is None:
        return b""
    if entry.mode not in (REGULAR, EXECUTABLE):
        raise GitMemError(
            Message("'{}' is not a plain file", path),
            Message("{}, then write it as a file", f"git rm {shlex.quote(path)}"),
        )
    data = repo.read(entry.oid)
    ensure_utf8(data, path)
    return data


# -- the files -----------------------------------------------------------------------------------------------


def _steps(run: Run, tip: str, memory: Memory, plan: Plan) -> Iterator[CommitStep]:
    """The commits to make: one for all facts, or one for each (Mode.EACH). The last one also archives facts that have
    ended or no longer fit (`Request.tidy`); replaced facts and those that no longer fit are together at most
    `max_losses`."""
    repo, today, budget = run.place, run.now.date(), run.config.memory_lines
    losses_left = max_losses(len(memory.facts)) - sum(item.operation.op is Op.SUPERSEDE for item in plan.approved)
    groups = [plan.approved]
    if run.request.mode is Mode.EACH:
        groups = [(item,) for item in plan.approved]
    archives: dict[str, bytes] = {}  # path -> bytes after the earlier steps
    for number, group in enumerate(groups, 1):
        moved = []
        for item in group:
            if item.old is not None and item.operation.op is Op.SUPERSEDE and memory.find(item.old.id):
                moved.append(archiving.superseded_entry(item.old, fact_id(item.operation.text), today))
            memory = apply_operation(memory, item)
        tidied: list[ArchiveEntry] = []
        if number == len(groups) and run.request.tidy:
            memory, expired = archiving.remove_expired(memory, today)
            added = [fact_id(item.operation.text) for item in plan.approved]
            fitted, surplus = archiving.fit_promoted_to_budget(memory, today, budget, keep=added)
            allowed = max(0, losses_left)
            if len(surplus) > allowed:  # the facts that are too many leave over several runs
                leaving = {item.fact.id for item in surplus[:allowed]} - {item.fact.id for item in surplus[allowed:]}
                keep = [fact.id for fact in memory.facts if fact.id not in leaving]
                fitted, surplus = archiving.fit_promoted_to_budget(memory, today, budget, keep=[*added, *keep])
            memory = fitted
            tidied = [*expired, *surplus]
        moved += tidied
        step = with_archives(repo, tip, {**archives, MEMORY: memory.data()}, moved)
        archives |= {path: data for path, data in step.items() if path != MEMORY}
        changed = {MEMORY, *(item.path for item in moved)}
        contents = {path: data for path, data in step.items() if path in changed}
        yield CommitStep(contents, group, tuple(tidied))


def apply_operation(memory: Memory, item: Approved) -> Memory:
    """The memory after one approved operation. When the fact to replace is gone, the new one is added. Raises
    ValueError as `facts.update` does."""
    text = item.operation.text
    entry = None
    if item.old is not None:
        entry = memory.find(item.old.id)
    if entry is None:
        return facts.add(memory, text, item.meta)
    if item.operation.op is Op.UPDATE:
        return facts.update(memory, entry, text, item.meta)
    return facts.supersede(memory, entry, text, item.meta)


def with_archives(
    repo: Repository, commit: str, contents: dict[str, bytes], moved: Iterable[ArchiveEntry]
) -> dict[str, bytes]:
    """`contents` (path -> bytes), changed in place, with the moved facts added to their archives. An archive that
    `contents` lacks is read at `commit`."""
    by_path: dict[str, list[ArchiveEntry]] = {}
    for item in moved:
        by_path.setdefault(item.path, []).append(item)
    for path, items in by_path.items():
        if path not in contents:
            contents[path] = file_at(repo, commit, path)
        contents[path] = archiving.archive(contents[path], items)
    return contents


def _ensure_clean(repo: Repository, at: Position) -> dict[str, bytes | None]:
    """Path -> bytes of MEMORY.md and the archives in the work tree, None for no file. Raises GitMemError when one of
    them differs from HEAD, staged or not."""
    assert at.head is not None
    dirty = [c.path for c in repo.staged_changes() if c.path == MEMORY or c.path.startswith("memory/archive/")]
    committed = [entry.path for entry in repo.entries(at.head, [MEMORY, "memory/archive"])]
    reading = Reading(repo)
    for path in {MEMORY, *committed}:
        data = reading.read(path)
        if data is None and path not in committed:
            continue
        if data is None or not is_committed(repo, path, data):
            dirty.append(path)
    if dirty:
        raise GitMemError(
            Message("'{}' has edits that are not committed", sorted(dirty)[0]), "commit or stash them, or use --dry-run"
        )
    return reading.noted


def _stage(repo: Repository, noted: Contents, step: CommitStep, rows: Sequence[trailers.Trailer]) -> None:
    """Stage the files and save the trailers for the hook prepare-commit-msg (`agent_trailers.pending_trailers`). When
    Git cannot stage them, the files are as they were and no trailers are saved."""
    with replaced(repo, step.contents, noted):
        write_atomic(repo.git_dir, PENDING, trailers.render_trailers(rows).encode("utf-8", "surrogateescape"))
        try:
            run_git(repo, ["add", "--", *step.contents])
        except BaseException:
            (repo.git_dir / PENDING).unlink(missing_ok=True)
            raise


# -- the message ---------------------------------------------------------------------------------------------


def commit_message(run: Run, step: CommitStep, outcome: Outcome, agent: str, by: str, *, last: bool) -> str:
    """The message of one commit of a promotion: a subject, its facts with their sources, and the trailers. If the gate
    refuses the texts of the facts, the message has their ids instead.

    `agent`: who commits, "" for a person. `by`: the person who reviewed the facts, "" for none. `last`: whether this is
    the last commit of the run, which gets the trailer with the cursor.
    """
    body = _body(step, run.config.memory_daily, quote=True)
    if blocking_rule(body, run.policy, MESSAGE):
        body = _body(step, run.config.memory_daily, quote=False)
    return trailers.with_record(body, record_of_step(step, outcome, agent, by, last=last))


def _body(step: CommitStep, daily: Iterable[str], *, quote: bool) -> str:
    """Subject and body of the message: the facts (texts with `quote`, else ids), their sources, what was archived."""
    paths = {span.path for item in step.approved for span in item.operation.sources}
    days = sorted({str(log_day(path, daily)) for path in paths})
    period = days[0]
    if len(days) > 1:
        period = f"{days[0]} to {days[-1]}"
    lines = [f"{PROMOTES}{counted(len(step.approved), 'fact')} from {period}", ""]
    for item in step.approved:
        operation = item.operation
        text = operation.text if quote else fact_id(operation.text)
        words = operation.type
        if item.old:
            words += f", replaces {item.old.id}"
        lines.append(f"- {text} ({words})")
        lines += [f"  {render_span(span._replace(blob=''))}" for span in operation.sources]
    if step.moved:
        lines += ["", f"{len(step.moved)} moved to {', '.join(sorted({item.path for item in step.moved}))}"]
    return "\n".join(lines)


def record_of_step(step: CommitStep, outcome: Outcome, agent: str, by: str, *, last: bool) -> trailers.CommitRecord:
    """The trailers of a commit (docs/promotion.md). Only the last commit of a run has the cursor. `by`: the person who
    reviewed the facts, "" for none."""
    links = [
        trailers.Link(span, MEMORY, text_hash(item.operation.text))
        for item in step.approved
        for span in item.operation.sources
    ]
    reason = f"{len(step.approved)} facts that outlast their day"
    if len(step.approved) == 1:
        reason = step.approved[0].operation.reason or "it outlasts its day"
    rewrite = ""
    replaced_facts = sum(item.old is not None for item in step.approved)
    if len(step.moved) + replaced_facts >= BULK_LINES:
        rewrite = f"{replaced_facts} replaced, {len(step.moved)} archived by promotion"
    return trailers.CommitRecord(
        sources=tuple(links),
        model=outcome.model,
        agent=agent,
        reason=reason,
        cursor=outcome.cursor if last else "",
        rewrite=rewrite,
        reviewer=by,
    )


def reviewer(repo: Repository) -> str:
    """`Name <e-mail>` of Git's committer. Raises GitFailed if Git knows no committer."""
    words = run_git(repo, ["var", "GIT_COMMITTER_IDENT"]).strip()
    return words[: words.rfind(">") + 1]


def bring_up_to_date(there: Repository, head: str, name: str) -> None:
    """Merge `head` into the branch `name`, which `there` has checked out. Raises GitMemError for a conflict, and as
    `run_commit` when a hook refuses the merge or it cannot be signed."""
    try:
        run_commit(there, ["merge", "--quiet", "--no-edit", "-m", f"memory: bring {name} up to date", head])
    except GitMemError as error:
        if not run_git(there, ["ls-files", "--unmerged"]).strip():
            raise
        raise GitMemError(
            Message("'{}' conflicts with the current branch", name),
            Message("merge or delete it: {}", f"git branch -D {shlex.quote(name)}"),
        ) from error
