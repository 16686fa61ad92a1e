"""Faults: no wrong answer, none of another tenant, no job lost, repaired without hands."""

from __future__ import annotations

import random
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from starlette.testclient import TestClient

from gitmem.errors import GitFailed, IndexUnusable, NotARepository
from gitmem.search.search import Query
from gitmem.server.administration import administration
from gitmem.server.embedded_postgres import engine_of, start
from gitmem.server.postgres.database import Database, migrate, migrations
from gitmem.server.settings import Settings
from gitmem.server.startup import Running
from gitmem.server.worker import Worker
from tests.harness import SOURCE, Repo
from tests.server.conftest import HOOK_SECRET, NOW, Server

LINES = "".join(f"- fact {n}: the okapi number {n} eats leaf {n * 7}\n" for n in range(40))
SECRETS = {"SECRET": "s" * 40, "HOOK_SECRET": HOOK_SECRET}


@pytest.fixture
def notes(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "notes")
    repo.commit("memory", {f"memory/note-{n}.md": f"# Note {n}\n\n{LINES}" for n in range(6)})
    return repo


def texts(server: Server, query: str) -> list[str]:
    return [hit["text"] for hit in server.search("acme read", query)["hits"]]


def later(server: Server) -> None:
    """The waits of the queue are over, and whoever held a job is lost."""
    server.owner._connection.execute("UPDATE job SET taken = now() - interval '1 hour', due = now()")


@pytest.mark.parametrize("damage", ["truncated pack", "missing pack", "empty objects", "broken ref", "no HEAD"])
def test_a_damaged_mirror_is_made_anew(server: Server, notes: Repo, damage: str) -> None:
    number = server.add("acme", "notes", notes)
    before = texts(server, "okapi number 17")
    mirror = server.running.mirrors.place(server.numbers["acme"], number)
    server.running.mirrors.close()
    match damage:
        case "truncated pack":
            for pack in mirror.rglob("*.pack"):
                pack.chmod(0o600)
                pack.write_bytes(pack.read_bytes()[:200])
            assert list(mirror.rglob("*.pack")) and not list(mirror.glob("objects/??/*"))
        case "missing pack" | "empty objects":
            shutil.rmtree(mirror / "objects")
            if damage == "empty objects":
                (mirror / "objects").mkdir()
        case "broken ref":
            (mirror / "packed-refs").unlink(missing_ok=True)
            (mirror / "refs/heads").mkdir(parents=True, exist_ok=True)
            (mirror / "refs/heads/main").write_text("f" * 40 + "\n")
        case "no HEAD":
            (mirror / "HEAD").unlink()
    for text in texts(server, "okapi number 17"):  # fewer perhaps, never another
        assert text in before
    if damage in ("broken ref", "no HEAD"):  # which a search reads nothing of
        server.owner._connection.execute("SELECT put_job(%s, 'fetch', '0')", (number,))
    server.work()
    assert server.owner.jobs() == []
    assert texts(server, "okapi number 17") == before


FULL = """
import resource, sys
from pathlib import Path
from gitmem.server.settings import Settings
from gitmem.server.startup import Running
running = Running(Settings(Path(sys.argv[1]), poll_minutes=0,
                           secrets={"DATABASE_URL": sys.argv[2], "SECRET": "s" * 40}))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
while running.workers[0].once():
    pass
"""


@pytest.mark.parametrize("whole", [True, False], ids=["the remote answers", "the remote is gone"])
def test_searches_that_miss_a_file_put_one_job_into_the_queue(server: Server, notes: Repo, whole: bool) -> None:
    number = server.add("acme", "notes", notes)
    objects = server.running.mirrors.place(server.numbers["acme"], number) / "objects"
    aside = notes.path.with_name("aside")

    def damage() -> None:
        server.running.mirrors.close()
        shutil.rmtree(objects)
        objects.mkdir()

    damage()
    if not whole:
        notes.path.rename(aside)
    for _ in range(3):
        texts(server, "okapi number 17")
    (waiting,) = server.owner.jobs()
    assert waiting["kind"] == "fetch"
    server.work()
    if whole:
        assert server.owner.jobs() == [] and texts(server, "okapi number 17")
        damage()
        texts(server, "okapi number 17")  # it was looked at just now
        assert server.owner.jobs() == []
    else:
        server.running.operations.shared.doubt_seconds = 0.0
        (failed,) = server.owner.jobs()
        texts(server, "okapi number 17")
        assert server.owner.jobs() == [failed]  # with its wait


def test_lines_of_a_copy_that_is_gone_are_away_until_it_is_made_anew(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    asked = {"repository": "notes", "path": "memory/note-1.md"}
    assert server.ask("acme read", "GET", "/v1/lines", params=asked).status_code == 200
    server.running.mirrors.remove(server.numbers["acme"], number)
    answer = server.ask("acme read", "GET", "/v1/lines", params=asked)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    context = server.ask("acme read", "POST", "/v1/context", json={"prompt": "okapi", "repository": ["notes"]})
    assert context.status_code == 503
    server.work()
    assert server.ask("acme read", "GET", "/v1/lines", params=asked).status_code == 200


def test_what_fails_because_a_copy_was_removed_meanwhile_is_said_so(server: Server, notes: Repo) -> None:
    tenant, number = server.numbers["acme"], server.add("acme", "notes", notes)
    with pytest.raises(NotARepository, match="no copy"), server.running.mirrors.lent(tenant, number):
        server.running.mirrors.remove(tenant, number)
        raise GitFailed("cannot be read", "")
    with pytest.raises(NotARepository, match="no copy"), server.running.mirrors.lent(tenant, number):
        pass


def test_a_search_as_of_a_day_adds_nothing_of_a_repository_that_is_taken_out(server: Server, notes: Repo) -> None:
    old = notes.git("rev-parse", "HEAD").strip()
    notes.commit("later", {"MEMORY.md": "# Memory\n\n- The ibex climbs\n"})
    number = server.add("acme", "notes", notes)
    tenant, ingest = server.numbers["acme"], server.running.operations.ingest
    writer = ingest._writer(tenant)
    with writer.writing():  # as `remove` does before the copy goes
        writer.put_refs(number, {})
        writer.forget(number)
        writer.prune()
    with pytest.raises(NotARepository):
        ingest.as_of(tenant, number, old, NOW)
    ingest.remove(tenant, number)
    assert server.owner._connection.execute("SELECT count(*) FROM blob WHERE tenant = %s", (tenant,)).fetchone() == (0,)


def test_a_copy_goes_at_once_and_after_a_removal_that_was_cut_off(server: Server, notes: Repo) -> None:
    number, tenant = server.add("acme", "notes", notes), server.numbers["acme"]
    mirrors = server.running.mirrors
    place = mirrors.place(tenant, number)
    shutil.copytree(place, place.with_name(f"{place.name}.removed"))
    mirrors.remove(tenant, number)
    assert [other.name for other in place.parent.iterdir() if other.name.startswith(str(number))] == []


def test_searches_beside_a_removal_are_answered(server: Server, notes: Repo, tmp_path: Path) -> None:
    old = notes.git("rev-parse", "HEAD").strip()
    notes.commit("later", {"memory/2026-02-03.md": f"# 2026-02-03\n\n{LINES}"})
    tenant, stop, statuses = server.numbers["acme"], threading.Event(), []
    asked: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/v1/search", {"json": {"query": QUERY}}),
        ("POST", "/v1/search", {"json": {"query": QUERY, "since": "2026-01-01"}}),
        ("POST", "/v1/search", {"json": {"query": QUERY, "repository": "notes", "at": old}}),
        ("POST", "/v1/context", {"json": {"prompt": QUERY, "repository": ["notes"]}}),
        ("GET", "/v1/lines", {"params": {"repository": "notes", "path": "memory/note-1.md"}}),
    ]

    def searches() -> None:
        while not stop.is_set():
            for method, address, given in asked:
                answer = server.ask("acme read", method, address, **given)
                statuses.append((address, answer.status_code, answer.text if answer.status_code >= 500 else ""))

    thread = threading.Thread(target=searches)
    thread.start()
    try:
        for _ in range(6):
            number = server.add("acme", "notes", notes)
            server.running.operations.ingest.remove(tenant, number)
    finally:
        stop.set()
        thread.join()
    assert {status for _, status, _ in statuses} <= {200, 400, 429, 503}, [row for row in statuses if row[1] == 500]
    rows = server.owner._connection.execute("SELECT count(*) FROM blob WHERE tenant = %s", (tenant,)).fetchone()
    assert rows == (0,)


def test_a_full_disk_loses_no_job(server: Server, tmp_path: Path) -> None:
    """No file of the server's may grow past some bytes, as on a disk that is full."""
    rng = random.Random(1)
    repo = Repo(tmp_path / "large")
    files = {
        f"memory/n{n}.md": f"# N{n}\n\n" + "".join(f"- {rng.randbytes(20).hex()}\n" for _ in range(400))
        for n in range(9)
    }
    repo.commit("memory", {**files, "MEMORY.md": "# Memory\n\n- The okapi eats leaves\n"})
    server.owner.add_repository(server.enter("acme"), "large", str(repo.path))
    url = server.owner_url.replace("postgres:@", "gitmem_server:@")
    subprocess.run(
        [sys.executable, "-c", FULL, str(server.running.settings.state), url, "8192"],
        cwd=SOURCE, capture_output=True, check=False,
    )  # fmt: skip
    (job,) = server.owner.jobs()
    assert job["state"] in ("ready", "taken")
    assert server.search("acme read", "okapi")["hits"] == []
    later(server)
    server.work()
    assert server.owner.jobs() == [] and texts(server, "okapi")


@pytest.mark.parametrize(
    "moment", ["taken = now() + interval '2 days', state = 'taken'", "due = now() + interval '2 days'"]
)
def test_a_clock_that_ran_ahead_holds_no_job_back(server: Server, notes: Repo, moment: str) -> None:
    """As rows say that were written while the database's clock was two days ahead."""
    server.owner.add_repository(server.enter("acme"), "notes", str(notes.path))
    server.owner._connection.execute(f"UPDATE job SET {moment}")
    server.work()
    assert server.owner.jobs() == [] and texts(server, "okapi number 17")


def test_a_clock_that_ran_ahead_is_polled_past_and_no_age_is_negative(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    connection = server.owner._connection
    with connection.transaction(force_rollback=True):
        connection.execute("UPDATE repository SET fetched = now() + interval '2 days'")
        assert connection.execute("SELECT oldest FROM freshness()").fetchone() == (0.0,)
    connection.execute("UPDATE repository SET fetched = now() + interval '2 days' WHERE id = %s", (number,))
    worker = Worker(server.running.writers, server.running.operations.ingest, poll_minutes=1)
    worker.put_due()
    assert [job["repository"] for job in server.owner.jobs() if job["repository"] == number] == [number]
    connection.execute("UPDATE job SET due = now() + interval '1 minute'")
    assert all(age == timedelta(0) for _, _, age in server.running.database.call("SELECT * FROM queue()"))
    connection.execute("DELETE FROM job")
    connection.execute("UPDATE repository SET fetched = now() WHERE id = %s", (number,))


def test_a_migration_that_waits_for_a_table_lets_searches_pass(
    server: Server, notes: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("acme", "notes", notes)
    steps = [*migrations(), (len(migrations()) + 1, "tried", "ALTER TABLE repository ADD COLUMN tried integer")]
    monkeypatch.setattr("gitmem.server.postgres.database.migrations", lambda: steps)
    owner, run = server.owner._connection, list[str]()
    thread = threading.Thread(target=lambda: run.extend(migrate(server.owner_url)))
    try:
        with psycopg.connect(server.owner_url) as reading:
            reading.execute("SELECT count(*) FROM repository")  # and holds the table until its transaction ends
            thread.start()
            while (
                owner.execute("SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'relation'").fetchone() is None
            ):
                threading.Event().wait(0.005)
            assert texts(server, "okapi number 17")
            assert run == []
        thread.join()
        assert run == ["tried"]
    finally:
        owner.execute("ALTER TABLE repository DROP COLUMN IF EXISTS tried")
        owner.execute("DELETE FROM migration WHERE name = 'tried'")


def test_a_pool_that_is_exhausted_is_said_and_passes(owner_url: str) -> None:
    database = Database(owner_url.replace("postgres:@", "gitmem_server:@"), connections=1, wait=0.3)
    try:
        with database.anyone(), pytest.raises(IndexUnusable, match="busy"):
            database.call("SELECT 1")
        assert database.call("SELECT 1") == [(1,)]
    finally:
        database.close()


def test_a_statement_that_takes_too_long_ends(owner_url: str) -> None:
    database = Database(owner_url.replace("postgres:@", "gitmem_server:@"), connections=1)
    try:
        with pytest.raises(IndexUnusable, match="does not answer"), database.anyone() as connection:
            connection.execute("SET LOCAL statement_timeout = '50ms'")
            connection.execute("SELECT pg_sleep(60)")
        assert database.call("SELECT 1") == [(1,)]
    finally:
        database.close()


class Proxy:
    """Between the server and the database; `cut` drops what goes through it."""

    def __init__(self, target: str, folder: Path) -> None:
        self.target = target
        self.open: set[socket.socket] = set()
        self.listening = socket.socket(socket.AF_UNIX)
        self.listening.bind(str(folder / ".s.PGSQL.5432"))
        self.listening.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.target)
            self.open |= {near, far}
            threading.Thread(target=self.pump, args=(near, far), daemon=True).start()

    def pump(self, near: socket.socket, far: socket.socket) -> None:
        with selectors.DefaultSelector() as ready, near, far:
            ready.register(near, selectors.EVENT_READ, far)
            ready.register(far, selectors.EVENT_READ, near)
            try:
                while True:
                    for key, _ in ready.select():
                        assert isinstance(key.fileobj, socket.socket)
                        data = key.fileobj.recv(1 << 16)
                        if not data:
                            return
                        key.data.sendall(data)
            except OSError:
                return

    def cut(self) -> None:
        """Every connection is gone, in whatever it was at."""
        for one in list(self.open):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.open.clear()


@pytest.fixture
def proxied(server: Server, tmp_path: Path) -> Iterator[tuple[Server, Proxy]]:
    """The same server, its database behind a proxy."""
    folder = Path(tempfile.mkdtemp(prefix="gmp"))
    host = str(conninfo_to_dict(server.owner_url)["host"])
    proxy = Proxy(next(str(path) for path in Path(host).glob(".s.PGSQL.*") if path.suffix != ".lock"), folder)
    url = server.owner_url.replace("postgres:@", "gitmem_server:@").replace(host, str(folder))
    running = Running(
        Settings(
            tmp_path / "proxied", port=8470, connections=3, poll_minutes=0, secrets={**SECRETS, "DATABASE_URL": url}
        )
    )
    server.running = running
    server.client = TestClient(running.application(), base_url="http://127.0.0.1:8470")
    yield server, proxy
    proxy.cut()
    running.close()
    proxy.listening.close()
    shutil.rmtree(folder)


def test_a_network_that_drops_gives_the_right_answer_or_none(proxied: tuple[Server, Proxy], notes: Repo) -> None:
    server, proxy = proxied
    server.add("acme", "notes", notes)
    right = server.search("acme read", "okapi number 17")
    rng, stop = random.Random(5), threading.Event()

    def dropping() -> None:
        while not stop.wait(rng.random() / 5):
            proxy.cut()

    thread = threading.Thread(target=dropping)
    thread.start()
    statuses = []
    try:
        for _ in range(40):
            answer = server.ask("acme read", "POST", "/v1/search", json={"query": "okapi number 17"})
            statuses.append(answer.status_code)
            assert answer.status_code in (200, 503), answer.text
            assert answer.status_code == 503 or answer.json() == right
    finally:
        stop.set()
        thread.join()
    assert server.ask("acme read", "POST", "/v1/search", json={"query": "okapi"}).status_code in (200, 503)
    assert server.search("acme read", "okapi number 17") == right
    assert 503 in statuses


def test_a_network_that_drops_loses_no_job(proxied: tuple[Server, Proxy], notes: Repo) -> None:
    server, proxy = proxied
    server.owner.add_repository(server.enter("acme"), "notes", str(notes.path))
    worker = server.running.workers[0]
    thread = threading.Thread(target=worker.run, daemon=True)
    thread.start()
    for _ in range(8):
        proxy.cut()
        threading.Event().wait(0.05)
    worker.stop()
    thread.join(timeout=60)
    assert not thread.is_alive()
    later(server)
    with suppress(IndexUnusable):  # of a connection that was cut while it waited; `run` tries again after it
        server.work()
    server.work()
    assert server.ask("acme read", "POST", "/v1/search", json={"query": "okapi"}).status_code in (200, 503)  # cut too
    assert server.owner.jobs() == [] and texts(server, "okapi number 17")
    assert not any(server.owner.audit(server.enter("acme"), "notes")["unreachable"].values())


class Own:
    """A PostgreSQL of the test's own, which it may kill, with one tenant; every answer is held to the first one."""

    def __init__(self, folder: Path, repo: Repo, state: Path) -> None:
        self.engine: Any = engine_of(folder)
        start(self.engine)
        self.folder, self.state, self.repo = folder, state, repo
        self.url = self.engine.get_uri()
        migrate(self.url)
        with administration(self.url) as owner:
            self.tenant = owner.tenant("acme", make=True)
            self.repository = owner.add_repository(self.tenant, "notes", str(repo.path))
        server = self.url.replace("postgres:@", "gitmem_server:@")
        self.command = [sys.executable, "-c", LOOP, str(state), server]
        self.running = Running(
            Settings(state, connections=3, poll_minutes=0, secrets={**SECRETS, "DATABASE_URL": server})
        )

    def kill_database(self) -> None:
        """Every process of it, at once, and start it again."""
        first = psutil.Process(int((self.folder / "postmaster.pid").read_text().split()[0]))
        killed = [first, *first.children(recursive=True)]
        for process in killed:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs(killed)
        start(self.engine)

    def search(self, query: str) -> list[tuple[str, int, str]] | None:
        """The answer; None where the database is away."""
        try:
            answer, _ = self.running.operations.shared.search(self.tenant, None, Query(query), NOW)
        except IndexUnusable:
            return None
        return [(hit.path, hit.start_line, hit.text) for hit in answer.hits]

    def settled(self, query: str) -> list[tuple[str, int, str]]:
        """Once what was interrupted is done by another worker: the answer, with nothing left over in the tables."""
        while True:
            with suppress(IndexUnusable, psycopg.Error), administration(self.url) as owner:
                owner._connection.execute("UPDATE job SET taken = now() - interval '1 hour', due = now()")
                while self.running.workers[0].once():
                    pass
                if owner.jobs():
                    continue
                owner.tenant("acme")
                assert not any(owner.audit(self.tenant, "notes")["unreachable"].values())
                found = self.search(query)
                if found is not None:
                    return found

    def chosen(self, number: int) -> list[int]:
        """The files of a turn."""
        return random.Random(number).sample(range(40), 20)

    def turns(self) -> set[str]:
        """The lines of turns that are found."""
        answer, _ = self.running.operations.shared.search(self.tenant, None, Query("turn", limit=200), NOW)
        return {line for hit in answer.hits for line in hit.text.splitlines() if line.startswith("- turn")}

    def rebuild(self) -> None:
        """Have the index made anew."""
        with administration(self.url) as owner:
            assert owner.forget_index(owner.tenant("acme")) == 1

    def turn(self, number: int) -> None:
        """Change the repository, and put a fetch into the queue."""
        files = {f"memory/note-{n}.md": f"# Note {n}\n\n{LINES}" for n in range(6)}
        files |= {f"memory/turn-{n}.md": f"# Turn {n}\n\n- turn {n} of {number}\n" for n in self.chosen(number)}
        self.repo.git("rm", "-rqf", "memory")
        self.repo.commit("turn", files)
        with administration(self.url) as owner:
            owner.tenant("acme")
            owner._connection.execute("SELECT put_job(%s, 'fetch', '0')", (self.repository,))


LOOP = """
import sys
from pathlib import Path
from gitmem.server.settings import Settings
from gitmem.server.startup import Running
running = Running(Settings(Path(sys.argv[1]), poll_minutes=0,
                           secrets={"DATABASE_URL": sys.argv[2], "SECRET": "s" * 40}))
print("ready", flush=True)
running.workers[0].run()
"""
QUERY = "okapi number 17"


@pytest.fixture
def own(notes: Repo, tmp_path: Path) -> Iterator[Own]:
    folder = Path(tempfile.mkdtemp(prefix="gmk"))
    made = Own(folder / "pg", notes, tmp_path / "state")
    try:
        yield made
    finally:
        made.running.close()
        made.engine.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def on_small_disk(notes: Repo, tmp_path: Path) -> Iterator[Own]:
    """The same with PostgreSQL on a disk of its own of 140 MB, which a test fills."""
    folder = Path(tempfile.mkdtemp(prefix="gmd"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=140m,mode=755", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no right to mount a disk")
    made = None
    try:
        made = Own(folder / "pg", notes, tmp_path / "state")
        yield made
    finally:
        if made is not None:
            made.running.close()
            made.engine.cleanup()
        subprocess.run(["umount", "-l", str(folder)], check=False)
        folder.rmdir()


def fill(file: Path, leave: int) -> None:
    """Leave some bytes of a disk."""
    file.write_bytes(b"")
    with file.open("ab", buffering=0) as full:
        while (free := shutil.disk_usage(file.parent).free - leave) > 0:
            full.write(bytes(min(free, 1 << 20)))


@pytest.mark.stress
@pytest.mark.parametrize("leave", [0, 1 << 16, 1 << 20, 4 << 20])
def test_a_full_disk_under_postgresql_gives_the_right_answer_or_none_and_loses_no_job(
    on_small_disk: Own, leave: int
) -> None:
    own, ballast = on_small_disk, on_small_disk.folder.parent / "ballast"
    before, rng = own.settled(QUERY), random.Random(19)
    assert before
    own.turn(0)
    words = [rng.randbytes(2).hex() for _ in range(3000)]
    many = {
        f"memory/large-{n}.md": f"# Large {n}\n\n"
        + "".join(f"- {' '.join(rng.sample(words, 9))}\n" for _ in range(150))
        for n in range(20)
    }
    own.repo.commit("large", many)
    fill(ballast, leave)
    for _ in range(6):
        with suppress(IndexUnusable, psycopg.Error), administration(own.url) as owner:
            owner._connection.execute("UPDATE job SET taken = now() - interval '1 hour', due = now()")
        with suppress(IndexUnusable):  # which `run` waits for
            own.running.workers[0].once()
        assert own.search(QUERY) in (before, None)
    if not leave:
        with administration(own.url) as owner:
            assert [job["state"] for job in owner.jobs()] == ["ready"]  # with its waits
    ballast.unlink()
    start(own.engine)  # it ends where its log has no room
    after = own.settled(QUERY)
    assert own.turns() == {f"- turn {n} of 0" for n in own.chosen(0)}
    own.rebuild()
    assert own.settled(QUERY) == after


def rounds_of_kills(own: Own, rounds: int, victim: str) -> None:
    """A worker indexes a change, and it or the database is killed at some moment of that: what is found then is what
    was before or what is after it, and afterwards the answer is that of a new index."""
    rng = random.Random(19)
    before = own.settled(QUERY)
    assert before
    for number in range(rounds):
        own.turn(number)
        with subprocess.Popen(own.command, cwd=SOURCE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            try:
                assert child.stdout is not None and child.stdout.readline() == b"ready\n"
                threading.Event().wait(rng.random() / 2)  # a moment of the kill, not one that is waited for
                if victim == "database":
                    own.kill_database()
            finally:
                child.kill()
        found, after = own.search(QUERY), own.settled(QUERY)
        assert found in (None, before, after), number
        assert own.turns() == {f"- turn {n} of {number}" for n in own.chosen(number)}
        before = after
    own.rebuild()
    assert own.settled(QUERY) == before


@pytest.mark.parametrize("victim", ["worker", "database"])
def test_what_is_killed_leaves_the_right_answer_or_none(own: Own, victim: str) -> None:
    rounds_of_kills(own, 3, victim)


@pytest.mark.stress
@pytest.mark.parametrize("victim", ["worker", "database"])
def test_fifty_kills_leave_the_right_answer_or_none(own: Own, victim: str) -> None:
    rounds_of_kills(own, 50, victim)
