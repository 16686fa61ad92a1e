"""The page of a part of the review queue that is still being computed. It shows the progress and reloads itself until
the part is done, with and without JavaScript."""

from __future__ import annotations

from starlette.responses import Response

from gitmem.ui import review_queue
from gitmem.ui.background_work import Progress
from gitmem.ui.view import View


def page(view: View, name: str, progress: Progress) -> Response:
    """The page that stands for the part `name` of the review queue while it is computed: `done` of `whole` steps."""
    return view.render(
        "work_in_progress.html", name=name, reads=review_queue.PARTS[name].reads, progress=progress,
        again=view.again(done=view.done), tabs=review_queue.tabs(view),
    )  # fmt: skip
