"""Serves the pages on the loopback address until the command is interrupted."""

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
from gitmem.git.recovery import RECORD
from gitmem.git.transaction import writer
from gitmem.ui.app import application
from gitmem.ui.page_snapshot import snapshot
from gitmem.ui.pages import TABS
from gitmem.ui.security import Keys
from gitmem.ui.view import Site
from gitmem.ui.visits import Visit, last_visit, record_visit

CrashLog = Callable[[BaseException], str]
LOOPBACK = "127.0.0.1"
WARM_UP_DELAY_SECONDS = 0.3  # so that the first page comes first
SHUTDOWN_SECONDS = 2  # to wait for open responses at the end


def bind_socket(port: int) -> socket.socket:
    """A socket bound to a port of the loopback address; 0 takes any free port. Raises GitMemError when the port cannot
    be used."""
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit TCP_NODELAY. A response is sent as two packets, its headers and its body; without the
        # option the second waits 40 ms until the browser acknowledges the first. asyncio only sets the option on
        # sockets that name their protocol.
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        server.bind((LOOPBACK, port))
    except OSError as error:
        server.close()
        raise GitMemError(f"port {port} cannot be used: {error.strerror}", "git mem ui takes any free one") from None
    return server


def open_site(
    folder: Path, port: int, *, read_only: bool = False, at: str = "", crash_log: CrashLog = lambda _: ""
) -> Site:
    """The `Site` (what all requests share) of the repository that contains `folder`. Unless `read_only`, records this
    visit and undoes the write of a run that was killed. `at`: the revision that pages show, "" for the work tree.
    `crash_log`: writes an unexpected exception to a file and returns the file's path.

    Raises NotARepository, BadConfig, and UnknownRevision if there is no revision `at`.
    """
    pool = RepositoryPool(folder)
    with pool.lend() as (repo, _):
        snapshot(repo, at, now())
        visit = last_visit(repo.common_dir)
        if not read_only:
            if (repo.git_dir / RECORD).exists():  # finish what a killed run began, since it would block every change
                with suppress(GitMemError), writer(repo):
                    pass
            record_visit(repo.common_dir, Visit(repo.head() or "", now()))
    return Site(Keys(port), pool, read_only, at, visit, TABS, crash_log=crash_log)


class _Server(uvicorn.Server):
    """A server that sets `ending` at its end, so that open event streams stop."""

    def __init__(self, config: uvicorn.Config, ending: threading.Event) -> None:
        super().__init__(config)
        self.ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.ending.set()
        super().handle_exit(sig, frame)


def _warm(site: Site) -> None:
    """Read the facts into the cache, while the reader looks at the first page."""
    with suppress(GitMemError, OSError), site.pool.lend() as (repo, config):
        shown = snapshot(repo, site.at, now())
        site.facts.facts_of(repo, config, shown.commit, (shown.when or now()).date())


def serve(site: Site, listening: socket.socket, ready: Callable[[str], None]) -> None:
    """Serve the site until the process is interrupted. `ready`: called with the URL to open, when the server
    listens."""
    ending = threading.Event()
    config = uvicorn.Config(
        application(site, ending),
        loop="asyncio", http="h11", ws="none", lifespan="off", log_config=None, access_log=False,
        server_header=False, date_header=False, proxy_headers=False, timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )  # fmt: skip
    listening.listen()
    warm_up = threading.Timer(WARM_UP_DELAY_SECONDS, _warm, (site,))
    warm_up.daemon = True
    warm_up.start()
    ready(f"http://{LOOPBACK}:{site.keys.port}{site.keys.base}/")
    _Server(config, ending).run(sockets=[listening])
