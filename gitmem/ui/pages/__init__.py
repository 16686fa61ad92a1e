"""The registry of pages and changes. A new page is a module, a row here and in `view.NAVIGATION`, a template, and a
heading in docs/ui.md.

A page is a function from a `View` to a response. A change also gets the fields of its form. `app` checks the form and
calls a change only when changes are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from starlette.responses import Response

from gitmem.ui.view import View

Page = Callable[[View], Response]
Change = Callable[[View, dict[str, str]], Response]
FACT_CHANGES = ("edit", "supersede", "forget", "everywhere", "pin", "unpin", "until", "over")  # `fact_changes.ACTIONS`
ANSWERS = ("later", "earlier", "both", "same")  # `settlement.Answer`


def _lazily(module: str, name: str = "page") -> Callable[..., Response]:
    """The function `name` of a module of this package, which is imported at the first call. So the first page does not
    wait for the imports of all others."""

    def call(*args: Any) -> Response:
        response: Response = getattr(import_module(f"gitmem.ui.pages.{module}"), name)(*args)
        return response

    return call


def _settlement(answer: str) -> Change:
    """The change of one of ANSWERS."""
    return lambda view, form: _lazily("alike", "settle")(view, form, answer)


def _fact_change(action: str) -> Change:
    """The function (view, form) -> response that runs one action of FACT_CHANGES."""
    return lambda view, form: _lazily("fact_changes", "change")(view, form, action)


PAGES: Mapping[str, tuple[str, Page]] = {  # name -> (path below the site's, page)
    "today": ("today", _lazily("today")),
    "facts": ("facts", _lazily("facts")),
    "add": ("add", _lazily("add")),
    "notes": ("notes", _lazily("notes")),
    "fact": ("fact/{id}", _lazily("fact")),
    "file": ("file", _lazily("file")),
    "waiting": ("waiting", _lazily("waiting")),
    "health": ("health", _lazily("health")),
    "timeline": ("timeline", _lazily("timeline")),
    "compare": ("compare", _lazily("compare")),
    "sessions": ("sessions", _lazily("sessions")),
    "prompt": ("prompt", _lazily("prompt")),
    "pictures": ("pictures", _lazily("pictures")),
    "undo": ("undo", _lazily("undo")),
    "review": ("review", _lazily("review")),
    "branches": ("branches", _lazily("branches")),
    "findings": ("findings", _lazily("findings")),
    "alike": ("alike", _lazily("alike")),
    "archive": ("archive", _lazily("archive")),
}
CHANGES: Mapping[str, Change] = {  # path below the site's -> change
    **{f"fact/{name}": _fact_change(name) for name in FACT_CHANGES},
    **{f"alike/{name}": _settlement(name) for name in ANSWERS},
    "add": _lazily("add", "change"),
    "undo": _lazily("undo", "change"),
    "review/accept": _lazily("review", "accept"),
    "review/edit": _lazily("review", "edit"),
    "review/reject": _lazily("review", "refuse"),
    "review/again": _lazily("review", "offer_again"),
    "review/accept-chosen": _lazily("review", "accept_chosen"),
    "review/reject-chosen": _lazily("review", "refuse_chosen"),
    "archive/move": _lazily("archive", "move"),
    "review/ask": _lazily("review", "ask"),
    "branches/merge": _lazily("branches", "merge"),
    "branches/end": _lazily("branches", "end"),
    "branches/allow": _lazily("branches", "allow"),
    "branches/close": _lazily("branches", "close"),
    "findings/mask": _lazily("findings", "mask"),
    "findings/allow": _lazily("findings", "allow"),
}
PREVIEWED: Mapping[str, tuple[str, ...]] = {  # change with a preview -> the fields of a form that makes the change
    **{f"fact/{name}": ("shown",) for name in FACT_CHANGES},
    **{f"alike/{name}": ("shown",) for name in ANSWERS},
    "add": ("shown",),
    "archive/move": ("shown",),
    "review/edit": (),  # always a preview: "review/accept" makes the change
    "branches/merge": ("shown", "taken"),
    "branches/end": ("shown",),
    "branches/allow": ("shown",),
    "branches/close": ("shown",),
    "findings/mask": ("shown",),
    "findings/allow": ("shown",),
}
