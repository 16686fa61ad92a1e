"""What PostgreSQL's own tools make of the database: a streaming replica that searches are read from, a copy of the whole
cluster, and a dump."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gitmem.errors import IndexUnusable
from gitmem.search.search import Query
from gitmem.server.administration import Administration, administration
from gitmem.server.embedded_postgres import engine_of, start
from gitmem.server.postgres.database import migrate
from gitmem.server.settings import Settings
from gitmem.server.startup import Running
from tests.harness import Repo
from tests.server.conftest import NOW

MEMORY = "# Memory\n\n- The okapi eats leaves\n- 기린은 키가 크다\n"


@dataclass
class Cluster:
    """A PostgreSQL of the test's own, with a tenant and its repository, and a server over it."""

    engine: Any
    folder: Path
    settings: Settings
    owner: Administration
    stack: ExitStack
    tenant: int = 0

    @property
    def url(self) -> str:
        return str(self.engine.get_uri())

    def tool(self, name: str, *arguments: str) -> None:
        """One of PostgreSQL's programs, as the user that the cluster belongs to."""
        command = [str(self.engine.bin_path / name), *arguments]
        subprocess.run(command, check=True, user=self.engine.system_user, stdout=subprocess.DEVNULL)

    def started(self, folder: Path) -> str:
        """The server's address of a copy of the cluster, started; it ends with the test."""
        socket = folder.with_name(f"{folder.name}-socket")  # not in it: the lock of the first one's was copied
        socket.mkdir()
        socket.chmod(0o777)
        options = f"-k {socket} -h ''"
        self.tool("pg_ctl", "-w", "-D", str(folder), "-o", options, "-l", str(folder / "log"), "start")
        self.stack.callback(self.stopped, folder)
        return f"postgresql://gitmem_server:@/postgres?host={socket}"

    def stopped(self, folder: Path) -> None:
        with suppress(subprocess.CalledProcessError):
            self.tool("pg_ctl", "-D", str(folder), "-m", "immediate", "stop")

    def server(self, **secrets: str) -> Running:
        held = {**self.settings.secrets, **secrets}
        return self.stack.enter_context(closing(Running(replace(self.settings, secrets=held))))

    def answer(self, running: Running, query: str) -> list[tuple[str, int, str]]:
        answer, _ = running.operations.shared.search(self.tenant, None, Query(query), NOW)
        return [(hit.path, hit.start_line, hit.text) for hit in answer.hits]


class closing:
    def __init__(self, running: Running) -> None:
        self.running = running

    def __enter__(self) -> Running:
        return self.running

    def __exit__(self, *_: object) -> None:
        self.running.close()


def work(running: Running) -> None:
    while running.workers[0].once():
        pass


@pytest.fixture
def cluster(tmp_path: Path, isolated: Path) -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="gmc"))
    folder.chmod(0o777)
    engine = engine_of(folder / "pg")
    start(engine)
    url = engine.get_uri()
    migrate(url)
    secrets = {"DATABASE_URL": url.replace("postgres:@", "gitmem_server:@"), "SECRET": "s" * 40}
    settings = Settings(tmp_path / "state", connections=3, poll_minutes=0, secrets=secrets)
    notes = Repo(tmp_path / "notes")
    notes.commit("memory", {"MEMORY.md": MEMORY})
    try:
        with ExitStack() as stack, administration(url) as owner:
            made = Cluster(engine, folder, settings, owner, stack)
            made.tenant = owner.tenant("acme", make=True)
            owner.add_repository(made.tenant, "notes", str(notes.path))
            yield made
    finally:
        engine.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def eventually(true: Callable[[], bool]) -> None:
    for _ in range(1200):
        if true():
            return
        threading.Event().wait(0.05)
    raise AssertionError("it never came to be")


def is_caught_up(cluster: Cluster, replica: str) -> bool:
    (written,) = cluster.owner._connection.execute("SELECT pg_current_wal_lsn()::text").fetchone() or ("",)
    with psycopg.connect(replica.replace("gitmem_server:@", "postgres:@")) as connection:
        row = connection.execute("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", (written,)).fetchone()
    return row == (True,)


def test_searches_are_read_from_a_streaming_replica_and_all_else_from_the_first(
    cluster: Cluster, tmp_path: Path
) -> None:
    place = cluster.folder / "replica"
    cluster.tool("pg_basebackup", "-R", "-X", "stream", "-c", "fast", "-D", str(place), "-d", cluster.url)
    replica = cluster.started(place)
    running = cluster.server(READ_DATABASE_URL=replica)
    work(running)
    eventually(lambda: is_caught_up(cluster, replica))
    found = cluster.answer(running, "okapi")
    assert found and found == cluster.answer(cluster.server(), "okapi")
    Repo(tmp_path / "notes", init=False).commit("later", {"MEMORY.md": MEMORY + "- The bongo hides\n"})
    cluster.owner._connection.execute("SELECT put_job(id, 'fetch', '0') FROM repository")
    work(running)
    eventually(lambda: is_caught_up(cluster, replica))
    assert any("bongo" in text for _, _, text in cluster.answer(running, "bongo"))
    cluster.stopped(place)
    with pytest.raises(IndexUnusable):
        cluster.answer(running, "bongo")
    either = f"{replica},{cluster.folder / 'pg'}&port=5432,5432"
    other = cluster.server(READ_DATABASE_URL=either)  # libpq takes the next one where the replica is away
    assert any("bongo" in text for _, _, text in cluster.answer(other, "bongo"))


def test_a_copy_of_the_cluster_and_a_dump_give_the_same_answers(cluster: Cluster) -> None:
    running = cluster.server()
    work(running)
    found = cluster.answer(running, "okapi")
    place = cluster.folder / "copy"
    cluster.tool("pg_basebackup", "-X", "stream", "-c", "fast", "-D", str(place), "-d", cluster.url)
    assert found and cluster.answer(cluster.server(DATABASE_URL=cluster.started(place)), "okapi") == found
    dump = str(cluster.folder / "dump")
    cluster.tool("pg_dump", "-Fc", "-f", dump, cluster.url)
    assert b"okapi" not in Path(dump).read_bytes()
    cluster.owner._connection.execute("CREATE DATABASE restored")
    restored = cluster.url.replace("/postgres?", "/restored?")
    cluster.tool("pg_restore", "-d", restored, dump)
    server = cluster.server(DATABASE_URL=restored.replace("postgres:@", "gitmem_server:@"))
    assert cluster.answer(server, "okapi") == found
    with administration(restored) as owner:
        assert owner.forget_index(owner.tenant("acme")) == 1
    assert cluster.answer(server, "okapi") == []
    work(server)
    assert cluster.answer(server, "okapi") == found
