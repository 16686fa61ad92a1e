"""Runs long computations in one background thread, one after the other, and reports their progress. The thread ends
with the process."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Progress:
    """The progress of a job: `done` of `whole` steps. `whole` is 0 while their number is unknown."""

    done: int = 0
    whole: int = 0

    def __call__(self, done: int, whole: int) -> None:
        """Set the progress; the job calls this."""
        self.done, self.whole = done, whole


class StillComputing(Exception):
    """A page cannot be shown yet. `part`: the name of the part of the review queue that is being computed for it.
    `progress`: of the computation."""

    def __init__(self, part: str, progress: Progress) -> None:
        super().__init__(part)
        self.part, self.progress = part, progress


@dataclass
class _Job:
    """A job and its progress. `key`: what the job was started for. `ended`: is set when the job is done or has failed.
    `error`: the exception that the job raised, None for none."""

    key: object
    work: Callable[[Progress], None]
    progress: Progress = field(default_factory=Progress)
    ended: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None


class BackgroundWork:
    """Jobs, each with a name, that one thread runs one after the other; a new job replaces a waiting one of the same
    name. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._queue: deque[_Job] = deque()
        self._running = False

    def wait_for(
        self, name: str, key: object, work: Callable[[Progress], None], until: float, *, first: bool = False
    ) -> Progress | None:
        """Start the job `work` for `key`, unless it waits or runs already, and wait for it until `until`
        (`time.monotonic`). Returns None when the job is done, else its progress.

        The result of a job is not kept: after None, the next call starts the job again. A waiting job of the same name
        for another key is dropped. `first`: put the job before all waiting ones. Raises the exception of the job; the
        next call starts it again.
        """
        with self._lock:
            job = self._jobs.get(name)
            if job is None or job.key != key:
                job = self._jobs[name] = _Job(key, work)
                self._queue.append(job)
            if first and job in self._queue:
                self._queue.remove(job)
                self._queue.appendleft(job)
            if not self._running:
                self._running = True
                threading.Thread(target=self._work, name="git-mem-pages", daemon=True).start()
        if not job.ended.wait(max(0.0, until - time.monotonic())):
            return job.progress
        with self._lock:
            if self._jobs.get(name) is job:
                del self._jobs[name]
        if job.error is not None:
            raise job.error
        return None

    def _work(self) -> None:
        """The body of the background thread: run the jobs of the queue, one after the other."""
        while True:
            with self._lock:
                if not self._queue:
                    self._running = False
                    return
                job = self._queue.popleft()
                if job not in self._jobs.values():  # a newer job replaced it
                    continue
            try:
                job.work(job.progress)
            except Exception as error:  # noqa: BLE001 - `wait_for` raises it
                job.error = error
            job.ended.set()
