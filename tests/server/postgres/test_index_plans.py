"""What PostgreSQL reads for a tenant that it has no statistics of yet, counted in blocks."""

from __future__ import annotations

from typing import Any

import psycopg

from gitmem.server.postgres.index import norms_of
from tests.server.conftest import Server

FETCHED = "SELECT sum(pg_stat_get_xact_blocks_fetched(oid)) FROM pg_class"


def fill(connection: psycopg.Connection[Any], tenant: int, chunks: int) -> None:
    """Blobs of one chunk each, as rows alone."""
    connection.execute("SET LOCAL session_replication_role = replica")  # without the blobs that they name
    connection.execute(
        "INSERT INTO chunk (tenant, id, hash, norm, record)"
        " SELECT %s, n, decode(lpad(to_hex(n), 40, '0'), 'hex'), n %% 100, '' FROM generate_series(1, %s) AS n",
        (tenant, chunks),
    )
    connection.execute(
        "INSERT INTO place (tenant, blob, ordinal, chunk, first, last, heading)"
        " SELECT %s, n, 0, n, 1, 1, 0 FROM generate_series(1, %s) AS n",
        (tenant, chunks),
    )


def test_the_norms_of_a_new_tenant_are_read_in_proportion_to_its_chunks(server: Server) -> None:
    connection = server.owner._connection
    new = 900_100
    with connection.transaction(force_rollback=True):
        for tenant in range(900_000, 900_080):  # some in the partition of the new one
            fill(connection, tenant, 200)
        connection.execute("ANALYZE chunk, place")
        fill(connection, new, 2000)
        [(before,)] = connection.execute(FETCHED).fetchall()
        norms = norms_of(connection, new, range(1, 2001))
        [(after,)] = connection.execute(FETCHED).fetchall()
    assert norms == {n: n % 100 for n in range(1, 2001)}
    assert after - before < 10 * 2000
