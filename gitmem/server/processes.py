"""The processes of a server: some that answer, one that fetches and indexes. One that ends is started again.

They are forked from the first one, which has imported what they share and does nothing else: no thread, no connection.
All that answer accept from one socket, so that the death of one loses what it was at and nothing that waits. Each ends
by itself when the first process is gone.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from multiprocessing import connection
from typing import Any

from gitmem.errors import BadConfig
from gitmem.server.json_log import configure
from gitmem.server.postgres.database import Database, ensure_safe
from gitmem.server.settings import Settings
from gitmem.server.tenant_load import TenantLoad
from gitmem.system import give_back, let_signals_come, signals_held_back

BACKLOG = 1024
SIGNS = "signs"  # `signs.FOLDER`, which would import numpy before its time
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # `observation.SHARED`, which would import prometheus_client too early
QUICK = 5.0  # seconds within which an end counts as a failure of the start
MAX_RESTART_SECONDS = 30.0  # seconds between two starts
GIVE_BACK = 30.0  # seconds between two times that an answering process gives back memory
PATIENCE = 20.0  # seconds that are left to a process to end what it is at
ENDS = (signal.SIGTERM, signal.SIGINT)

log = logging.getLogger("gitmem.server")


@dataclass
class Child:
    """One place for a process. `failures` counts the starts that soon ended, `due` is when the next may be; `cleared`
    is called when it has ended."""

    name: str
    target: Callable[..., None]
    given: tuple[Any, ...]
    process: Any = None
    started: float = 0.0
    failures: int = 0
    due: float = 0.0
    cleared: Callable[[], None] = lambda: None
    ended: list[int] = field(default_factory=list)


def serve(settings: Settings) -> None:
    """Serve until the process is told to end. Raises IndexUnusable for a database that is not there or not fit,
    BadConfig for a missing secret and where the address is not free."""
    configure()
    _ = settings.key
    settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = Database(settings.secret("DATABASE_URL"), most=1)
    try:
        ensure_safe(database)
    finally:
        database.close()
    supervise(settings)


def supervise(settings: Settings) -> None:
    """Start the processes, and end them when told to."""
    metrics = settings.state / "metrics"
    # Those of processes that are gone, perhaps of a database that was restored.
    for folder in (metrics, settings.state / SIGNS):
        shutil.rmtree(folder, ignore_errors=True)
    metrics.mkdir(parents=True, mode=0o700)
    os.environ[SHARED] = os.fspath(metrics)  # before anything imports prometheus_client, here or in a child
    import_module("gitmem.server.preload")
    context = multiprocessing.get_context("fork")
    ours = os.pipe()
    stop = threading.Event()
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in ENDS}
    children: list[Child] = []
    try:
        with listening(settings) as opened:
            load = TenantLoad(settings.processes, context)
            for at in range(settings.processes):
                given = (settings, ours, opened, load, at)
                children.append(Child(f"answers-{at}", answer, given, cleared=partial(load.clear, at)))
            if settings.workers:
                children.append(Child("indexes", index, (settings, ours, opened)))
            while not stop.is_set():
                for child in children:
                    attend(context, child)
                sentinels = [child.process.sentinel for child in children if child.process is not None]
                connection.wait(sentinels, timeout=0.5) if sentinels else stop.wait(0.5)
    finally:
        end(children)
        for number, handler in previous.items():
            signal.signal(number, handler)
        for one in ours:
            os.close(one)


def listening(settings: Settings) -> socket.socket:
    """The socket that the processes accept from. Raises BadConfig."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        opened = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise BadConfig(
            f"{settings.host}:{settings.port} cannot be listened at ({error.strerror})", "another 'listen' or --port"
        ) from None
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # inherited; else the body of an answer waits 40 ms
    opened.setblocking(False)
    return opened


def attend(context: Any, child: Child) -> None:
    """Start a process that is not there, with growing waits where it ends at once."""
    now = time.monotonic()
    if child.process is not None and not child.process.is_alive():
        code = child.process.exitcode
        if now - child.started < QUICK:
            child.failures = child.failures + 1
        else:
            child.failures = 0
        child.due = now + min(MAX_RESTART_SECONDS, 2.0**child.failures / 2 if child.failures else 0.0)
        child.process = None
        child.cleared()
        log.error("ended", extra={"which": child.name, "code": code, "failures": child.failures})
    if child.process is None and now >= child.due:
        child.process = context.Process(target=child.target, args=child.given, name=child.name, daemon=False)
        with signals_held_back():  # our handler does nothing in the child: until it has its own
            child.process.start()
        child.started = now


def end(children: list[Child]) -> None:
    """Have every process end what it is at, then end."""
    alive = [child.process for child in children if child.process is not None and child.process.is_alive()]
    for process in alive:
        process.terminate()
    until = time.monotonic() + PATIENCE
    for process in alive:
        process.join(max(0.0, until - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def prepare(settings: Settings, ours: tuple[int, int]) -> None:
    """What each process begins with: it is ended as any other, logs as the first one does, and ends when that is gone,
    which alone holds the second end of the pipe `ours`."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    let_signals_come()
    os.close(ours[1])
    configure()
    if settings.traces:
        from gitmem.server.telemetry import export_traces

        export_traces()

    def watch() -> None:
        os.read(ours[0], 1)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def answer(settings: Settings, ours: tuple[int, int], opened: socket.socket, load: TenantLoad, number: int) -> None:
    """A process that answers, the one of a number."""
    prepare(settings, ours)
    threading.Thread(target=give_back_now_and_then, daemon=True).start()
    import uvicorn

    from gitmem.server.startup import Running

    running = Running(settings)
    try:
        config = uvicorn.Config(
            running.application(load.row(number)),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=10,
        )
        uvicorn.Server(config).run(sockets=[opened])
    finally:
        running.close()


def give_back_now_and_then() -> None:
    """Have the heap be no larger for good than many requests at once once made it."""
    while True:
        time.sleep(GIVE_BACK)
        give_back()


def index(settings: Settings, ours: tuple[int, int], opened: socket.socket) -> None:
    """The process that fetches and indexes, and accepts nothing from the socket."""
    prepare(settings, ours)
    opened.close()
    from gitmem.server.startup import Running

    running = Running(settings)
    stopped = threading.Event()
    for number in ENDS:
        signal.signal(number, lambda *_: stopped.set())
    running.start()
    while not stopped.wait(1.0) and running.alive():
        pass
    running.close()
