"""The queue's other end: takes jobs one by one, runs them, and puts back what failed with growing waits.

A job that a killed worker held is ready again after a while. What fails for good stays in the queue as dead, where
`git mem server jobs` shows it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from gitmem.errors import GitMemError
from gitmem.server.ingest import Ingest, failure_of
from gitmem.server.postgres.database import Database
from gitmem.server.telemetry import ERRORS, INGESTED, stage

TRIES = 8  # of a job: with the waits below a day and a half
FIRST_WAIT, LONGEST_WAIT = 10.0, 6 * 3600.0  # seconds
LOST = timedelta(minutes=30)  # after which a job that is taken is somebody else's
IDLE = 1.0  # seconds between two looks at an empty queue, where no notice of a job comes: one that failed is due then
JOBS = 4  # after which memory is given back, where the queue is never empty
LOOK = 30.0  # seconds between two looks at what is due to be fetched

log = logging.getLogger("gitmem.server")


class Worker:
    """Runs jobs until it is told to stop."""

    def __init__(self, database: Database, ingest: Ingest, *, poll_minutes: int = 0) -> None:
        self._database = database
        self._ingest = ingest
        self._poll = timedelta(minutes=poll_minutes)
        self._stop = threading.Event()
        self._looked = 0.0

    def stop(self) -> None:
        """Have `run` end after the job it is at."""
        self._stop.set()

    def run(self) -> None:
        """Work until `stop`; a database that is away is waited for."""
        while not self._stop.is_set():
            try:
                with self._database.hearing() as wait:
                    jobs = 0
                    while not self._stop.is_set():
                        worked = self._work()
                        jobs += worked
                        if jobs >= JOBS or (jobs and not worked):
                            self._ingest.give_back()
                            jobs = 0
                        if not worked:
                            wait(IDLE)
            except GitMemError as error:
                log.warning("queue", extra={"problem": error.message})
            except Exception as error:  # noqa: BLE001 - the queue goes on, whatever the database says
                log.error("queue", extra={"problem": type(error).__name__})
            self._stop.wait(IDLE)

    def _work(self) -> bool:
        """Put what is due into the queue, and run the next job; whether there was one."""
        if self._poll and time.monotonic() - self._looked > LOOK:
            self.put_due()
            self._looked = time.monotonic()
        return self.once()

    def once(self) -> bool:
        """Run the next job; whether there was one."""
        with self._database.anyone() as connection:
            row = connection.execute("SELECT * FROM take_job(%s)", (LOST,)).fetchone()
        if row is None:
            return False
        number, tenant, repository, kind, tries = row
        run: Callable[[int, int], Any]
        if kind == "fetch":
            run = self._ingest.fetch
        else:
            run = self._ingest.remove
        failure, began = "", time.monotonic()
        about: dict[str, Any] = {"tenant": tenant, "repository": repository}
        try:
            with stage(kind):
                done = run(tenant, repository)
            for what, count in (
                ("blobs", done.blobs),
                ("chunks", done.chunks),
                ("removed_chunks", done.removed_chunks),
            ):
                INGESTED.labels(what).inc(count)
            about.update(blobs=done.blobs, chunks=done.chunks, removed=done.removed_chunks)
            if done.problem:
                about["problem"] = done.problem
            log.info(kind, extra={**about, "seconds": round(time.monotonic() - began, 3)})
        except Exception as error:  # noqa: BLE001 - whatever one repository does, the others are served
            failure = failure_of(error)
        if failure:
            ERRORS.labels(kind).inc()
            log.warning(kind, extra={**about, "problem": failure, "tries": tries})
        wait = timedelta(seconds=min(LONGEST_WAIT, FIRST_WAIT * 4 ** (tries - 1)))
        with self._database.anyone() as connection:
            connection.execute("SELECT end_job(%s, %s, %s, %s)", (number, failure, wait, TRIES))
        return True

    def put_due(self) -> None:
        """Put a fetch into the queue for each repository that was not fetched for as long as is set, and has no job:
        one that failed keeps its waits, and a dead one stays dead."""
        with self._database.anyone() as connection:
            due = connection.execute(
                "SELECT tenant, repository FROM idle_repositories()"
                " WHERE NOT fetched BETWEEN now() - %s::interval AND now()",  # a clock that was set back: fetched later
                (self._poll,),
            ).fetchall()
        for tenant, repository in due:
            with self._database.tenant(tenant) as connection:
                connection.execute("SELECT put_job(%s, 'fetch', '0')", (repository,))
