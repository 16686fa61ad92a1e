"""Shares a process fairly among tenants: a tenant with very many requests delays its own and not those of others.

Each tenant has a queue, and tenants take turns. A tenant that asked much more than the others in the last seconds is
limited until it asks less or the others are gone: it runs one request at a time, begins it when no other tenant's
runs, and then rests as long as each of the others could have run one. A process counts its own requests only: the
processes accept from one socket, so that each sees the same tenants.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.datastructures import Headers

from gitmem.server.telemetry import ERRORS, REQUESTS, STAGES
from gitmem.server.web.routes import error

# Requests that a process runs at once: one uses the processor while the others wait for the database.
MAX_REQUESTS_AT_ONCE = 4
# Requests of one tenant, or of all unknown tokens together, that a process runs at once.
MAX_REQUESTS_PER_TENANT = 2
MAX_QUEUED_PER_TENANT = 64  # requests of a tenant that wait in a process
RECENT_SECONDS = 5.0  # time constant of a tenant's recent requests: one this old counts 1/e
MIN_RECENT = 0.1  # recent requests from which another tenant counts
HEAVY = 2.0  # a tenant is limited if its recent requests are more than HEAVY times the mean of the others
MAX_RESTS = 5  # requests of others that a limited tenant leaves time for after each of its own
MAX_REST_SECONDS = 0.25
MAX_YIELD_SECONDS = 0.25  # for which a limited tenant that has rested waits while requests of others run
MAX_QUEUED_BYTES = 1 << 20  # of a request; its body is read before it is queued


class QueueFull(Exception):
    """A tenant has MAX_QUEUED_PER_TENANT waiting requests already."""


@dataclass
class Tenant:
    """The requests of a tenant in this process. `waiting`: a future for each, done once the request may run.
    `running`: their number. `recent`: recent requests at `asked`, the time of the last one, monotonic; see
    RECENT_SECONDS. `rested`: when its rest ends or ended."""

    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    running: int = 0
    recent: float = 0.0
    asked: float = 0.0
    rested: float = 0.0

    def recent_at(self, moment: float) -> float:
        """The number of recent requests at a later moment (monotonic seconds): an older request counts less
        (RECENT_SECONDS)."""
        return self.recent * math.exp((self.asked - moment) / RECENT_SECONDS)


class FairQueue:
    """Decides when each request of one process may run: call `enter` before it and `leave` at its end. Not thread-safe:
    only its event loop may use it.

    `most`: requests that run at once, of all tenants; of one tenant at most MAX_REQUESTS_PER_TENANT. `queued`: requests
    of one tenant that may wait. Tenant 0 stands for all callers with an unknown token together; their requests do not
    count as recent, so they neither are limited as heavy nor limit others.
    """

    def __init__(
        self, max_running: int = MAX_REQUESTS_AT_ONCE, max_queued: int = MAX_QUEUED_PER_TENANT,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.clock = clock
        self._max_running = max_running
        self._max_queued = max_queued
        self._tenants: OrderedDict[int, Tenant] = OrderedDict()  # by number, in the order of turns
        self._timer: asyncio.TimerHandle | None = None

    async def enter(self, number: int) -> None:
        """Wait until a request of tenant `number` may run; at its end the caller calls `leave`. Raises QueueFull if the
        tenant has as many waiting requests as it may have. After QueueFull and CancelledError `leave` must not be
        called."""
        now = self.clock()
        tenant = self._tenant(number, now)
        if number:
            tenant.recent, tenant.asked = tenant.recent_at(now) + 1, now
        if len(tenant.waiting) >= self._max_queued:
            raise QueueFull
        turn = asyncio.get_running_loop().create_future()
        tenant.waiting.append(turn)
        self._start_waiting()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._start_waiting()
            else:
                self.leave(number)
            raise

    def leave(self, number: int, seconds: float = 0.0) -> None:
        """Note the end of a request of tenant `number` that ran for `seconds`, and start waiting requests. A limited
        tenant then rests: `seconds` for each other tenant that asked lately, at most MAX_REST_SECONDS."""
        tenant, now = self._tenants[number], self.clock()
        tenant.running -= 1
        tenant.rested = now + min(MAX_REST_SECONDS, seconds * min(MAX_RESTS, self._lighter(tenant, now)))
        self._start_waiting()

    def _tenant(self, number: int, now: float) -> Tenant:
        """A tenant. A new one is first in the order of turns; those that asked nothing lately are forgotten then."""
        if number not in self._tenants:
            for other_number, tenant in list(self._tenants.items()):
                if not (tenant.waiting or tenant.running or tenant.recent_at(now) > MIN_RECENT):
                    del self._tenants[other_number]
            self._tenants[number] = Tenant()
            self._tenants.move_to_end(number, last=False)
        return self._tenants[number]

    def _lighter(self, tenant: Tenant, now: float) -> int:
        """How many other tenants asked recently if this one is limited beside them, else 0."""
        recents = [other.recent_at(now) for other in self._tenants.values() if other is not tenant]
        recents = [recent for recent in recents if recent > MIN_RECENT]
        if recents and tenant.recent_at(now) > HEAVY * sum(recents) / len(recents):
            return len(recents)
        return 0

    def _start_waiting(self) -> None:
        """Start the waiting requests that may run, one of each tenant in turn, and look again when a rest ends."""
        now, started = self.clock(), True
        while started:
            started = False
            for number, tenant in list(self._tenants.items()):
                while tenant.waiting and tenant.waiting[0].done():  # the client is gone
                    tenant.waiting.popleft()
                if tenant.waiting and self._may_start(tenant, now):
                    tenant.waiting.popleft().set_result(None)
                    tenant.running += 1
                    self._tenants.move_to_end(number)
                    started = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        rested = [tenant.rested for tenant in self._tenants.values() if tenant.waiting]
        moments = [moment for end in rested for moment in (end, end + MAX_YIELD_SECONDS) if moment > now]
        if moments:
            self._timer = asyncio.get_running_loop().call_later(min(moments) - now, self._start_waiting)

    def _may_start(self, tenant: Tenant, now: float) -> bool:
        """Whether another request of a tenant may run now."""
        running = sum(other.running for other in self._tenants.values())
        if running >= self._max_running or tenant.running >= MAX_REQUESTS_PER_TENANT:
            return False
        if not self._lighter(tenant, now):
            return True
        if tenant.running or now < tenant.rested:
            return False
        return not running or now >= tenant.rested + MAX_YIELD_SECONDS


class Queued:
    """An ASGI middleware that queues requests of the API and of MCP; streams of MCP, which stay open, are not queued. A
    request that is too large or finds the queue full is answered with 413 or 429.

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
        body = await read_body(receive)
        if body is None:
            await error(413, "too-large", f"a request has {MAX_QUEUED_BYTES} bytes at most")(scope, receive, send)
            return
        tenant = self.tenant_of(Headers(scope=scope).get("authorization", "").partition(" ")[2].strip())
        arrived = self.queue.clock()
        try:
            await self.queue.enter(tenant)
        except QueueFull:
            ERRORS.labels("QueueFull").inc()
            REQUESTS.labels("queue", "429").inc()
            await error(429, "too-many-requests", "too many requests of yours wait already", "ask fewer at once")(
                scope, receive, send
            )
            return
        began = self.queue.clock()
        STAGES.labels("queue").observe(began - arrived)
        running = True

        def leave() -> None:
            nonlocal running
            if running:
                running = False
                self.queue.leave(tenant, self.queue.clock() - began)

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
    """Whether requests like this one are queued: those below /v1/, and POST requests below /mcp. `scope`: of ASGI."""
    if scope["type"] != "http":
        return False
    path: str = scope["path"]
    return path.startswith("/v1/") or (path.startswith("/mcp") and bool(scope["method"] == "POST"))


async def read_body(receive: Any) -> list[Any] | None:
    """The ASGI messages of a request's body, up to its end or the client's disconnection; None for more than
    MAX_QUEUED_BYTES."""
    messages, size = [], 0
    while True:
        message = await receive()
        messages.append(message)
        size += len(message.get("body", b""))
        if size > MAX_QUEUED_BYTES:
            return None
        if message["type"] != "http.request" or not message.get("more_body"):
            return messages
