"""The page of statements that repeat each other or may not both hold, side by side, and what a person says of them: the
pairs and answers of `git mem settle`. Each answer is shown as a diff first, and committed on what was shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response

from gitmem.errors import Changed
from gitmem.gate.quoting import visible
from gitmem.memory.rivals import MEMORY, Placed, Rival
from gitmem.promotion import settlement
from gitmem.promotion.settlement import Answer
from gitmem.provenance.preview import Preview, commit_previewed, preview
from gitmem.ui import review_queue
from gitmem.ui.background_work import Progress
from gitmem.ui.pages import work_in_progress
from gitmem.ui.rendering import file_key, fitting
from gitmem.ui.view import View

MAX_PAIRS = 20  # pairs
TEXT = 15_000  # bytes of their texts
MAX_FACT_CHARACTERS = 300  # characters of one of them
TOKEN = "shown"  # the field that says which preview a person saw
TITLES = {
    Answer.EARLIER: "The earlier one holds",
    Answer.LATER: "The later one holds",
    Answer.BOTH: "Both hold",
    Answer.SAME: "They say the same: keep one",
}


@dataclass(frozen=True, slots=True)
class Side:
    """A statement of a pair: where it stands, what it says, its day; `is_fact`: it has a page of its own."""

    path: str
    line: int
    id: str
    text: str
    day: str
    is_fact: bool


def page(view: View) -> Response:
    """The pairs, disagreements first; the earlier statement of each on the left."""
    found = review_queue.value(view, "alike")
    if isinstance(found, Progress):
        return work_in_progress.page(view, "alike", found)
    rows = [(pair.kind, tuple(map(_side, pair.earlier_first))) for pair in found[view.start : view.start + MAX_PAIRS]]
    shown = fitting(rows, lambda row: "".join(side.text[:MAX_FACT_CHARACTERS] for side in row[1]), TEXT)
    pairs = [(kind, *view.mask(sides), *sides) for kind, sides in shown]
    return view.render(
        "alike.html",
        pairs=pairs,
        count=len(found),
        longest=MAX_FACT_CHARACTERS,
        answers=TITLES,
        tabs=review_queue.tabs(view),
    )


def _side(row: Placed) -> Side:
    return Side(row.path, row.fact.line, row.fact.id, row.fact.text, row.day, row.path == MEMORY)


def answered(answer: Answer) -> Callable[[View, dict[str, str]], Response]:
    """What answers the form of one answer: a preview, then the commit of what it showed."""

    def change(view: View, form: dict[str, str]) -> Response:
        settlement.ensure_person(view.config)
        asked = {**form, "reason": " ".join(visible(form.get("reason", "")).split())}
        pair = next(
            (
                pair
                for pair in review_queue.at_once(view, "alike")
                if _key(pair) == (form.get("earlier"), form.get("later"))
            ),
            None,
        )
        if pair is None:
            return _change_page(view, answer, asked, None, 409)
        plan = settlement.committed_plan(view.config, pair, answer, view.now.date(), asked["reason"])
        if not asked.get(TOKEN):
            return _change_page(view, answer, asked, preview(view.repo, plan))
        try:
            _, oid = commit_previewed(view.repo, plan, asked[TOKEN])
        except Changed:
            return _change_page(view, answer, asked, preview(view.repo, plan), 409)
        return view.redirect("alike", done=oid)

    return change


def _key(pair: Rival) -> tuple[str, str]:
    """The two statements as a form names them."""
    earlier, later = (f"{row.fact.id} {file_key(row.path)}" for row in pair.earlier_first)
    return earlier, later


def _change_page(
    view: View, answer: Answer, form: dict[str, str], shown: Preview | None, status: int = 200
) -> Response:
    fields = {key: value for key, value in form.items() if key != TOKEN}
    if shown is not None:
        fields |= {TOKEN: shown.token}
    return view.render(
        "change.html", status, title=TITLES[answer], address=f"alike/{answer}", fields=fields, shown=view.mask(shown),
        was=None, now=None, gone=status != 200, masks=(), path="", back="alike",
    )  # fmt: skip
