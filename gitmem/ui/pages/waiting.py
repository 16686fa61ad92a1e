"""The numbers of what waits for a decision, which Today and the tabs of the review queue load after they are shown; and
the page of a part of the queue that is still being computed, which reloads itself until the part is there."""

from __future__ import annotations

from starlette.responses import Response

from gitmem.ui import review_queue
from gitmem.ui.background_work import StillComputing
from gitmem.ui.view import View


def page(view: View) -> Response:
    """The tabs with their counts, without counts for a page of the past. `here` in the query names the current tab."""
    tabs = review_queue.tabs(view)
    current = view.fields.get("here", "")
    if current not in review_queue.PARTS:
        current = ""
    return view.render(
        "waiting.html", tabs=tabs, here=current, rows=[tab for tab in tabs if tab.count],
        pending=any(tab.pending for tab in tabs),
    )  # fmt: skip


def progress_page(view: View, unfinished: StillComputing) -> Response:
    """The page that stands for a part of the review queue while it is computed: `done` of `whole` steps."""
    return view.render(
        "work_in_progress.html", name=unfinished.part, reads=review_queue.PARTS[unfinished.part].reads,
        progress=unfinished.progress, again=view.again(done=view.done), tabs=review_queue.tabs(view),
    )  # fmt: skip
