"""The shared index against the repository's own: same answers, and what a search and an ingest cost, in one run.

    python -m bench.server [--tenants 4] [--chunks 10000] [--clients 8] [--seconds 20] [--notes FOLDER]

An embedded PostgreSQL, tenants of invented notes each, clients that search all the time, for `--seconds` alone and for
as long beside an ingest. With `--notes`, a memory repository and a question a line in `questions.txt` beside it: how
often the first five hits are those of the local index.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.search import build
from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.search.search import Query, search
from gitmem.server.administration import administration
from gitmem.server.startup import Running, development


def percentile(values: list[float], share: float) -> float:
    """Of sorted milliseconds."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def load(running: Running, tenants: list[int], questions: list[str], clients: int, seconds: float) -> list[float]:
    """Milliseconds of every search of some clients that search all the time."""
    took: list[float] = []
    end = time.monotonic() + seconds

    def client(number: int) -> None:
        rng = random.Random(number)
        while time.monotonic() < end:
            began = time.perf_counter()
            running.operations.shared.search(rng.choice(tenants), None, Query(rng.choice(questions)), datetime.now(UTC))
            took.append(1000 * (time.perf_counter() - began))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def agreement(running: Running, tenant: int, root: Path, questions: list[str]) -> tuple[float, float, float]:
    """(share of questions whose first five hits are the same, median ms here, median ms of the local index)."""
    own = open_repository(root, os.environ)
    head = own.head() or ""
    same, shared_ms, local_ms = 0, [], []
    for question in questions:
        moment = datetime.now(UTC)
        began = time.perf_counter()
        shared, _ = running.operations.shared.search(tenant, None, Query(question), moment)
        middle = time.perf_counter()
        local = search(own, Config(), Query(question, commit=head), moment)
        shared_ms.append(1000 * (middle - began))
        local_ms.append(1000 * (time.perf_counter() - middle))
        places = [[(hit.path, hit.start_line, hit.end_line) for hit in answer.hits[:5]] for answer in (shared, local)]
        same += places[0] == places[1]
    own.close()
    return same / len(questions), statistics.median(shared_ms), statistics.median(local_ms)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--notes", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gm") as folder:
        root = Path(folder) / "repo"
        questions = build(root, given.chunks)
        subprocess.run([sys.executable, "-m", "gitmem", "index"], cwd=root, check=True, capture_output=True)
        with development(Path(folder) / "server", 8470) as settings:
            with administration(settings.secret("OWNER_DATABASE_URL")) as owner:
                tenants = [owner.tenant(f"tenant-{number}", make=True) for number in range(given.tenants)]
                for number in tenants:
                    owner.tenant(f"tenant-{tenants.index(number)}")
                    owner.add_repository(number, "notes", str(root))
                if given.notes:
                    notes = owner.tenant("notes", make=True)
                    owner.add_repository(notes, "notes", str(given.notes.resolve()))
            running = Running(settings)
            report(given, running, tenants, questions, root)
            if given.notes:
                asked = (given.notes.parent / "questions.txt").read_text(encoding="utf-8").splitlines()
                same, shared, local = agreement(running, notes, given.notes, [line for line in asked if line.strip()])
                print(f"{given.notes.name}: first five the same {same:.3f}; {shared:.1f} ms, local {local:.1f} ms")
            running.close()


def report(given: argparse.Namespace, running: Running, tenants: list[int], questions: list[str], root: Path) -> None:
    """A line a figure, with what it should be."""
    began = time.monotonic()
    while running.workers[0].once():
        pass
    chunks = given.chunks * len(tenants)
    print(f"ingest alone      {chunks / (time.monotonic() - began):7.0f} chunks/s (aim 2,000)")
    same, shared, local = agreement(running, tenants[0], root, questions)
    print(f"first five        {same:7.3f} the same as locally (aim 0.98; words made up: the hardest case)")
    print(f"one client        {shared:7.1f} ms in the middle; local index {local:.1f} ms")
    took = load(running, tenants, questions, given.clients, given.seconds)
    print(
        f"{given.clients} clients         {statistics.median(took):7.1f} ms in the middle, 95 % within"
        f" {percentile(took, 0.95):.0f} (aims 40, 120); {len(took) / given.seconds:.1f} searches/s (aim 25)"
    )
    print(f"memory            {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:7.0f} MB (aim 300)")


if __name__ == "__main__":
    main()
