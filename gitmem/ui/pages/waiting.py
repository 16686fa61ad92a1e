"""What waits for a decision, in numbers: one line of the page Today, which asks for it once it is shown."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.responses import Response

from gitmem.errors import GitMemError
from gitmem.ui.page_snapshot import state
from gitmem.ui.pages import alike, archive, branches, findings, review
from gitmem.ui.view import View

PARTS: tuple[tuple[str, str, Callable[[View], int]], ...] = (  # page, phrase, how many
    ("review", "{count} proposals", review.waiting),
    ("findings", "{count} findings", findings.waiting),
    ("alike", "{count} pairs", alike.waiting),
    ("branches", "{count} branches", branches.waiting),
    ("archive", "{count} facts to archive", archive.waiting),
)
OF_MEMORY = ("review", "alike", "branches", "archive")  # what depends on nothing but memory, refs, settings and the day


def page(view: View) -> Response:
    """How many of each there are; none of a page of the past, where nothing is decided."""
    rows = [] if view.snapshot.past else _rows(view)
    return view.render("waiting.html", rows=rows)


def _rows(view: View) -> list[tuple[str, str, int]]:
    """The parts that are not empty; one that cannot be told is left to its page."""
    asked = view.site.answers.get(view.config.model) is not None
    key = (state(view.repo, view.config), tuple(view.repo.refs()), view.config, view.today, asked)
    rows = []
    for name, phrase, waiting in PARTS:
        try:
            count = (
                view.site.kept.of(f"waiting {name}", key, partial(waiting, view))
                if name in OF_MEMORY
                else waiting(view)
            )
        except GitMemError:
            continue
        rows += [(name, phrase, count)] if count else []
    return rows
