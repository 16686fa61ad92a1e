"""Several processes answer from one socket; one that is killed is started again, and none outlives the first."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from gitmem.server.processes import QUICK_END_SECONDS, listening
from gitmem.server.settings import Settings
from tests.harness import SOURCE, Repo
from tests.server.conftest import Server

PATIENCE = 120.0  # seconds within which what must happen does, on a machine with much else to do


@dataclass
class Served:
    """A server as processes."""

    child: subprocess.Popen[str]
    port: int
    token: str

    def get(self, address: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{address}",
            json.dumps(body).encode() if body is not None else None,
            {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read().decode()

    def texts(self, query: str) -> list[str]:
        return [hit["text"] for hit in json.loads(self.get("/v1/search", {"query": query}))["hits"]]

    def answers(self) -> bool:
        try:
            return bool(self.get("/readyz") == "ok\n")
        except (OSError, urllib.error.URLError):
            return False

    def processes(self) -> list[int]:
        """Every process below the first one."""
        out = subprocess.run(["ps", "-o", "pid=,ppid=", "-A"], capture_output=True, text=True, check=True).stdout
        rows = [line.split() for line in out.splitlines()]
        below, found = {self.child.pid}, list[int]()
        for _ in range(4):
            for pid, parent in rows:
                if int(parent) in below and int(pid) not in below:
                    below.add(int(pid))
                    found.append(int(pid))
        return found

    def answering(self) -> list[int]:
        """The processes that accept from the socket: those that listen at the port."""
        return [
            pid
            for pid in self.processes()
            if any(one.laddr.port == self.port and one.status == "LISTEN" for one in connections(pid))
        ]


def connections(pid: int) -> list[Any]:
    """The sockets of a process; none of one that has just ended."""
    try:
        return list(psutil.Process(pid).net_connections())
    except psutil.Error:
        return []


def eventually(true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.05)


@pytest.fixture
def notes(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "notes")
    repo.commit("memory", {"MEMORY.md": "# Memory\n\n- The okapi eats leaves\n"})
    return repo


@pytest.fixture
def served(server: Server, tmp_path: Path, notes: Repo) -> Iterator[Served]:
    with serving(server, tmp_path, notes) as made:
        yield made


@contextmanager
def serving(
    server: Server, tmp_path: Path, notes: Repo, settings: str = "", variables: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """A server with two answering processes. `settings`: more lines of its file; `variables`: of its environment."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    server.owner.add_repository(server.enter("acme"), "notes", str(notes.path))
    server.owner._connection.execute("UPDATE tenant SET searches_a_minute = 1000000")
    file = tmp_path / "server.toml"
    file.write_text(
        f'listen = "127.0.0.1:{port}"\nstate = "{tmp_path / "served"}"\nprocesses = 2\npoll_minutes = 0\n{settings}'
    )
    env = {
        **os.environ, "PYTHONPATH": str(SOURCE), "GITMEM_SECRET": "s" * 40,
        "GITMEM_DATABASE_URL": server.owner_url.replace("postgres:@", "gitmem_server:@"), **(variables or {}),
    }  # fmt: skip
    with open(tmp_path / "log", "w") as log:
        command = [sys.executable, "-m", "gitmem", "server", "--config", str(file), "run"]
        child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=log, text=True, cwd=tmp_path)
        made = Served(child, port, server.tokens["acme read"])
        try:
            eventually(made.answers)
            yield made
        finally:
            child.terminate()
            child.communicate(timeout=PATIENCE)


def test_several_processes_answer_and_count_together(served: Served, tmp_path: Path) -> None:
    eventually(lambda: served.texts("okapi") != [])
    for _ in range(12):
        assert served.texts("okapi")
    metrics = served.get("/metrics")
    counted = [line for line in metrics.splitlines() if line.startswith("gitmem_requests_total{") and '"200"' in line]
    assert counted and float(counted[0].split()[-1]) >= 13
    assert 'gitmem_stage_seconds_count{stage="fetch"} 1.0' in metrics  # of the process that indexes
    rows = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert {"request", "fetch"} <= {row["event"] for row in rows}
    assert "okapi" not in str(rows) and "notes" not in str(rows) and "gitmem_" not in str(rows)


def test_a_process_that_is_killed_is_started_again(served: Served) -> None:
    eventually(lambda: served.texts("okapi") != [])
    before = served.processes()
    victims = [child.pid for child in psutil.Process(served.child.pid).children()]
    assert len(victims) == 3 and len(served.answering()) == 2
    for victim in victims:
        os.kill(victim, signal.SIGKILL)
    eventually(lambda: len(served.processes()) == len(before) and not set(victims) & set(served.processes()))
    eventually(served.answers)
    assert served.texts("okapi")


def is_replaced(served: Served, victim: int) -> bool:
    there = served.answering()
    return len(there) == 2 and victim not in there


def rounds_of_kills(served: Served, rounds: int) -> None:
    """A process that answers is killed at some moment of clients' searches: each is answered rightly or its connection
    is cut, and the next is answered by the process that is left or by the new one."""
    eventually(lambda: served.texts("okapi") != [])
    right, rng, stop, wrong = served.texts("okapi"), random.Random(7), threading.Event(), list[object]()
    cut = answered = 0

    def client() -> None:
        nonlocal cut, answered
        while not stop.wait(rng.random() / 10):
            try:
                found = served.texts("okapi")
            except urllib.error.HTTPError as error:
                wrong.append(error.code)
            except (OSError, http.client.HTTPException):
                cut += 1
            else:
                answered += 1
                wrong.extend([] if found == right else [found])

    clients = [threading.Thread(target=client) for _ in range(3)]
    for thread in clients:
        thread.start()
    try:
        for _ in range(rounds):
            victim = rng.choice(served.answering())
            started = psutil.Process(victim).create_time()
            stop.wait(max(0.0, started + QUICK_END_SECONDS + rng.random() - time.time()))  # else its next start waits
            before = answered
            os.kill(victim, signal.SIGKILL)
            eventually(partial(is_replaced, served, victim))
            eventually(lambda least=before + 3: answered > least or bool(wrong))  # type: ignore[misc]
            assert not wrong
    finally:
        stop.set()
        for thread in clients:
            thread.join()
    print(f"{rounds} kills: {answered} answers, {cut} connections cut")
    assert not wrong and served.texts("okapi") == right


def test_an_answering_process_that_is_killed_takes_no_other_request_with_it(served: Served) -> None:
    rounds_of_kills(served, 1)


@pytest.mark.stress
@pytest.mark.parametrize("rounds", [50, 200])
def test_many_kills_of_answering_processes_give_no_wrong_answer(served: Served, rounds: int) -> None:
    rounds_of_kills(served, rounds)


def test_no_process_outlives_the_first(served: Served) -> None:
    below = served.processes()
    served.child.kill()
    served.child.wait()
    eventually(lambda: not any(Path(f"/proc/{pid}").exists() for pid in below))


# In place of the extra `traces`: appends the name of each span to a file.
EXPORTER = """
import os

from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult


class OTLPSpanExporter(SpanExporter):
    def export(self, spans):
        with open(os.environ["SPANS"], "a") as file:
            file.writelines(f"{span.name}\\n" for span in spans)
        return SpanExportResult.SUCCESS
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopped_processes_close_their_parts_and_send_the_spans_that_wait(
    server: Server, tmp_path: Path, notes: Repo, number: signal.Signals
) -> None:
    module = tmp_path / "extra/opentelemetry/exporter/otlp/proto/http/trace_exporter.py"
    module.parent.mkdir(parents=True)
    module.write_text(EXPORTER)
    spans = tmp_path / "spans"
    variables = {
        "PYTHONPATH": os.pathsep.join((str(SOURCE), str(tmp_path / "extra"))), "SPANS": str(spans),
        "OTEL_BSP_SCHEDULE_DELAY": "3600000",  # milliseconds: spans wait until the processes end
    }  # fmt: skip
    with serving(server, tmp_path, notes, "traces = true\n", variables) as served:
        eventually(lambda: served.texts("okapi") != [])
        assert not spans.exists()
        for pid in served.answering() if number is signal.SIGINT else ():  # a terminal signals the whole group
            os.kill(pid, number)
        served.child.send_signal(number)
        assert served.child.wait(timeout=PATIENCE) == 0
    rows = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert [row["event"] for row in rows].count("closed") == 3, rows
    assert {"gitmem.search", "gitmem.fetch"} <= set(spans.read_text().splitlines())


def test_the_body_of_an_answer_does_not_wait_for_its_head_to_be_acknowledged(tmp_path: Path) -> None:
    with listening(Settings(tmp_path, port=0)) as opened:
        opened.setblocking(True)
        with socket.create_connection(opened.getsockname()), opened.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_that_is_taken_is_one_sentence(served: Served, server: Server, tmp_path: Path) -> None:
    env = {"GITMEM_SECRET": "s" * 40, "GITMEM_DATABASE_URL": server.owner_url.replace("postgres:@", "gitmem_server:@")}
    done = Repo(tmp_path / "any", init=False).mem(
        "server", "--config", str(tmp_path / "server.toml"), "run", check=False, env=env
    )
    assert done.returncode and "cannot be listened at" in done.stderr
