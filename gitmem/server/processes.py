"""The processes of a server: several answer requests, one fetches and indexes. A process that ends is started again.

They are forked from a supervisor, which imports the modules that they share and has no thread and no connection. The
answering processes accept from one socket: if one dies, its running requests are lost and the waiting ones are not.
Each process ends by itself when the supervisor is gone.
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
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import connection
from typing import TYPE_CHECKING, Any

from gitmem.errors import BadConfig
from gitmem.server.json_log import configure
from gitmem.server.postgres.database import Database, ensure_safe
from gitmem.server.settings import Settings
from gitmem.system import blocked_signals, return_free_heap, unblock_signals

if TYPE_CHECKING:
    from gitmem.server.startup import Running

BACKLOG = 1024
SIGNS = "signs"  # `signs.FOLDER`, whose module would import numpy too early
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # `telemetry.SHARED`, whose module would import prometheus_client too early
QUICK_END_SECONDS = 5.0  # a process that ends sooner counts as a failed start
MAX_RESTART_SECONDS = 30.0  # longest wait between two starts of a process
GIVE_BACK_SECONDS = 30.0  # interval at which an answering process returns free memory to the system
STOP_SECONDS = 20.0  # for which stopped processes may finish their requests or job before they are killed
FINISH_SECONDS = 10  # for which an answering process waits for its running requests
CLOSE_SECONDS = 5  # for which it may close its parts after that
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
FORK = multiprocessing.get_context("fork")

log = logging.getLogger("gitmem.server")


@dataclass
class Child:
    """A process that the supervisor keeps running. `process`: None while it does not run. `started`, `due`: time of the
    last start and of the earliest next one, monotonic. `failures`: starts in a row that ended within
    QUICK_END_SECONDS."""

    name: str
    target: Callable[..., None]
    arguments: tuple[Any, ...]
    process: Any = None
    started: float = 0.0
    failures: int = 0
    due: float = 0.0


def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT. Raises IndexUnusable if the database cannot be reached or is not migrated or not
    safe, BadConfig for a missing or short secret and an address that cannot be used."""
    configure()
    _ = settings.key
    settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with closing(Database(settings.secret("DATABASE_URL"), connections=1)) as database:
        ensure_safe(database)
    supervise(settings)


def supervise(settings: Settings) -> None:
    """Start the processes, restart those that end, and stop all of them at SIGTERM or SIGINT. For the main thread.
    Deletes the metrics and the sign tables of earlier processes, and sets the variable SHARED. Raises BadConfig if the
    address cannot be listened at."""
    metrics = settings.state / "metrics"
    # Left over from earlier processes, perhaps from before the database was restored.
    for folder in (metrics, settings.state / SIGNS):
        shutil.rmtree(folder, ignore_errors=True)
    metrics.mkdir(parents=True, mode=0o700)
    os.environ[SHARED] = os.fspath(metrics)  # before anything imports prometheus_client, here or in a child
    import_module("gitmem.server.preload")
    stop = threading.Event()
    previous = {number: signal.signal(number, lambda *_: stop.set()) for number in STOP_SIGNALS}
    children: list[Child] = []
    try:
        with listening(settings) as listener:
            targets = {f"answers-{number}": answer for number in range(settings.processes)}
            if settings.workers:
                targets["indexes"] = index
            children = [Child(name, target, (settings, listener)) for name, target in targets.items()]
            while not stop.is_set():
                for child in children:
                    attend(child)
                sentinels = [child.process.sentinel for child in children if child.process is not None]
                connection.wait(sentinels, timeout=0.5) if sentinels else stop.wait(0.5)
    finally:
        end(children)
        for number, handler in previous.items():
            signal.signal(number, handler)


def listening(settings: Settings) -> socket.socket:
    """The listening socket that all answering processes accept from. Raises BadConfig if the address cannot be used."""
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise BadConfig(
            f"{settings.host}:{settings.port} cannot be listened at ({error.strerror})", "another 'listen' or --port"
        ) from None
    # Accepted sockets inherit it; without it the body of a response waits 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setblocking(False)
    return listener


def attend(child: Child) -> None:
    """Start a process that does not run, if it is due. After each start that ended within QUICK_END_SECONDS the wait
    doubles, up to MAX_RESTART_SECONDS."""
    now = time.monotonic()
    if child.process is not None and not child.process.is_alive():
        code = child.process.exitcode
        if now - child.started < QUICK_END_SECONDS:
            child.failures += 1
            child.due = now + min(MAX_RESTART_SECONDS, 2.0**child.failures / 2)
        else:
            child.failures = 0
            child.due = now
        child.process = None
        log.error("ended", extra={"which": child.name, "code": code, "failures": child.failures})
    if child.process is None and now >= child.due:
        child.process = FORK.Process(target=child.target, args=child.arguments, name=child.name, daemon=False)
        with blocked_signals():  # the child would inherit the supervisor's handlers; `prepare` sets its own
            child.process.start()
        child.started = now


def end(children: list[Child]) -> None:
    """Ask every process to finish and end; kill those that still run after STOP_SECONDS."""
    alive = [child.process for child in children if child.process is not None and child.process.is_alive()]
    for process in alive:
        process.terminate()
    until = time.monotonic() + STOP_SECONDS
    for process in alive:
        process.join(max(0.0, until - time.monotonic()))
        if process.is_alive():
            process.kill()
            process.join()


def prepare(settings: Settings) -> None:
    """Set up a forked process: default signal handlers, traces, and a thread that ends it when the supervisor is gone.
    Raises BadConfig if the settings ask for traces and the extra `traces` is not installed."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    unblock_signals()
    if settings.traces:
        from gitmem.server.telemetry import export_traces

        export_traces()
    threading.Thread(target=end_with_supervisor, daemon=True).start()


def end_with_supervisor() -> None:
    """Send SIGTERM to this process once the supervisor has ended, however that happened."""
    supervisor = multiprocessing.parent_process()
    assert supervisor is not None
    supervisor.join()  # returns at the end of a pipe that the supervisor, and processes that it forked later, hold
    os.kill(os.getpid(), signal.SIGTERM)


def answer(settings: Settings, listener: socket.socket) -> None:
    """The main function of an answering process. After SIGTERM or SIGINT it waits until the running requests have
    ended, at most FINISH_SECONDS, and closes its parts. A thread that still works after CLOSE_SECONDS more is cut off:
    SIGALRM ends the process. Raises IndexUnusable if the database cannot be used, BadConfig for invalid settings."""
    prepare(settings)
    threading.Thread(target=give_back_repeatedly, daemon=True).start()
    import uvicorn

    from gitmem.server.startup import Running

    running = Running(settings)
    try:
        config = uvicorn.Config(
            running.application(queued=True),
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=FINISH_SECONDS,
        )
        server = uvicorn.Server(config)

        def stop(*_: object) -> None:
            server.should_exit = True
            signal.alarm(CLOSE_SECONDS)

        # While uvicorn serves it has handlers of its own. When the running requests have ended it restores these and
        # raises the signal again, which would end the process by the default action.
        for number in STOP_SIGNALS:
            signal.signal(number, stop)
        server.run(sockets=[listener])
    finally:
        close(running)


def close(running: Running) -> None:
    """Close the parts of a process, send the spans that wait, and log that it is closed."""
    running.close()
    from gitmem.server.telemetry import end_traces

    end_traces()
    log.info("closed")


def give_back_repeatedly() -> None:
    """Return free memory of the heap to the system every GIVE_BACK_SECONDS, after a peak of requests."""
    while True:
        time.sleep(GIVE_BACK_SECONDS)
        return_free_heap()


def index(settings: Settings, listener: socket.socket) -> None:
    """The main function of the process that fetches and indexes; it closes the listening socket at once. It returns
    after SIGTERM or SIGINT, and within a second after one of its workers died, so that the supervisor starts it
    again."""
    prepare(settings)
    listener.close()
    from gitmem.server.startup import Running

    running = Running(settings)
    stopped = threading.Event()
    for number in STOP_SIGNALS:
        signal.signal(number, lambda *_: stopped.set())
    running.start()
    while not stopped.wait(1.0) and running.alive():
        pass
    close(running)
