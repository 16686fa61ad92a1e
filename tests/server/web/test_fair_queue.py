"""A tenant that asks much more than the others makes its own requests wait, in one process and over several."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from starlette.testclient import TestClient

from gitmem.server.tenant_load import RECENT, TenantLoad
from gitmem.server.web.fair_queue import LARGEST, MAX_REQUESTS_PER_TENANT, YIELD, FairQueue, Queued, QueueFull
from tests.server.conftest import Server

LOUD, QUIET, THIRD, FOURTH = 1, 2, 3, 4


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class Requests:
    """Requests to the queues of a server's processes; `run` holds those that were let in, in order."""

    def __init__(self, processes: int = 1, **given: Any) -> None:
        self.load, self.clock = TenantLoad(processes), Clock()
        self.queues = [FairQueue(self.load.row(number, self.clock), **given) for number in range(processes)]
        self.run: list[tuple[int, int]] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def ask(self, tenant: int, process: int = 0, times: int = 1) -> None:
        async def one() -> None:
            await self.queues[process].enter(tenant)
            self.run.append((process, tenant))

        self.tasks += [asyncio.create_task(one()) for _ in range(times)]
        await self.settle()

    async def end(self, process: int, tenant: int, took: float = 0.0) -> None:
        self.run.remove((process, tenant))
        self.queues[process].leave(tenant, took)
        await self.settle()

    async def settle(self) -> None:
        """Everything that can go on has."""
        for queue in self.queues:
            queue._grant()  # as the timer does
        for _ in range(5):
            await asyncio.sleep(0)

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with suppress(asyncio.CancelledError):
                await task


def in_a_loop(test: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """A test that runs in an event loop of its own."""

    def run() -> None:
        asyncio.run(_as_coroutine(test))

    run.__name__ = test.__name__
    return run


async def _as_coroutine(test: Callable[[], Awaitable[None]]) -> None:
    await test()


@in_a_loop
async def test_a_tenant_alone_runs_as_many_as_a_process_takes_of_one() -> None:
    asked = Requests(2)
    await asked.ask(LOUD, 0, 20)
    await asked.ask(LOUD, 1, 20)
    assert [asked.run.count((process, LOUD)) for process in (0, 1)] == [
        MAX_REQUESTS_PER_TENANT,
        MAX_REQUESTS_PER_TENANT,
    ]
    await asked.stop()


@in_a_loop
async def test_a_loud_tenant_has_its_share_once_another_asked_and_the_others_have_theirs_at_once() -> None:
    asked = Requests(2)
    await asked.ask(LOUD, 0, 20)
    await asked.ask(QUIET, 0)
    assert (0, QUIET) in asked.run
    for _ in range(MAX_REQUESTS_PER_TENANT):
        await asked.end(0, LOUD)
    assert (0, LOUD) not in asked.run  # beside the other's
    await asked.end(0, QUIET)
    assert asked.run.count((0, LOUD)) == 1  # half of the two processes
    await asked.ask(LOUD, 1, 3)
    assert (1, LOUD) not in asked.run  # over both processes
    await asked.ask(QUIET, 1)
    assert (1, QUIET) in asked.run
    await asked.stop()


@in_a_loop
async def test_a_loud_tenant_does_not_wait_for_ever_for_the_others() -> None:
    asked = Requests(1)
    await asked.ask(QUIET)
    await asked.ask(LOUD, 0, MAX_REQUESTS_PER_TENANT + 2)
    while asked.run.count((0, LOUD)):
        await asked.end(0, LOUD)
    assert asked.run == [(0, QUIET)]  # which goes on and on
    asked.clock.now += YIELD
    await asked.settle()
    assert asked.run.count((0, LOUD)) == 1
    await asked.stop()


@in_a_loop
async def test_the_oldest_is_next_whichever_process_it_came_to() -> None:
    asked = Requests(2)
    await asked.ask(QUIET, 1)
    await asked.ask(LOUD, 0, 8)
    await asked.ask(LOUD, 1, 1)
    await asked.ask(LOUD, 0, 1)
    await asked.end(1, QUIET)
    for _ in range(7 + MAX_REQUESTS_PER_TENANT):
        if (1, LOUD) in asked.run:
            break
        await asked.end(0, LOUD)
    assert asked.run.count((1, LOUD)) == 1 and (0, LOUD) not in asked.run
    await asked.end(1, LOUD)
    assert asked.run.count((0, LOUD)) == 1
    await asked.stop()


@in_a_loop
async def test_when_a_process_is_full_the_tenants_take_turns() -> None:
    asked = Requests(1, most=1)
    await asked.ask(LOUD, 0, 3)
    await asked.ask(QUIET, 0, 2)
    await asked.ask(THIRD, 0, 1)
    order = []
    while asked.run:
        ((process, tenant),) = asked.run
        order.append(tenant)
        await asked.end(process, tenant)
    assert order[:1] + sorted(order[1:3]) + order[3:] == [LOUD, QUIET, THIRD, LOUD, QUIET, LOUD]
    await asked.stop()


@in_a_loop
async def test_tenants_that_ask_alike_are_not_held_back() -> None:
    asked = Requests(1)
    for _ in range(MAX_REQUESTS_PER_TENANT):
        await asked.ask(LOUD)
        await asked.ask(QUIET)
    assert asked.run.count((0, LOUD)) == asked.run.count((0, QUIET)) == MAX_REQUESTS_PER_TENANT
    await asked.stop()


@in_a_loop
async def test_a_tenant_with_less_than_a_process_rests_after_each_request() -> None:
    asked = Requests(2)
    for tenant in (QUIET, THIRD, FOURTH):  # with the loud one four for two processes
        await asked.ask(tenant)
        await asked.end(0, tenant)
    await asked.ask(LOUD, 0, 9)
    await asked.ask(LOUD, 1, 9)
    while len(asked.run) > 1:
        await asked.end(*asked.run[0])
    await asked.end(*asked.run[0], took=0.2)
    assert asked.run == []
    await asked.ask(QUIET, 1)
    assert asked.run == [(1, QUIET)]
    await asked.end(1, QUIET)
    asked.clock.now += 0.2
    await asked.settle()
    assert [tenant for _, tenant in asked.run] == [LOUD]
    await asked.stop()


@in_a_loop
async def test_what_was_asked_long_ago_holds_nobody_back() -> None:
    asked = Requests(1)
    await asked.ask(QUIET)
    asked.clock.now += 10 * RECENT
    await asked.ask(LOUD, 0, MAX_REQUESTS_PER_TENANT)
    assert asked.run.count((0, LOUD)) == MAX_REQUESTS_PER_TENANT
    await asked.stop()


@in_a_loop
async def test_more_than_may_wait_are_refused_and_only_those_of_that_tenant() -> None:
    asked = Requests(1, most=1, queued=2)
    await asked.ask(LOUD, 0, 3)
    with pytest.raises(QueueFull):
        await asked.queues[0].enter(LOUD)
    await asked.ask(QUIET)
    await asked.end(0, LOUD)
    assert asked.run == [(0, QUIET)]
    await asked.stop()


@in_a_loop
async def test_a_request_that_is_given_up_makes_room() -> None:
    asked = Requests(1, most=1)
    await asked.ask(LOUD)
    await asked.ask(LOUD)
    asked.tasks[1].cancel()
    await asked.ask(QUIET)
    await asked.end(0, LOUD)
    assert asked.run == [(0, QUIET)]
    await asked.stop()


@in_a_loop
async def test_what_a_process_that_ended_was_at_is_forgotten() -> None:
    asked = Requests(2)
    await asked.ask(QUIET, 0)
    await asked.ask(LOUD, 1, 8)
    await asked.ask(LOUD, 0, 1)
    await asked.end(0, QUIET)
    assert (0, LOUD) not in asked.run
    asked.load.clear(1)
    await asked.settle()
    assert (0, LOUD) in asked.run
    await asked.stop()


class Slow:
    """An application that answers when it is told to."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.go.wait()
        self.bodies.append((await receive())["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def request(app: Any, *parts: bytes, path: str = "/v1/search", token: str = "loud") -> int:
    """The status of a request whose body comes in parts."""
    messages = [
        {"type": "http.request", "body": part, "more_body": number + 1 < len(parts)}
        for number, part in enumerate(parts)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", f"Bearer {token}".encode())]
    await app({"type": "http", "method": "POST", "path": path, "headers": headers}, receive, send)
    status: int = sent[0]["status"]
    return status


@in_a_loop
async def test_a_request_waits_with_its_body_read_and_is_refused_where_too_many_do() -> None:
    slow = Slow()
    queue = FairQueue(TenantLoad().row(0), most=1, queued=1)
    app = Queued(slow, queue, {"loud": LOUD, "quiet": QUIET}.__getitem__)
    waiting = [asyncio.create_task(request(app, b"a", b"b")) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await request(app, b"c") == 429
    quiet = asyncio.create_task(request(app, b"d", token="quiet"))
    assert await request(app, b"x" * LARGEST, b"x", token="quiet") == 413
    slow.go.set()
    assert [await task for task in (*waiting, quiet)] == [200, 200, 200]
    assert slow.bodies == [b"a", b"d", b"a"] and queue._count == 0


def test_whose_a_token_is_is_known_once_it_was_looked_at(server: Server) -> None:
    running = server.running
    server.client = TestClient(running.application(TenantLoad().row(0)), base_url="http://127.0.0.1:8470")
    token = server.tokens["acme read"]
    assert running.operations.tenant_of(token) == 0
    assert server.search("acme read", "okapi")["hits"] == []
    assert running.operations.tenant_of(token) == server.numbers["acme"]
    assert server.ask("no such token", "POST", "/v1/search", json={"query": "x"}).status_code == 401
    assert running.operations.tenant_of("no such token") == 0
