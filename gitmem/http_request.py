"""One HTTP request, sent with the standard library.

A redirect is never followed, so that a token goes to the one address that a person named. Nothing is tried again here:
callers know which requests may be repeated. Requests to a model's endpoint go through `models/endpoint`, which
keeps its connection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TIMEOUT_SECONDS = 30.0


class NoAnswer(Exception):
    """Nothing answered. Its text is the name of the error that the standard library raised."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Status, headers (names in lower case) and bytes, whatever the status."""

    status: int
    headers: Mapping[str, str]
    data: bytes

    def value(self) -> Any:
        """Its JSON. Raises ValueError where it is none."""
        try:
            return json.loads(self.data)
        except RecursionError:
            raise ValueError("nested too deeply") from None

    @property
    def is_page(self) -> bool:
        """Whether it is a web page: of a proxy, a sign-in, or an address that is not the API's."""
        return self.data.lstrip()[:1] == b"<" or "text/html" in self.headers.get("content-type", "")


def send(
    method: str, address: str, headers: Mapping[str, str], body: bytes | None, *, limit: int, proxy: bool = True
) -> HttpAnswer:
    """The answer to one request, with at most `limit` bytes of its body. `proxy`: use the proxies of the environment.

    Raises NoAnswer.
    """
    import http.client
    from urllib import error, request

    class NoRedirect(request.HTTPRedirectHandler):
        def redirect_request(self, *args: Any, **kwargs: Any) -> None:
            return None

    handlers: list[Any] = [NoRedirect]
    if not proxy:
        handlers.append(request.ProxyHandler({}))
    try:
        sent = request.Request(address, data=body, headers=dict(headers), method=method)
        try:
            answer = request.build_opener(*handlers).open(sent, timeout=TIMEOUT_SECONDS)
        except error.HTTPError as refused:
            answer = refused
        with answer:
            names = {name.lower(): text for name, text in answer.headers.items()}
            return HttpAnswer(answer.status, names, answer.read(limit))
    except (OSError, http.client.HTTPException, ValueError) as problem:
        raise NoAnswer(type(problem).__name__) from None
