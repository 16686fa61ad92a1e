"""Finds the chunks of a snapshot with the vectors nearest to a question's (the vector lane), and embeds the question.

Chunks are compared by the configured embedder; lines and words always by the static table, because a model's vectors of
lines find no more than those of its chunks (bench/RESULTS.md, "an embedder of one's own"). If the configured embedder
is missing, none is used in its place.
"""

from __future__ import annotations

from array import array
from math import hypot
from typing import TYPE_CHECKING, Any, NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.models.vectors import DIMS
from gitmem.search.late_interaction import WordVectors
from gitmem.search.question import Question

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader


class Vectors(NamedTuple):
    """The result of the vector lane.

    `scores`: chunk id -> cosine, -1..1, of the nearest chunks. `query`: the first DIMS numbers of the question's vector
    by the static table, at length 1; None if the table knows none of its words. `table`: the static table, None for an
    empty question or if it is missing. `model`: the question's vector by the configured embedder, None if that is the
    table.
    """

    scores: dict[int, float]
    query: list[float] | None
    table: WordVectors | None
    model: bytes | None = None


NOTHING = Vectors({}, None, None)


def retrieve(index: IndexReader, norms: bytes, question: Question, config: Config, pool: int) -> Vectors:
    """The `pool` chunks of the snapshot that are nearest to the question, and the question's vectors. `norms`: one byte
    for each chunk id, 0 for a chunk outside the snapshot (`lexical.retrieve`).

    NOTHING for an empty question and for a snapshot without chunks; no scores if the embedder knows no word of the
    question. Raises GitMemError if the index has no vectors or their embedder cannot be used.
    """
    if not question.text.strip() or not norms.strip(b"\0"):
        return NOTHING
    force = index.in_force()
    if force is None:
        raise GitMemError("the index has no vectors", "git mem index")
    from gitmem.models.embedding import open_embedder_of_index

    name, spec = force
    embedder = open_embedder_of_index(spec, config, index.path.parent)
    if embedder is None or embedder.id != name:
        raise GitMemError("the vectors are of another embedder", "git mem index")
    vector = embedder.embed_query(question.text)
    scores = dict(index.nearest(vector, norms, pool))
    if spec == "static":
        table: Any = embedder
        return Vectors(scores, _shortened(vector), table)
    return table_vectors(question, config)._replace(scores=scores, model=vector)


def table_vectors(question: Question, config: Config) -> Vectors:
    """The question's vector by the static table, with no chunk scores; NOTHING if the table is missing."""
    from gitmem.models.embedding import open_embedder

    try:
        table: Any = open_embedder("static", config)
    except GitMemError:
        return NOTHING
    return Vectors({}, _shortened(table.embed_query(question.text)), table)


def _shortened(vector: bytes) -> list[float] | None:
    """The first DIMS numbers of a float32 vector, scaled to length 1; None if all are 0."""
    numbers = array("f")
    numbers.frombytes(vector)
    length = hypot(*numbers[:DIMS])
    if not length:
        return None
    return [n / length for n in numbers[:DIMS]]
