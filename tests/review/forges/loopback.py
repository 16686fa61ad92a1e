"""A forge's REST API on loopback, with state: the parts of GitLab's and of Forgejo's that our adapters use.

Requests are held to what is published (https://docs.gitlab.com/api, https://codeberg.org/api/swagger): a field or a
question that is not there is 400, as a misspelled one would be. `faults` makes the next matching request fail.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

from tests.loopback import LoopbackServer, QuietHandler

Reply = tuple[int, Any]


@dataclass
class Request:
    """One request as it arrived."""

    method: str
    path: str  # without its query, escapes kept
    query: dict[str, str]
    value: Any
    headers: dict[str, str]

    @property
    def whole(self) -> tuple[str, str, Any]:
        """Method, path with its query, body."""
        return self.method, f"{self.path}?{urlencode(self.query)}" if self.query else self.path, self.value


@dataclass
class Route:
    """What is published of one request: which questions (`query`) and fields it takes, which it needs."""

    method: str
    path: str
    answer: Callable[..., Reply]
    query: frozenset[str] = frozenset()
    takes: frozenset[str] = frozenset()
    needs: frozenset[str] = frozenset()


@dataclass
class LoopbackForge(LoopbackServer):
    """Serves `routes`; `token` is what a request must carry, `read_only` one that may not write."""

    routes: list[Route]
    authorisation: str
    token: str = "write"
    read_only: str = "read"
    page_limit: int = 100
    requests: list[Request] = field(default_factory=list)
    faults: list[tuple[str, str, int, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        outer, lock = self, threading.Lock()

        class Handler(QuietHandler):
            def answer(self) -> None:
                body = self.body()
                parts = urlsplit(self.path)
                query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
                value = json.loads(body) if body else None
                headers = {name.lower(): text for name, text in self.headers.items()}
                request = Request(self.command, parts.path, query, value, headers)
                with lock:
                    outer.requests.append(request)
                    status, answered = outer.handle(request)
                rows, link = outer.paged(answered, query) if request.method == "GET" else (answered, "")
                data = b"" if rows is None else json.dumps(rows).encode()
                self.reply(status, data, {"Content-Type": "application/json", **({"Link": link} if link else {})})

            do_GET = do_POST = do_PATCH = do_PUT = answer

        super().__init__(Handler)

    def paged(self, value: Any, query: dict[str, str]) -> tuple[Any, str]:
        """A page of a list, with the link to the next one; whatever is no list as it is."""
        asked = query.get("per_page") or query.get("limit")
        if not isinstance(value, list) or asked is None:
            return value, ""
        size, number = min(int(asked), self.page_limit), int(query.get("page", 1))
        link = f'<{self.url}/next>; rel="next"' if number * size < len(value) else ""
        return value[(number - 1) * size : number * size], link

    def handle(self, request: Request) -> Reply:
        for fault in self.faults:
            if fault[0] == request.method and re.search(fault[1], request.path):
                self.faults.remove(fault)
                return fault[2], fault[3]
        given = request.headers.get("authorization", "")
        if given not in (f"{self.authorisation} {self.token}", f"{self.authorisation} {self.read_only}"):
            return 401, {"message": "401 Unauthorized"}
        if request.method != "GET" and given.endswith(self.read_only):
            return 403, {"message": "403 Forbidden"}
        for route in self.routes:
            match = re.fullmatch(route.path, request.path)
            if match and route.method == request.method:
                fields = set(request.value or {})
                unknown = (set(request.query) - route.query) | (fields - route.takes)
                if unknown or route.needs - fields:
                    return 400, {"error": f"{unknown or route.needs} is invalid or missing"}
                return route.answer(*map(unquote, match.groups()), request=request)
        return 404, {"message": "404 Not Found"}
