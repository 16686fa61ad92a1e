"""The approximate index of a large tenant: asked where it is, of this tenant alone, and kept up by an ingest."""

from __future__ import annotations

import random
from array import array
from pathlib import Path

import pytest

from gitmem.errors import UsageError
from gitmem.index.db.values import bits, int8
from gitmem.models.static_embedder import StaticEmbedder
from gitmem.search.search import Lane, Query
from gitmem.server.postgres import hnsw
from gitmem.server.postgres.index import PostgresIndex, vector_columns
from tests.harness import Repo
from tests.server.conftest import NOW, Server

TEXT = (
    "deploy window queue webhook retry payment refund invoice customer vault secret rotation port address timeout cache"
    " index search branch merge review release note team office travel budget lunch garden river mountain"
)
WORDS = TEXT.split()


@pytest.fixture
def notes(tmp_path: Path) -> Repo:
    rng = random.Random(3)
    repo = Repo(tmp_path / "notes")
    files = {f"memory/n{n}.md": f"# N{n}\n\n- {' '.join(rng.choices(WORDS, k=12))} {n}\n" for n in range(900)}
    repo.commit("memory", files)
    return repo


def places(server: Server, query: str) -> list[tuple[str, int]]:
    asked = Query(query, lane=Lane.VECTOR)
    answer, _ = server.running.operations.shared.search(server.numbers["acme"], None, asked, NOW)
    return [(hit.path, hit.start_line) for hit in answer.hits[:5]]


def plan(server: Server) -> str:
    """How the statement of a search would run."""
    vector = array("f", [random.Random(1).gauss(0, 1) for _ in range(256)]).tobytes()
    signs, numbers = vector_columns(bits(vector), int8(vector))
    with server.running.database.tenant(server.numbers["acme"]) as connection:
        connection.execute(hnsw.SETTINGS, ("560", "off"))
        rows = connection.execute(
            "EXPLAIN " + hnsw.statement(server.numbers["acme"], 1, 256),
            (numbers, 1000, b"\0" + b"\1" * 999, signs, 560, 28),
        ).fetchall()
    return "\n".join(row for (row,) in rows)


def test_a_large_tenant_is_answered_by_its_index_much_as_by_a_scan(server: Server, notes: Repo) -> None:
    number = server.add("acme", "notes", notes)
    tenant, shared = server.enter("acme"), server.running.operations.shared
    questions = [" ".join(random.Random(n).choices(WORDS, k=3)) for n in range(20)]
    exact = [places(server, question) for question in questions]
    name = hnsw.make(server.owner._connection, tenant)
    assert hnsw.make(server.owner._connection, tenant) == name
    assert name in plan(server)
    assert [places(server, question) for question in questions] == exact  # it is too small
    shared.approximate_from = 100
    found = [places(server, question) for question in questions]
    assert sum(first == second for first, second in zip(exact, found, strict=True)) >= 16
    # What comes later is in it too, and what is gone is not shown.
    notes.commit("later", {"memory/zebra.md": "# Zebra\n\n- the zebra has stripes\n"})
    server.running.operations.ingest.fetch(tenant, number)
    assert places(server, "zebra stripes")[0] == ("memory/zebra.md", 3)
    notes.git("rm", "-q", "memory/zebra.md")
    notes.commit("gone", {})
    server.running.operations.ingest.fetch(tenant, number)
    assert ("memory/zebra.md", 3) not in places(server, "zebra stripes")
    assert server.owner.approximate(tenant, drop=True) == 1 and server.owner.approximate(tenant, drop=True) == 0
    assert places(server, questions[0]) == exact[0]


def test_a_tenant_without_vectors_has_no_index(server: Server) -> None:
    with pytest.raises(UsageError, match="no vectors yet"):
        server.owner.approximate(server.enter("acme"))


def test_cosines_of_chunks_are_those_of_the_nearest(server: Server, notes: Repo) -> None:
    server.add("acme", "notes", notes)
    tenant, shared = server.enter("acme"), server.running.operations.shared
    index = PostgresIndex(shared.readers, tenant, shared._keyring.of(tenant), shared._state / "index")
    try:
        asked = StaticEmbedder().embed_query("webhook retry payment")
        nearest = index.nearest(asked, b"\0" + b"\1" * 900, 20)
        assert index.cosines(asked, [*(chunk for chunk, _ in nearest), 5000]) == pytest.approx(dict(nearest))
        assert index.cosines(bytes(1024), [1]) == {} == index.cosines(asked, []) == index.cosines(asked[:8], [1])
    finally:
        index.close()
