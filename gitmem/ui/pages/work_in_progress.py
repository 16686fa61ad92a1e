"""The page of a part of the review queue that is still being worked out: how far it is. It asks for itself again until
the part is there, with and without JavaScript."""

from __future__ import annotations

from starlette.responses import Response

from gitmem.ui import review_queue
from gitmem.ui.background_work import Progress
from gitmem.ui.view import View


def page(view: View, name: str, progress: Progress) -> Response:
    """The page of the part `name` while it is worked out."""
    part = review_queue.PARTS[name]
    again = view.again(done=view.done)
    return view.render(
        "work_in_progress.html",
        name=name,
        reads=part.reads,
        progress=progress,
        again=again,
        tabs=review_queue.tabs(view),
    )
