"""A tenant that asks much more than the others makes its own requests wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from starlette.testclient import TestClient

from gitmem.server.web.fair_queue import (
    MAX_QUEUED_BYTES,
    MAX_REQUESTS_PER_TENANT,
    MAX_RESTS,
    MAX_YIELD_SECONDS,
    RECENT_SECONDS,
    FairQueue,
    Queued,
    QueueFull,
)
from tests.server.conftest import Server

LOUD, QUIET, THIRD = 1, 2, 3


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


class Requests:
    """Requests to the queue of a process; `run` holds the tenants of those that were let in, in order."""

    def __init__(self, **given: Any) -> None:
        self.clock = Clock()
        self.queue = FairQueue(clock=self.clock, **given)
        self.run: list[int] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def ask(self, tenant: int, times: int = 1) -> None:
        async def one() -> None:
            await self.queue.enter(tenant)
            self.run.append(tenant)

        self.tasks += [asyncio.create_task(one()) for _ in range(times)]
        await self.settle()

    async def end(self, tenant: int, seconds: float = 0.0) -> None:
        self.run.remove(tenant)
        self.queue.leave(tenant, seconds)
        await self.settle()

    async def later(self, seconds: float) -> None:
        """Move the clock."""
        self.clock.now += seconds
        self.queue._start_waiting()  # as the timer does
        await self.settle()

    async def settle(self) -> None:
        """Everything that can go on has."""
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
    asked = Requests()
    await asked.ask(LOUD, 20)
    assert asked.run == [LOUD] * MAX_REQUESTS_PER_TENANT
    await asked.end(LOUD, 1.0)
    assert asked.run == [LOUD] * MAX_REQUESTS_PER_TENANT  # and does not rest
    await asked.stop()


@in_a_loop
async def test_a_loud_tenant_runs_one_at_a_time_once_another_asked_and_none_beside_the_others() -> None:
    asked = Requests()
    await asked.ask(LOUD, 20)
    await asked.ask(QUIET)
    assert QUIET in asked.run
    for _ in range(MAX_REQUESTS_PER_TENANT):
        await asked.end(LOUD)
    assert asked.run == [QUIET]
    await asked.end(QUIET)
    assert asked.run == [LOUD]
    await asked.ask(QUIET)
    assert asked.run == [LOUD, QUIET]
    await asked.stop()


@in_a_loop
async def test_a_loud_tenant_does_not_wait_for_ever_for_the_others() -> None:
    asked = Requests()
    await asked.ask(QUIET)
    await asked.ask(LOUD, MAX_REQUESTS_PER_TENANT + 2)
    while LOUD in asked.run:
        await asked.end(LOUD)
    assert asked.run == [QUIET]  # which goes on and on
    await asked.later(MAX_YIELD_SECONDS)
    assert asked.run == [QUIET, LOUD]
    await asked.stop()


@in_a_loop
async def test_when_a_process_is_full_the_tenants_take_turns() -> None:
    asked = Requests(max_running=1)
    await asked.ask(LOUD, 3)
    await asked.ask(QUIET, 2)
    await asked.ask(THIRD, 1)
    order = []
    while asked.run:
        (tenant,) = asked.run
        order.append(tenant)
        await asked.end(tenant)
    assert order[:1] + sorted(order[1:3]) + order[3:] == [LOUD, QUIET, THIRD, LOUD, QUIET, LOUD]
    await asked.stop()


@in_a_loop
async def test_tenants_that_ask_alike_are_not_held_back() -> None:
    asked = Requests()
    for _ in range(MAX_REQUESTS_PER_TENANT):
        await asked.ask(LOUD)
        await asked.ask(QUIET)
    assert asked.run.count(LOUD) == asked.run.count(QUIET) == MAX_REQUESTS_PER_TENANT
    await asked.stop()


@in_a_loop
async def test_a_loud_tenant_rests_after_each_request_for_as_long_as_each_other_could_have_run_one() -> None:
    asked = Requests()
    for tenant in (QUIET, THIRD):
        await asked.ask(tenant)
        await asked.end(tenant)
    await asked.ask(LOUD, 9)
    await asked.end(LOUD)
    await asked.end(LOUD, 0.05)
    assert asked.run == []
    await asked.ask(QUIET)
    assert asked.run == [QUIET]
    await asked.end(QUIET)
    await asked.later(0.06)
    assert asked.run == []
    await asked.later(0.06)
    assert asked.run == [LOUD]
    await asked.stop()


@in_a_loop
async def test_a_rest_is_bounded_however_many_others_there_are() -> None:
    asked = Requests()
    for tenant in range(2, 2 * MAX_RESTS):
        await asked.ask(tenant)
        await asked.end(tenant)
    await asked.ask(LOUD, 9)
    await asked.end(LOUD)
    await asked.end(LOUD, 0.01)
    await asked.later(0.01 * MAX_RESTS)
    assert asked.run == [LOUD]
    await asked.stop()


@in_a_loop
async def test_a_rest_ends_without_another_request() -> None:
    queue = FairQueue()
    await queue.enter(QUIET)
    queue.leave(QUIET)
    await queue.enter(LOUD)
    waiting = [asyncio.create_task(queue.enter(LOUD)) for _ in range(2)]
    await asyncio.sleep(0)
    queue.leave(LOUD, 0.02)
    await asyncio.sleep(0)
    assert not any(task.done() for task in waiting)
    await asyncio.wait_for(waiting[0], 10)
    waiting[1].cancel()


@in_a_loop
async def test_what_was_asked_long_ago_holds_nobody_back_and_is_forgotten() -> None:
    asked = Requests()
    await asked.ask(QUIET)
    await asked.end(QUIET)
    await asked.later(10 * RECENT_SECONDS)
    await asked.ask(LOUD, MAX_REQUESTS_PER_TENANT)
    assert asked.run.count(LOUD) == MAX_REQUESTS_PER_TENANT
    assert list(asked.queue._tenants) == [LOUD]
    await asked.stop()


@in_a_loop
async def test_more_than_may_wait_are_refused_and_only_those_of_that_tenant() -> None:
    asked = Requests(max_running=1, max_queued=2)
    await asked.ask(LOUD, 3)
    with pytest.raises(QueueFull):
        await asked.queue.enter(LOUD)
    await asked.ask(QUIET)
    await asked.end(LOUD)
    assert asked.run == [QUIET]
    await asked.stop()


@in_a_loop
async def test_a_request_that_is_given_up_makes_room() -> None:
    asked = Requests(max_running=1)
    await asked.ask(LOUD)
    await asked.ask(LOUD)
    asked.tasks[1].cancel()
    await asked.ask(QUIET)
    await asked.end(LOUD)
    assert asked.run == [QUIET]
    await asked.stop()


@in_a_loop
async def test_unknown_tokens_wait_together_and_hold_no_tenant_back() -> None:
    asked = Requests()
    await asked.ask(0, 20)
    assert asked.run == [0] * MAX_REQUESTS_PER_TENANT
    await asked.ask(QUIET, MAX_REQUESTS_PER_TENANT)
    assert asked.run.count(QUIET) == MAX_REQUESTS_PER_TENANT
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
    queue = FairQueue(max_running=1, max_queued=1)
    app = Queued(slow, queue, {"loud": LOUD, "quiet": QUIET}.__getitem__)
    waiting = [asyncio.create_task(request(app, b"a", b"b")) for _ in range(2)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await request(app, b"c") == 429
    quiet = asyncio.create_task(request(app, b"d", token="quiet"))
    assert await request(app, b"x" * MAX_QUEUED_BYTES, b"x", token="quiet") == 413
    slow.go.set()
    assert [await task for task in (*waiting, quiet)] == [200, 200, 200]
    assert slow.bodies == [b"a", b"d", b"a"]
    assert not any(tenant.running for tenant in queue._tenants.values())


def test_whose_a_token_is_is_known_once_it_was_looked_at(server: Server) -> None:
    running = server.running
    server.client = TestClient(running.application(queued=True), base_url="http://127.0.0.1:8470")
    token = server.tokens["acme read"]
    assert running.operations.tenant_of(token) == 0
    assert server.search("acme read", "okapi")["hits"] == []
    assert running.operations.tenant_of(token) == server.numbers["acme"]
    assert server.ask("no such token", "POST", "/v1/search", json={"query": "x"}).status_code == 401
    assert running.operations.tenant_of("no such token") == 0
