"""Promotion: committed daily logs in, reviewed facts out. Reads, asks a model, plans, writes one commit.

The flow behind `git mem promote` and the post-commit hook. What is decided depends on committed content alone, so a
laptop and CI give the same answer. Nothing is written before the plan is complete, and a commit that is refused
leaves every file as it was.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.change_rules import BULK_LINES
from gitmem.gate.change_rules import TRAILER as REWRITE
from gitmem.gate.detectors.finding import Severity, Skipped
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.git.objects import EXECUTABLE, REGULAR
from gitmem.git.opening import Repository, open_repository
from gitmem.git.rollback import as_committed, attempt, recover
from gitmem.git.worktree import locked, read_bytes, state_dir
from gitmem.git.write import commit_paths, ensure_can_commit, run_git
from gitmem.memory import facts
from gitmem.memory.fact import fact_id, render_span, text_hash
from gitmem.memory.facts import Memory, Moved
from gitmem.plural import counted
from gitmem.promotion import logs
from gitmem.promotion.plan import LOSS, LOSS_SHARE, Approved, Plan, Rules, Why, decide
from gitmem.promotion.protocol import Model, Op
from gitmem.provenance import trailers
from gitmem.provenance.agent_trailers import PENDING

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
    """What is asked for. `accept` are ids of facts of origin web or tool that the person lets in."""

    mode: Mode = Mode.COMMIT
    since: str = ""
    limit: int = 0
    branch: str = BRANCH
    accept: tuple[str, ...] = ()
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was done. `cursor` is the commit up to which logs count as read; `commits` is empty for a dry run."""

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


@dataclass(frozen=True, slots=True)
class Files:
    """New contents of the files a step of the promotion changes, and the facts it is about."""

    contents: Mapping[str, bytes]
    approved: tuple[Approved, ...]
    moved: tuple[Moved, ...] = field(default=())


def promote(repo: Repository, config: Config, model: Model, policy: Policy, request: Request, now: datetime) -> Outcome:
    """Run one promotion. Raises GitMemError where it cannot run: no commit, edits of MEMORY.md, a merge, a lock."""
    if request.accept and config.agent:
        raise UsageError("only a person accepts what came from the web or a tool", "unset mem.agent, or leave it")
    head = repo.head()
    if head is None:
        raise GitMemError("there is no commit here yet, so no log to read", "git add memory && git commit")
    if request.mode is Mode.NOTHING:
        return _run(repo, repo, head, config, model, policy, request, now)
    ensure_can_commit(repo)
    with locked(repo.common_dir, "promote", wait=0):
        if request.mode is Mode.BRANCH and repo.branch() != request.branch:
            with _on_branch(repo, request.branch, head) as there:
                return _run(repo, there, head, config, model, policy, request, now)
        with locked(repo.common_dir, "write"):
            undone = recover(repo)
            _ensure_clean(repo, head)
            outcome = _run(repo, repo, head, config, model, policy, request, now)
    words = [f"{path} is as it was before a run that was killed" for path in undone]
    return replace(outcome, notes=(*words, *outcome.notes))


def _run(
    repo: Repository, place: Repository, head: str, config: Config, model: Model, policy: Policy, request: Request,
    now: datetime,
) -> Outcome:  # fmt: skip
    """Read the logs of `head` in `repo`, plan, and write in `place` (the same, or a work tree of the branch)."""
    tip = place.head() or head
    read_to = logs.cursor(repo, tip)
    if request.since:
        base = logs.since(repo, request.since, head, now)
    else:  # what a person now accepts was read before
        base = "" if request.accept else read_to
    reading = logs.read(repo, head, base)
    memory = facts.parse(_at(place, tip, MEMORY))
    past = logs.past(repo, tip, memory.facts, reading.logs)
    proposal = model.propose(reading.logs, memory.facts) if reading.logs else None
    rules = Rules(
        today=now.date(),
        gate=lambda text: stopped_by(text, policy),
        limit=min(request.limit, config.max_facts) if request.limit else config.max_facts,
        covered=past.covered,
        refused=past.refused,
        accepted=frozenset(request.accept),
        archived=past.archived,
        may_grow=_has_room(memory, now.date(), config.memory_lines),
    )
    plan = decide(proposal.operations if proposal else (), reading.logs, memory, rules)
    # A candidate that a limit stopped must be read again: the cursor does not pass it.
    waits = bool(request.since) or (proposal is not None and not proposal.whole)
    waits = waits or any(plan.stopped(why) for why in (Why.LIMIT, Why.SIZE, Why.RETENTION))
    outcome = Outcome(
        plan, model.id, read_to if waits else head, request.mode, skipped=reading.skipped,
        notes=proposal.notes if proposal else (), lines=reading.lines,
        branch=request.branch if request.mode is Mode.BRANCH else "",
    )  # fmt: skip
    if not plan.approved:
        return replace(outcome, why_nothing=_why_nothing(reading, plan))
    steps = list(_steps(place, tip, memory, plan, now.date(), config.memory_lines, request.mode is Mode.EACH))
    outcome = replace(outcome, archived=tuple(moved for step in steps for moved in step.moved))
    if request.mode is Mode.NOTHING:
        return outcome
    agent = request.agent or config.agent
    accepted = reviewer(place) if request.accept else ""
    if request.mode is Mode.STAGE:
        stage(place, steps[0], trailer_rows(steps[0], outcome, agent, accepted, last=True))
        return outcome
    commits = []
    for number, step in enumerate(steps, 1):
        message = compose(step, outcome, agent, accepted, policy, last=number == len(steps))
        commits.append(_write(place, step, message))
    return replace(outcome, commits=tuple(commits))


def stopped_by(text: str, policy: Policy, path: str = MEMORY) -> str:
    """The rule that keeps a text out of long-term memory, "" for none: all that blocks, and personal data."""
    from gitmem.gate.examine import inspect

    inspection = inspect(text, path, policy)
    if inspection.failed:
        return "scanner-failed"
    return next((m.rule for m in inspection.matches if m.severity is Severity.BLOCK or m.secret), "")


def _why_nothing(reading: logs.Reading, plan: Plan) -> str:
    if not reading.logs:
        return "no daily log has new lines" + (f" since {reading.base[:12]}" if reading.base else "")
    if not plan.refused:
        return f"{counted(reading.lines, 'new line')}, no candidate among them"
    return f"{counted(len(plan.refused), 'candidate')}, none let through; --explain lists them"


def _has_room(memory: Memory, today: date, budget: int) -> bool:
    if len(memory.lines) < budget:
        return True
    return bool(facts.fit(memory, today, len(memory.lines) - 1)[1])


def _at(repo: Repository, commit: str, path: str) -> bytes:
    entry = next((e for e in repo.entries(commit, [path]) if e.path == path), None)
    if entry is None:
        return b""
    if entry.mode not in (REGULAR, EXECUTABLE):
        raise GitMemError(f"'{path}' is not a plain file", f"git rm {path}, then write it as a file")
    return repo.read(entry.oid)


# -- the files -----------------------------------------------------------------------------------------------


def _steps(
    repo: Repository, tip: str, memory: Memory, plan: Plan, today: date, budget: int, each: bool
) -> Iterator[Files]:
    """The changes to make: one for all facts, or one each with the tidying in the last."""
    prior = len(memory.facts)
    losses = max(LOSS, int(LOSS_SHARE * prior)) - sum(a.operation.op is Op.SUPERSEDE for a in plan.approved)
    groups = [(item,) for item in plan.approved] if each else [plan.approved]
    for number, group in enumerate(groups, 1):
        for item in group:
            memory = apply(memory, item)
        if number < len(groups):
            yield Files({MEMORY: memory.data()}, group)
            continue
        memory, gone = facts.expire(memory, today)
        added = [fact_id(item.operation.text) for item in plan.approved]
        fitted, more = facts.fit(memory, today, budget, keep=added)
        if len(more) > losses:  # the rest of what is too much goes next time
            keep = {moved.fact.id for moved in more[losses:]} if losses > 0 else {m.fact.id for m in more}
            fitted, more = facts.fit(memory, today, budget, keep=[*added, *keep, *_others(memory, more)])
        yield Files(archived(repo, tip, {MEMORY: fitted.data()}, [*gone, *more]), group, (*gone, *more))


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
    for item in moved:
        old = contents.get(item.path)
        contents[item.path] = facts.archive(_at(repo, commit, item.path) if old is None else old, [item])
    return contents


def _ensure_clean(repo: Repository, head: str) -> None:
    """Raise where MEMORY.md or an archive has edits of its own, staged or not."""
    assert repo.root is not None
    dirty = [c.path for c in repo.staged_changes() if c.path == MEMORY or c.path.startswith("memory/archive/")]
    known = {e.path: e.oid for e in repo.entries(head, [MEMORY, "memory/archive"])}
    for path in {MEMORY, *known}:
        try:
            data = read_bytes(repo.root, path)
        except FileNotFoundError:
            if path in known:
                dirty.append(path)
            continue
        if not as_committed(repo, known.get(path), data):
            dirty.append(path)
    if dirty:
        raise GitMemError(
            f"'{sorted(dirty)[0]}' has edits that are not committed", "commit or stash them, or use --dry-run"
        )


def _write(repo: Repository, step: Files, message: str) -> str:
    with attempt(repo, step.contents):
        return commit_paths(repo, message, list(step.contents))


def stage(repo: Repository, step: Files, rows: Sequence[trailers.Trailer]) -> None:
    """Leave the files staged; the next commit of them gets the trailers from prepare-commit-msg."""
    with attempt(repo, step.contents):
        run_git(repo, ["add", "--", *step.contents])
        (repo.git_dir / PENDING).write_text(trailers.render(rows), encoding="utf-8", errors="surrogateescape")


# -- the message ---------------------------------------------------------------------------------------------


def compose(step: Files, outcome: Outcome, agent: str, accepted: str, policy: Policy, *, last: bool) -> str:
    """The commit's message: what was promoted from where, and the trailers. Texts the gate stops stay out."""
    body = _body(step, quote=True)
    if stopped_by(body, policy, MESSAGE):
        body = _body(step, quote=False)
    return trailers.append(body, trailer_rows(step, outcome, agent, accepted, last=last))


def _body(step: Files, *, quote: bool) -> str:
    days = sorted({span.path for item in step.approved for span in item.operation.sources})
    names = [path.rsplit("/", 1)[-1].removesuffix(".md") for path in days]
    where = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
    count = len(step.approved)
    lines = [f"memory: promote {count} fact{'' if count == 1 else 's'} from {where}", ""]
    for item in step.approved:
        operation = item.operation
        text = operation.text if quote else fact_id(operation.text)
        then = f", replaces {item.old.id}" if item.old else ""
        lines.append(f"- {text} ({operation.type}{then})")
        lines += [f"  {render_span(span._replace(blob=''))}" for span in operation.sources]
    if step.moved:
        lines += ["", f"{len(step.moved)} moved to {', '.join(sorted({m.path for m in step.moved}))}"]
    return "\n".join(lines)


def trailer_rows(step: Files, outcome: Outcome, agent: str, accepted: str, *, last: bool) -> list[trailers.Trailer]:
    """The trailers of DESIGN section 7. The cursor stands in the last commit of a run only."""
    rows: list[trailers.Trailer] = []
    for item in step.approved:
        for span in item.operation.sources:
            link = trailers.Link(span, MEMORY, text_hash(item.operation.text))
            rows.append((trailers.SOURCE, trailers.render_link(link)))
    rows.append((trailers.MODEL, outcome.model))
    if agent:
        rows.append((trailers.AGENT, agent))
    count = len(step.approved)
    reason = step.approved[0].operation.reason if count == 1 else f"{count} facts that outlast their day"
    rows.append((trailers.REASON, reason or "it outlasts its day"))
    if last and outcome.cursor:
        rows.append((trailers.CURSOR, outcome.cursor))
    replaced = sum(item.old is not None for item in step.approved)
    if len(step.moved) + replaced >= BULK_LINES:
        rows.append((REWRITE, f"{replaced} replaced, {len(step.moved)} archived by promotion"))
    if accepted:
        rows.append((trailers.REVIEWED, accepted))
    return rows


def reviewer(repo: Repository) -> str:
    """`Name <e-mail>` of the person at work, as Git has it."""
    words = run_git(repo, ["var", "GIT_COMMITTER_IDENT"]).strip()
    return words[: words.rfind(">") + 1]


# -- a branch of its own -------------------------------------------------------------------------------------


@contextmanager
def _on_branch(repo: Repository, name: str, head: str) -> Iterator[Repository]:
    """A temporary work tree on the tip of `name` with `head` merged in; the branch moves when the block is done."""
    run_git(repo, ["check-ref-format", "--branch", name])
    ref = f"refs/heads/{name}"
    if f"branch {ref}\n" in run_git(repo, ["worktree", "list", "--porcelain"]) + "\n":
        raise GitMemError(f"'{name}' is checked out in another work tree", "run promote there, or name another branch")
    old = dict(repo.refs()).get(ref, "")
    start = old if old and not repo.is_ancestor(old, head) else head
    folder = tempfile.mkdtemp(prefix="git-mem-promote-")
    try:
        run_git(repo, ["worktree", "add", "--quiet", "--detach", folder, start])
        environ = {key: value for key, value in repo.environ.items() if not key.startswith("GIT_DIR")}
        for key in ("GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"):
            environ.pop(key, None)
        there = open_repository(Path(folder), environ)
        try:
            if not repo.is_ancestor(head, start):
                _merge(there, head, name)
            yield there
            tip = there.head()
        finally:
            there.close()
        if tip and tip != head and tip != old:
            run_git(repo, ["update-ref", "-m", "git mem promote", ref, tip, old or "0" * len(tip)])
    finally:
        run_git(repo, ["worktree", "remove", "--force", folder])


def _merge(there: Repository, head: str, name: str) -> None:
    try:
        run_git(there, ["merge", "--quiet", "--no-edit", "-m", f"memory: bring {name} up to date", head])
    except GitMemError as error:
        raise GitMemError(
            f"'{name}' conflicts with the current branch", f"merge or delete it: git branch -D {name}"
        ) from error


# -- runs that nobody watched --------------------------------------------------------------------------------

RECORD = "promotion.json"  # in the state folder: what the last run from a hook did


def record_run(common_dir: Path, record: Mapping[str, Any]) -> None:
    """Note what a run from the post-commit hook did, for `git mem status`."""
    folder = state_dir(common_dir)
    handle, name = tempfile.mkstemp(dir=folder, prefix=".promotion-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(record, file, ensure_ascii=True)
    os.replace(name, folder / RECORD)


def last_run(common_dir: Path) -> dict[str, Any]:
    """What the last run from the post-commit hook did: at, mode, facts, and commits, why_nothing or problem."""
    try:
        data = (common_dir / "gitmem" / RECORD).read_bytes()[: 1 << 16]
        record = json.loads(data)
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
