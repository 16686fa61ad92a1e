"""The web application: its routes, the calls of pages and changes, and the error pages.

A page is a function from a `View` to a response. It runs in a thread and has the repository to itself until it returns.
A change is a function from a `View` and the fields of a form; it is only called when changes are allowed.
"""

from __future__ import annotations

import errno
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from anyio import to_thread
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from gitmem import errors
from gitmem.environment import now
from gitmem.messages import Message
from gitmem.ui.background_work import StillComputing
from gitmem.ui.change_events import event_stream
from gitmem.ui.page_snapshot import Snapshot, snapshot
from gitmem.ui.pages import CHANGES, PAGES, Change
from gitmem.ui.rendering import STATIC, Unmasked, render_template
from gitmem.ui.security import Guard, Refusal, checked_form
from gitmem.ui.translation import language_of, translate_message, translate_phrase
from gitmem.ui.view import Site, View

STATUS: dict[type[errors.GitMemError], int] = {
    errors.UsageError: 400,
    errors.UnknownRevision: 404, errors.MissingFile: 404, errors.OutsideRepository: 404,
    errors.Changed: 409, errors.Refused: 422, errors.GitFailed: 422,
    errors.Locked: 503, errors.NotARepository: 503, errors.UntrustedRepository: 503, errors.BadConfig: 503,
    errors.IndexUnusable: 503, errors.ModelUnavailable: 503,
    errors.GitMemError: 409,  # the state of the repository does not allow it
}  # fmt: skip
STATIC_FILES = {
    "style.css": "text/css", "keyboard.js": "text/javascript", "ui.js": "text/javascript",
    "htmx.min.js": "text/javascript", "icon.svg": "image/svg+xml",
}  # fmt: skip
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def application(site: Site, ending: threading.Event | None = None) -> ASGIApp:
    """The ASGI application with the pages and changes of one repository; a `Guard` checks each request first.
    `ending`: set when the server shuts down, so that open event streams end; None for never."""
    routes = [Route(f"/{page.path}", _page(site, name, page.show), name=name) for name, page in PAGES.items()]
    routes += [Route(f"/{path}", _change(site, path, change), methods=["POST"]) for path, change in CHANGES.items()]
    routes += [Route("/preview/{key}", _preview(site), name="preview")]
    routes += [Route("/", _first_page(site)), Route("/static/{name}", _static)]
    routes += [Route("/live", event_stream(site, ending or threading.Event()))]
    app = Starlette(
        routes=[Mount(site.keys.base, routes=routes)],
        exception_handlers={404: _unknown_page(site), 405: _unknown_page(site), Refusal: _refused},
    )
    return Guard(app, site.keys)


def _page(site: Site, name: str, show: Callable[[View], Response]) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint (function of a request) of a page."""

    async def answer(request: Request) -> Response:
        return await to_thread.run_sync(_call_page, site, name, request, show)

    return answer


def _change(site: Site, name: str, change: Change) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of a change. A form without any of the fields in `change.confirmed_by` is redirected to the URL of
    its preview; with one of them, or if `confirmed_by` is None, the change is made. Changes run one after the other."""

    async def answer(request: Request) -> Response:
        form = await checked_form(request, site.keys)
        if change.confirmed_by is not None and not any(form.get(field) for field in change.confirmed_by):
            url = f"{site.keys.base}/preview/{site.preview_forms.add(name, form)}"
            if revision := request.query_params.get("at"):
                url += f"?{urlencode({'at': revision})}"
            return RedirectResponse(url, 303)
        return await to_thread.run_sync(make_change, request, form)

    def make_change(request: Request, form: dict[str, str]) -> Response:
        with site.changing:  # a second click sees the result of the first
            return _call_page(site, name, request, lambda view: _call_change(view, change, form))

    return answer


def _preview(site: Site) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of previews: a page that shows what a form would change. It answers GET requests and never makes the
    change."""

    async def answer(request: Request) -> Response:
        return await to_thread.run_sync(show_preview, request)

    def show_preview(request: Request) -> Response:
        stored = site.preview_forms.get(request.path_params["key"])
        if stored is None:
            error = errors.MissingFile("This preview is over", "go back to the form and send it again")
            return _error_page(site, "", request, error)
        address, form = stored
        change = CHANGES[address]
        fields = {field: value for field, value in form.items() if field not in (change.confirmed_by or ())}
        return _call_page(site, address, request, lambda view: _call_change(view, change, fields))

    return answer


def _call_change(view: View, change: Change, form: dict[str, str]) -> Response:
    """Call a change, or return an error page when changes are not allowed. Every change is called here."""
    if view.site.read_only:
        return view.render("error.html", 403, title=view.t("Nothing can be changed: this is read-only"), hint="")
    if view.snapshot.past:
        words = view.t("This is a page of the past: nothing can be changed there")
        return view.render("error.html", 403, title=words, hint="")
    return change.run(view, form)


def _call_page(site: Site, name: str, request: Request, show: Callable[[View], Response]) -> Response:
    """The response of a page, or the error page of the exception that it raised. Runs in a thread."""
    try:
        with _view_of(site, name, request) as view:
            try:
                return show(view)
            except StillComputing as unfinished:
                from gitmem.ui.pages import waiting

                return waiting.progress_page(view, unfinished)
    except Exception as error:  # noqa: BLE001 - every error becomes a page that says what to do
        return _error_page(site, name, request, error)


@contextmanager
def _view_of(site: Site, name: str, request: Request) -> Iterator[View]:
    """Lend the repository for one request, as the request's View."""
    with site.pool.lend_open() as opened:
        moment = now()
        shown = snapshot(opened.repo, request.query_params.get("at", "") or site.at, moment)
        yield View(
            site, opened, shown, name, dict(request.query_params), dict(request.path_params),
            language_of(request.headers.get("accept-language", "")), Unmasked(request.state.nonce),
            "hx-request" in request.headers, moment,
        )  # fmt: skip


def _error_page(site: Site, name: str, request: Request, error: Exception) -> Response:
    """The page of an error: what happened and what to do. When the repository cannot be read, a bare page without its
    name and navigation."""
    status, words, hint = _error_words(site, error)
    try:
        with site.pool.lend_open() as opened:
            view = View(
                site, opened, Snapshot(), name, {}, {}, language_of(request.headers.get("accept-language", "")),
                Unmasked(request.state.nonce), False, now(),
            )  # fmt: skip
            title = _one_line(view.t(words))
            return view.render("error.html", status, title=title, hint=view.t(hint), stopped=status == 422)
    except (errors.GitMemError, OSError):  # the repository cannot be read at all
        language = language_of(request.headers.get("accept-language", ""))
        phrases = ("The repository cannot be read", "Try again")
        title, advice = (Unmasked(translate_phrase(language, phrase)) for phrase in phrases)
        hint = _one_line(translate_message(language, words))
        text = render_template(
            "bare.html", language=language, title=title, hint=hint, again=advice,
            base=Unmasked(site.keys.base), nonce=Unmasked(request.state.nonce),
        )  # fmt: skip
        return HTMLResponse(text, 503)


def _one_line(text: str) -> str:
    """The text with its lines joined by spaces."""
    if "\n" not in text:
        return text
    return " ".join(text.split())


def _error_words(site: Site, error: Exception) -> tuple[int, str, str]:
    """(status, what happened, what to do). Quotes memory text only if the message of a GitMemError does."""
    if isinstance(error, errors.GitMemError):
        status = next(status for kind, status in STATUS.items() if isinstance(error, kind))
        return status, error.message, error.hint
    if isinstance(error, OSError):
        if error.errno in DISK_FULL:
            return 507, "The disk is full", "nothing was changed; make room and try again"
        words = Message("Cannot read or write: {}", error.strerror)
        if error.errno == errno.ENAMETOOLONG:
            return 400, words, "a shorter name fits"
        return 503, words, "nothing was changed; ls -ld shows who may read and write there"
    hint = "git mem doctor may say why"
    if path := site.crash_log(error):
        hint = Message("details in {}", path)
    return 500, Message("A bug: {}", type(error).__name__), hint


def _unknown_page(site: Site) -> Callable[[Request, Exception], Awaitable[Response]]:
    """The handler of requests for URLs without a page: an error page with status 404."""

    async def answer(request: Request, _: Exception) -> Response:
        unknown = errors.MissingFile("There is no such page", "choose one above")
        return await to_thread.run_sync(_error_page, site, "", request, unknown)

    return answer


async def _refused(request: Request, refusal: Exception) -> Response:
    """The response to a request that the Guard or a form's check refused: its reason as plain text."""
    assert isinstance(refusal, Refusal)
    language = language_of(request.headers.get("accept-language", ""))
    return PlainTextResponse(translate_message(language, refusal.words) + "\n", refusal.status)


def _first_page(site: Site) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of the URL without a page: it redirects to the page Today."""

    async def answer(request: Request) -> Response:
        return Response(status_code=303, headers={"location": f"{site.keys.base}/today"})

    return answer


async def _static(request: Request) -> Response:
    """A file of STATIC_FILES; 404 for any other name."""
    name = request.path_params["name"]
    if name not in STATIC_FILES:
        return PlainTextResponse("There is no such file.\n", 404)
    return Response((STATIC / name).read_bytes(), media_type=STATIC_FILES[name])
