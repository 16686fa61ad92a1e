"""The page Review: the proposals of a promotion model from new log lines, each beside its source, to accept, edit or
reject.

Each decision is one commit that names the person, made by the same functions as `git mem promote --interactive`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.responses import Response

from gitmem.daily_logs import agent_of, log_day
from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate.policy import Policy
from gitmem.gate.quoting import visible
from gitmem.gate.tree_policies import worktree_policy
from gitmem.git.transaction import commit_nothing
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import normalise
from gitmem.promotion.promote import Outcome
from gitmem.promotion.proposal_review import (
    REJECTS,
    OfferedOperation,
    RecordedModel,
    Review,
    ensure_person,
    offers_of,
    reject,
)
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.trailers import REASON, memory_trailers, values
from gitmem.review.statement_diff import Piece, text_diff
from gitmem.ui import review_queue
from gitmem.ui.pages.fact import Line, with_context
from gitmem.ui.review_queue import Offer
from gitmem.ui.view import OID, View, typed_line

FILTERS = ("type", "day", "agent")  # of proposals, as fields of the query
MAX_FILTER_CHARS = 100  # of the value of a filter
MAX_FILTER_VALUES = 400  # listed for one filter: a year of days
CHOICE_FIELD = "pick-"  # prefix of the fields of chosen proposals
MAX_REJECTIONS = 5  # on the page, the newest
MAX_PROPOSALS = 50  # on one page


@dataclass(frozen=True, slots=True)
class Quote:
    """The lines `first` to `last` (1-based) of a log that a proposal cites, with the lines around them."""

    path: str
    first: int
    last: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One proposal of a fact. `token`: a digest of the proposal as it is shown, which a decision sends back. `until`:
    the last day of the fact, "" for none. `old_text`: the text of the fact that it replaces, "" for none.
    `foreign_origin`: where its words come from if they are not a person's (as "web"), else "". `pieces`: the difference
    to `old_text`; empty until `with_pieces` computes it."""

    token: str
    text: str
    old_text: str
    type: str
    foreign_origin: str
    until: str
    quotes: tuple[Quote, ...] = ()
    pieces: tuple[Piece, ...] = field(default=())


def _offer(view: View) -> Offer | None:
    """What the configured model offers, for a decision. None if it is a language model that nobody has asked yet."""
    offer: Offer | None = review_queue.part_value_now(view, "review")
    return offer


def _review(view: View, recorded: RecordedModel, policy: Policy) -> Review:
    return Review(view.repo, view.config, policy, review_queue.REQUEST, recorded, view.now)


def page(
    view: View,
    status: int = 200,
    *,
    form: Mapping[str, str] | None = None,
    problem: str = "",
    kept: tuple[str, str] = ("", ""),
) -> Response:
    """The proposals of the configured model. `form`: has the filters after a decision, else the query does.
    `problem`: why a decision was not made. `kept`: (token, typed text) of an edit that was not made."""
    choice = _filters(form or view.fields)
    shared: dict[str, Any] = {"choice": choice, "problem": problem, "kept": kept}
    if view.repo.head() is None or view.snapshot.past:
        return view.render(
            "review.html", status, cards=(), count=0, outcome=None, asks=False, rejected=(), options=(),
            tabs=review_queue.tabs(view), **shared,
        )  # fmt: skip
    offer: Offer | None = review_queue.part_value(view, "review") if status == 200 else _offer(view)
    outcome: Outcome | None = None
    proposals: Sequence[OfferedOperation] = ()
    if offer:
        outcome, proposals = offer.outcome, offers_of(offer.outcome.plan)
    items = _filtered(view, proposals, choice)
    cards = [_card(view, item) for item in items[view.start : view.start + MAX_PROPOSALS]]
    return view.render(
        "review.html", status, cards=view.mask(cards), count=len(items), outcome=outcome,
        asks=view.config.model != "rules", rejected=_rejected(view), options=_options(view, proposals),
        tabs=review_queue.tabs(view), **shared,
    )  # fmt: skip


def _filters(fields: Mapping[str, str]) -> dict[str, str]:
    """The value of each filter in a query or a form, cut at MAX_FILTER_CHARS; "" for none."""
    return {name: visible(fields.get(name, ""))[:MAX_FILTER_CHARS] for name in FILTERS}


def _values(view: View, item: OfferedOperation) -> dict[str, set[str]]:
    """The values of a proposal for each filter: its type, and the days and agents of the logs that it cites."""
    paths = [span.path for span in item.operation.sources]
    days = (log_day(path, view.config.memory_daily) for path in paths)
    return {
        "type": {item.operation.type},
        "day": {day.isoformat() for day in days if day},
        "agent": {agent_of(path) for path in paths} - {""},
    }


def _filtered(view: View, items: Sequence[OfferedOperation], fields: Mapping[str, str]) -> list[OfferedOperation]:
    """The proposals that pass every filter."""
    filters = {name: value for name, value in fields.items() if value}
    if not filters:
        return list(items)
    return [item for item in items if all(value in _values(view, item)[name] for name, value in filters.items())]


def _options(view: View, items: Sequence[OfferedOperation]) -> list[tuple[str, list[tuple[str, int]]]]:
    """(filter, (value, number of proposals) of each value) for each filter with several values, and for agents also
    with one.

    At most MAX_FILTER_VALUES values, days with the newest first.
    """
    counts = {name: Counter[str]() for name in FILTERS}
    for item in items:
        for name, of_item in _values(view, item).items():
            counts[name].update(of_item)
    rows = {name: sorted(counts[name].items(), reverse=name == "day")[:MAX_FILTER_VALUES] for name in FILTERS}
    return [(name, listed) for name, listed in rows.items() if len(listed) > 1 or (name == "agent" and listed)]


def _card(view: View, item: OfferedOperation) -> Card:
    """The card of a proposal, not masked, and without the difference to the fact that it replaces (`with_pieces`)."""
    operation = item.operation
    quotes = tuple(_quote(view, span.path, span.blob, span.start_line, span.end_line) for span in operation.sources)
    old = item.old.text if item.old else ""
    foreign_origin = operation.origin or "web" if item.needs_acceptance else ""
    return Card(item.token, operation.text, old, operation.type, foreign_origin, operation.until, quotes)


def _quote(view: View, path: str, blob: str, first: int, last: int) -> Quote:
    """The cited lines of a blob with the lines around them; without lines if the blob cannot be read."""
    try:
        lines = blob_lines(view.repo.read(blob))
    except GitMemError:
        return Quote(path, first, last, ())
    return Quote(path, first, last, with_context(lines, first, last))


def with_pieces(card: Card) -> Card:
    """A copy of the card, which is masked already, with the difference to the fact that it replaces."""
    if card.old_text:
        return replace(card, pieces=text_diff(card.old_text, card.text))
    return card


def _rejected(view: View) -> list[tuple[str, str]]:
    """(oid, masked reason) of the newest rejections that are still in force, at most MAX_REJECTIONS."""
    ledger = read_ledger(view.repo, ["HEAD"])
    reverted = {old for _, old in ledger.reverts}
    rows = []
    for record in ledger.records:
        message = record.commit.message
        if message.startswith(REJECTS) and record.commit.oid not in reverted:
            reason = next(iter(values(memory_trailers(message), REASON)), "")
            rows.append((record.commit.oid, view.mask(Line(0, reason, False)).text))
        if len(rows) == MAX_REJECTIONS:
            break
    return rows


# -- decisions -----------------------------------------------------------------------------------------------


def _proposal_of(view: View, form: Mapping[str, str]) -> tuple[Review, Outcome, OfferedOperation, int]:
    """(review, outcome, proposal, its index among the filtered proposals) for the proposal that a form names. Raises
    Changed when it is not offered in this form any more, UsageError for an agent."""
    ensure_person(view.config)
    if (offer := _offer(view)) is not None:
        for number, item in enumerate(_filtered(view, offers_of(offer.outcome.plan), _filters(form))):
            if item.token == form.get("shown"):
                policy = worktree_policy(view.repo, view.now.date())
                return _review(view, offer.recorded, policy), offer.outcome, item, number
    raise _changed_proposal(view)


def _changed_proposal(view: View) -> Changed:
    """The error for a proposal that has changed since the form was shown."""
    return Changed(view.t("This proposal is not as it was shown any more"), view.t("look at it as it is now"))


def accept(view: View, form: dict[str, str]) -> Response:
    """Promote one proposal as it was shown, with the text that a person gave it, if any. Status 409 if it is not as it
    was shown any more, 422 if the text is refused. Raises UsageError for an agent."""
    try:
        review, outcome, item, number = _proposal_of(view, form)
        if form.get("text"):
            checked, problem = review.check_edited(outcome.plan, _with_text(item, form["text"]))
            if problem:
                return page(view, 422, form=form, problem=problem, kept=(item.token, form["text"]))
            if checked.token != form.get("edited"):
                raise Changed("memory changed since this was shown", "look at it as it is now")
            item = checked
        has_more = len(offers_of(outcome.plan)) > 1
        result = review.accept(outcome.plan, [item], offers_left=has_more, as_shown=True)
    except Changed as error:
        return page(view, 409, form=form, problem=error.message)
    return view.redirect("review", done=result.commits[-1], n=number, **_filters(form))


def edit(view: View, form: dict[str, str]) -> Response:
    """The preview of a proposal with another text, as it would be promoted; the list with the reason if the text would
    be refused (422) or the proposal has changed (409). Raises UsageError for an empty text and for an agent."""
    try:
        review, outcome, item, _ = _proposal_of(view, form)
    except Changed as error:
        return page(view, 409, form=form, problem=error.message, kept=(form.get("shown", ""), form.get("text", "")))
    text = visible(normalise(form.get("text", "")))
    if not text:
        raise UsageError(view.t("There is no text"))
    checked, problem = review.check_edited(outcome.plan, _with_text(item, text))
    if problem:
        return page(view, 422, form=form, problem=problem, kept=(item.token, text))
    card = view.mask(_card(view, checked))
    filters = {name: value for name, value in _filters(form).items() if value}
    fields = {"shown": item.token, "text": text, "edited": checked.token, **filters}
    return view.render("proposal.html", card=with_pieces(card), fields=fields, back=view.url("review", **filters))


def _with_text(item: OfferedOperation, text: str) -> OfferedOperation:
    """The proposal with another text."""
    return replace(item, operation=replace(item.operation, text=visible(normalise(text))))


def refuse(view: View, form: dict[str, str]) -> Response:
    """Reject one proposal with a reason, in one commit. Shows the list with the reason (409) if the proposal has
    changed. Raises UsageError without a reason and for an agent."""
    reason = typed_line(form, "reason")
    try:
        _, _, item, number = _proposal_of(view, form)
    except Changed as error:
        return page(view, 409, form=form, problem=error.message)
    if not reason:
        raise UsageError(view.t("A reason is missing"), view.t("go back and say why: it goes into the commit"))
    oid = reject(view.repo, view.config, [item.operation], reason)
    return view.redirect("review", done=oid, n=number, **_filters(form))


def _chosen(view: View, form: Mapping[str, str]) -> tuple[Review, Outcome, list[OfferedOperation]]:
    """(review, outcome, proposals) for the chosen proposals of a form. Raises UsageError when none is chosen, Changed
    when one is not offered in this form any more."""
    tokens = {value for name, value in form.items() if name.startswith(CHOICE_FIELD)}
    if not tokens:
        raise UsageError(view.t("Nothing is chosen"))
    offer = _offer(view)
    if offer is None:
        raise _changed_proposal(view)
    items = [item for item in offers_of(offer.outcome.plan) if item.token in tokens]
    if len(items) != len(tokens):
        raise _changed_proposal(view)
    policy = worktree_policy(view.repo, view.now.date())
    return _review(view, offer.recorded, policy), offer.outcome, items


def accept_chosen(view: View, form: dict[str, str]) -> Response:
    """Promote the chosen proposals as they were shown, in one commit. Shows the list with the reason (409) if none is
    chosen or one has changed. Raises UsageError for an agent."""
    ensure_person(view.config)
    try:
        review, outcome, items = _chosen(view, form)
        has_more = len(offers_of(outcome.plan)) > len(items)
        result = review.accept(outcome.plan, items, offers_left=has_more, as_shown=True)
    except (Changed, UsageError) as error:
        return page(view, 409, form=form, problem=error.message)
    return view.redirect("review", done=result.commits[-1], **_filters(form))


def refuse_chosen(view: View, form: dict[str, str]) -> Response:
    """Reject the chosen proposals with one reason, in one commit. Shows the list with what is wrong (409) if none is
    chosen, one has changed, or the reason is missing. Raises UsageError for an agent."""
    ensure_person(view.config)
    reason = typed_line(form, "reason")
    try:
        _, _, items = _chosen(view, form)
        if not reason:
            raise UsageError(view.t("A reason is missing"))
    except (Changed, UsageError) as error:
        return page(view, 409, form=form, problem=error.message)
    oid = reject(view.repo, view.config, [item.operation for item in items], reason)
    return view.redirect("review", done=oid, **_filters(form))


def offer_again(view: View, form: dict[str, str]) -> Response:
    """Withdraw a rejection by an empty commit that reverts it. Raises Changed if it is none of the rejections on the
    page, UsageError for an agent."""
    ensure_person(view.config)
    oid = form.get("commit", "")
    if not OID.fullmatch(oid) or oid not in {commit for commit, _ in _rejected(view)}:
        raise Changed(view.t("This rejection does not stand any more"), view.t("look at it as it is now"))
    subject = view.repo.commit(oid).message.partition("\n")[0]
    new_oid = commit_nothing(view.repo, f'Revert "{subject}"\n\nThis reverts commit {oid}.\n')
    return view.redirect("review", done=new_oid)


def ask(view: View, form: dict[str, str]) -> Response:
    """Ask the configured language model, and keep its answer while the server runs, in place of an earlier one. Commits
    nothing. Raises ModelUnavailable, UsageError for an agent."""
    from gitmem.promotion.model_registry import promotion_model

    ensure_person(view.config)
    policy = worktree_policy(view.repo, view.now.date())
    model = promotion_model(view.repo, view.config, policy, os.environ)
    recorded = RecordedModel(model)
    _review(view, recorded, policy).outcome()
    view.site.answers[view.config.model] = recorded
    return view.redirect("review")
