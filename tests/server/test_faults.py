"""Faults: no wrong answer, none of another tenant, no job lost, repaired without hands."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitmem.errors import IndexUnusable
from gitmem.server.postgres.database import Database
from tests.harness import Repo
from tests.server.conftest import HOOK_SECRET, Server

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


def test_a_pool_that_is_exhausted_is_said_and_passes(owner_url: str) -> None:
    database = Database(owner_url.replace("postgres:@", "gitmem_server:@"), most=1, wait=0.3)
    try:
        with database.anyone(), pytest.raises(IndexUnusable, match="busy"):
            database.call("SELECT 1")
        assert database.call("SELECT 1") == [(1,)]
    finally:
        database.close()


def test_a_statement_that_takes_too_long_ends(owner_url: str) -> None:
    database = Database(owner_url.replace("postgres:@", "gitmem_server:@"), most=1)
    try:
        with pytest.raises(IndexUnusable, match="does not answer"), database.anyone() as connection:
            connection.execute("SET LOCAL statement_timeout = '50ms'")
            connection.execute("SELECT pg_sleep(60)")
        assert database.call("SELECT 1") == [(1,)]
    finally:
        database.close()
