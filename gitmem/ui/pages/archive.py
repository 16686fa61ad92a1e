"""The page of facts that have expired or no longer fit the budget. A person chooses which ones go to the archive, and
sees the diff first. No other page of the review queue archives facts."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from gitmem.errors import Changed, UsageError
from gitmem.promotion.archiving import ArchivableFact, archive_plan
from gitmem.promotion.proposal_review import ensure_person
from gitmem.provenance.preview import commit_previewed, preview
from gitmem.ui import review_queue
from gitmem.ui.pages.fact_changes import TOKEN, change_page
from gitmem.ui.view import View

MAX_FACTS = 100  # on one page, since a form has at most 200 fields
FIELD = "fact-"  # prefix of the fields of the chosen facts


def page(view: View, status: int = 200, problem: str = "") -> Response:
    """The facts to archive, each with the reason. `problem`: why the last choice was refused."""
    rows: Sequence[ArchivableFact] = () if view.snapshot.past else review_queue.part_value_now(view, "archive")
    return view.render(
        "archive.html", status, rows=rows[view.start : view.start + MAX_FACTS], count=len(rows), problem=problem,
        field=FIELD, tabs=review_queue.tabs(view),
    )  # fmt: skip


def move(view: View, form: dict[str, str]) -> Response:
    """Archive the chosen facts: show the preview, or commit the preview whose token the form has. Shows the list with a
    reason if nothing is chosen (400) or memory has changed (409). Raises UsageError for an agent."""
    ensure_person(view.config)
    chosen = [name.removeprefix(FIELD) for name in form if name.startswith(FIELD)]
    if not chosen:
        return page(view, 400, view.t("Nothing is chosen"))
    plan = archive_plan(chosen, view.now.date(), view.config.memory_lines)
    try:
        if not form.get(TOKEN):
            return change_page(
                view, "Archive these facts", "archive/move", form, preview(view.repo, plan), back="archive"
            )
        _, oid = commit_previewed(view.repo, plan, form[TOKEN])
    except (Changed, UsageError) as error:
        return page(view, 409, view.t(error.message))
    return view.redirect("archive", done=oid)
