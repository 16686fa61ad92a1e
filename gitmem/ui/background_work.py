"""What takes longer than a reader waits for a page: done by one thread, one thing after the other, while pages say how
far it is. The thread ends with the process; the module knows nothing of pages."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Progress:
    """How far a piece of work is: `done` of `whole` things; `whole` is 0 where their number is not known yet."""

    done: int = 0
    whole: int = 0

    def __call__(self, done: int, whole: int) -> None:
        """Say how far it is."""
        self.done, self.whole = done, whole


@dataclass
class _Job:
    key: object
    work: Callable[[Progress], None]
    progress: Progress = field(default_factory=Progress)
    ended: threading.Event = field(default_factory=threading.Event)
    error: Exception | None = None


class BackgroundWork:
    """The pieces of work by name, of each name the last one that was asked for. Safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[str, _Job] = {}
        self._queue: deque[_Job] = deque()
        self._running = False

    def left(
        self, name: str, key: object, work: Callable[[Progress], None], until: float, *, first: bool = False
    ) -> Progress | None:
        """Have `work` done for `key`, and wait for it until the moment `until` (`time.monotonic`): None where it is
        done, else how far it is. `first`: before all that waits. Raises what the work raised; it is done anew after
        that."""
        with self._lock:
            job = self._jobs.get(name)
            if job is None or job.key != key:
                job = self._jobs[name] = _Job(key, work)
                self._queue.appendleft(job) if first else self._queue.append(job)
            elif first and job in self._queue:
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
        while True:
            with self._lock:
                if not self._queue:
                    self._running = False
                    return
                job = self._queue.popleft()
                if job not in self._jobs.values():  # memory changed since, and nobody waits for it
                    continue
            try:
                job.work(job.progress)
            except Exception as error:  # noqa: BLE001 - it is raised where the work is asked for
                job.error = error
            job.ended.set()
