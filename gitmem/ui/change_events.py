"""Saying that memory changed, to a page that is open: one line of text for each change, as server-sent events.

A page is never changed by it: the line says what is new, and the reader loads it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.ui.page_snapshot import state
from gitmem.ui.translation import language_of, translate
from gitmem.ui.view import Site

PAUSE = 2.0  # seconds between two looks
POLL_SECONDS = 0.25  # seconds after which the end of the server is seen
STREAMS = 24  # pages that are told at once: a browser's further tabs are not


def events(site: Site, ending: threading.Event) -> Callable[[Request], Awaitable[Response]]:
    """The answer that goes on until the reader leaves or the server is `ending`."""
    streams: set[object] = set()

    async def answer(request: Request) -> Response:
        if len(streams) >= STREAMS:
            return Response(status_code=204)  # a browser does not ask again after that
        language = language_of(request.headers.get("accept-language", ""))
        told = _events_since(site, ending, request.query_params.get("since", ""), language)
        return StreamingResponse(_counted(told, streams), media_type="text/event-stream")

    return answer


async def _counted(told: AsyncIterator[str], streams: set[object]) -> AsyncIterator[str]:
    mark = object()
    streams.add(mark)
    try:
        async for text in told:
            yield text
    finally:
        streams.discard(mark)


async def _events_since(site: Site, ending: threading.Event, since: str, language: str) -> AsyncIterator[str]:
    """An event for each change after the state `since`."""
    known, seen = await to_thread.run_sync(_current_state, site, "")
    before = None
    if known == since:
        before = seen
    last = since
    yield "retry: 5000\n\n"
    while not ending.is_set():
        state_now, facts = await to_thread.run_sync(_current_state, site, last)
        if state_now != last:
            last = state_now
            words = _words(language, before, facts)
            yield f"data: {json.dumps({'words': words})}\n\n"
        for _ in range(int(PAUSE / POLL_SECONDS)):
            if not ending.is_set():
                await anyio.sleep(POLL_SECONDS)


def _current_state(site: Site, last: str) -> tuple[str, frozenset[str] | None]:
    """The state, and the ids of all facts where it is not `last`; `last` again where the repository cannot be read."""
    try:
        with site.pool.opened() as opened:
            current = state(opened.repo, opened.config)
            if current == last:
                return current, None
            facts = site.facts.of(
                opened.repo, opened.config, "" if opened.repo.root else opened.repo.head() or "", now().date()
            )
            return current, frozenset(facts.by_id)
    except (GitMemError, OSError):
        return last, None


def _words(language: str, before: frozenset[str] | None, after: frozenset[str] | None) -> str:
    count = 0
    if before is not None and after is not None:
        count = len(after - before)
    if count:
        return translate(language, "{count} new facts", count=count)
    return translate(language, "Memory changed")
