"""Orders the hits of a search by a reranking model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gitmem.config import Config
    from gitmem.search.hits import Hit
    from gitmem.search.search import Answer


def rerank_answer(
    answer: Answer, spec: str, config: Config, environ: Mapping[str, str], *, limit: int, budget: int
) -> Answer:
    """The answer with its first `mem.rerankHits` hits ordered by a reranking model; their score is the model's.

    The other hits follow with score 0. At most `limit` hits within `budget` tokens are kept; `budget` 0 is no limit. A
    hit that alone has more tokens is left out, and a note of the answer names it. `spec`: `gguf:<path>`. Raises
    UsageError for another spec, ModelUnavailable if the model cannot be used.
    """
    from gitmem.models.reranker import rerank
    from gitmem.search.hits import first_within_budget

    texts = [hit.text for hit in answer.hits[: config.rerank_hits]]
    scores = rerank(spec, answer.query, texts, config.model_seconds, environ)
    order = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    ranked = [_scored(answer.hits[index], round(scores[index], 4)) for index in order]
    # Hits that the model did not read come after; their own score is not comparable with the model's.
    ranked += [_scored(hit, 0.0) for hit in answer.hits[config.rerank_hits :]]
    hits, left_out = first_within_budget(ranked[:limit], budget)
    return answer._replace(hits=hits, notes=(*answer.notes, *left_out))


def _scored(hit: Hit, score: float) -> Hit:
    """The hit with the model's score; its explanation keeps the score of the search."""
    return hit._replace(score=score, explain={**hit.explain, "searched": hit.score} if hit.explain else None)
