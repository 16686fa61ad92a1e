"""What the answering processes of a server tell each other of their tenants: how much each asks, how many requests of
it run, and since when one waits. A table in shared memory, in which each process writes its own row alone.

Two processes that look at once may both let a request in: the share of a tenant is kept within one request a process.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable
from typing import Any

PLACES = 1024  # tenants share them by the rest of their number: two that meet in one share its part
RECENT = 5.0  # seconds in which what a tenant asked counts a third of what it did (the time constant of its rate)
SEEN = 0.1  # requests of late, so weighted, from which a tenant is one that others share the server with
MIN_SHARE_OF_PROCESS = (
    1 / 3
)  # of one process, which a tenant that is held to its share has, however many others there are
HEAVY = 2.0  # times what the others ask in the mean, from which a tenant is held to its share


class TenantLoad:
    """The table. Made before the processes start, and handed to each."""

    def __init__(self, processes: int = 1, context: Any = multiprocessing) -> None:
        self.processes = processes
        self._running = context.RawArray("h", processes * PLACES)
        self._waiting = context.RawArray("d", processes * PLACES)
        self._asked = context.RawArray("d", processes * PLACES)
        self._rate = context.RawArray("d", processes * PLACES)
        self._rests = context.RawArray("d", processes * PLACES)

    def clear(self, row: int) -> None:
        """Forget what a process that ended was at."""
        own = slice(row * PLACES, (row + 1) * PLACES)
        self._running[own] = [0] * PLACES
        self._waiting[own] = self._rate[own] = self._rests[own] = [0.0] * PLACES

    def row(self, number: int, clock: Callable[[], float] = time.monotonic) -> Row:
        """The part of one process."""
        return Row(self, number, clock)


class Row:
    """What one process writes, and reads of all."""

    def __init__(self, load: TenantLoad, number: int, clock: Callable[[], float]) -> None:
        import numpy as np  # the first process, which starts the others, has no use for it

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
        """Note a request; the moment. Tenant 0 is whoever has a token that is not known: it shares nothing out."""
        moment = self.clock()
        if tenant:
            at = self._number, tenant % PLACES
            self._rate[at] = 1.0 + self._rate[at] * math.exp((self._asked[at] - moment) / RECENT)
            self._asked[at] = moment
        return moment

    def share(self, tenant: int) -> float | None:
        """How many requests of a tenant may run in all processes, below 1 for a part of the time; None for one that
        asks little more than the others of late, or where there are none."""
        import numpy as np

        rates = (self._rate * np.exp((self._asked - self.clock()) / RECENT)).sum(axis=0)
        own = float(rates[tenant % PLACES])
        rates[tenant % PLACES] = 0.0
        others = rates[rates > SEEN]
        if not len(others) or own <= HEAVY * float(others.mean()):
            return None
        return max(MIN_SHARE_OF_PROCESS, self.processes / (1 + len(others)))

    def running(self, tenant: int) -> int:
        """How many requests of a tenant run, in all processes."""
        return int(self._running[:, tenant % PLACES].sum())

    def others_run(self, tenant: int) -> bool:
        """Whether a request of another tenant runs, in whichever process."""
        return int(self._running.sum()) > self.running(tenant)

    def running_here(self, tenant: int) -> int:
        """How many requests of a tenant run in this process."""
        return int(self._running[self._number, tenant % PLACES])

    def run(self, tenant: int, change: int) -> None:
        """One more request of a tenant runs here, or one less."""
        self._running[self._number, tenant % PLACES] += change

    def rest(self, tenant: int, seconds: float) -> None:
        """No request of a tenant that is held to its share begins for a while, in whichever process."""
        self._rests[self._number, tenant % PLACES] = self.clock() + seconds

    def rests(self, tenant: int) -> bool:
        """Whether a tenant rests now."""
        return bool(self._rests[:, tenant % PLACES].max() > self.clock())

    def wait(self, tenant: int, since: float) -> None:
        """The oldest request of a tenant that waits here came at this moment; 0 for none."""
        self._waiting[self._number, tenant % PLACES] = since

    def is_next(self, tenant: int) -> bool:
        """Whether no other process has one of the tenant's that waits for longer than the oldest here."""
        since = self._waiting[:, tenant % PLACES]
        own = since[self._number]
        return not bool(((since > 0) & (since < own)).any())
