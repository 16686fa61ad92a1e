"""A promotion that a person goes through before it is written: what a model proposed, and what of it was chosen or
rejected. On a terminal (`git mem promote --interactive`) and in the inspector.

The model is asked once. What a person left for another time, and what was committed while they answered, is read again
in the next run: the cursor does not pass it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError
from gitmem.gate.policy import MESSAGE, Policy
from gitmem.git.objects import Span
from gitmem.git.opening import Repository
from gitmem.git.transaction import commit_nothing
from gitmem.memory.fact import Fact, fact_id, render_span, text_hash
from gitmem.plural import counted
from gitmem.promotion.plan import WAITS, Plan, Why
from gitmem.promotion.promote import MEMORY, Mode, Outcome, Request, promote, reviewer
from gitmem.promotion.proposal import Log, Model, Operation, Proposal
from gitmem.provenance import trailers

REJECTS = "memory: reject "  # how the message of a rejection begins


@dataclass
class Recorded:
    """A model that is asked once and keeps its answer, and the logs it is about."""

    model: Model
    logs: tuple[Log, ...] = field(default=(), init=False)
    proposal: Proposal | None = field(default=None, init=False)

    @property
    def id(self) -> str:
        return self.model.id

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """As the model's own; the same answer each time."""
        if self.proposal is None:
            self.logs, self.proposal = tuple(logs), self.model.propose(logs, existing)
        return self.proposal


@dataclass(frozen=True, slots=True)
class Chosen:
    """A model that answers with the operations a person chose from the logs `seen`. `whole`: nothing of those was left
    for another time.
    """

    id: str
    operations: tuple[Operation, ...]
    seen: tuple[Log, ...]
    whole: bool

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """The operations, with sources in `logs`; not whole where these are not those that were seen."""
        old, new = ({log.path: log for log in given} for given in (self.seen, logs))
        moved = [
            replace(operation, sources=tuple(_moved(span, old, new) for span in operation.sources))
            for operation in self.operations
        ]
        same = _read(logs) == _read(self.seen)
        return Proposal(tuple(moved), whole=self.whole and same)


def _read(logs: Sequence[Log]) -> set[tuple[str, str, frozenset[int]]]:
    return {(log.path, log.blob, log.new) for log in logs}


def _moved(span: Span, old: Mapping[str, Log], new: Mapping[str, Log]) -> Span:
    """The place of the same lines in the log as it is now: where they stood, else the only place that has them; the
    span as it is, which no plan lets through, where there is none.
    """
    before, now = old.get(span.path), new.get(span.path)
    if before is None or now is None or now.blob == span.blob:
        return span
    cited = before.lines[span.start_line - 1 : span.end_line]
    starts = [n for n in range(1, len(now.lines) - len(cited) + 2) if now.lines[n - 1 : n - 1 + len(cited)] == cited]
    if span.start_line in starts:
        starts = [span.start_line]
    if len(starts) != 1:
        return span
    return span._replace(blob=now.blob, start_line=starts[0], end_line=starts[0] + len(cited) - 1)


@dataclass(frozen=True, slots=True)
class Offered:
    """An operation a person may choose. `held`: only a person lets it in, because of its origin."""

    operation: Operation
    old: Fact | None = None
    held: bool = False

    @property
    def token(self) -> str:
        """What a person saw of it: its text, its sources and the fact it replaces."""
        operation = self.operation
        spans = [tuple(span) for span in operation.sources]
        value = [operation.text, operation.type, spans, self.old.id if self.old else ""]
        return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()


def offered(plan: Plan) -> tuple[Offered, ...]:
    """What a person may choose from: what was let through, then what only waits for one because of its origin."""
    held = [Offered(item.operation, held=True) for item in plan.stopped(Why.ORIGIN)]
    return (*(Offered(item.operation, item.old) for item in plan.approved), *held)


def chosen(recorded: Recorded, plan: Plan, operations: Sequence[Operation], *, left: bool) -> Chosen:
    """The model to run the promotion with. `left`: something that was offered waits for another time."""
    whole = recorded.proposal is None or recorded.proposal.whole
    waits = any(plan.stopped(why) for why in WAITS)
    return Chosen(recorded.id, tuple(operations), recorded.logs, whole and not waits and not left)


@dataclass(frozen=True, slots=True)
class Review:
    """One going through: the model's kept answer, and what a run of it needs."""

    repo: Repository
    config: Config
    policy: Policy
    request: Request
    recorded: Recorded
    now: datetime

    def outcome(self) -> Outcome:
        """What would be promoted of what the model proposed. Writes nothing; asks the model the first time."""
        recorded, given = self.recorded, self.recorded.proposal
        model: Model = recorded
        if given is not None:  # the logs may have grown since
            model = Chosen(recorded.id, given.operations, recorded.logs, given.whole)
        return self._run(model, replace(self.request, mode=Mode.NOTHING))

    def checked(self, plan: Plan, item: Offered) -> tuple[Offered, str]:
        """An operation whose text a person wrote, with the fact it would replace; and why it would not be let through,
        "" where it would."""
        request = replace(self.request, mode=Mode.NOTHING, accept=_accepted([item]), reviewed=True)
        try:
            outcome = self._run(chosen(self.recorded, plan, [item.operation], left=True), request)
        except GitMemError as error:
            return item, error.message
        if outcome.plan.refused:
            return item, outcome.plan.refused[0].reason
        for approved in outcome.plan.approved:
            item = replace(item, operation=approved.operation, old=approved.old)
        return item, ""

    def accept(self, plan: Plan, items: Sequence[Offered], *, left: bool, as_shown: bool = False) -> Outcome:
        """Promote `items`, which `plan` offered; the commit names the person.

        `left`: the other offers stay open. `as_shown`: raise Changed if an item would not be promoted or would replace
        another fact than the one shown. Raises the errors of `promote`.
        """
        run = chosen(self.recorded, plan, [item.operation for item in items], left=left)
        shown = None
        if as_shown:
            shown = {fact_id(item.operation.text): item.old.id if item.old else "" for item in items}
        return self._run(run, replace(self.request, accept=_accepted(items), reviewed=True, shown=shown))

    def _run(self, model: Model, request: Request) -> Outcome:
        return promote(self.repo, self.config, model, self.policy, request, self.now)


def _accepted(items: Sequence[Offered]) -> tuple[str, ...]:
    return tuple(fact_id(item.operation.text) for item in items if item.held)


def ensure_person(config: Config) -> None:
    """Raise UsageError for an agent."""
    if config.agent:
        raise UsageError("only a person goes through candidates", "unset mem.agent, or leave --interactive out")


def reject(repo: Repository, config: Config, operations: Sequence[Operation], reason: str) -> str:
    """Record that proposals are not wanted: neither they nor what their lines say are proposed again; the commit, which
    changes no file. `git revert` of it lifts that.

    Raises Refused for a reason that the gate stops, and what `commit_nothing` raises.
    """
    from gitmem.gate.redaction import refuse_or_mask_text

    reason = refuse_or_mask_text(" ".join(reason.split()), MESSAGE, config)
    lines, links = [f"{REJECTS}{counted(len(operations), 'proposal')}", ""], list[trailers.Link]()
    for operation in operations:
        lines.append(f"- {fact_id(operation.text)} ({operation.type})")
        lines += [f"  {render_span(span._replace(blob=''))}" for span in operation.sources]
        digest = text_hash(operation.text)
        links += [trailers.Link(span, MEMORY, digest) for span in operation.sources]
    recorded = trailers.Recorded(rejected=tuple(links), reason=reason, reviewer=reviewer(repo))
    return commit_nothing(repo, trailers.with_record("\n".join(lines), recorded))
