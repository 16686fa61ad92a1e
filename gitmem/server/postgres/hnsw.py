"""An approximate index of the vectors' signs for one large tenant: pgvector's HNSW, partial, on the tenant's partition.

An administrator makes it. There should be few, because planning a query locks every index of a table. It is built
without blocking writers, and PostgreSQL keeps it up to date. The index has all snapshots: a search continues in it
until it has enough chunks of the searched ones (`hnsw.iterative_scan`).
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from gitmem.errors import UsageError

MIN_CHUNKS = 200_000  # chunks of a tenant from which its index is used; below it an exact scan is fast
MAX_SCANNED_CHUNKS = 200_000  # of one search
MAX_CANDIDATES = 1000  # pgvector's maximum for `hnsw.ef_search`
SETTINGS = (
    "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true),"
    f" set_config('hnsw.max_scan_tuples', '{MAX_SCANNED_CHUNKS}', true), set_config('enable_sort', %s, true)"
)  # with `enable_sort` off the planner uses the index for the order


def name_of(tenant: int, embedder: int, dims: int) -> str:
    """The name of the approximate index for a tenant and an embedder. `dims`: the dimensions of its vectors."""
    return f"chunk_hnsw_{int(tenant)}_{int(embedder)}_{int(dims)}"


def is_there(connection: psycopg.Connection[Any], name: str) -> bool:
    """Whether a database index of this name exists and is complete."""
    row = connection.execute(
        "SELECT indisvalid AND indisready FROM pg_index WHERE indexrelid = to_regclass(%s)", (name,)
    ).fetchone()
    return row is not None and bool(row[0])


def make(connection: psycopg.Connection[Any], tenant: int) -> str:
    """Make the approximate index of a tenant's vectors, unless it is there, and return its name; as the owner of the
    tables, outside a transaction. An incomplete index is made anew. Raises UsageError for a tenant without vectors."""
    row = connection.execute(
        "SELECT chunk.tableoid::regclass::text, embedder.id, dims FROM chunk JOIN embedder"
        " ON embedder.tenant = chunk.tenant AND embedder.id = chunk.embedder"
        " WHERE chunk.tenant = %s AND in_force AND bits IS NOT NULL LIMIT 1",
        (tenant,),
    ).fetchone()
    if row is None:
        raise UsageError("the tenant has no vectors yet", "git mem server jobs")
    partition, embedder, dims = row
    name = name_of(tenant, embedder, dims)
    if not is_there(connection, name):
        connection.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(name)))
        connection.execute(
            sql.SQL(
                "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw ((bits::bit({})) bit_hamming_ops)"
                " WHERE tenant = {} AND embedder = {} AND bits IS NOT NULL"
            ).format(
                sql.Identifier(name), sql.Identifier(partition), *map(sql.Literal, (dims, tenant, embedder)),
            )
        )  # fmt: skip
    return name


def drop(connection: psycopg.Connection[Any], tenant: int) -> int:
    """Drop every approximate index of a tenant, and return their number; as the owner of the tables, outside a
    transaction."""
    rows = connection.execute(
        "SELECT relname FROM pg_class WHERE relkind = 'i' AND relname ~ %s",
        (f"^chunk_hnsw_{int(tenant)}_[0-9]+_[0-9]+$",),
    ).fetchall()
    for (name,) in rows:
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS {}").format(sql.Identifier(name)))
    return len(rows)


def statement(tenant: int, embedder: int, dims: int) -> str:
    """The SQL of a search in the approximate index. Its parameters: vector, length of norms, norms, signs, number of
    candidates, number of results. Its rows: (chunk, cosine), best first. Tenant and embedder are literals, because the
    planner uses a partial index only if it sees that its condition holds."""
    tenant, embedder, dims = int(tenant), int(embedder), int(dims)
    return (
        "SELECT id, 1 - (embedding <=> %s::halfvec) AS cosine FROM (SELECT id, embedding FROM chunk"
        f" WHERE tenant = {tenant} AND embedder = {embedder} AND bits IS NOT NULL"
        " AND CASE WHEN id < %s THEN get_byte(%s, id) > 0 ELSE false END"
        f" ORDER BY bits::bit({dims}) <~> %s::bit({dims}) LIMIT %s) AS near ORDER BY cosine DESC, id LIMIT %s"
    )
