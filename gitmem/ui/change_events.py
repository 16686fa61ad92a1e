"""Tells an open page that memory changed: a stream of server-sent events with one line of text for each change.

The page shows the line and does not change by itself; the reader loads it again.
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
from gitmem.ui.page_snapshot import memory_key
from gitmem.ui.translation import language_of, translate_phrase
from gitmem.ui.view import Site

CHECK_SECONDS = 2.0  # between two checks for changes
POLL_SECONDS = 0.25  # between two checks for the end of the server
MAX_STREAMS = 24  # open pages with a stream; further ones get none


def event_stream(site: Site, ending: threading.Event) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of the event stream, which goes on until the reader leaves or `ending` is set. A request beyond
    MAX_STREAMS open streams gets an empty response (204)."""
    streams: set[object] = set()

    async def answer(request: Request) -> Response:
        if len(streams) >= MAX_STREAMS:
            return Response(status_code=204)  # after that a browser does not ask again
        language = language_of(request.headers.get("accept-language", ""))
        stream = _events_since(site, ending, request.query_params.get("since", ""), language)
        return StreamingResponse(_counted(stream, streams), media_type="text/event-stream")

    return answer


async def _counted(stream: AsyncIterator[str], streams: set[object]) -> AsyncIterator[str]:
    """The same stream; while it is open, the set `streams` has an entry for it, so that the open streams can be
    counted."""
    streams.add(stream)
    try:
        async for text in stream:
            yield text
    finally:
        streams.discard(stream)


async def _events_since(site: Site, ending: threading.Event, since: str, language: str) -> AsyncIterator[str]:
    """A server-sent event for each change of memory after the state with the key `since` (`page_snapshot.memory_key`),
    with a line of text in `language`."""
    current, facts = await to_thread.run_sync(_current_state, site, "")
    known_ids = facts if current == since else None
    last_key = since
    yield "retry: 5000\n\n"
    while not ending.is_set():
        current, facts = await to_thread.run_sync(_current_state, site, last_key)
        if current != last_key:
            last_key = current
            yield f"data: {json.dumps({'words': _words(language, known_ids, facts)})}\n\n"
        for _ in range(int(CHECK_SECONDS / POLL_SECONDS)):
            if not ending.is_set():
                await anyio.sleep(POLL_SECONDS)


def _current_state(site: Site, last_key: str) -> tuple[str, frozenset[str] | None]:
    """(key of the current state of memory, ids of all its facts). The ids are None if the key is `last_key`, or if the
    repository cannot be read; the key is then `last_key`."""
    try:
        with site.pool.lend_open() as opened:
            current = memory_key(opened.repo, opened.config)
            if current == last_key:
                return current, None
            commit = ""
            if not opened.repo.root:
                commit = opened.repo.head() or ""
            facts = site.facts.facts_of(opened.repo, opened.config, commit, now().date())
            return current, frozenset(facts.by_id)
    except (GitMemError, OSError):
        return last_key, None


def _words(language: str, old_ids: frozenset[str] | None, new_ids: frozenset[str] | None) -> str:
    """The line of text for a change: how many facts are new, or only that memory changed if an argument is None or no
    fact is new. `old_ids`, `new_ids`: the ids of all facts."""
    if old_ids is not None and new_ids is not None and (count := len(new_ids - old_ids)):
        return translate_phrase(language, "{count} new facts", count=count)
    return translate_phrase(language, "Memory changed")
