"""The load of each tenant, shared by the answering processes: its rate of requests, how many run, since when one waits.

A table in shared memory; each process writes its own row only. There are no locks: two processes that read at the same
time may both start a request, so that a tenant can exceed its share by one request for each process.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable
from typing import Any

PLACES = 1024  # columns of the table; a tenant's is its number modulo PLACES, and tenants of one column share its load
RECENT = 5.0  # time constant of a tenant's rate in seconds: an older request counts 1/e
MIN_RATE = 0.1  # rate from which another tenant counts as active
MIN_SHARE_OF_PROCESS = 1 / 3  # smallest share of a limited tenant, in requests at once
HEAVY = 2.0  # a tenant is limited if its rate is above HEAVY times the mean rate of the others


class TenantLoad:
    """The shared table, made before the processes start and passed to each."""

    def __init__(self, processes: int = 1, context: Any = multiprocessing) -> None:
        self.processes = processes
        self._running = context.RawArray("h", processes * PLACES)
        self._waiting = context.RawArray("d", processes * PLACES)
        self._asked = context.RawArray("d", processes * PLACES)
        self._rate = context.RawArray("d", processes * PLACES)
        self._rests = context.RawArray("d", processes * PLACES)

    def clear(self, row: int) -> None:
        """Clear the row of a process that ended."""
        own = slice(row * PLACES, (row + 1) * PLACES)
        self._running[own] = [0] * PLACES
        self._waiting[own] = self._rate[own] = self._rests[own] = [0.0] * PLACES

    def row(self, number: int, clock: Callable[[], float] = time.monotonic) -> Row:
        """The view of process `number`."""
        return Row(self, number, clock)


class Row:
    """The view of one process: it writes its own row and reads the sums of all rows."""

    def __init__(self, load: TenantLoad, number: int, clock: Callable[[], float]) -> None:
        import numpy as np  # not at the top: the supervisor does not need it

        self.processes = load.processes
        self.clock = clock
        self._number = number
        self._running, self._waiting, self._asked, self._rate, self._rests = (
            np.frombuffer(table, kind).reshape(load.processes, PLACES)
            for table, kind in (
                (load._running, np.int16), (load._waiting, float), (load._asked, float), (load._rate, float),
                (load._rests, float),
            )
        )  # fmt: skip

    def ask(self, tenant: int) -> float:
        """Count a request in the tenant's rate; return the time. Tenant 0, callers with an unknown token, is not
        counted."""
        moment = self.clock()
        if tenant:
            at = self._number, tenant % PLACES
            self._rate[at] = 1.0 + self._rate[at] * math.exp((self._asked[at] - moment) / RECENT)
            self._asked[at] = moment
        return moment

    def share(self, tenant: int) -> float | None:
        """How many requests of a tenant may run at once in all processes; below 1 it is a share of the time. None for
        no limit: its rate is at most HEAVY times the mean of the other active tenants, or there are none."""
        import numpy as np

        rates = (self._rate * np.exp((self._asked - self.clock()) / RECENT)).sum(axis=0)
        own = float(rates[tenant % PLACES])
        rates[tenant % PLACES] = 0.0
        others = rates[rates > MIN_RATE]
        if not len(others) or own <= HEAVY * float(others.mean()):
            return None
        return max(MIN_SHARE_OF_PROCESS, self.processes / (1 + len(others)))

    def running(self, tenant: int) -> int:
        """The number of running requests of a tenant in all processes."""
        return int(self._running[:, tenant % PLACES].sum())

    def others_run(self, tenant: int) -> bool:
        """Whether a request of another tenant runs in any process."""
        return int(self._running.sum()) > self.running(tenant)

    def running_here(self, tenant: int) -> int:
        """The number of running requests of a tenant in this process."""
        return int(self._running[self._number, tenant % PLACES])

    def run(self, tenant: int, change: int) -> None:
        """Add `change` (1 or -1) to the running requests of a tenant in this process."""
        self._running[self._number, tenant % PLACES] += change

    def rest(self, tenant: int, seconds: float) -> None:
        """Let no request of a limited tenant begin in any process for some seconds."""
        self._rests[self._number, tenant % PLACES] = self.clock() + seconds

    def rests(self, tenant: int) -> bool:
        """Whether a tenant is in a pause that `rest` began, in any process."""
        return bool(self._rests[:, tenant % PLACES].max() > self.clock())

    def wait(self, tenant: int, since: float) -> None:
        """Record when the oldest waiting request of a tenant in this process arrived; 0 for none."""
        self._waiting[self._number, tenant % PLACES] = since

    def is_next(self, tenant: int) -> bool:
        """Whether no other process has a request of the tenant that arrived before the oldest one waiting here."""
        since = self._waiting[:, tenant % PLACES]
        own = since[self._number]
        return not bool(((since > 0) & (since < own)).any())
