"""What waits for a decision, in numbers: one line of the page Today, which asks for it once it is shown, and the tabs
of the queue, which ask for what they do not know yet."""

from __future__ import annotations

from starlette.responses import Response

from gitmem.ui import review_queue
from gitmem.ui.view import View


def page(view: View) -> Response:
    """How many of each there are; none of a page of the past, where nothing is decided."""
    tabs = review_queue.tabs(view)
    here = view.fields.get("here", "")
    return view.render(
        "waiting.html", tabs=tabs, here=here if here in review_queue.PARTS else "",
        rows=[tab for tab in tabs if tab.count], pending=any(tab.pending for tab in tabs),
    )  # fmt: skip
