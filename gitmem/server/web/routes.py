"""The REST addresses of the server, described by `/v1/openapi.json`, and those for health, metrics and webhooks.

Every error has a status, a code and a sentence, and reveals nothing that the caller may not see.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from gitmem.errors import GitMemError, IndexUnusable, NotARepository, Refused, UsageError
from gitmem.json_values import json_value, parse_json
from gitmem.memory.writing import NewLine
from gitmem.search.request import SearchRequest, query_of
from gitmem.search.results import shown
from gitmem.server.caller import Caller, Forbidden, Unauthorized
from gitmem.server.line_proposals import Change
from gitmem.server.operations import Operations, TooMany
from gitmem.server.telemetry import ERRORS, REQUESTS, STAGES, exposition, freshness_of, request_span
from gitmem.server.web import bodies
from gitmem.server.web.openapi import description
from gitmem.server.web.webhooks import MAX_DELIVERY_BYTES, Delivery, delivery

log = logging.getLogger("gitmem.server")
MAX_JSON_BYTES = 1 << 16  # of a request's body; the queue before it (`fair_queue`) reads MAX_QUEUED_BYTES at most
STATUS: dict[type[GitMemError], tuple[int, str]] = {
    Unauthorized: (401, "unauthorized"),
    Forbidden: (403, "forbidden"),
    TooMany: (429, "too-many-requests"),
    UsageError: (400, "bad-request"),
    Refused: (403, "forbidden"),
    IndexUnusable: (503, "unavailable"),
    NotARepository: (503, "unavailable"),  # its copy is being replaced or removed
}
Operation = Callable[[Caller, Mapping[str, Any]], Any]


_ERROR_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "60"}}


def error(status: int, code: str, message: str, hint: str = "") -> JSONResponse:
    """The response for an error; every error has this form."""
    value = bodies.Error(bodies.Problem(code, message, hint))
    return JSONResponse(json_value(value), status, headers=_ERROR_HEADERS.get(status))


def failed(problem: GitMemError) -> JSONResponse:
    """The response for an exception. One that is not in STATUS gets a general sentence, as its text may reveal
    names."""
    for kind, (status, code) in STATUS.items():
        if isinstance(problem, kind):
            return error(status, code, problem.message, problem.hint)
    log.warning("failed", extra={"problem": type(problem).__name__})
    return error(500, "failed", "the server could not answer")


def bearer(request: Request) -> str:
    """The bearer token of a request. Raises Unauthorized if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized("no token that holds", "send 'Authorization: Bearer TOKEN'")
    return token.strip()


def record_failure(operations: Operations, caller: Caller, name: str, problem: GitMemError) -> None:
    """Add a row to the audit log for a request that was counted and then refused or failed; nothing for an
    IndexUnusable. Raises IndexUnusable if the database does not answer."""
    if not isinstance(problem, IndexUnusable):  # the database may not answer, and it has the log
        operations.record(caller, name, [], 0, failed(problem).status_code)


class Routes:
    """The addresses of a server and what each answers. `hook_secret`: signs webhooks, "" to refuse them. `alive`:
    returns whether the workers run."""

    def __init__(self, operations: Operations, hook_secret: str = "", alive: Callable[[], bool] = lambda: True) -> None:
        self.operations = operations
        self.alive = alive
        self.hook_secret = hook_secret

    def all(self) -> list[BaseRoute]:
        """All routes but those of MCP."""
        return [
            Route("/healthz", self.healthy),
            Route("/readyz", self.ready),
            Route("/metrics", self.metrics),
            Route("/hooks", self.hook, methods=["POST"]),
            Route("/v1/openapi.json", self.described),
            Route("/v1/search", self._of("search", self.search), methods=["POST"]),
            Route("/v1/repositories", self._of("repositories", self.repositories)),
            Route("/v1/lines", self._of("lines", self.lines)),
            Route("/v1/context", self._of("context", self.context), methods=["POST"]),
            Route("/v1/seen", self._of("seen", self.seen), methods=["POST"]),
            Route("/v1/propose", self._of("propose", self.propose), methods=["POST"]),
            Route("/v1/audit", self._of("audit", self.audit)),
        ]

    def _of(self, name: str, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
        """The endpoint of an operation: it finds the caller, runs the operation in a thread, and answers errors."""

        async def called(request: Request) -> Response:
            began = time.perf_counter()
            with request_span(name, request.headers):
                try:
                    caller = await run_in_threadpool(self._admitted, bearer(request))
                    answer: Response = await self._answer(name, operation, caller, request)
                except GitMemError as problem:
                    ERRORS.labels(type(problem).__name__).inc()
                    answer = failed(problem)
            took = time.perf_counter() - began
            REQUESTS.labels(name, str(answer.status_code)).inc()
            STAGES.labels("request").observe(took)
            log.info("request", extra={"operation": name, "status": answer.status_code, "seconds": round(took, 4)})
            return answer

        return called

    def _admitted(self, token: str) -> Caller:
        """The caller with this token, whose request is counted. Raises Unauthorized and IndexUnusable as
        `Operations.caller`, TooMany if the caller has to wait."""
        caller = self.operations.caller(token)
        self.operations.take_turn(caller)
        return caller

    async def _answer(self, name: str, operation: Operation, caller: Caller, request: Request) -> Response:
        """The response of an operation. A GitMemError is added to the audit log and raised on."""
        try:
            given = await fields(request)
            answer = await run_in_threadpool(operation, caller, given)
            return JSONResponse(json_value(answer))
        except GitMemError as problem:
            await run_in_threadpool(record_failure, self.operations, caller, name, problem)
            raise

    # -- operations ------------------------------------------------------------------------------------------

    def search(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """POST /v1/search: the answer of a search, with its hits."""
        body = bodies.read(bodies.Question, fields)
        request = SearchRequest(
            body.query, body.limit, paths=body.path, types=body.type, tags=body.tag, since=body.since,
            until=body.until, lane=body.lane, explain=body.explain, everything=body.all, history=body.history,
        )  # fmt: skip
        query = query_of(request, self.operations.now())
        return shown(self.operations.search(caller, query, body.repository, body.ref, body.at))

    def repositories(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """GET /v1/repositories: the repositories that the caller may see."""
        return bodies.Repositories(self.operations.repositories(caller))

    def lines(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """GET /v1/lines: lines of a memory file at the tip of a branch or tag."""
        body = bodies.read(bodies.Place, fields)
        return self.operations.lines(caller, body.repository, body.path, body.first, body.count, body.ref)

    def context(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """POST /v1/context: a context for a prompt."""
        body = bodies.read(bodies.Prompt, fields)
        return self.operations.context(caller, body.prompt, body.repository, body.budget)

    def seen(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """POST /v1/seen: past incidents that are like an alert."""
        body = bodies.read(bodies.Alert, fields)
        data = body.alert if isinstance(body.alert, str) else json.dumps(body.alert)
        incidents = self.operations.seen(caller, data.encode("utf-8", "replace"), body.repository)
        return bodies.Seen(bool(incidents), incidents)

    def propose(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """POST /v1/propose: open a pull request with a line of memory."""
        body = bodies.read(bodies.Proposal, fields)
        change = Change(NewLine(body.text, body.type, body.to, tags=body.tag), body.title, body.reason, caller.name)
        return self.operations.propose(caller, body.repository, change)

    def audit(self, caller: Caller, fields: Mapping[str, Any]) -> Any:
        """GET /v1/audit: the newest rows of the audit log."""
        return bodies.Audit(self.operations.audit(caller, bodies.read(bodies.Rows, fields).limit))

    # -- the server itself -----------------------------------------------------------------------------------

    async def healthy(self, request: Request) -> Response:
        """GET /healthz: the process answers."""
        return PlainTextResponse("ok\n")

    async def ready(self, request: Request) -> Response:
        """GET /readyz: 200 if the database answers and the workers run, else 503 with the reason."""
        try:
            await run_in_threadpool(self._queue)
        except GitMemError:
            return PlainTextResponse("the database does not answer\n", 503)
        if self.alive():
            return PlainTextResponse("ok\n")
        return PlainTextResponse("a worker has ended\n", 503)

    def _queue(self) -> list[tuple[str, int, float]]:
        rows = self.operations.database.call("SELECT state, jobs, extract(epoch FROM oldest) FROM queue()")
        return [(state, count, float(age or 0)) for state, count, age in rows]

    async def described(self, request: Request) -> Response:
        """GET /v1/openapi.json: the description of these addresses."""
        return JSONResponse(description())

    async def metrics(self, request: Request) -> Response:
        """GET /metrics: Prometheus' text format 0.0.4, with numbers of the whole server and none of a tenant."""
        queue, freshness = [], None
        with suppress(GitMemError):
            queue = await run_in_threadpool(self._queue)
            freshness = await run_in_threadpool(freshness_of, self.operations.database)
        text = await run_in_threadpool(exposition, queue, freshness)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    async def hook(self, request: Request) -> Response:
        """POST /hooks: queue a fetch of each repository with an address of a push. The answer never tells which exist.

        Status 202; 401 without a valid signature, without a configured secret, or for more than MAX_DELIVERY_BYTES; 400
        for a signed body that is no delivery.
        """
        body = await limited(request, MAX_DELIVERY_BYTES)
        try:
            push = None
            if self.hook_secret and body is not None:
                push = delivery(request.headers, body, self.hook_secret)
        except ValueError:
            return error(400, "bad-request", "the body is no delivery of a webhook")
        if push is None:
            return error(401, "unauthorized", "no signature that holds")
        try:
            await run_in_threadpool(self._push, push)
        except GitMemError as problem:
            return failed(problem)
        return JSONResponse({"accepted": True}, 202)

    def _push(self, push: Delivery) -> None:
        """Queue the fetches of a push, unless one of its ids was seen in the last 30 days."""
        with self.operations.database.anyone() as connection:
            connection.execute("DELETE FROM delivery WHERE received < now() - interval '30 days'")
            fresh = connection.execute(
                "INSERT INTO delivery (forge, id) SELECT %s, unnest(%s::text[]) ON CONFLICT DO NOTHING RETURNING id",
                (push.forge, list(push.ids)),
            ).fetchall()
            if len(fresh) < len(push.ids):
                return
            rows = []
            for address in push.addresses:
                for spelled in {address, address.removesuffix(".git"), address.removesuffix(".git") + ".git"}:
                    rows += connection.execute("SELECT * FROM hooked_repository(%s)", (spelled,)).fetchall()
            for tenant, repository in dict.fromkeys(rows):
                connection.execute("SELECT set_config('gitmem.tenant', %s, true)", (str(tenant),))
                connection.execute("SELECT put_job(%s, 'fetch', '0')", (repository,))


async def limited(request: Request, max_bytes: int) -> bytes | None:
    """The body of a request; None if it is longer than `max_bytes` bytes."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > max_bytes:
            return None
    return bytes(body)


async def fields(request: Request) -> Mapping[str, Any]:
    """The fields of a request: of a GET each parameter with the list of its values, else the JSON object of the body.
    Raises UsageError for more than MAX_JSON_BYTES and for another body."""
    if request.method == "GET":
        return {name: request.query_params.getlist(name) for name in request.query_params}
    body = await limited(request, MAX_JSON_BYTES)
    if body is None:
        raise UsageError(f"a request has {MAX_JSON_BYTES} bytes at most", "")
    try:
        value = parse_json(body)
    except ValueError:
        raise UsageError("the body is no JSON", "send an object") from None
    if not isinstance(value, dict):
        raise UsageError("the body is no object", "send an object")
    return value


async def left(request: Request, problem: Exception) -> Response:
    """The response to a client that closed its connection before it had sent all of its request. Nobody reads it, and
    nothing is logged: the server did not fail."""
    return error(400, "bad-request", "the request ended before its end")


async def unforeseen(request: Request, problem: Exception) -> Response:
    """The response for an unknown address or method, with its status, or for an unexpected exception: status 500
    without its words; its class is logged."""
    if isinstance(problem, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(problem.status_code, "bad-request")
        return error(problem.status_code, code, "there is no such address")
    ERRORS.labels("fault").inc()
    log.error("fault", extra={"problem": type(problem).__name__})
    return error(500, "failed", "the server could not answer")


def application(
    operations: Operations,
    hook_secret: str = "",
    further_routes: Sequence[BaseRoute] = (),
    *,
    alive: Callable[[], bool] = lambda: True,
    **options: Any,
) -> Starlette:
    """The server as an ASGI application. `further_routes`: added to its own. `alive`: whether the workers run.
    `options`: further arguments of Starlette."""
    routes = [*Routes(operations, hook_secret, alive).all(), *further_routes]
    handlers: Any = {HTTPException: unforeseen, ClientDisconnect: left, Exception: unforeseen}
    return Starlette(routes=routes, exception_handlers=handlers, **options)
