"""Serving the pages on the loopback address, for as long as the terminal is there."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

import uvicorn

from gitmem.agents.repository_pool import RepositoryPool
from gitmem.environment import now
from gitmem.errors import GitMemError
from gitmem.git.transaction import RECORD, writer
from gitmem.ui.app import application
from gitmem.ui.page_snapshot import snapshot
from gitmem.ui.security import Keys
from gitmem.ui.view import Site
from gitmem.ui.visits import Visit, keep, last_visit

CrashLog = Callable[[BaseException], str]
LOOPBACK = "127.0.0.1"
WARM_AFTER = 0.3  # seconds, so that the first page does not wait for it
CLOSING = 2  # seconds that open answers are waited for at the end


def bound(port: int) -> socket.socket:
    """A socket of the loopback address; 0 takes any free port. Raises GitMemError where the port is taken."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # What is accepted inherits it. The head and the body of an answer are two packets: without it the second waits
        # until the browser has acknowledged the first: 40 ms. asyncio sets it where the socket names its protocol.
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made.bind((LOOPBACK, port))
    except OSError as error:
        made.close()
        raise GitMemError(f"port {port} cannot be used: {error.strerror}", "git mem ui takes any free one") from None
    return made


def site_of(
    folder: Path, port: int, *, read_only: bool = False, at: str = "", crash_log: CrashLog = lambda _: ""
) -> Site:
    """The site of the repository that holds `folder`. Remembers this visit, but for a read-only one.

    Raises NotARepository, BadConfig, UnknownRevision for an `at` that is none.
    """
    pool = RepositoryPool(folder)
    with pool.lent() as (repo, _):
        snapshot(repo, at, now())
        visit = last_visit(repo.common_dir)
        if not read_only:
            if (repo.git_dir / RECORD).exists():  # what a killed run began would stand in the way of every change
                with suppress(GitMemError), writer(repo):
                    pass
            keep(repo.common_dir, Visit(repo.head() or "", now()))
    return Site(Keys(port), pool, read_only, at, visit, crash_log=crash_log)


class _Server(uvicorn.Server):
    """One whose open answers hear that it ends."""

    def __init__(self, config: uvicorn.Config, ending: threading.Event) -> None:
        super().__init__(config)
        self.ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Tell the answers, then end as uvicorn does."""
        self.ending.set()
        super().handle_exit(sig, frame)


def _warm(site: Site) -> None:
    """Read the facts while the first page is looked at: what the first list needs is there then."""
    with suppress(GitMemError, OSError), site.pool.lent() as (repo, config):
        shown = snapshot(repo, site.at, now())
        site.facts.of(repo, config, shown.commit, (shown.when or now()).date())


def serve(site: Site, listening: socket.socket, ready: Callable[[str], None]) -> None:
    """Answer until interrupted or told to end; `ready` is called with the address to open, once it answers."""
    ending = threading.Event()
    config = uvicorn.Config(
        application(site, ending),
        loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None, access_log=False,
        server_header=False, date_header=False, proxy_headers=False, timeout_graceful_shutdown=CLOSING,
    )  # fmt: skip
    listening.listen()
    warming = threading.Timer(WARM_AFTER, _warm, (site,))
    warming.daemon = True
    warming.start()
    ready(f"http://{LOOPBACK}:{site.keys.port}{site.keys.base}/")
    _Server(config, ending).run(sockets=[listening])
