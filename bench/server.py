"""The shared index against the repository's own: same answers, and what a search and an ingest cost, in one run.

    python -m bench.server [--tenants 4] [--chunks 10000] [--clients 8] [--seconds 20] [--notes FOLDER] [--noisy]
                           [--beside SECONDS] [--keep FOLDER] [--buffers 1GB]

An embedded PostgreSQL, tenants of invented notes each, and clients that ask the server's processes over HTTP all the
time. Processor time is that of the server's processes and of the database: what can be compared on a busy machine.
With `--notes`, a memory repository and a question a line in `questions.txt` beside it: how often the first five hits
are those of the local index. With `--noisy`, how much slower the others are while 64 clients of one tenant ask as much
as they can. With `--beside`, for so long 25 searches a second beside pushes of 300 chunks a second to every fifth
tenant, and how long from a webhook until a search finds what was pushed. With `--keep` the database stays in FOLDER,
and what is indexed there already is not indexed again. `--buffers` is PostgreSQL's `shared_buffers`, else its own 128
MB.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import MappingProxyType

import psycopg

from bench._pushes import HOOK_SECRET, origin_of, pushes
from bench.search import SOURCE, build
from gitmem.config import Config
from gitmem.git.opening import open_repository
from gitmem.search.search import Query, search
from gitmem.server.administration import Administration, administration
from gitmem.server.embedded_postgres import development, embedded
from gitmem.server.settings import Settings
from gitmem.server.startup import Running

ASKED = 25  # searches a second of all clients together, where they pause
PUSHED, EVERY = 300, 5  # chunks a second beside them, and to each which tenant
ROUNDS, NOISY_CLIENTS, OTHERS = 4, 64, 9  # of the noisy tenant; searches a second of the others
TICKS = os.sysconf("SC_CLK_TCK")


def percentile(values: list[float], share: float) -> float:
    """Of milliseconds."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def below(first: int) -> list[int]:
    """A process and every one below it."""
    found, rows = [first], []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        rows.append((int(path.parent.name), int(text[text.rindex(")") + 2 :].split()[1])))
    for pid in found:
        found += [child for child, parent in rows if parent == pid and child not in found]
    return found


def processor_seconds(*firsts: int) -> float:
    """Of some processes and all below them, those that ended too."""
    total = 0
    for pid in {pid for first in firsts for pid in below(first)}:
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        total += sum(map(int, text[text.rindex(")") + 2 :].split()[11:15]))
    return total / TICKS


def print_memory(first: int) -> None:
    """Resident memory of a process and each below it, what they share divided among them."""
    each = []
    for pid in below(first):
        try:
            rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        each.append(next((int(row.split()[1]) for row in rows if row.startswith("Pss:")), 0) / 1024)
    parts = " + ".join(f"{one:.0f}" for one in each)
    print(f"memory            {sum(each):7.0f} MB, all processes (aim 300): {parts}")


@contextmanager
def served(settings: Settings, folder: Path) -> Iterator[tuple[int, int]]:
    """The server's processes; (process, port)."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    file = folder / "server.toml"
    file.write_text(
        f'listen = "127.0.0.1:{port}"\nstate = "{settings.state}"\nprocesses = 2\nworkers = 1\npoll_minutes = 0\n'
    )
    env = {**os.environ, "PYTHONPATH": str(SOURCE), **{f"GITMEM_{k}": v for k, v in (settings.secrets or {}).items()}}
    command = [sys.executable, "-m", "gitmem", "server", "--config", str(file), "run"]
    child = subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL)
    try:
        while True:
            try:
                ask(port, "GET", "/readyz", "", None)
                break
            except OSError:
                if child.poll() is not None:
                    raise RuntimeError(f"the server ended with {child.returncode}") from None
                time.sleep(0.2)
        yield child.pid, port
    finally:
        child.terminate()
        child.wait()


def ask(
    port: int, method: str, address: str, token: str, value: object, headers: Mapping[str, str] = MappingProxyType({})
) -> tuple[int, bytes]:
    """The status of a request, and its answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    body = json.dumps(value) if value is not None else None
    connection.request(method, address, body, {"Authorization": f"Bearer {token}", **headers})
    answer = connection.getresponse()
    read = answer.read()
    connection.close()
    return answer.status, read


def load(
    port: int, tokens: list[str], questions: list[str], clients: int, seconds: float, rate: float = 0.0
) -> list[float]:
    """Milliseconds of every search of some clients that search all the time, or so many a second together: at moments
    drawn beforehand, or later where the client still waits for its last answer."""
    took: list[float] = []
    end = time.monotonic() + seconds

    def client(number: int) -> None:
        rng = random.Random(number)
        due = time.monotonic()
        while (now := time.monotonic()) < end:
            if rate:
                due += rng.expovariate(rate / clients)
                time.sleep(max(0.0, min(due, end) - now))
            began = time.perf_counter()
            status, _ = ask(port, "POST", "/v1/search", rng.choice(tokens), {"query": rng.choice(questions)})
            took.append(1000 * (time.perf_counter() - began))
            if status != 200:
                raise RuntimeError(f"a search was answered {status}")

    run_together([partial(client, number) for number in range(clients)])
    return took


def run_together(calls: list[Callable[[], None]]) -> None:
    """Run calls in threads, and raise what one of them raises."""
    with ThreadPoolExecutor(len(calls)) as pool:
        for done in [pool.submit(call) for call in calls]:
            done.result()


def agreement(running: Running, tenant: int, root: Path, questions: list[str]) -> tuple[float, float, float]:
    """(share of questions whose first five hits are the same, processor ms of this process here, and of the local
    index), medians."""
    own = open_repository(root, os.environ)
    head = own.head() or ""
    same, shared_ms, local_ms = 0, [], []
    for question in [questions[0], *questions]:  # the first one opens what stays open
        moment = datetime.now(UTC)
        began = time.process_time()
        shared, _ = running.operations.shared.search(tenant, None, Query(question), moment)
        middle = time.process_time()
        local = search(own, Config(), Query(question, commit=head), moment)
        shared_ms.append(1000 * (middle - began))
        local_ms.append(1000 * (time.process_time() - middle))
        places = [[(hit.path, hit.start_line, hit.end_line) for hit in answer.hits[:5]] for answer in (shared, local)]
        same += places[0] == places[1]
    own.close()
    return same / len(shared_ms), statistics.median(shared_ms), statistics.median(local_ms)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--notes", type=Path)
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--beside", type=float, default=0.0)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--buffers", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gm") as temporary:
        folder = given.keep.resolve() if given.keep else Path(temporary)
        root, questions = asked_of(folder, given.chunks)
        sizes = f"{given.tenants} tenants of {given.chunks:,} chunks, {given.clients} clients"
        print(f"{sizes}, shared_buffers {given.buffers or 'of PostgreSQL itself'}", flush=True)
        if given.buffers:
            set_buffers(folder / "server" / "postgresql", given.buffers)
        with (
            development(folder / "server", 8470) as settings,
            administration(settings.secret("OWNER_DATABASE_URL")) as owner,
        ):
            settings = replace(settings, secrets={**(settings.secrets or {}), "HOOK_SECRET": HOOK_SECRET})
            tenants = [tenant_of(owner, number, root) for number in range(given.tenants)]
            tokens = [token for _, token in tenants]
            owner._connection.execute("UPDATE tenant SET searches_a_minute = 1000000")
            notes = owner.tenant("notes", make=True)
            if given.notes:
                owner.add_repository(notes, "notes", str(given.notes.resolve()))
            postmaster = int((folder / "server/postgresql/postmaster.pid").read_text().split()[0])
            running = Running(settings)
            one_process(given, owner, running, tenants[0][0], questions, root, postmaster)
            if given.notes:
                asked = (given.notes.parent / "questions.txt").read_text(encoding="utf-8").splitlines()
                same, shared, local = agreement(running, notes, given.notes, [line for line in asked if line.strip()])
                print(f"{given.notes.name}: first five the same {same:.3f}; {shared:.1f} ms, local {local:.1f} ms")
            running.close()
            with served(settings, Path(folder)) as (first, port):
                processes(given, tokens, questions, (first, port, postmaster))
                if given.beside:
                    beside(given, owner, folder, tenants, questions, port)
                print_memory(first)
    print("load              {:7.1f} and {:.1f} in the last minute and five, of this run too".format(*os.getloadavg()))


def set_buffers(cluster: Path, buffers: str) -> None:
    """Set PostgreSQL's `shared_buffers`, from the next start on."""
    cluster.parent.mkdir(exist_ok=True, mode=0o700)
    with embedded(cluster) as url, psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET shared_buffers = '{buffers}'")


def asked_of(folder: Path, chunks: int) -> tuple[Path, list[str]]:
    """The repository of every tenant, made where it is not there and indexed, and questions to ask it."""
    root, questions = folder / "repo", folder / "questions.json"
    if not questions.exists():
        questions.write_text(json.dumps(build(root, chunks)))
        subprocess.run([sys.executable, "-m", "gitmem", "index"], cwd=root, check=True, capture_output=True)
    asked: list[str] = json.loads(questions.read_text())
    return root, asked


def tenant_of(owner: Administration, number: int, root: Path) -> tuple[int, str]:
    """A tenant and a token of it; its repository is put into the queue where it was not fetched yet."""
    tenant = owner.tenant(f"tenant-{number}", make=True)
    if not any(row["fetched"] for row in owner.repositories(tenant)):
        owner.add_repository(tenant, "notes", str(root))
    return tenant, owner.new_token(tenant, "bench", "read", (), 0, datetime.now(UTC))


def one_process(
    given: argparse.Namespace, owner: Administration, running: Running, tenant: int, questions: list[str], root: Path,
    postmaster: int,
) -> None:  # fmt: skip
    """What an ingest and a search cost, and whether the answers are those of the local index."""
    taken = "SELECT coalesce(sum(next_chunk), 0) FROM tenant"
    ((before,),) = owner._connection.execute(taken).fetchall()
    began, wall = processor_seconds(os.getpid(), postmaster), time.monotonic()
    while running.workers[0].once():
        pass
    ((after,),) = owner._connection.execute(taken).fetchall()
    chunks, cost = int(after - before), processor_seconds(os.getpid(), postmaster) - began
    if chunks:
        print(
            f"ingest alone      {1000 * cost / chunks:7.2f} ms of processor time a chunk: {2 * chunks / cost:.0f}"
            f" chunks/s of two free cores (aim 2,000); {chunks / (time.monotonic() - wall):.0f} chunks/s now, {chunks}"
        )
    same, shared, local = agreement(running, tenant, root, questions)
    print(f"first five        {same:7.3f} the same as locally (aim 0.98; words made up: the hardest case)")
    print(f"one search        {shared:7.1f} ms of processor time, without the database's; local index {local:.1f} ms")


def processes(given: argparse.Namespace, tokens: list[str], questions: list[str], where: tuple[int, int, int]) -> None:
    """What the server's processes do under load."""
    first, port, postmaster = where
    load(port, tokens, questions, given.clients, given.seconds / 4)  # caches
    began = processor_seconds(first, postmaster)
    took = load(port, tokens, questions, given.clients, given.seconds)
    cost = (processor_seconds(first, postmaster) - began) / len(took)
    print(
        f"{given.clients} clients         {statistics.median(took):7.1f} ms in the middle, 95 % within"
        f" {percentile(took, 0.95):.0f} (aims 40, 120); {len(took) / given.seconds:.1f} searches/s now;"
        f" {1000 * cost:.1f} ms of processor time each: {2 / cost:.0f}/s of two free cores (aim 25, 40)"
    )
    print_memory(first)
    print_paced("paced  ", load(port, tokens, questions, given.clients, given.seconds, ASKED), given.seconds)
    if given.noisy and len(tokens) > 1:
        noisy(given, tokens, questions, port)


def print_paced(name: str, took: list[float], seconds: float) -> None:
    """A line for searches at a rate."""
    print(
        f"{name}           {statistics.median(took):7.1f} ms in the middle, 95 % within {percentile(took, 0.95):.0f}"
        f" (aims 40, 120) at {len(took) / seconds:.1f} searches/s (aim {ASKED})"
    )


def beside(
    given: argparse.Namespace, owner: Administration, folder: Path, tenants: list[tuple[int, str]],
    questions: list[str], port: int,
) -> None:  # fmt: skip
    """Searches at a rate beside pushes."""
    origins = []
    for number in range(len(tenants))[::-EVERY]:
        tenant, token = owner.tenant(f"tenant-{number}"), tenants[number][1]
        origins.append(origin_of(owner, folder / f"pushed-{tenant}.git", tenant, token))
    took, said = list[float](), list[str]()
    tokens = [token for _, token in tenants]
    run_together(
        [
            lambda: took.extend(load(port, tokens, questions, given.clients, given.beside, ASKED)),
            lambda: said.append(pushes(partial(ask, port), owner, origins, given.beside, PUSHED)),
        ]
    )
    print_paced("beside pushes", took, given.beside)
    print(said[0])


def noisy(given: argparse.Namespace, tokens: list[str], questions: list[str], port: int) -> None:
    """What the others feel of a tenant that asks all the time: alternately without and with it, ROUNDS times."""
    quiet, beside, loud = list[float](), list[float](), list[float]()
    seconds = given.seconds / ROUNDS
    for _ in range(ROUNDS):
        quiet += load(port, tokens[1:], questions, 2, seconds, OTHERS)
        run_together(
            [
                lambda: loud.extend(load(port, tokens[:1], questions, NOISY_CLIENTS, seconds)),
                lambda: beside.extend(load(port, tokens[1:], questions, 2, seconds, OTHERS)),
            ]
        )
    for name, share in (("median", 0.5), ("95th percentile", 0.95)):
        alone, together = percentile(quiet, share), percentile(beside, share)
        ratio = f"{together / alone:7.2f} times the others' {name}"
        print(f"a noisy tenant    {ratio}: {together:.0f} for {alone:.0f} ms (aim 1.5)")
    answered = f"it {len(loud) / given.seconds:.1f} a second, they {len(beside) / given.seconds:.1f}"
    print(f"                  were answered: {answered}")


if __name__ == "__main__":
    main()
