"""Shares the server fairly among tenants: a tenant with very many requests delays its own and not those of others.

Each tenant has a queue, and tenants take turns; the oldest request of a tenant comes first, in whichever process it
waits. A tenant that recently asked much more than the others is held to its share of the processes and begins a request
only when none of another tenant runs; if its share is below one process, it rests after each request. Other tenants may
use the whole server.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.datastructures import Headers

from gitmem.server.telemetry import ERRORS, REQUESTS, STAGES
from gitmem.server.tenant_load import Row
from gitmem.server.web.routes import error

# Requests that a process runs at once: one uses the processor while the others wait for the database.
MAX_REQUESTS_AT_ONCE = 4
# Requests of one tenant, or of all unknown tokens together, that a process runs at once.
MAX_REQUESTS_PER_TENANT = 2
MAX_REMEMBERED_TENANTS = 100  # tenants whose turn is remembered
MAX_QUEUED_PER_TENANT = 64  # requests of a tenant that wait in a process
# Seconds that a request of a tenant held to its share waits while others' requests run; also its longest rest.
YIELD = 0.25
LOOK = 0.003  # seconds between two checks of other processes while a request waits
LARGEST = 1 << 20  # bytes of a request, whose body is read before it is queued

Waiting = deque[tuple[float, "asyncio.Future[None]"]]


class QueueFull(Exception):
    """A tenant has MAX_QUEUED_PER_TENANT waiting requests already."""


class FairQueue:
    """The queues of one process. Not thread-safe: only its event loop may use it."""

    def __init__(self, row: Row, most: int = MAX_REQUESTS_AT_ONCE, queued: int = MAX_QUEUED_PER_TENANT) -> None:
        self.row = row
        self._most = most
        self._queued = queued
        self._count = 0
        self._queues: OrderedDict[int, Waiting] = OrderedDict()  # in the order of turns
        self._look: asyncio.TimerHandle | None = None

    async def enter(self, tenant: int) -> None:
        """Wait until a request of a tenant may run. Raises QueueFull."""
        moment = self.row.ask(tenant)
        queue = self._queue(tenant)
        if len(queue) >= self._queued:
            raise QueueFull
        turn = asyncio.get_running_loop().create_future()
        queue.append((moment, turn))
        self._grant()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(tenant)
            else:
                self._grant()
            raise

    def _queue(self, tenant: int) -> Waiting:
        """The queue of a tenant. A new one is first in the order of turns."""
        if tenant not in self._queues:
            if len(self._queues) >= MAX_REMEMBERED_TENANTS:
                self._queues = OrderedDict((one, queue) for one, queue in self._queues.items() if queue)
            self._queues[tenant] = deque()
            self._queues.move_to_end(tenant, last=False)
        return self._queues[tenant]

    def leave(self, tenant: int, took: float = 0.0) -> None:
        """Note the end of a request that ran for `took` seconds."""
        self._count -= 1
        self.row.run(tenant, -1)
        share = self.row.share(tenant)
        if share is not None and share < 1:
            self.row.rest(tenant, min(YIELD, took * (1 / share - 1)))
        self._grant()

    def _grant(self) -> None:
        """Start waiting requests that may run, one of each tenant in turn."""
        granted = True
        while granted and self._count < self._most:
            granted = False
            for tenant in [tenant for tenant, queue in self._queues.items() if queue]:
                if self._count < self._most and self._enters(tenant):
                    granted = True
        if any(self._queues.values()) and self._look is None:
            self._look = asyncio.get_running_loop().call_later(LOOK, self._look_again)

    def _look_again(self) -> None:
        self._look = None
        self._grant()

    def _enters(self, tenant: int) -> bool:
        """Start the oldest request of a tenant if its share allows; return whether it was started."""
        queue = self._queues[tenant]
        while queue and queue[0][1].done():  # the client is gone
            queue.popleft()
        self.row.wait(tenant, queue[0][0] if queue else 0.0)
        if not queue or self.row.running_here(tenant) >= min(MAX_REQUESTS_PER_TENANT, self._most):
            return False
        share = self.row.share(tenant)
        if share is not None and (self.row.running(tenant) >= max(1, int(share)) or not self.row.is_next(tenant)):
            return False
        if share is not None and share < 1 and self.row.rests(tenant):
            return False
        if share is not None and self.row.others_run(tenant) and self.row.clock() - queue[0][0] < YIELD:
            return False
        _, turn = queue.popleft()
        self._count += 1
        self.row.run(tenant, 1)
        self.row.wait(tenant, queue[0][0] if queue else 0.0)
        self._queues.move_to_end(tenant)
        turn.set_result(None)
        return True


class Queued:
    """An ASGI middleware that queues requests.

    The body is read before a request is queued, and its place is free once its answer begins, so that slow clients
    delay nobody. `tenant_of`: returns the tenant of a token, 0 if it is unknown.
    """

    def __init__(self, app: Any, queue: FairQueue, tenant_of: Callable[[str], int]) -> None:
        self.app = app
        self.queue = queue
        self.tenant_of = tenant_of

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        if not is_queued(scope):
            await self.app(scope, receive, send)
            return
        body = await whole(receive)
        if body is None:
            await error(413, "too-large", f"a request has {LARGEST} bytes at most")(scope, receive, send)
            return
        tenant = self.tenant_of(Headers(scope=scope).get("authorization", "").partition(" ")[2].strip())
        began = self.queue.row.clock()
        try:
            await self.queue.enter(tenant)
        except QueueFull:
            ERRORS.labels("QueueFull").inc()
            REQUESTS.labels("queue", "429").inc()
            await error(429, "too-many-requests", "too many requests of yours wait already", "ask fewer at once")(
                scope, receive, send
            )
            return
        STAGES.labels("queue").observe(self.queue.row.clock() - began)
        await self._run(scope, [*body], receive, send, tenant)

    async def _run(self, scope: Any, body: list[Any], receive: Any, send: Any, tenant: int) -> None:
        inside, began = True, self.queue.row.clock()

        def leave() -> None:
            nonlocal inside
            if inside:
                inside = False
                self.queue.leave(tenant, self.queue.row.clock() - began)

        async def read() -> Any:
            if body:
                return body.pop(0)
            return await receive()

        async def answer(message: Any) -> None:
            leave()
            await send(message)

        try:
            await self.app(scope, read, answer)
        finally:
            leave()


def is_queued(scope: Any) -> bool:
    """Whether a request is queued: those of the API and of MCP are, but not the streams of MCP, which stay open."""
    if scope["type"] != "http":
        return False
    path: str = scope["path"]
    return path.startswith("/v1/") or (path.startswith("/mcp") and bool(scope["method"] == "POST"))


async def whole(receive: Any) -> list[Any] | None:
    """The ASGI messages of a request's body; None for more than LARGEST bytes."""
    messages, size = [], 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > LARGEST:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return messages
