"""The page of facts that have ended or no longer fit: a person chooses which go to the archive, and sees the change
first. No other decision of the review queue archives anything."""

from __future__ import annotations

from starlette.responses import Response

from gitmem.errors import Changed, UsageError
from gitmem.promotion.archiving import archive_plan
from gitmem.promotion.proposal_review import ensure_person
from gitmem.provenance.preview import commit_previewed, preview
from gitmem.ui import review_queue
from gitmem.ui.view import View

MAX_FACTS = 100  # facts on the page: a form has at most 200 fields
FIELD = "fact-"  # how the fields of the chosen facts begin
TOKEN = "shown"  # the field that says which preview a person saw


def page(view: View) -> Response:
    """The facts that may go, each with why."""
    return _page(view)


def _page(view: View, status: int = 200, problem: str = "") -> Response:
    if view.snapshot.past:
        rows = []
    else:
        rows = review_queue.at_once(view, "archive")
    return view.render(
        "archive.html", status, rows=rows[view.start : view.start + MAX_FACTS], count=len(rows), problem=problem,
        field=FIELD, tabs=review_queue.tabs(view),
    )  # fmt: skip


def move(view: View, form: dict[str, str]) -> Response:
    """Move the chosen facts: a preview, then the commit of what it showed."""
    ensure_person(view.config)
    chosen = [name.removeprefix(FIELD) for name in form if name.startswith(FIELD)]
    if not chosen:
        return _page(view, 400, view.t("Nothing is chosen"))
    plan = archive_plan(chosen, view.now.date(), view.config.memory_lines)
    try:
        if not form.get(TOKEN):
            shown = preview(view.repo, plan)
            return view.render(
                "change.html", title="Archive these facts", address="archive/move",
                fields={**form, TOKEN: shown.token}, shown=view.mask(shown), was=None, now=None, gone=False, masks=(),
                path="", back="archive",
            )  # fmt: skip
        _, oid = commit_previewed(view.repo, plan, form[TOKEN])
    except (Changed, UsageError) as error:
        return _page(view, 409, view.t(error.message))
    return view.redirect("archive", done=oid)
