"""`git mem promote --interactive`: ask about one candidate after the other on a terminal, as `git add -p` does."""

from __future__ import annotations

from dataclasses import replace

import click

from gitmem.cli.places import place_text
from gitmem.cli.terminal import edit_text, escape, say
from gitmem.config import Config
from gitmem.environment import now
from gitmem.errors import UsageError
from gitmem.gate.policy import Policy
from gitmem.git.opening import Repository
from gitmem.memory.fact import normalise
from gitmem.promotion.plan import Plan
from gitmem.promotion.promote import Outcome, Request
from gitmem.promotion.proposal import Model
from gitmem.promotion.proposal_review import OfferedOperation, RecordedModel, Review, ensure_person, offers_of

KEYS = "y,n,e,q,?"
HELP = """y - promote this fact
n - not now: it is offered again next time
e - change its text first; what its source does not say is refused
q - quit: promote what was accepted, leave the rest for next time
? - this help"""


def promote_interactively(
    repo: Repository, config: Config, model: Model, policy: Policy, request: Request
) -> tuple[Outcome | None, int]:
    """Ask about each candidate and promote the accepted ones; the commit's `Reviewed-by` names the person.

    Returns the outcome (None if nothing was accepted) and the number of accepted facts that were refused after all,
    because their source changed meanwhile. Raises UsageError if an agent runs it, and the errors of `promote`.
    """
    ensure_person(config)
    review = Review(repo, config, policy, request, RecordedModel(model), now())
    proposed = review.outcome()
    candidates = offers_of(proposed.plan)
    if not candidates:
        return proposed, 0
    accepted: list[OfferedOperation] = []
    for number, candidate in enumerate(candidates, 1):
        _show(candidate)
        answer = _ask(review, proposed.plan, candidate, f"({number}/{len(candidates)})")
        if answer is None:
            break
        accepted += answer
    if not accepted:
        say("nothing was promoted")
        return None, 0
    outcome = review.accept(proposed.plan, accepted, left=len(accepted) < len(candidates))
    return outcome, len(accepted) - len(outcome.plan.approved)


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
    try:
        return str(click.prompt(question, prompt_suffix=" ", err=True)).strip().lower()[:1]
    except click.Abort as stop:
        if isinstance(stop.__context__, EOFError):
            say("")
            return "q"
        raise


def _ask(review: Review, plan: Plan, candidate: OfferedOperation, where: str) -> list[OfferedOperation] | None:
    """Ask until there is an answer: [the candidate, edited or not] to promote it, [] for not now, None to quit. After
    an edit that the checks would refuse, or whose editor fails, the question is asked again."""
    text = candidate.operation.text
    while True:
        key = ask_key(f"{where} promote this fact [{KEYS}]?")
        if key == "y":
            return [candidate]
        if key == "n":
            return []
        if key == "q":
            return None
        if key != "e":
            say(HELP)
            continue
        try:
            text = normalise(edit_text(review.repo, text) or "") or text
        except UsageError as error:  # asked again, so that the answers before are not lost
            say(f"{error.message}; {error.hint}")
            continue
        changed = replace(candidate, operation=replace(candidate.operation, text=text))
        _, problem = review.check_edited(plan, changed)
        if not problem:
            return [changed]
        say(escape(f"that would be refused: {problem}", ""))
