"""The application: its routes, how a page is called, and what an error looks like.

A page is a function from a `View` to an answer, run in a thread; it borrows the repository alone for that long. A
change is a function from a `View` and the fields of its form, and is called only where something may be changed at all.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from gitmem.environment import now
from gitmem.errors import (
    BadConfig,
    Changed,
    GitFailed,
    GitMemError,
    IndexUnusable,
    Locked,
    MissingFile,
    ModelUnavailable,
    NotARepository,
    OutsideRepository,
    Refused,
    UnknownRevision,
    UsageError,
)
from gitmem.messages import Message
from gitmem.ui.change_events import events
from gitmem.ui.page_snapshot import Snapshot, snapshot
from gitmem.ui.pages import CHANGES, PAGES, PREVIEWED
from gitmem.ui.rendering import STATIC, Ours, rendered
from gitmem.ui.security import Guard, Refusal, checked_form
from gitmem.ui.translation import language_of, translate, translated
from gitmem.ui.view import Site, View

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUS: dict[type[GitMemError], int] = {
    UsageError: 400, UnknownRevision: 404, MissingFile: 404, OutsideRepository: 404, Changed: 409, Refused: 422,
    GitFailed: 422, Locked: 503, NotARepository: 503, BadConfig: 503, IndexUnusable: 503, ModelUnavailable: 503,
    GitMemError: 409,  # what the state of the repository does not allow
}  # fmt: skip
FILES = {
    "style.css": "text/css", "keyboard.js": "text/javascript", "ui.js": "text/javascript",
    "htmx.min.js": "text/javascript", "icon.svg": "image/svg+xml",
}  # fmt: skip
FULL = (errno.ENOSPC, errno.EDQUOT)
Page = Callable[[View], Response]
Change = Callable[[View, dict[str, str]], Response]


def application(site: Site, ending: threading.Event | None = None) -> ASGIApp:
    """The application of one repository, behind its guard; `ending` says that its server is."""
    routes = [Route(f"/{path}", _page(site, name, page), name=name) for name, (path, page) in PAGES.items()]
    routes += [Route(f"/{path}", _change(site, path, change), methods=["POST"]) for path, change in CHANGES.items()]
    routes += [Route("/preview/{key}", _preview(site), name="preview")]
    routes += [Route("/", _first_page(site)), Route("/static/{name}", _static)]
    routes += [Route("/live", events(site, ending or threading.Event()))]
    app = Starlette(
        routes=[Mount(site.keys.base, routes=routes)],
        exception_handlers={404: _no_such_page(site), 405: _no_such_page(site), Refusal: _refused},
    )
    return Guard(app, site.keys)


def _page(site: Site, name: str, page: Page) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return await to_thread.run_sync(_called, site, name, request, page)

    return answer


def _change(site: Site, name: str, change: Change) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        form = await checked_form(request, site.keys)
        if name in PREVIEWED and not any(form.get(field) for field in PREVIEWED[name]):
            at = urlencode({"at": value} if (value := request.query_params.get("at")) else {})
            preview = f"{site.keys.base}/preview/{site.asked.keep(name, form)}"
            return RedirectResponse(f"{preview}?{at}" if at else preview, 303)
        return await to_thread.run_sync(answered, request, form)

    def answered(request: Request, form: dict[str, str]) -> Response:
        with site.changing:  # whoever presses twice sees the second time what the first one did
            return _called(site, name, request, lambda view: _changed(view, change, form))

    return answer


def _preview(site: Site) -> Callable[[Request], Awaitable[Response]]:
    """What a form would change: a page that is asked for by GET, and makes no change whatever the form says."""

    async def answer(request: Request) -> Response:
        return await to_thread.run_sync(previewed, request)

    def previewed(request: Request) -> Response:
        found = site.asked.of(request.path_params["key"])
        if found is None:
            over = MissingFile("This preview is over", "go back to the form and send it again")
            return _error_page(site, "", request, over)
        address, form = found
        asked = {field: value for field, value in form.items() if field not in PREVIEWED[address]}
        return _called(site, address, request, lambda view: _changed(view, CHANGES[address], asked))

    return answer


def _changed(view: View, change: Change, form: dict[str, str]) -> Response:
    """Call a change where one may be made: everything that changes anything comes through here."""
    if view.site.read_only:
        return view.render("error.html", 403, title=view.t("Nothing can be changed: this is read-only"), hint="")
    if view.snapshot.past:
        words = view.t("This is a page of the past: nothing can be changed there")
        return view.render("error.html", 403, title=words, hint="")
    return change(view, form)


def _called(site: Site, name: str, request: Request, page: Page) -> Response:
    """The page's answer, or the page of its error. Runs in a thread."""
    try:
        with _view_of(site, name, request) as view:
            return page(view)
    except Exception as error:  # noqa: BLE001 - whatever went wrong is a page with a sentence and a way on
        return _error_page(site, name, request, error)


@contextmanager
def _view_of(site: Site, name: str, request: Request) -> Iterator[View]:
    with site.pool.opened() as opened:
        moment = now()
        shown = snapshot(opened.repo, request.query_params.get("at", "") or site.at, moment)
        yield View(
            site, opened, shown, name, dict(request.query_params), dict(request.path_params),
            language_of(request.headers.get("accept-language", "")), Ours(request.state.nonce),
            "hx-request" in request.headers, moment,
        )  # fmt: skip


def _error_page(site: Site, name: str, request: Request, error: Exception) -> Response:
    """A sentence and what to do, on a page of the present where that can be shown, as plain text where it cannot."""
    status, words, hint = _in_words(site, error)
    try:
        with site.pool.opened() as opened:
            view = View(
                site, opened, Snapshot(), name, {}, {}, language_of(request.headers.get("accept-language", "")),
                Ours(request.state.nonce), False, now(),
            )  # fmt: skip
            title = _one_line(view.t(words))
            return view.render("error.html", status, title=title, hint=view.t(hint), stopped=status == 422)
    except (GitMemError, OSError):  # not even its head can be read: nothing of it is asked any more
        language = language_of(request.headers.get("accept-language", ""))
        title, again = (Ours(translate(language, text)) for text in ("The repository cannot be read", "Try again"))
        text = rendered(
            "bare.html", language=language, title=title, hint=_one_line(translated(language, words)), again=again,
            base=Ours(site.keys.base), nonce=Ours(request.state.nonce),
        )  # fmt: skip
        return HTMLResponse(text, 503)


def _one_line(text: str) -> str:
    if "\n" not in text:
        return text
    return " ".join(text.split())


def _in_words(site: Site, error: Exception) -> tuple[int, str, str]:
    """(status, what happened, what to do). Names no text of memory but what the message of our own error does."""
    if isinstance(error, GitMemError):
        status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
        return status, error.message, error.hint
    if isinstance(error, OSError):
        if error.errno in FULL:
            words = "The disk is full"
        else:
            words = Message("Cannot read or write: {}", error.strerror)
        return 507 if error.errno in FULL else 503, words, "nothing was changed; make room and try again"
    where = site.crash_log(error)
    return (
        500,
        Message("A bug: {}", type(error).__name__),
        Message("details in {}", where) if where else "git mem doctor may say why",
    )


def _no_such_page(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def answer(request: Request, _: Exception) -> Response:
        unknown = MissingFile("There is no such page", "choose one above")
        return await to_thread.run_sync(_error_page, site, "", request, unknown)

    return answer


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    language = language_of(request.headers.get("accept-language", ""))
    return PlainTextResponse(translated(language, refusal.words) + "\n", refusal.status)


def _first_page(site: Site) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        return Response(status_code=303, headers={"location": f"{site.keys.base}/today"})

    return answer


async def _static(request: Request) -> Response:
    """One of the files a page loads, no other."""
    name = request.path_params["name"]
    if name not in FILES:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response((STATIC / name).read_bytes(), media_type=FILES[name])
