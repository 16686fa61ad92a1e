"""Finds the blobs whose chunks lack vectors of a new embedder, and makes searches use its vectors."""

from __future__ import annotations

from gitmem.index.db.sqlite import Database
from gitmem.index.db.values import CACHE_ONLY, IN_FORCE, vector_id


def blobs_without_vectors(database: Database, embedder_id: int) -> list[str]:
    """The oids of the blobs with a chunk that has no vector of this embedder."""
    rows = database.rows(
        """
        SELECT DISTINCT blob.oid
        FROM chunk JOIN place ON place.chunk = chunk.id JOIN blob ON blob.id = place.blob
        WHERE chunk.id + ? NOT IN (SELECT id FROM code)
        """,
        vector_id(embedder_id, 0),
    )
    return [oid.hex() for (oid,) in rows]


def chunks_of_blob(database: Database, oid: str) -> list[int]:
    """The ids of the chunks of a blob, in order; [] if the blob is not indexed."""
    rows = database.rows(
        "SELECT chunk FROM place WHERE blob = (SELECT id FROM blob WHERE oid = ?) ORDER BY ordinal",
        bytes.fromhex(oid),
    )
    return [chunk for (chunk,) in rows]


def put_in_force(database: Database, embedder_id: int) -> None:
    """Make searches compare this embedder's vectors. Those of others stay as a cache until `index --prune`. Only inside
    `writing()`."""
    database.execute(f"UPDATE embedder SET in_force = {CACHE_ONLY} WHERE in_force = {IN_FORCE}")
    database.execute(f"UPDATE embedder SET in_force = {IN_FORCE} WHERE id = ?", embedder_id)
