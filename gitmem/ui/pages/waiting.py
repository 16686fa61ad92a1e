"""The numbers of what waits for a decision. Today and the tabs of the review queue load them after they are shown."""

from __future__ import annotations

from starlette.responses import Response

from gitmem.ui import review_queue
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
