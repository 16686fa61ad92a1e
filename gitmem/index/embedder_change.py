"""Gives every chunk of the index a vector of the configured embedder, then makes searches compare these vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gitmem.errors import ModelUnavailable
from gitmem.index.blob_indexer import BlobIndexer, ChunkText, batches_of
from gitmem.index.db import reembedding, snapshots
from gitmem.memory.snapshot import read_hits, work_tree_key


def change_embedder(indexer: BlobIndexer) -> None:
    """Make vectors of the configured embedder for every chunk that has none, then make searches compare these vectors.

    If the embedder does not answer, `indexer.unavailable` holds the error, and searches go on with the vectors of the
    embedder before. They do so too while a chunk lacks a vector because its blob cannot be read. Does nothing if
    `indexer.unavailable` is set. Raises BadConfig for an unknown embedder.
    """
    from gitmem.models.embedding import open_embedder

    writer, config = indexer.writer, indexer.config
    if indexer.unavailable is not None:
        return
    try:
        configured = open_embedder(config.embedder, config, writer.path.parent)
        in_force = writer.in_force()
        if in_force is not None and in_force.name == configured.id and not writer.meta("lacking"):
            return  # each chunk got its vector in the transaction that added it
        dims = configured.dims
        with writer.writing():
            number = writer.register_embedder(configured.id, config.embedder, dims)
        lacking = reembedding.blobs_without_vectors(writer.database, number)
        if lacking:
            for key in snapshots.keys(writer.database, ""):
                indexer.names.update(_paths(indexer, key))
            indexer.embedder, indexer.number = configured, number
            _embed_blobs(indexer, lacking)
            if reembedding.blobs_without_vectors(writer.database, number):
                return
        with writer.writing():
            reembedding.put_in_force(writer.database, number)
            writer.set_meta("lacking", "")
    except ModelUnavailable as error:
        indexer.unavailable = error


def _embed_blobs(indexer: BlobIndexer, oids: Sequence[str]) -> None:
    """Parse indexed blobs again and add the vectors that their chunks lack."""
    from gitmem.index.chunks import blob_row

    for batch in batches_of(_contents(indexer, oids)):
        texts: dict[int, ChunkText] = {}
        for row in (blob_row(oid, data, indexer.cut) for oid, data in batch):
            chunks = reembedding.chunks_of_blob(indexer.writer.database, row.oid)
            if len(chunks) == len(row.chunks):
                texts.update({n: ChunkText(c.hash, c.text, row.oid) for n, c in zip(chunks, row.chunks, strict=True)})
        with indexer.writer.writing():
            indexer.embed(texts, {})
        if indexer.embedder is None:
            return


def _contents(indexer: BlobIndexer, oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """(oid, bytes) of blobs, from Git or, if Git does not have a blob, from the work tree."""
    repo = indexer.repo
    missing = []
    for oid, data in repo.read_many(oids):
        if data is None:
            missing.append(oid)
        else:
            yield oid, data
    if missing and repo.root is not None:
        paths = _paths(indexer, work_tree_key(repo))
        for (_, oid), data in read_hits(repo, [(paths[oid], oid) for oid in missing if oid in paths]).items():
            yield oid, data


def _paths(indexer: BlobIndexer, key: str) -> dict[str, str]:
    """oid -> one of its paths, for the files of a snapshot."""
    return {row.oid: path for path, row in snapshots.entries(indexer.writer.database, key).items()}
