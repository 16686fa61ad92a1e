"""Promotion: committed daily logs in, reviewed facts out. Reads, asks a model, plans, writes one commit.

The flow behind `git mem promote` and the post-commit hook. What is decided depends on committed content alone, so a
laptop and CI give the same answer. Nothing is written before the plan is complete, and a commit that is refused
leaves every file as it was.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum

from gitmem.config import Config
from gitmem.errors import Changed, GitMemError, ModelUnavailable, UsageError
from gitmem.gate.changes.rules import BULK_LINES
from gitmem.gate.detectors.finding import Severity, Skipped
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.git import undo_record
from gitmem.git.branch_worktree import branch_worktree
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.opening import Repository
from gitmem.git.transaction import (
    TRIES,
    Contents,
    Position,
    Reading,
    commit_files,
    ensure_position,
    ensure_utf8,
    is_committed,
    position,
    replaced,
    writer,
)  # fmt: skip
from gitmem.git.worktree import locked, write_atomic
from gitmem.git.write import ensure_can_commit, run_git
from gitmem.memory import facts
from gitmem.memory.fact import fact_id, render_span, text_hash
from gitmem.memory.facts import Memory, Moved
from gitmem.memory.new_statements import between
from gitmem.memory.rivals import Rival
from gitmem.messages import Message
from gitmem.paths import log_day
from gitmem.plural import counted
from gitmem.promotion import logs
from gitmem.promotion.plan import LOSS, LOSS_SHARE, WAITS, Approved, Plan, Rules, decide
from gitmem.promotion.proposal import Model, Op
from gitmem.provenance import trailers
from gitmem.provenance.agent_trailers import PENDING
from gitmem.provenance.cursors import cursor
from gitmem.provenance.ledger import PROMOTES, read_ledger

MEMORY = "MEMORY.md"
BRANCH = "memory/promote"


class Mode(StrEnum):
    """Where the result goes."""

    COMMIT = "commit"
    EACH = "commit-per-fact"
    BRANCH = "branch"
    STAGE = "stage"
    NOTHING = "dry-run"


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `accept` are ids of facts of origin web or tool that the person lets in; `reviewed`: a person
    looked at each fact, and the commit names them. `branch`: where Mode.BRANCH commits and what a dry run plans for, ""
    for the current one. `shown`: id of each fact they saw -> id of the one it replaces, "" for none; anything else is
    not promoted. `tidy`: facts whose last day has passed, and those that no longer fit, go to the archive in the same
    commit. `plan_only`: a dry run that says what would be promoted, and not what would be archived or differs."""

    mode: Mode = Mode.COMMIT
    since: str = ""
    limit: int = 0
    branch: str = ""
    accept: tuple[str, ...] = ()
    reviewed: bool = False
    agent: str = ""
    shown: Mapping[str, str] | None = None
    tidy: bool = True
    plan_only: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `cursor` is the commit up to which logs count as read; `commits` is empty for a dry run.
    `differs`: the facts that the new ones repeat, replace, end or conflict with; all of them stay."""

    plan: Plan
    model: str
    cursor: str
    mode: Mode
    commits: tuple[str, ...] = ()
    archived: tuple[Moved, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    branch: str = ""
    lines: int = 0
    why_nothing: str = ""
    differs: tuple[Rival, ...] = ()


@dataclass(frozen=True, slots=True)
class Files:
    """New contents of the files a step of the promotion changes, and the facts it is about."""

    contents: Mapping[str, bytes]
    approved: tuple[Approved, ...]
    moved: tuple[Moved, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Run:
    """One promotion: logs are read from `repo`, facts are written in `place` (the same, or a work tree of a branch)."""

    repo: Repository
    place: Repository
    config: Config
    model: Model
    policy: Policy
    request: Request
    now: datetime


@dataclass(frozen=True, slots=True)
class Planned:
    """What a run would write in which commits, and what it would answer."""

    steps: tuple[Files, ...]
    outcome: Outcome


def promote(repo: Repository, config: Config, model: Model, policy: Policy, request: Request, now: datetime) -> Outcome:
    """Run one promotion.

    Raises GitMemError where it cannot run (no commit, edits of MEMORY.md, a merge, a lock), Changed where the branch
    or MEMORY.md changed while the model was asked, ModelUnavailable where the model gives no answer; nothing is
    written then. Commits made meanwhile are read too: the plan is made again on top of them.
    """
    if request.accept and config.agent:
        raise UsageError("only a person accepts what came from the web or a tool", "unset mem.agent, or leave it")
    head = repo.head()
    if head is None:
        raise GitMemError("there is no commit here yet, so no log to read", "git add -A && git commit")
    run = Run(repo, repo, config, model, policy, request, now)
    if request.mode is Mode.NOTHING:
        return _planned(run, head, branch_tip(repo, request.branch, head)).outcome
    ensure_can_commit(repo)
    with locked(repo.common_dir, "promote", wait=0):
        if request.mode is Mode.BRANCH and repo.branch() != request.branch:
            return _promote_on_branch(run, head)
        return _promote_here(run)


def branch_tip(repo: Repository, branch: str, head: str) -> str:
    """The commit that a promotion on a branch goes on from: the branch's, where it has what `head` lacks."""
    old = ""
    if branch:
        old = dict(repo.refs()).get(f"refs/heads/{branch}", "")
    if old and not repo.is_ancestor(old, head):
        return old
    return head


def _promote_here(run: Run) -> Outcome:
    """Plan without holding up other writers, then write where nothing changed meanwhile."""
    repo = run.repo
    with writer(repo) as undone:
        before = position(repo)
        _ensure_clean(repo, before)
    notes = tuple(f"{path} is as it was before a run that was killed" for path in undone)
    for _ in range(TRIES):
        assert before.head is not None
        planned = _planned(run, before.head, before.head)
        if not planned.steps:
            break
        with writer(repo):
            now = position(repo)
            if now.branch == before.branch and now.head != before.head and now.head is not None:
                before = now
                continue
            ensure_position(repo, before)
            planned = _written(run, planned, before, _ensure_clean(repo, before))
            break
    else:
        raise Changed("there were commits all the time while this ran; nothing was written", "run it again")
    return replace(planned.outcome, notes=(*notes, *planned.outcome.notes))


def _promote_on_branch(run: Run, head: str) -> Outcome:
    repo, name = run.repo, run.request.branch
    run_git(repo, ["check-ref-format", "--branch", name])
    start = branch_tip(repo, name, head)
    with branch_worktree(repo, name, start) as there:
        if not repo.is_ancestor(head, start):
            bring_up_to_date(there, head, name)
        tip = there.head()
        assert tip is not None
        run = replace(run, place=there)
        planned = _planned(run, head, tip)
        if not planned.steps:
            return planned.outcome
        with writer(there):
            before = position(there)
            return _written(run, planned, before, _ensure_clean(there, before)).outcome


def _planned(run: Run, head: str, tip: str) -> Planned:
    """Read the logs at `head`, ask the model, and plan for the MEMORY.md of `tip`. Writes nothing."""
    repo, place, request, config = run.repo, run.place, run.request, run.config
    known = read_ledger(repo, [tip])
    read_to = cursor(repo, known, tip)
    if request.since:
        base = logs.since(repo, request.since, head, run.now)
    else:  # what a person now accepts was read before, but for what they go through in one run
        if request.accept and not request.reviewed:
            base = ""
        else:
            base = read_to
    reading = logs.new_logs(repo, head, base, config.memory_daily)
    memory = facts.parse(file_at(place, tip, MEMORY))
    proposal = None
    if reading.logs:
        proposal = run.model.propose(reading.logs, memory.facts)
    if proposal and proposal.unreadable:
        raise ModelUnavailable(
            Message("the model gave no readable answer: {}", proposal.unreadable), "nothing was written; run it again"
        )
    rules = _rules(run, memory, logs.past(repo, known, tip, memory.facts, reading.logs))
    plan = decide(proposal.operations if proposal else (), reading.logs, memory, rules)
    _ensure_known(request.accept, plan)
    _ensure_shown(request.shown, plan)
    # A candidate that a limit stopped must be read again: the cursor does not pass it.
    waits = bool(request.since) or (proposal is not None and not proposal.whole)
    waits = waits or any(plan.stopped(why) for why in WAITS)
    outcome = Outcome(
        plan, run.model.id, read_to if waits else head, request.mode, skipped=reading.skipped,
        notes=proposal.notes if proposal else (), lines=reading.lines,
        branch=request.branch if request.mode is Mode.BRANCH else "",
    )  # fmt: skip
    if not plan.approved:
        return Planned((), replace(outcome, why_nothing=_why_nothing(reading, plan)))
    if request.plan_only and request.mode is Mode.NOTHING:
        return Planned((), outcome)
    steps = tuple(_steps(run, tip, memory, plan))
    days = _days_written(place, memory, run.now.date())
    differs = between(memory.data(), steps[-1].contents[MEMORY], run.now.date(), days)
    archived_facts = tuple(moved for step in steps for moved in step.moved)
    return Planned(steps, replace(outcome, archived=archived_facts, differs=differs))


def _days_written(place: Repository, memory: Memory, today: date) -> dict[str, str]:
    """Id of each fact that says no day of its own -> ISO day of the commit that wrote it, as `git mem settle` has it;
    none in a bare repository."""
    from gitmem.promotion.settlement import dated

    undated = [fact for fact in memory.facts if not facts.fact_date(fact)]
    if not undated or place.root is None:
        return {}
    return {row.fact.id: row.day for row in dated(place, MEMORY, undated, today)}


def _ensure_known(accepted: Sequence[str], plan: Plan) -> None:
    """Raise UsageError for an id to accept that no candidate has."""
    operations = [item.operation for item in plan.approved] + [item.operation for item in plan.refused]
    ids = [fact_id(operation.text) for operation in operations]
    for given in accepted:
        if not any(ident.startswith(given) for ident in ids):
            raise UsageError(
                Message("there is no fact '{}' to accept", given), "git mem promote --dry-run --explain shows them"
            )


def _ensure_shown(shown: Mapping[str, str] | None, plan: Plan) -> None:
    """Raise Changed where the plan would do anything else than a person saw."""
    does = {fact_id(item.operation.text): item.old.id if item.old else "" for item in plan.approved}
    if shown is not None and does != shown:
        raise Changed("memory or its logs changed since this was shown; nothing was written", "look at it as it is now")


def _rules(run: Run, memory: Memory, past: logs.Precedents) -> Rules:
    today, most = run.now.date(), run.config.max_facts
    return Rules(
        today=today,
        gate=lambda text: stopped_by(text, run.policy),
        limit=min(run.request.limit, most) if run.request.limit else most,
        covered=past.covered,
        refused=past.refused,
        accepted=frozenset(run.request.accept),
        archived=past.archived,
        may_grow=_has_room(memory, run.config.memory_lines),
        retention=run.config.retention,
    )


def _written(run: Run, planned: Planned, before: Position, noted: dict[str, bytes | None]) -> Planned:
    """Stage or commit what is planned, over the bytes `noted`; the plan with its commits. The caller is the writer."""
    steps, outcome = planned.steps, planned.outcome
    agent = run.request.agent or run.config.agent
    accepted = ""
    if run.request.accept or run.request.reviewed:
        accepted = reviewer(run.place)
    for path in {path for step in steps for path in step.contents}:
        noted.setdefault(path, None)
    if run.request.mode is Mode.STAGE:
        _stage(run.place, noted, steps[0], trailers.rows(recorded(steps[0], outcome, agent, accepted, last=True)))
        return planned
    commits = []
    with undo_record.together():
        for number, step in enumerate(steps, 1):
            message = compose(run, step, outcome, agent, accepted, last=number == len(steps))
            commits.append(commit_files(run.place, before, noted, step.contents, message))
            before = before._replace(head=commits[-1])
            noted |= step.contents
    return replace(planned, outcome=replace(outcome, commits=tuple(commits)))


def stopped_by(text: str, policy: Policy, path: str = MEMORY) -> str:
    """The rule that keeps a text out of long-term memory, "" for none: all that blocks, and personal data."""
    from gitmem.gate.examine import inspect

    inspection = inspect(text, path, policy)
    if inspection.failed:
        return "scanner-failed"
    return next((m.rule for m in inspection.matches if m.severity is Severity.BLOCK or m.secret), "")


def _why_nothing(reading: logs.NewLogs, plan: Plan) -> str:
    if not reading.logs:
        if reading.base:
            return Message("no daily log has new lines since {}", reading.base[:12])
        return "no daily log has new lines"
    if not plan.refused:
        return Message("{}, no candidate among them", counted(reading.lines, "new line"))
    return Message("{}, none let through; --explain lists them", counted(len(plan.refused), "candidate"))


def _has_room(memory: Memory, budget: int) -> bool:
    return len(memory.lines) < budget or bool(facts.movable(memory))


def file_at(repo: Repository, commit: str, path: str) -> bytes:
    """The bytes of a memory file at a commit, b"" where it is not there. Raises GitMemError for a link."""
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


def _steps(run: Run, tip: str, memory: Memory, plan: Plan) -> Iterator[Files]:
    """The changes to make: one for all facts, or one each with the tidying in the last."""
    repo, today, budget, each = run.place, run.now.date(), run.config.memory_lines, run.request.mode is Mode.EACH
    prior = len(memory.facts)
    losses = max(LOSS, int(LOSS_SHARE * prior)) - sum(a.operation.op is Op.SUPERSEDE for a in plan.approved)
    groups = [(item,) for item in plan.approved] if each else [plan.approved]
    filed: dict[str, bytes] = {}  # archives, with what earlier groups moved there
    for number, group in enumerate(groups, 1):
        replaced = []
        for item in group:
            if item.old is not None and item.operation.op is Op.SUPERSEDE and memory.find(item.old.id):
                replaced.append(facts.superseded(item.old, fact_id(item.operation.text), today))
            memory = apply(memory, item)
        if number < len(groups):
            step = archived(repo, tip, {**filed, MEMORY: memory.data()}, replaced)
            filed |= {path: data for path, data in step.items() if path != MEMORY}
            yield Files(_changed(step, replaced), group)
            continue
        if not run.request.tidy:
            step = archived(repo, tip, {**filed, MEMORY: memory.data()}, replaced)
            yield Files(_changed(step, replaced), group)
            continue
        memory, gone = facts.expire(memory, today)
        added = [fact_id(item.operation.text) for item in plan.approved]
        fitted, more = facts.fit(memory, today, budget, keep=added)
        if len(more) > losses:  # the rest of what is too much goes next time
            if losses > 0:
                keep = {moved.fact.id for moved in more[losses:]}
            else:
                keep = {m.fact.id for m in more}
            fitted, more = facts.fit(memory, today, budget, keep=[*added, *keep, *_others(memory, more)])
        moved = [*replaced, *gone, *more]
        step = archived(repo, tip, {**filed, MEMORY: fitted.data()}, moved)
        yield Files(_changed(step, moved), group, (*gone, *more))


def _changed(contents: dict[str, bytes], moved: Iterable[Moved]) -> dict[str, bytes]:
    """MEMORY.md, and the archives that these went to."""
    paths = {MEMORY, *(item.path for item in moved)}
    return {path: data for path, data in contents.items() if path in paths}


def _others(memory: Memory, chosen: Sequence[Moved]) -> list[str]:
    """Ids of the facts that the budget had not chosen: they stay when its choice is cut."""
    ids = {moved.fact.id for moved in chosen}
    return [fact.id for fact in memory.facts if fact.id not in ids]


def apply(memory: Memory, item: Approved) -> Memory:
    """A memory with one approved operation done."""
    text = item.operation.text
    if item.old is not None:
        entry = memory.find(item.old.id)
        if entry is not None and item.operation.op is Op.UPDATE:
            return facts.update(memory, entry, text, item.meta)
        if entry is not None:
            return facts.supersede(memory, entry, text, item.meta)
    return facts.add(memory, text, item.meta)


def archived(repo: Repository, commit: str, contents: dict[str, bytes], moved: Iterable[Moved]) -> dict[str, bytes]:
    """`contents` with the moved entries filed in their archives."""
    by_path: dict[str, list[Moved]] = {}
    for item in moved:
        by_path.setdefault(item.path, []).append(item)
    for path, items in by_path.items():
        old = contents.get(path)
        contents[path] = facts.archive(file_at(repo, commit, path) if old is None else old, items)
    return contents


def _ensure_clean(repo: Repository, at: Position) -> dict[str, bytes | None]:
    """The bytes of MEMORY.md and the archives, which HEAD holds too. Raises where one has edits, staged or not."""
    assert at.head is not None
    dirty = [c.path for c in repo.staged_changes() if c.path == MEMORY or c.path.startswith("memory/archive/")]
    known = [entry.path for entry in repo.entries(at.head, [MEMORY, "memory/archive"])]
    reading = Reading(repo)
    for path in {MEMORY, *known}:
        data = reading.read(path)
        if data is None and path not in known:
            continue
        if data is None or not is_committed(repo, path, data):
            dirty.append(path)
    if dirty:
        raise GitMemError(
            Message("'{}' has edits that are not committed", sorted(dirty)[0]), "commit or stash them, or use --dry-run"
        )
    return reading.noted


def _stage(repo: Repository, noted: Contents, step: Files, rows: Sequence[trailers.Trailer]) -> None:
    """Leave the files staged; the next commit of them gets the trailers from prepare-commit-msg."""
    with replaced(repo, step.contents, noted):
        write_atomic(repo.git_dir, PENDING, trailers.render(rows).encode("utf-8", "surrogateescape"))
        try:
            run_git(repo, ["add", "--", *step.contents])
        except BaseException:
            (repo.git_dir / PENDING).unlink(missing_ok=True)
            raise


# -- the message ---------------------------------------------------------------------------------------------


def compose(run: Run, step: Files, outcome: Outcome, agent: str, accepted: str, *, last: bool) -> str:
    """The commit's message: what was promoted from where, and the trailers. Texts the gate stops stay out."""
    body = _body(step, run.config.memory_daily, quote=True)
    if stopped_by(body, run.policy, MESSAGE):
        body = _body(step, run.config.memory_daily, quote=False)
    return trailers.with_record(body, recorded(step, outcome, agent, accepted, last=last))


def _body(step: Files, daily: Iterable[str], *, quote: bool) -> str:
    paths = {span.path for item in step.approved for span in item.operation.sources}
    days = sorted({str(log_day(path, daily)) for path in paths})
    if len(days) == 1:
        where = days[0]
    else:
        where = f"{days[0]} to {days[-1]}"
    count = len(step.approved)
    lines = [f"{PROMOTES}{count} fact{'' if count == 1 else 's'} from {where}", ""]
    for item in step.approved:
        operation = item.operation
        if quote:
            text = operation.text
        else:
            text = fact_id(operation.text)
        then = ""
        if item.old:
            then = f", replaces {item.old.id}"
        lines.append(f"- {text} ({operation.type}{then})")
        lines += [f"  {render_span(span._replace(blob=''))}" for span in operation.sources]
    if step.moved:
        lines += ["", f"{len(step.moved)} moved to {', '.join(sorted({m.path for m in step.moved}))}"]
    return "\n".join(lines)


def recorded(step: Files, outcome: Outcome, agent: str, accepted: str, *, last: bool) -> trailers.Recorded:
    """What a promotion records (docs/promotion.md). The cursor stands in the last commit of a run only."""
    links = [
        trailers.Link(span, MEMORY, text_hash(item.operation.text))
        for item in step.approved
        for span in item.operation.sources
    ]
    count = len(step.approved)
    if count == 1:
        reason = step.approved[0].operation.reason
    else:
        reason = f"{count} facts that outlast their day"
    replaced = sum(item.old is not None for item in step.approved)
    bulk = len(step.moved) + replaced >= BULK_LINES
    return trailers.Recorded(
        sources=tuple(links),
        model=outcome.model,
        agent=agent,
        reason=reason or "it outlasts its day",
        cursor=outcome.cursor if last else "",
        rewrite=f"{replaced} replaced, {len(step.moved)} archived by promotion" if bulk else "",
        reviewer=accepted,
    )


def reviewer(repo: Repository) -> str:
    """`Name <e-mail>` of the person at work, as Git has it."""
    words = run_git(repo, ["var", "GIT_COMMITTER_IDENT"]).strip()
    return words[: words.rfind(">") + 1]


def bring_up_to_date(there: Repository, head: str, name: str) -> None:
    """Merge `head` into the branch `name`, checked out in `there`. Raises GitMemError where they conflict."""
    try:
        run_git(there, ["merge", "--quiet", "--no-edit", "-m", f"memory: bring {name} up to date", head])
    except GitMemError as error:
        raise GitMemError(
            Message("'{}' conflicts with the current branch", name),
            Message("merge or delete it: {}", f"git branch -D {shlex.quote(name)}"),
        ) from error
