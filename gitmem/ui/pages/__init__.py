"""The pages, and the changes they can make. One file a page: adding one is a file, a row here and in
`view.NAVIGATION`, a template, a heading in docs/ui.md.

A page takes a `View` and gives an answer; a change takes the fields of its form too. `app` calls a change only where
something may be changed, after the form was checked.
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
    """The function `name` of a page's module, which is imported at its first call: no page waits for another."""

    def called(*given: Any) -> Response:
        answer: Response = getattr(import_module(f"gitmem.ui.pages.{module}"), name)(*given)
        return answer

    return called


def _settlement(answer: str) -> Change:
    """What one of ANSWERS does."""

    def called(view: View, form: dict[str, str]) -> Response:
        from gitmem.promotion.settlement import Answer
        from gitmem.ui.pages.alike import answered

        return answered(Answer(answer))(view, form)

    return called


def _fact_change(action: str) -> Change:
    """What one of FACT_CHANGES does."""

    def called(view: View, form: dict[str, str]) -> Response:
        from gitmem.ui.pages.fact_changes import change_of

        return change_of(action)(view, form)

    return called


PAGES: Mapping[str, tuple[str, Page]] = {  # name -> its address below the site's, what answers
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
CHANGES: Mapping[str, Change] = {  # address -> what makes the change
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
PREVIEWED: Mapping[str, tuple[str, ...]] = {  # change that is shown first -> the fields by which a form makes it
    **{f"fact/{name}": ("shown",) for name in FACT_CHANGES},
    **{f"alike/{name}": ("shown",) for name in ANSWERS},
    "add": ("shown",),
    "archive/move": ("shown",),
    "review/edit": (),  # it only shows: "review/accept" makes the change
    "branches/merge": ("shown", "taken"),
    "branches/end": ("shown",),
    "branches/allow": ("shown",),
    "branches/close": ("shown",),
    "findings/mask": ("shown",),
    "findings/allow": ("shown",),
}
