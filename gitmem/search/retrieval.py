"""Retrieves chunks by the lexical and the vector lane."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.messages import Message
from gitmem.search import lexical, vector
from gitmem.search.late_interaction import WordVectors
from gitmem.search.lexical import Term
from gitmem.search.query import Lane, ParsedQuery

if TYPE_CHECKING:
    from gitmem.index.store import IndexReader

PASTED = "the question has a pasted log in it: its numbers are not looked for, and words alone are compared"


class RetrievedChunks(NamedTuple):
    """The results of both lanes.

    `lexical`: chunk id -> score, 0..1. `vector`: chunk id -> cosine. `terms`: the terms that were looked for.
    `query_vector`: the question's vector by the static table `table`, shortened (`vector.Vectors.query`).
    `model_vector`: its vector by the configured embedder as float32 bytes. These three are None without such vectors,
    and `model_vector` if the embedder is the table. `lanes`: the lanes that answered. `notes`: why a lane did not.
    """

    lexical: dict[int, float]
    vector: dict[int, float]
    terms: list[Term]
    query_vector: list[float] | None
    table: WordVectors | None
    model_vector: bytes | None
    lanes: tuple[str, ...]
    notes: tuple[str, ...]

    def best(self, count: int) -> list[int]:
        """The ids of the best `count` chunks of each lane, so that neither lane displaces the other's chunks."""
        near = sorted(self.vector, key=lambda chunk: (-self.vector[chunk], chunk))[:count]
        return list(dict.fromkeys([*lexical.best_chunks(self.lexical, self.terms, count), *near]))


def retrieve(index: IndexReader, norms: bytes, parsed: ParsedQuery, config: Config) -> RetrievedChunks:
    """The chunks of the snapshot that the lanes of the query find. `norms`: one byte for each chunk id, 0 for a chunk
    outside the snapshot (`lexical.retrieve`).

    If the vector lane cannot answer, `notes` says so; with `--lane vector` its GitMemError is raised.
    """
    lane, question, ranking = parsed.query.lane, parsed.question, parsed.ranking
    notes: list[str] = []
    words = lexical.NOTHING
    lanes = []
    if lane is not Lane.VECTOR:
        words = lexical.retrieve(index, norms, question, ranking)
        lanes.append("lexical")
    near = vector.NOTHING
    if question.pasted and lane is Lane.BOTH:
        notes.append(PASTED)  # the meaning of a pasted log is not that of the question
    elif lane is not Lane.LEXICAL:
        try:
            near = vector.retrieve(index, norms, question, config, ranking.pool)
        except GitMemError as error:
            if lane is Lane.VECTOR:
                raise
            hint = f" ({error.hint})" if error.hint else ""
            notes.append(Message("words only: {}", f"{error.message}{hint}"))
            near = vector.table_vectors(question, config)
        else:
            if near.query is not None or near.scores:
                lanes.append("vector")
    return RetrievedChunks(
        words.scores, near.scores, words.terms, near.query, near.table, near.model, tuple(lanes), tuple(notes)
    )
