"""The server's web application without a database: what it answers and logs when a request itself is at fault."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, cast

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gitmem.server.web.routes import application, limited


async def read(request: Request) -> Response:
    return Response(await limited(request, 100) or b"")


def test_a_client_that_leaves_before_its_request_ends_is_no_fault_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    parts = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    sent: list[Any] = []

    async def receive() -> Any:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": "POST", "path": "/read", "raw_path": b"/read", "query_string": b"",
        "headers": [], "root_path": "", "scheme": "http", "http_version": "1.1",
    }  # fmt: skip
    app = application(cast(Any, None), further_routes=[Route("/read", read, methods=["POST"])])
    with caplog.at_level(logging.INFO):
        asyncio.run(app(scope, receive, send))
    assert not caplog.records and sent[0]["status"] == 400
