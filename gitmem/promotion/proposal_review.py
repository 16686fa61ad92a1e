"""The review of a promotion by a person, on a terminal (`git mem promote --interactive`) and in the inspector.

The model is asked once; the person accepts or rejects its operations. Operations that they leave open, and lines that
are committed meanwhile, are read again in the next run: the cursor does not pass them.
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
from gitmem.git.commit import committer
from gitmem.git.objects import Span
from gitmem.git.opening import Repository
from gitmem.git.transaction import commit_nothing
from gitmem.memory.fact import Fact, fact_id, render_span, text_hash
from gitmem.memory.rivals import MEMORY
from gitmem.plural import counted
from gitmem.promotion.plan import RETRIED_CHECKS, Check, Plan
from gitmem.promotion.promote import Mode, Outcome, Request, promote
from gitmem.promotion.proposal import Log, Model, Operation, Proposal
from gitmem.provenance import trailers

REJECTS = "memory: reject "  # beginning of the subject of a rejection


@dataclass
class RecordedModel:
    """A promotion model that is asked once, and then repeats its answer. `proposal`: this answer, None before; `logs`:
    the logs that it was asked about."""

    model: Model
    logs: tuple[Log, ...] = field(default=(), init=False)
    proposal: Proposal | None = field(default=None, init=False)

    @property
    def id(self) -> str:
        return self.model.id

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """The proposal of the model. Later calls return the first one, whatever the logs."""
        if self.proposal is None:
            self.logs, self.proposal = tuple(logs), self.model.propose(logs, existing)
        return self.proposal


@dataclass(frozen=True, slots=True)
class ChosenOperations:
    """A model that proposes the operations which a person chose."""

    id: str
    operations: tuple[Operation, ...]
    seen: tuple[Log, ...]  # the logs that the person saw
    complete: bool  # no operation was left open

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        """The operations, with their sources moved to the present `logs`. The proposal is not `complete` when the logs
        have changed or an operation was left open."""
        old, new = ({log.path: log for log in side} for side in (self.seen, logs))
        moved = [
            replace(operation, sources=tuple(_span_in_present_log(span, old, new) for span in operation.sources))
            for operation in self.operations
        ]
        return Proposal(tuple(moved), complete=self.complete and _keys(logs) == _keys(self.seen))


def _keys(logs: Sequence[Log]) -> set[tuple[str, str, frozenset[int]]]:
    return {(log.path, log.blob, log.new) for log in logs}


def _span_in_present_log(span: Span, old: Mapping[str, Log], new: Mapping[str, Log]) -> Span:
    """The span of the same lines in the present log: on the same line numbers, else at the only place that has them.
    The old span when there is no such place; the plan refuses it then."""
    old_log, new_log = old.get(span.path), new.get(span.path)
    if old_log is None or new_log is None or new_log.blob == span.blob:
        return span
    cited = old_log.lines[span.start_line - 1 : span.end_line]
    lines = new_log.lines
    starts = [n for n in range(1, len(lines) - len(cited) + 2) if lines[n - 1 : n - 1 + len(cited)] == cited]
    if span.start_line in starts:
        starts = [span.start_line]
    if len(starts) != 1:
        return span
    return span._replace(blob=new_log.blob, start_line=starts[0], end_line=starts[0] + len(cited) - 1)


@dataclass(frozen=True, slots=True)
class OfferedOperation:
    """An operation for a person to accept. `old`: the fact that it replaces, None for an added fact.
    `needs_acceptance`: its origin (web, tool) demands that a person accepts it by name."""

    operation: Operation
    old: Fact | None = None
    needs_acceptance: bool = False

    @property
    def token(self) -> str:
        """A hash of what the person saw (text, type, sources and the replaced fact), to find out whether the offer is
        still the same."""
        operation = self.operation
        spans = [tuple(span) for span in operation.sources]
        value = [operation.text, operation.type, spans, self.old.id if self.old else ""]
        return hashlib.sha256(json.dumps(value).encode("ascii")).hexdigest()


def offers_of(plan: Plan) -> tuple[OfferedOperation, ...]:
    """The operations for a person to accept: the approved ones, then those that were refused for their origin alone."""
    held = [OfferedOperation(item.operation, needs_acceptance=True) for item in plan.refused_by(Check.ORIGIN)]
    return (*(OfferedOperation(item.operation, item.old) for item in plan.approved), *held)


def chosen_operations(
    recorded: RecordedModel, plan: Plan, operations: Sequence[Operation], *, offers_left: bool
) -> ChosenOperations:
    """The model that proposes only `operations`, some of those that `plan` offered from the answer in `recorded`.

    `offers_left`: other offers stay open. The proposal is not complete, so that the next run reads the same lines
    again, if `offers_left`, if the recorded answer was not complete or if `plan` refused something by one of
    RETRIED_CHECKS. Else the lines count as read, and what was not chosen is not offered again.
    """
    whole = recorded.proposal is None or recorded.proposal.complete
    waits = any(plan.refused_by(check) for check in RETRIED_CHECKS)
    return ChosenOperations(recorded.id, tuple(operations), recorded.logs, whole and not waits and not offers_left)


@dataclass(frozen=True, slots=True)
class Review:
    """A review: the recorded answer of the model, and the parameters of the promotion."""

    repo: Repository
    config: Config
    policy: Policy
    request: Request
    recorded: RecordedModel
    now: datetime

    def outcome(self) -> Outcome:
        """The outcome of a dry run of the model's operations. The first call asks the model; later ones move its answer
        to the present logs. Raises what `promote` raises."""
        recorded, answer = self.recorded, self.recorded.proposal
        model: Model = recorded
        if answer is not None:  # the logs may have grown since
            model = ChosenOperations(recorded.id, answer.operations, recorded.logs, answer.complete)
        return self._run(model, replace(self.request, mode=Mode.NOTHING))

    def check_edited(self, plan: Plan, item: OfferedOperation) -> tuple[OfferedOperation, str]:
        """(the offer `item`, whose text a person changed, with the fact that it would replace; why the plan refuses
        it). The second is "" when the plan approves it."""
        request = replace(self.request, mode=Mode.NOTHING, accept=_accepted([item]), reviewed=True)
        try:
            outcome = self._run(chosen_operations(self.recorded, plan, [item.operation], offers_left=True), request)
        except GitMemError as error:
            return item, error.message
        if outcome.plan.refused:
            return item, outcome.plan.refused[0].reason
        for approved in outcome.plan.approved:
            item = replace(item, operation=approved.operation, old=approved.old)
        return item, ""

    def accept(
        self, plan: Plan, items: Sequence[OfferedOperation], *, offers_left: bool, as_shown: bool = False
    ) -> Outcome:
        """Promote `items`, which `plan` offered; the commit names the person.

        `offers_left`: the other offers stay open. `as_shown`: raise Changed if an item would not be promoted or would
        replace another fact than the one shown. Raises the errors of `promote`.
        """
        run = chosen_operations(self.recorded, plan, [item.operation for item in items], offers_left=offers_left)
        shown = None
        if as_shown:
            shown = {fact_id(item.operation.text): item.old.id if item.old else "" for item in items}
        return self._run(run, replace(self.request, accept=_accepted(items), reviewed=True, shown=shown))

    def _run(self, model: Model, request: Request) -> Outcome:
        return promote(self.repo, self.config, model, self.policy, request, self.now)


def _accepted(items: Sequence[OfferedOperation]) -> tuple[str, ...]:
    return tuple(fact_id(item.operation.text) for item in items if item.needs_acceptance)


def ensure_person(config: Config) -> None:
    """Raise UsageError if the settings name an agent (`mem.agent`): only a person goes through candidates."""
    if config.agent:
        raise UsageError("only a person goes through candidates", "unset mem.agent, or leave --interactive out")


def checked_reason(reason: str, config: Config) -> str:
    """The reason of a rejection on one line, masked by the gate. Raises Refused when the gate refuses it."""
    from gitmem.gate.redaction import refuse_or_mask_text

    return refuse_or_mask_text(" ".join(reason.split()), MESSAGE, config)


def reject(repo: Repository, config: Config, operations: Sequence[Operation], reason: str) -> str:
    """Commit that the operations are rejected, without changing a file; returns the oid of the commit.

    Neither their texts nor their source lines are proposed again, until a `git revert` of the commit. Raises Refused
    when the gate refuses the reason, GitFailed when a hook refuses the commit, and GitMemError when no commit can be
    made.
    """
    reason = checked_reason(reason, config)
    lines, links = [f"{REJECTS}{counted(len(operations), 'proposal')}", ""], list[trailers.Link]()
    for operation in operations:
        lines.append(f"- {fact_id(operation.text)} ({operation.type})")
        lines += [f"  {render_span(span._replace(blob=''))}" for span in operation.sources]
        digest = text_hash(operation.text)
        links += [trailers.Link(span, MEMORY, digest) for span in operation.sources]
    recorded = trailers.CommitRecord(rejected=tuple(links), reason=reason, reviewer=committer(repo))
    return commit_nothing(repo, trailers.with_record("\n".join(lines), recorded))
