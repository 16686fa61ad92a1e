"""The page of pairs of statements that repeat or contradict each other, as `git mem settle` finds them, and a person's
answers. Each answer is shown as a diff first, then committed."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import Changed
from gitmem.memory.rivals import MEMORY, PlacedFact
from gitmem.promotion import open_pairs, settlement
from gitmem.promotion.settlement import Answer
from gitmem.provenance.preview import Preview, commit_previewed, preview
from gitmem.ui import review_queue
from gitmem.ui.pages.fact_changes import TOKEN, change_page
from gitmem.ui.rendering import first_that_fit
from gitmem.ui.view import View, typed_line

MAX_PAIRS = 20  # on one page
MAX_TEXT_BYTES = 15_000  # of all texts on one page
MAX_FACT_CHARACTERS = 300  # of one text
TITLES = {
    Answer.EARLIER: "The earlier one holds",
    Answer.LATER: "The later one holds",
    Answer.BOTH: "Both hold",
    Answer.SAME: "They say the same: keep one",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two statements of a pair. `day`: its date, "" if it has none. `is_fact`: whether the statement has a
    page of its own."""

    path: str
    line: int
    id: str
    text: str
    day: str
    is_fact: bool


def page(view: View) -> Response:
    """The pairs, contradictions first, each with its earlier statement on the left."""
    rivals = review_queue.part_value(view, "alike")
    rows = [
        (open_pairs.pair_id(pair), pair.kind, tuple(map(_side, pair.earlier_first)))
        for pair in rivals[view.start : view.start + MAX_PAIRS]
    ]
    shown = first_that_fit(
        rows, lambda row: "".join(side.text[:MAX_FACT_CHARACTERS] for side in row[2]), MAX_TEXT_BYTES
    )
    pairs = [(ident, kind, *view.mask(sides)) for ident, kind, sides in shown]
    return view.render(
        "alike.html",
        pairs=pairs,
        count=len(rivals),
        longest=MAX_FACT_CHARACTERS,
        answers=TITLES,
        tabs=review_queue.tabs(view),
    )


def _side(row: PlacedFact) -> Side:
    return Side(row.path, row.fact.line, row.fact.id, row.fact.text, row.day, row.path == MEMORY)


def settle(view: View, form: dict[str, str], answer_name: str) -> Response:
    """Settle a pair with one of the answers: show the preview, or commit the preview whose token the form has. Status
    409 if the pair is not open any more or memory has changed since the preview. `answer_name`: a value of Answer.
    Raises UsageError for an agent, and the errors of the commit, such as Refused by the gate."""
    settlement.ensure_person(view.config)
    answer = Answer(answer_name)
    fields = {**form, "reason": typed_line(form, "reason")}
    pair = open_pairs.pair_with_id(review_queue.part_value_now(view, "alike"), form.get("pair", ""))
    if pair is None:
        return _change_page(view, answer, fields, None, 409)
    plan = settlement.committed_plan(view.config, pair, answer, view.now.date(), fields["reason"])
    if not fields.get(TOKEN):
        return _change_page(view, answer, fields, preview(view.repo, plan))
    try:
        _, oid = commit_previewed(view.repo, plan, fields[TOKEN])
    except Changed:
        return _change_page(view, answer, fields, preview(view.repo, plan), 409)
    return view.redirect("alike", done=oid)


def _change_page(
    view: View, answer: Answer, form: dict[str, str], shown: Preview | None, status: int = 200
) -> Response:
    """The preview of an answer. `shown`: None if the pair is not there any more; then the form cannot be sent."""
    fields = {key: value for key, value in form.items() if key != TOKEN}
    gone = status != 200
    return change_page(view, TITLES[answer], f"alike/{answer}", fields, shown, status, gone=gone, back="alike")
