"""Sends one HTTP request with the standard library; has the timeout of requests to forges and to shared indexes.

A redirect is never followed, so that a token goes only to the address that a person named. A request is sent once: the
callers know which requests may be repeated. `models/endpoint` sends requests to models; it keeps its connection.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitmem.json_values import parse_json

TIMEOUT_SECONDS = 30.0


class NoResponse(Exception):
    """No response came. The text of the exception is the name of the standard library's error."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response of any status. `headers`: by name in lower case; of a repeated header the last. `data`: the
    body, cut without an error at the limit given to `send`."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    def json(self) -> Any:
        """The parsed JSON. Raises ValueError when the data is not JSON."""
        return parse_json(self.data)

    @property
    def is_web_page(self) -> bool:
        """Whether the response is HTML and not the API's JSON: a proxy, a login page or a wrong URL answered."""
        return self.data.lstrip()[:1] == b"<" or "text/html" in self.headers.get("content-type", "")


def send(
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: bytes | None,
    *,
    limit: int,
    error_limit: int,
    use_proxy: bool = True,
) -> Response:
    """Send one request and return the response, whatever its status. A redirect is returned, not followed.

    `limit`: the most bytes that are read of a response's body. `error_limit`: the same for an error status or a
    redirect. A longer body is cut there without an error. `use_proxy`: use the proxies that the environment names.
    Raises NoResponse when no connection is made, when the server sends nothing for TIMEOUT_SECONDS, and for an invalid
    URL.
    """
    import http.client
    from urllib import error, request

    class NoRedirect(request.HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    handlers: list[Any] = [NoRedirect]
    if not use_proxy:
        handlers.append(request.ProxyHandler({}))
    try:
        outgoing = request.Request(url, data=body, headers=dict(headers), method=method)
        try:
            reply = request.build_opener(*handlers).open(outgoing, timeout=TIMEOUT_SECONDS)
        except error.HTTPError as refusal:
            reply, limit = refusal, error_limit
        with reply:
            return Response(
                reply.status, {name.lower(): text for name, text in reply.headers.items()}, reply.read(limit)
            )
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise NoResponse(type(problem).__name__) from None
