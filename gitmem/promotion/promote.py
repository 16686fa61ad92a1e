"""Promotion: reads the new lines of committed daily logs, asks a model for facts, commits approved facts to MEMORY.md.

`git mem promote` and the post-commit hook use this module. Only committed content decides, so that a laptop and CI give
the same answer. Nothing is written before the plan is complete, and a refused commit leaves every file as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError, ModelUnavailable, UsageError
from gitmem.gate.detectors.finding import Severity, Skipped
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.git import transaction, undo_record
from gitmem.git.branch_worktree import branch_tip, updated_branch_worktree
from gitmem.git.commit import committer, ensure_can_commit
from gitmem.git.git_index import is_committed
from gitmem.git.opening import Repository
from gitmem.git.transaction import Contents, Position, Reading
from gitmem.git.worktree import locked, write_atomic
from gitmem.git.write import run_git
from gitmem.json_values import json_keys, json_object
from gitmem.memory import facts
from gitmem.memory.archiving import ArchiveEntry
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import Fact, fact_id
from gitmem.memory.new_statements import rivals_between
from gitmem.memory.rivals import MEMORY, Rival
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.promotion import logs
from gitmem.promotion.commit_steps import CommitStep, commit_steps, message_body, record_of_step
from gitmem.promotion.open_pairs import commit_days, rivals_of_skipped_lines
from gitmem.promotion.plan import RETRIED_CHECKS, Check, Plan, Rules, decide
from gitmem.promotion.proposal import Log, Model, Proposal
from gitmem.provenance import trailers
from gitmem.provenance.agent_trailers import PENDING
from gitmem.provenance.ledger import read_ledger

BRANCH = "memory/promote"


class Mode(StrEnum):
    """How the result is written. COMMIT: one commit on the current branch. EACH: a commit there for each fact. BRANCH:
    one commit on the branch of the request. STAGE: the files are written and staged, not committed. NOTHING: a dry
    run."""

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


def as_value(outcome: Outcome) -> dict[str, Any]:
    """The JSON of docs/json.md, "promote". A refused text that holds a secret is ""."""
    hidden = not_repeatable(outcome)
    value = json_object(outcome)
    for row in value["skipped"]:
        if row["text"] in hidden:
            row["text"] = ""
    return value


def not_repeatable(outcome: Outcome) -> set[str]:
    """The texts of refused operations in which our rules see a secret: no output may repeat them."""
    from gitmem.gate.detectors.secrets.secrets import secret_lines

    texts = list(dict.fromkeys(item.operation.text for item in outcome.plan.refused))
    numbers = secret_lines("\n".join(text.replace("\n", " ") for text in texts))
    return {texts[number - 1] for number in numbers}


@dataclass(frozen=True, slots=True)
class Run:
    """The parameters of a promotion. `repo`: where logs are read. `place`: where facts are written, `repo` itself or a
    work tree of another branch. `policy`: of the gate. `request`: what the caller asked for."""

    repo: Repository
    place: Repository
    config: Config
    model: Model
    policy: Policy
    request: Request
    now: datetime


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """A plan that is not written yet: the commits that a run would make, and its outcome without them."""

    steps: tuple[CommitStep, ...]
    outcome: Outcome


def promote(repo: Repository, config: Config, model: Model, policy: Policy, request: Request, now: datetime) -> Outcome:
    """Run one promotion. When another process commits while the model works, the plan is made again on that commit.
    When no fact is approved, nothing is written and `Outcome.why_nothing` says why.

    Raises GitMemError when it cannot run (no commit, edits of MEMORY.md, a merge, a lock), UnknownRevision for
    `request.since`, Changed when the branch or MEMORY.md changed meanwhile or the plan is not `request.shown`,
    UsageError for facts to accept that are not there or that an agent accepts, GitFailed when a hook refuses the
    commit, ModelUnavailable when the model gives no answer. Nothing is written then.
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


def _promote_here(run: Run) -> Outcome:
    """Plan without a lock, since the model is slow, then take the lock and write if nothing has changed.

    After a commit in between it plans again. Raises Changed after TRIES plans, and if the branch was switched.
    """
    repo = run.repo
    with transaction.writer(repo) as undone:
        start = transaction.position(repo)
        _ensure_clean(repo, start)
    notes = tuple(f"{path} is as it was before a run that was killed" for path in undone)
    for _ in range(transaction.TRIES):
        assert start.head is not None
        planned = _make_plan(run, start.head, start.head)
        if not planned.steps:
            break
        with transaction.writer(repo):
            current = transaction.position(repo)
            if current.branch == start.branch and current.head != start.head and current.head is not None:
                start = current
                continue
            transaction.ensure_position(repo, start)
            planned = _commit_plan(run, planned, start, _ensure_clean(repo, start))
            break
    else:
        raise Changed("there were commits all the time while this ran; nothing was written", "run it again")
    return replace(planned.outcome, notes=(*notes, *planned.outcome.notes))


def _promote_on_branch(run: Run, head: str) -> Outcome:
    """Promote in a temporary work tree of the branch, after merging `head` into it. Raises GitFailed for a name that no
    branch can have, GitMemError when the branch conflicts with `head`."""
    with updated_branch_worktree(run.repo, run.request.branch, head) as worktree:
        tip = worktree.head()
        assert tip is not None
        run = replace(run, place=worktree)
        planned = _make_plan(run, head, tip)
        if not planned.steps:
            return planned.outcome
        with transaction.writer(worktree):
            start = transaction.position(worktree)
            return _commit_plan(run, planned, start, _ensure_clean(worktree, start)).outcome


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
    memory = facts.parse(transaction.text_at(place, tip, MEMORY))
    proposal = _proposal(run.model, reading.logs, memory.facts)
    today = run.now.date()
    days = commit_days(place, memory, today) if reading.logs else {}
    rules = _rules(run, logs.read_precedents(repo, ledger, tip, memory.facts, reading.logs), days)
    plan = decide(proposal.operations, reading.logs, memory, rules)
    _ensure_known(request.accept, plan)
    _ensure_shown(request.shown, plan)
    # The cursor does not pass lines that a later run must read again.
    unfinished = request.since or not proposal.complete or any(plan.refused_by(check) for check in RETRIED_CHECKS)
    outcome = Outcome(
        plan, run.model.id, read_to if unfinished else head, request.mode, skipped=reading.skipped,
        notes=proposal.notes, lines=reading.lines, branch=request.branch if request.mode is Mode.BRANCH else "",
    )  # fmt: skip
    if plan.approved and request.plan_only and request.mode is Mode.NOTHING:
        return PromotionPlan((), outcome)
    skipped_spans = [span for item in plan.refused_by(Check.MODEL) for span in item.operation.sources]
    if not plan.approved:
        skipped_rivals = rivals_of_skipped_lines(reading.logs, skipped_spans, memory.data(), today, days)
        return PromotionPlan((), replace(outcome, why_nothing=_why_nothing(reading, plan), differs=skipped_rivals))
    steps = tuple(
        commit_steps(
            memory, plan, today, lambda path: transaction.text_at(place, tip, path),
            one_per_fact=request.mode is Mode.EACH, budget=config.memory_lines if request.tidy else None,
        )
    )  # fmt: skip
    new_memory = steps[-1].contents[MEMORY]
    differs = (
        *rivals_between(memory.data(), new_memory, today, days),
        *rivals_of_skipped_lines(reading.logs, skipped_spans, new_memory, today, days),
    )
    archived_facts = tuple(entry for step in steps for entry in step.moved)
    notes = (*outcome.notes, *_size_note(new_memory, config.memory_lines))
    return PromotionPlan(steps, replace(outcome, archived=archived_facts, differs=differs, notes=notes))


def _proposal(model: Model, new_logs: Sequence[Log], known: Sequence[Fact]) -> Proposal:
    """What the model proposes; nothing, without asking it, if no log has new lines. Raises ModelUnavailable, also for
    an answer that cannot be read."""
    if not new_logs:
        return Proposal(())
    proposal = model.propose(new_logs, known)
    if proposal.unreadable:
        raise ModelUnavailable(
            Message("the model gave no readable answer: {}", proposal.unreadable), "nothing was written; run it again"
        )
    return proposal


def _size_note(memory: bytes, budget: int) -> tuple[str, ...]:
    """A sentence for a MEMORY.md of more than `budget` lines after a promotion, since no promotion moves what people
    wrote; () for a shorter one."""
    count = len(blob_lines(memory))
    if count <= budget:
        return ()
    words = "MEMORY.md has {} lines, more than mem.memoryLines ({}). git mem ui lists what may leave"
    return (Message(words, count, budget),)


def _ensure_known(accepted: Sequence[str], plan: Plan) -> None:
    """Raise UsageError when one of the ids to accept is not the beginning of the id of an operation in the plan."""
    operations = [item.operation for item in plan.approved] + [item.operation for item in plan.refused]
    ids = [fact_id(operation.text) for operation in operations]
    for prefix in accepted:
        if not any(ident.startswith(prefix) for ident in ids):
            raise UsageError(
                Message("there is no fact '{}' to accept", prefix), "git mem promote --dry-run --explain shows them"
            )


def _ensure_shown(shown: Mapping[str, str] | None, plan: Plan) -> None:
    """Raise Changed when the plan differs from `shown` (`Request.shown`); None allows any plan."""
    planned = {fact_id(item.operation.text): item.old.id if item.old else "" for item in plan.approved}
    if shown is not None and planned != shown:
        raise Changed("memory or its logs changed since this was shown; nothing was written", "look at it as it is now")


def _rules(run: Run, past: logs.Precedents, days: Mapping[str, str]) -> Rules:
    """The state and the limits for `plan.decide`. `days`: the result of `commit_days`."""
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


def _commit_plan(run: Run, planned: PromotionPlan, start: Position, noted: dict[str, bytes | None]) -> PromotionPlan:
    """Stage the only step or commit all steps; returns the plan with its commits. The caller holds the lock of writers.

    `noted`: path -> bytes that the file must still have, None for no file; it is updated with what each step writes.
    """
    steps, outcome = planned.steps, planned.outcome
    reviewer = ""
    if run.request.accept or run.request.reviewed:
        reviewer = committer(run.place)
    for path in {path for step in steps for path in step.contents}:
        noted.setdefault(path, None)
    records = [record_of_step(step, outcome.model, run.request.agent or run.config.agent, reviewer) for step in steps]
    records[-1] = replace(records[-1], cursor=outcome.cursor)
    if run.request.mode is Mode.STAGE:
        _stage(run.place, noted, steps[0], records[0])
        return planned
    commits = []
    with undo_record.together():
        for step, record in zip(steps, records, strict=True):
            message = trailers.with_record(_gated_body(run, step), record)
            commits.append(transaction.commit_files(run.place, start, noted, step.contents, message))
            start = start._replace(head=commits[-1])
            noted |= step.contents
    return replace(planned, outcome=replace(outcome, commits=tuple(commits)))


def _gated_body(run: Run, step: CommitStep) -> str:
    """The body of a commit's message; with ids in place of texts when the gate refuses the texts of the facts."""
    body = message_body(step, run.config.memory_daily, quote=True)
    if blocking_rule(body, run.policy, MESSAGE):
        return message_body(step, run.config.memory_daily, quote=False)
    return body


def blocking_rule(text: str, policy: Policy, path: str = MEMORY) -> str:
    """The rule of the gate that keeps the text out of the file at `path`: any that blocks, or that finds a secret or
    personal data. "scanner-failed" when a detector fails, "" when the text may be there."""
    from gitmem.gate.examine import inspect

    inspection = inspect(text, path, policy)
    if inspection.failures:
        return "scanner-failed"
    return next((match.rule for match in inspection.matches if match.severity is Severity.BLOCK or match.secret), "")


def _why_nothing(reading: logs.NewLogs, plan: Plan) -> str:
    """A sentence on why no fact is promoted: no new lines, no candidate, or all refused."""
    if not reading.logs:
        if reading.base:
            return Message("no daily log has new lines since {}", reading.base[:12])
        return "no daily log has new lines"
    if not plan.refused:
        return Message("{}, no candidate among them", counted(reading.lines, "new line"))
    return Message("{}, none let through; --explain lists them", counted(len(plan.refused), "candidate"))


def _ensure_clean(repo: Repository, start: Position) -> dict[str, bytes | None]:
    """Path -> bytes of MEMORY.md and the archives in the work tree, None for no file. Raises GitMemError when one of
    them differs from HEAD, staged or not."""
    assert start.head is not None
    staged = [change.path for change in repo.staged_changes()]
    dirty = [path for path in staged if path == MEMORY or path.startswith("memory/archive/")]
    committed = [entry.path for entry in repo.entries(start.head, [MEMORY, "memory/archive"])]
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


def _stage(repo: Repository, noted: Contents, step: CommitStep, record: trailers.CommitRecord) -> None:
    """Stage the files and save the trailers for the hook prepare-commit-msg (`agent_trailers.pending_trailers`). When
    Git cannot stage them, the files are as they were and no trailers are saved."""
    with transaction.replaced(repo, step.contents, noted):
        words = trailers.render_trailers(trailers.record_trailers(record))
        write_atomic(repo.git_dir, PENDING, words.encode("utf-8", "surrogateescape"))
        try:
            run_git(repo, ["add", "--", *step.contents])
        except BaseException:
            (repo.git_dir / PENDING).unlink(missing_ok=True)
            raise
