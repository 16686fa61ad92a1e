"""Opens the parts of a server in one of its processes: databases, mirrors, workers, and the ASGI application."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from typing import Any

from gitmem.config import Config
from gitmem.environment import now
from gitmem.server.ingest import Ingest
from gitmem.server.keys import Keyring
from gitmem.server.line_proposals import Proposals
from gitmem.server.mirrors import Mirrors
from gitmem.server.oidc import Identities
from gitmem.server.operations import Operations
from gitmem.server.postgres.database import Database, ensure_safe
from gitmem.server.settings import Settings
from gitmem.server.shared_search import SharedSearch
from gitmem.server.web.routes import application
from gitmem.server.worker import Worker

CONFIG = Config()  # chunking and ranking are the same for every repository


class Running:
    """The open parts of a server; `start` starts its workers."""

    def __init__(self, settings: Settings) -> None:
        """Raises IndexUnusable if the database cannot be reached or is not migrated or not safe, BadConfig for a
        missing or short secret."""
        with ExitStack() as stack:
            self.settings = settings
            keyring = Keyring(settings.key)
            self.database = Database(settings.secret("DATABASE_URL"), connections=settings.connections)
            stack.callback(self.database.close)
            ensure_safe(self.database)
            settings.state.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.mirrors = Mirrors(settings.state / "mirrors", os.environ)
            stack.callback(self.mirrors.close)
            readers = self.database
            if replica := settings.secrets.get("READ_DATABASE_URL"):
                readers = Database(replica, connections=settings.connections)
                stack.callback(readers.close)
                ensure_safe(readers)
            shared = SharedSearch(self.database, self.mirrors, keyring, CONFIG, settings.state)
            shared.readers = readers
            shared.approximate_from = settings.approximate_from
            # Connections of their own, so that ingests and searches do not wait for each other's.
            self.writers = Database(settings.secret("DATABASE_URL"), connections=settings.workers + 2)
            stack.callback(self.writers.close)
            ingest = Ingest(self.writers, self.mirrors, keyring, CONFIG, settings.state)
            identities = Identities(settings.providers) if settings.providers else None
            proposals = Proposals(self.mirrors, CONFIG, {**os.environ, **settings.forge_tokens})
            self.operations = Operations(self.database, shared, ingest, now, identities, proposals)
            poll = settings.poll_minutes
            self.workers = [Worker(self.writers, ingest, poll_minutes=poll) for _ in range(settings.workers)]
            self._threads = [threading.Thread(target=worker.run, daemon=True) for worker in self.workers]
            self._stack = stack.pop_all()

    def start(self) -> None:
        """Start the threads of the workers, which fetch and index."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop the workers after their current jobs (30 seconds at most each) and close all parts."""
        for worker in self.workers:
            worker.stop()
        for thread in self._threads:
            if thread.is_alive():
                thread.join(timeout=30)
        self._stack.close()

    def alive(self) -> bool:
        """Whether every started worker still runs."""
        return all(thread.is_alive() or thread.ident is None for thread in self._threads)

    def application(self, *, queued: bool = False) -> Any:
        """The ASGI application: REST, webhooks, health, metrics and MCP. `queued`: requests wait for their tenant's
        turn."""
        from starlette.middleware import Middleware

        from gitmem.server.web.fair_queue import MAX_REQUESTS_AT_ONCE, FairQueue, Queued
        from gitmem.server.web.mcp_tools import Authenticated
        from gitmem.server.web.mcp_tools import application as mcp_application

        address = f"{self.settings.host}:{self.settings.port}"
        allowed: list[str] = []
        if self.settings.host in ("127.0.0.1", "::1", "localhost"):
            local = [address, f"localhost:{self.settings.port}", f"127.0.0.1:{self.settings.port}"]
            allowed = [*local, *self.settings.public_hosts]
        mcp = mcp_application(self.operations, self.settings.host, allowed)
        hook_secret = self.settings.secrets.get("HOOK_SECRET", "")
        middleware = [Middleware(Authenticated, operations=self.operations)]
        if queued:
            queue = FairQueue(max(1, min(MAX_REQUESTS_AT_ONCE, self.settings.connections)))
            middleware.insert(0, Middleware(Queued, queue=queue, tenant_of=self.operations.tenant_of))
        return application(
            self.operations, hook_secret, list(mcp.routes), alive=self.alive,
            lifespan=mcp.router.lifespan_context, middleware=middleware,
        )  # fmt: skip
