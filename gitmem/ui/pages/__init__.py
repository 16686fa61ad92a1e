"""The registry of pages and of the changes that their forms make; a page's module collects what it shows, and the
template of the same name in `ui/templates` has its words, dates and their order. docs/contributing.md lists what
else a new page needs.

A page is a function from a `View` to a response. A change also gets the fields of its form. `app` checks the form and
calls a change only when changes are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from starlette.responses import Response

    from gitmem.ui.view import View

FACT_ACTIONS = ("edit", "supersede", "forget", "everywhere", "pin", "unpin", "until", "over")  # `fact_changes.ACTIONS`
ANSWERS = ("later", "earlier", "both", "same")  # `settlement.Answer`


class Change(NamedTuple):
    """A change that a form makes. `run`: the function (view, fields of the form) -> response. `confirmed_by`: names of
    the fields that only the form of the preview has. A form with none of them leads to the preview; None: the change
    has no preview, () for a change that only ever shows one."""

    run: Callable[[View, dict[str, str]], Response]
    confirmed_by: tuple[str, ...] | None


class Page(NamedTuple):
    """A page. `path`: its path below the site's, as a route. `show`: the function view -> response. `tab`: its title in
    the navigation, "" for a page without a tab. `changes`: path below the site's -> change."""

    path: str
    show: Callable[[View], Response]
    tab: str
    changes: Mapping[str, Change]


def _lazily(module: str, name: str) -> Callable[..., Response]:
    """The function `name` of a module of this package, which is imported at the first call. So the first page does not
    wait for the imports of all others."""

    def call(*args: Any) -> Response:
        response: Response = getattr(import_module(f"gitmem.ui.pages.{module}"), name)(*args)
        return response

    return call


def _page(module: str, tab: str = "", path: str = "", changes: Mapping[str, Change] | None = None) -> Page:
    """The row of the page in a module. `path`: default is the module's name."""
    return Page(path or module, _lazily(module, "page"), tab, changes or {})


def _at_once(module: str, name: str) -> Change:
    """A change without a preview: the function `name` of a module."""
    return Change(_lazily(module, name), None)


def _previewed(module: str, name: str, confirmed_by: tuple[str, ...] = ("shown",)) -> Change:
    """A change with a preview: the function `name` of a module."""
    return Change(_lazily(module, name), confirmed_by)


def _settlement(answer: str) -> Change:
    """The change that gives one of ANSWERS to a pair of facts."""
    return Change(lambda view, form: _lazily("alike", "settle")(view, form, answer), ("shown",))


def _fact_change(action: str) -> Change:
    """The change of one of FACT_ACTIONS."""
    return Change(lambda view, form: _lazily("fact_changes", "change")(view, form, action), ("shown",))


PAGES: Mapping[str, Page] = {  # name -> page; the tabs stand in this order
    "today": _page("today", "Today"),
    "facts": _page("facts", "Facts"),
    "notes": _page("notes", "Files"),
    "timeline": _page("timeline", "Timeline"),
    "review": _page("review", "Review", changes={
        "review/accept": _at_once("review", "accept"),
        "review/edit": _previewed("review", "edit", ()),  # "review/accept" makes the change
        "review/reject": _at_once("review", "refuse"),
        "review/again": _at_once("review", "offer_again"),
        "review/accept-chosen": _at_once("review", "accept_chosen"),
        "review/reject-chosen": _at_once("review", "refuse_chosen"),
        "review/ask": _at_once("review", "ask"),
    }),
    "compare": _page("compare", "Compare"),
    "sessions": _page("sessions", "Sessions"),
    "pictures": _page("pictures", "Pictures"),
    "add": _page("add", changes={"add": _previewed("add", "change")}),
    "fact": _page("fact", path="fact/{id}", changes={f"fact/{name}": _fact_change(name) for name in FACT_ACTIONS}),
    "file": _page("file"),
    "waiting": _page("waiting"),
    "health": _page("health"),
    "prompt": _page("prompt"),
    "undo": _page("undo", changes={"undo": _at_once("undo", "change")}),
    "branches": _page("branches", changes={
        "branches/merge": _previewed("branches", "merge", ("shown", "taken")),
        "branches/end": _previewed("branches", "end"),
        "branches/allow": _previewed("branches", "allow"),
        "branches/close": _previewed("branches", "close"),
    }),
    "findings": _page("findings", changes={
        "findings/mask": _previewed("findings", "mask"),
        "findings/allow": _previewed("findings", "allow"),
    }),
    "alike": _page("alike", changes={f"alike/{name}": _settlement(name) for name in ANSWERS}),
    "archive": _page("archive", changes={"archive/move": _previewed("archive", "move")}),
}  # fmt: skip
CHANGES: Mapping[str, Change] = {path: change for page in PAGES.values() for path, change in page.changes.items()}
TABS = tuple((name, page.tab) for name, page in PAGES.items() if page.tab)  # (name of a page, its title)
