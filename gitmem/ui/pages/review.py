"""The page Review: what a promotion model proposes from new log lines, each beside its source, to accept, edit or
reject. Each decision is one commit that names the person, by the flows of `git mem promote --interactive`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from starlette.responses import Response

from gitmem.errors import Changed, GitMemError, UsageError
from gitmem.gate.policy import Policy
from gitmem.gate.quoting import visible
from gitmem.memory.document import blob_lines
from gitmem.memory.fact import normalise
from gitmem.paths import agent_of, log_day
from gitmem.promotion.promote import Outcome
from gitmem.promotion.proposal_review import REJECTS, Offered, Recorded, Review, ensure_person, offered, reject
from gitmem.provenance.ledger import read_ledger
from gitmem.provenance.trailers import REASON, memory_trailers, values
from gitmem.review.statement_diff import text_diff
from gitmem.review.word_diff import Piece
from gitmem.ui import review_queue
from gitmem.ui.background_work import Progress
from gitmem.ui.pages import work_in_progress
from gitmem.ui.pages.fact import CONTEXT, Line
from gitmem.ui.review_queue import Offer
from gitmem.ui.view import OID, View

FILTERS = ("type", "day", "agent")  # of proposals: fields of the address
LONGEST_FILTER = 100  # characters of one
LISTED = 400  # values of one filter: a year of days
PICKED = "pick-"  # how the fields of chosen proposals begin
REJECTIONS = 5  # of the newest that are shown
MAX_PROPOSALS = 50  # proposals on the page


@dataclass(frozen=True, slots=True)
class Quote:
    """Lines of a log that a proposal cites, with those around them."""

    path: str
    first: int
    last: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """One proposal as it is shown: `pieces` are the words of what it replaces and its own, `text` where it replaces
    nothing."""

    token: str
    text: str
    old_text: str
    type: str
    held: str
    until: str
    quotes: tuple[Quote, ...] = ()
    pieces: tuple[Piece, ...] = field(default=())


def page(view: View) -> Response:
    """The proposals of the work tree's history as it is now."""
    return _page(view)


def _offer(view: View) -> Offer | None:
    """What the model in force offers, which a decision is made on."""
    offer: Offer | None = review_queue.at_once(view, "review")
    return offer


def _review(view: View, recorded: Recorded, policy: Policy) -> Review:
    return Review(view.repo, view.config, policy, review_queue.REQUEST, recorded, view.now)


def _page(view: View, status: int = 200, **values: Any) -> Response:
    given: dict[str, Any] = {"problem": "", "kept": ("", ""), **values}
    fields = _filters(given.pop("form", view.fields))
    if view.repo.head() is None or view.snapshot.past:
        return view.render(
            "review.html", status, cards=(), count=0, outcome=None, asks=False, rejected=(), options=(), choice=fields,
            tabs=review_queue.tabs(view), **given,
        )  # fmt: skip
    if status == 200:
        offer = review_queue.value(view, "review")
    else:
        offer = _offer(view)
    if isinstance(offer, Progress):
        return work_in_progress.page(view, "review", offer)
    outcome = None
    if offer:
        outcome = offer.outcome
    if outcome:
        whole = offered(outcome.plan)
    else:
        whole = ()
    items = _filtered(view, whole, fields)
    cards = [_card(view, item) for item in items[view.start : view.start + MAX_PROPOSALS]]
    return view.render(
        "review.html", status, cards=view.mask(cards), count=len(items), outcome=outcome, choice=fields,
        asks=view.config.model != "rules", rejected=_rejected(view), options=_options(view, whole),
        tabs=review_queue.tabs(view), **given,
    )  # fmt: skip


def _filters(fields: Mapping[str, str]) -> dict[str, str]:
    """The filters that an address or a form names."""
    return {name: visible(fields.get(name, ""))[:LONGEST_FILTER] for name in FILTERS}


def _values(view: View, item: Offered) -> dict[str, set[str]]:
    """What each filter reads of a proposal: its type, the days and the agents of the logs that it cites."""
    paths = [span.path for span in item.operation.sources]
    days = (log_day(path, view.config.memory_daily) for path in paths)
    return {
        "type": {item.operation.type},
        "day": {day.isoformat() for day in days if day},
        "agent": {agent_of(path) for path in paths} - {""},
    }


def _filtered(view: View, items: Sequence[Offered], fields: Mapping[str, str]) -> list[Offered]:
    """The proposals that every filter lets through."""
    asked = {name: value for name, value in fields.items() if value}
    if not asked:
        return list(items)
    return [item for item in items if all(value in _values(view, item)[name] for name, value in asked.items())]


def _options(view: View, items: Sequence[Offered]) -> list[tuple[str, list[tuple[str, int]]]]:
    """(filter, its values with how many proposals have each), the filters that tell any apart; the newest day first."""
    counts = {name: Counter[str]() for name in FILTERS}
    for item in items:
        for name, found in _values(view, item).items():
            counts[name].update(found)
    rows = {name: sorted(counts[name].items(), reverse=name == "day")[:LISTED] for name in FILTERS}
    return [(name, listed) for name, listed in rows.items() if len(listed) > 1 or (name == "agent" and listed)]


def _card(view: View, item: Offered) -> Card:
    operation = item.operation
    quotes = tuple(_quote(view, span.path, span.blob, span.start_line, span.end_line) for span in operation.sources)
    old = ""
    if item.old:
        old = item.old.text
    held = ""
    if item.held:
        held = operation.origin or "web"
    return Card(item.token, operation.text, old, operation.type, held, operation.until, quotes)


def _quote(view: View, path: str, blob: str, first: int, last: int) -> Quote:
    try:
        lines = blob_lines(view.repo.read(blob))
    except GitMemError:
        lines = []
    start, end = max(1, first - CONTEXT), min(len(lines), last + CONTEXT)
    shown = tuple(Line(number, lines[number - 1], first <= number <= last) for number in range(start, end + 1))
    return Quote(path, first, last, shown)


def with_pieces(card: Card) -> Card:
    """A masked card with the words of the fact it replaces beside its own."""
    if card.old_text:
        return replace(card, pieces=text_diff(card.old_text, card.text))
    return card


def _rejected(view: View) -> list[tuple[str, str]]:
    """The newest rejections that stand: (commit, reason, masked)."""
    known = read_ledger(view.repo, ["HEAD"])
    lifted = {old for _, old in known.reverts}
    rows = []
    for record in known.records:
        message = record.commit.message
        if message.startswith(REJECTS) and record.commit.oid not in lifted:
            reason = next(iter(values(memory_trailers(message), REASON)), "")
            rows.append((record.commit.oid, view.mask(Line(0, reason, False)).text))
        if len(rows) == REJECTIONS:
            break
    return rows


# -- decisions -----------------------------------------------------------------------------------------------


def _proposal_of(view: View, form: Mapping[str, str]) -> tuple[Review, Outcome, Offered, int]:
    """The proposal that the form speaks of, with its place. Raises Changed where it is not offered like that any more,
    UsageError for an agent."""
    from gitmem.gate.sources import worktree_policy

    ensure_person(view.config)
    if (offer := _offer(view)) is not None:
        for number, item in enumerate(_filtered(view, offered(offer.outcome.plan), _filters(form))):
            if item.token == form.get("shown"):
                policy = worktree_policy(view.repo, view.now.date())
                return _review(view, offer.recorded, policy), offer.outcome, item, number
    raise Changed(view.t("This proposal is not as it was shown any more"), view.t("look at it as it is now"))


def accept(view: View, form: dict[str, str]) -> Response:
    """Promote one proposal as it was shown, with the text the person gave it, if any."""
    try:
        review, outcome, item, number = _proposal_of(view, form)
        if form.get("text"):
            checked, problem = review.checked(outcome.plan, _with_text(item, form["text"]))
            if problem:
                return _page(view, 422, form=form, problem=problem, kept=(item.token, form["text"]))
            if checked.token != form.get("edited"):
                raise Changed("memory changed since this was shown", "look at it as it is now")
            item = checked
        left = len(offered(outcome.plan)) > 1
        done = review.accept(outcome.plan, [item], left=left, as_shown=True)
    except Changed as error:
        return _page(view, 409, form=form, problem=error.message)
    return view.redirect("review", done=done.commits[-1], n=number, **_filters(form))


def edit(view: View, form: dict[str, str]) -> Response:
    """The proposal with another text, as it would be promoted: to be looked at."""
    try:
        review, outcome, item, _ = _proposal_of(view, form)
    except Changed as error:
        return _page(view, 409, form=form, problem=error.message, kept=(form.get("shown", ""), form.get("text", "")))
    text = visible(normalise(form.get("text", "")))
    if not text:
        raise UsageError(view.t("There is no text"))
    checked, problem = review.checked(outcome.plan, _with_text(item, text))
    if problem:
        return _page(view, 422, form=form, problem=problem, kept=(item.token, text))
    card = view.mask(_card(view, checked))
    kept = {name: value for name, value in _filters(form).items() if value}
    fields = {"shown": item.token, "text": text, "edited": checked.token, **kept}
    return view.render("proposal.html", card=with_pieces(card), fields=fields, back=view.url("review", **kept))


def _with_text(item: Offered, text: str) -> Offered:
    return replace(item, operation=replace(item.operation, text=visible(normalise(text))))


def refuse(view: View, form: dict[str, str]) -> Response:
    """Reject one proposal with a reason."""
    reason = visible(" ".join(form.get("reason", "").split()))
    try:
        _, _, item, number = _proposal_of(view, form)
    except Changed as error:
        return _page(view, 409, form=form, problem=error.message)
    if not reason:
        raise UsageError(view.t("A reason is missing"), view.t("go back and say why: it goes into the commit"))
    return view.redirect(
        "review", done=reject(view.repo, view.config, [item.operation], reason), n=number, **_filters(form)
    )


def _chosen(view: View, form: Mapping[str, str]) -> tuple[Review, Outcome, list[Offered]]:
    """The proposals that the form chose. Raises Changed where one is not offered like that any more."""
    from gitmem.gate.sources import worktree_policy

    tokens = {value for name, value in form.items() if name.startswith(PICKED)}
    if not tokens:
        raise UsageError(view.t("Nothing is chosen"))
    offer = _offer(view)
    if offer:
        items = [item for item in offered(offer.outcome.plan) if item.token in tokens]
    else:
        items = []
    if offer is None or len(items) != len(tokens):
        raise Changed(view.t("This proposal is not as it was shown any more"), view.t("look at it as it is now"))
    policy = worktree_policy(view.repo, view.now.date())
    return _review(view, offer.recorded, policy), offer.outcome, items


def accept_chosen(view: View, form: dict[str, str]) -> Response:
    """Promote several proposals as they were shown, in one commit."""
    ensure_person(view.config)
    try:
        review, outcome, items = _chosen(view, form)
        left = len(offered(outcome.plan)) > len(items)
        done = review.accept(outcome.plan, items, left=left, as_shown=True)
    except (Changed, UsageError) as error:
        return _page(view, 409, form=form, problem=error.message)
    return view.redirect("review", done=done.commits[-1], **_filters(form))


def refuse_chosen(view: View, form: dict[str, str]) -> Response:
    """Reject several proposals with one reason, in one commit."""
    ensure_person(view.config)
    reason = visible(" ".join(form.get("reason", "").split()))
    try:
        _, _, items = _chosen(view, form)
        if not reason:
            raise UsageError(view.t("A reason is missing"))
    except (Changed, UsageError) as error:
        return _page(view, 409, form=form, problem=error.message)
    done = reject(view.repo, view.config, [item.operation for item in items], reason)
    return view.redirect("review", done=done, **_filters(form))


def offer_again(view: View, form: dict[str, str]) -> Response:
    """Take a rejection back, by a commit that reverts it."""
    from gitmem.git.transaction import commit_nothing

    ensure_person(view.config)
    oid = form.get("commit", "")
    if not OID.fullmatch(oid) or oid not in {commit for commit, _ in _rejected(view)}:
        raise Changed(view.t("This rejection does not stand any more"), view.t("look at it as it is now"))
    subject = view.repo.commit(oid).message.partition("\n")[0]
    done = commit_nothing(view.repo, f'Revert "{subject}"\n\nThis reverts commit {oid}.\n')
    return view.redirect("review", done=done)


def ask(view: View, form: dict[str, str]) -> Response:
    """Ask the language model in force; its answer is kept while the server runs. Nothing is committed."""
    from gitmem.promotion.model_registry import promotion_model

    ensure_person(view.config)
    model, policy = promotion_model(view.repo, view.config, view.now.date(), os.environ)
    recorded = Recorded(model)
    _review(view, recorded, policy).outcome()
    view.site.answers.keep(view.config.model, recorded)
    return view.redirect("review")
