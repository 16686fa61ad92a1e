"""`git mem promote --interactive`: ask about one candidate after the other on a terminal, as `git add -p` does."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from enum import Enum, auto
from typing import NamedTuple, assert_never

import click

from gitmem.cli.places import place_text
from gitmem.cli.terminal import edit_text, escape, say, say_lines
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import Refused, UsageError
from gitmem.gate.policy import Policy
from gitmem.git.opening import Repository
from gitmem.memory.fact import normalise
from gitmem.plural import counted
from gitmem.promotion.plan import Plan
from gitmem.promotion.promote import Mode, Outcome, Request
from gitmem.promotion.proposal import Model, Operation
from gitmem.promotion.proposal_review import (
    OfferedOperation,
    RecordedModel,
    Review,
    checked_reason,
    ensure_person,
    offers_of,
    reject,
)

KEYS = "y,n,r,e,q,?"
HELP = """y - promote this fact
n - not now: it is offered again next time
r - reject for good, with a reason: neither the text nor its lines are offered again
e - change its text first; what its source does not say is refused
q - quit: do what was answered, leave the rest for next time
? - this help"""
REJECTING_MODES = (Mode.COMMIT, Mode.EACH)  # a rejection is a commit on the current branch


class Choice(Enum):
    """What a person decides about a candidate."""

    PROMOTE = auto()
    NOT_NOW = auto()
    REJECT = auto()
    QUIT = auto()


class Decision(NamedTuple):
    """A choice about the candidate `offer`, whose text the person may have changed. `reason`: of a rejection, else
    ""."""

    choice: Choice
    offer: OfferedOperation
    reason: str = ""


def promote_interactively(
    repo: Repository, config: Config, model: Model, policy: Policy, request: Request
) -> tuple[Outcome | None, int]:
    """Ask about each candidate, promote the accepted ones and record the rejected ones; both commits name the person in
    `Reviewed-by`.

    Returns the outcome (None if no candidate was accepted; without any candidate the outcome that proposes nothing) and
    the number of accepted facts that were refused after all, because their source changed meanwhile. Raises UsageError
    if an agent runs it, and the errors of `promote` and `reject`; rejections are recorded after the promotion.
    """
    ensure_person(config)
    review = Review(repo, config, policy, request, RecordedModel(model), now())
    proposed = review.outcome()
    candidates = offers_of(proposed.plan)
    if not candidates:
        return proposed, 0
    accepted: list[OfferedOperation] = []
    rejected: defaultdict[str, list[Operation]] = defaultdict(list)  # reason -> operations
    for number, candidate in enumerate(candidates, 1):
        _show(candidate)
        decision = _ask(review, proposed.plan, candidate, f"({number}/{len(candidates)})")
        match decision.choice:
            case Choice.PROMOTE:
                accepted.append(decision.offer)
            case Choice.REJECT:
                rejected[decision.reason].append(decision.offer.operation)
            case Choice.NOT_NOW:
                pass
            case Choice.QUIT:
                break
            case _:
                assert_never(decision.choice)
    outcome, refused = None, 0
    if accepted:
        answered = len(accepted) + sum(map(len, rejected.values()))
        outcome = review.accept(proposed.plan, accepted, offers_left=answered < len(candidates))
        refused = len(accepted) - len(outcome.plan.approved)
    elif not rejected:
        say("nothing was promoted")
    for reason, operations in rejected.items():
        oid = reject(repo, config, operations, reason)
        say(f"rejected {counted(len(operations), 'proposal')}: {oid[:12]}")
    return outcome, refused


def _show(candidate: OfferedOperation) -> None:
    """Print a candidate on standard error: its text, its sources, the fact that it replaces, and its origin if its
    words are not a person's."""
    operation, old = candidate.operation, candidate.old
    say(escape(f"{operation.op} {operation.text} ({operation.type}, {operation.importance:g})", ""))
    for span in operation.sources:
        say(escape(f"    from {place_text(span)}", ""))
    if old:
        say(escape(f"    replaces {old.id}: {old.text}", ""))
    if candidate.needs_acceptance:
        say(escape(f"    its words are not a person's: origin {operation.origin or 'of its lines'}", ""))


def ask_key(question: str) -> str:
    """Ask a question and return the typed key in lower case; "q" at the end of input, as in `git add -p`. Raises
    click.Abort for Ctrl-C."""
    return (_ask_line(question) or "q").lower()[:1]


def _ask_line(question: str, default: str | None = None) -> str:
    """Ask a question and return the typed line; "" at the end of input. An empty line is `default`; without one the
    question is asked again. Raises click.Abort for Ctrl-C."""
    try:
        return str(click.prompt(question, default, show_default=False, prompt_suffix=" ", err=True)).strip()
    except click.Abort as stop:
        if isinstance(stop.__context__, EOFError):
            say("")
            return ""
        raise


def _ask(review: Review, plan: Plan, candidate: OfferedOperation, position: str) -> Decision:
    """Ask until there is a decision. After an edit that the checks would refuse, or whose editor fails, and after a
    rejection without a reason, the question is asked again."""
    text = candidate.operation.text
    while True:
        key = ask_key(f"{position} promote this fact [{KEYS}]?")
        if key == "y":
            return Decision(Choice.PROMOTE, candidate)
        if key == "n":
            return Decision(Choice.NOT_NOW, candidate)
        if key == "q":
            return Decision(Choice.QUIT, candidate)
        if key == "r":
            if reason := _rejection_reason(review):
                return Decision(Choice.REJECT, candidate, reason)
            continue
        if key != "e":
            say_lines(HELP)
            continue
        try:
            text = normalise(edit_text(review.repo, text) or "") or text
        except UsageError as error:  # asked again, so that the answers before are not lost
            say(f"{error.message}; {error.hint}")
            continue
        changed = replace(candidate, operation=replace(candidate.operation, text=text))
        _, problem = review.check_edited(plan, changed)
        if not problem:
            return Decision(Choice.PROMOTE, changed)
        say(escape(f"that would be refused: {problem}", ""))


def _rejection_reason(review: Review) -> str:
    """Ask for the reason of a rejection. "" when the person gives none, when the gate refuses it, and when the mode
    makes no commit on the current branch."""
    if review.request.mode not in REJECTING_MODES:
        say("a rejection is a commit on this branch: not with --stage or --branch")
        return ""
    try:
        reason = checked_reason(_ask_line("why? it goes into the commit (nothing: back)", ""), review.config)
    except Refused as error:
        say(escape(f"that would be refused: {error.message}", ""))
        return ""
    if not reason:
        say("not rejected: a reason is missing")
    return reason
