"""The worker: takes jobs from the queue one at a time and runs them. A failed job is retried after growing waits.

The job of a killed worker becomes ready again after LOST_AFTER. A job that failed TRIES times stays in the queue as
dead, where `git mem server jobs` shows it.
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

TRIES = 8  # of a job; with the seven waits between them nearly ten hours
FIRST_WAIT_SECONDS, MAX_WAIT_SECONDS = 10.0, 6 * 3600.0  # before a retry
LOST_AFTER = timedelta(minutes=30)  # then another worker may take a job that was taken and not ended
IDLE_SECONDS = 1.0  # wait at an empty queue without a notice of a new job: a failed job may be due then
JOBS_PER_GIVE_BACK = 4  # jobs after which memory is released if the queue is never empty
DUE_SECONDS = 30.0  # interval at which repositories that are due for a fetch are queued

log = logging.getLogger("gitmem.server")


class Worker:
    """Runs jobs until it is told to stop; `run` is the function of its thread. `poll_minutes`: age of the last fetch
    from which a repository is fetched again, 0 for never."""

    def __init__(self, database: Database, ingest: Ingest, *, poll_minutes: int = 0) -> None:
        self._database = database
        self._ingest = ingest
        self._poll = timedelta(minutes=poll_minutes)
        self._stop = threading.Event()
        self._put_due_at = 0.0

    def stop(self) -> None:
        """Make `run` return after the current job."""
        self._stop.set()

    def run(self) -> None:
        """Run jobs until `stop`. If the database cannot be reached, or after any other error outside of a job, log it
        and try again after IDLE_SECONDS. Never raises."""
        while not self._stop.is_set():
            try:
                with self._database.job_notices() as wait:
                    jobs = 0
                    while not self._stop.is_set():
                        worked = self._work()
                        jobs += worked
                        if jobs >= JOBS_PER_GIVE_BACK or (jobs and not worked):
                            self._ingest.give_back()
                            jobs = 0
                        if not worked:
                            wait(IDLE_SECONDS)
            except GitMemError as error:
                log.warning("queue", extra={"problem": error.message})
            except Exception as error:  # noqa: BLE001 - an error of any kind must not end the worker
                log.error("queue", extra={"problem": type(error).__name__})
            self._stop.wait(IDLE_SECONDS)

    def _work(self) -> bool:
        """Queue due fetches every DUE_SECONDS, and run the next job. Returns whether there was a job."""
        if self._poll and time.monotonic() - self._put_due_at > DUE_SECONDS:
            self.put_due()
            self._put_due_at = time.monotonic()
        return self.once()

    def once(self) -> bool:
        """Run the next job, log it, and record in the queue that it succeeded or failed. Returns whether there was one.
        Raises IndexUnusable if the database does not answer."""
        jobs = self._database.call("SELECT * FROM take_job(%s)", LOST_AFTER)
        if not jobs:
            return False
        ((number, tenant, repository, kind, tries),) = jobs
        run: Callable[[int, int], Any] = self._ingest.fetch if kind == "fetch" else self._ingest.remove
        failure, began = "", time.monotonic()
        log_fields: dict[str, Any] = {"tenant": tenant, "repository": repository}
        try:
            with stage(kind):
                ingested = run(tenant, repository)
            INGESTED.labels("blobs").inc(ingested.blobs)
            INGESTED.labels("chunks").inc(ingested.chunks)
            INGESTED.labels("removed_chunks").inc(ingested.removed_chunks)
            log_fields.update(blobs=ingested.blobs, chunks=ingested.chunks, removed=ingested.removed_chunks)
            if ingested.problem:
                log_fields["problem"] = ingested.problem
            log.info(kind, extra={**log_fields, "seconds": round(time.monotonic() - began, 3)})
        except Exception as error:  # noqa: BLE001 - an error in one repository must not stop the others
            failure = failure_of(error)
        if failure:
            ERRORS.labels(kind).inc()
            log.warning(kind, extra={**log_fields, "problem": failure, "tries": tries})
        wait = timedelta(seconds=min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 4 ** (tries - 1)))
        self._database.call("SELECT end_job(%s, %s, %s, %s)", number, failure, wait, TRIES)
        return True

    def put_due(self) -> None:
        """Queue a fetch of each repository whose last fetch is older than `poll_minutes` and that has no job. A failed
        job keeps its wait, and a dead one stays dead. A repository that was never fetched is not queued here: its first
        fetch is queued when it is added."""
        # `fetched` is in the future if the clock was set back.
        query = (
            "SELECT tenant, repository FROM idle_repositories()"
            " WHERE NOT fetched BETWEEN now() - %s::interval AND now()"
        )
        for tenant, repository in self._database.call(query, self._poll):
            with self._database.tenant(tenant) as connection:
                connection.execute("SELECT put_job(%s, 'fetch', '0')", (repository,))
