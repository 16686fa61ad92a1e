"""A reranking model in GGUF (rank pooling, as bge-reranker or jina-reranker have): a question and passages in, scores
out. Opt-in by a file the person names; never downloads."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from pathlib import Path

from gitmem.errors import ModelUnavailable, UsageError

RANK = 4  # LLAMA_POOLING_TYPE_RANK
CONTEXT = 1024
PASSAGE = 2000  # characters of a passage that are read


def rerank(spec: str, question: str, passages: Sequence[str]) -> list[float]:
    """How well each passage answers the question, 0..1. Raises UsageError for a spec that is no `gguf:<path>`,
    ModelUnavailable where the file cannot rank."""
    scheme, _, name = spec.partition(":")
    if scheme != "gguf" or not name:
        raise UsageError(f"'{spec}' is no reranker", "--rerank gguf:<path of a reranking model>")
    if not Path(name).expanduser().is_file():
        raise ModelUnavailable(f"there is no model file '{name}'", "--rerank takes the path of a GGUF file")
    try:
        from llama_cpp import Llama
    except ImportError:
        raise ModelUnavailable("llama-cpp-python is not installed", "pip install 'git-mem[llama]'") from None
    try:
        model = Llama(
            str(Path(name).expanduser()), embedding=True, pooling_type=RANK, n_ctx=CONTEXT, n_batch=CONTEXT,
            n_ubatch=CONTEXT, verbose=False,
        )  # fmt: skip
        scores = []
        for passage in passages:
            rows = model.embed(f"{question}</s></s>{passage[:PASSAGE]}", truncate=True)
            first = rows[0] if isinstance(rows, list) else rows
            value = float(first[0] if isinstance(first, list) else first)
            scores.append(1 / (1 + exp(-max(-60.0, min(60.0, value)))))
    except (ValueError, RuntimeError, IndexError, TypeError) as error:
        raise ModelUnavailable(f"the model cannot rank ({type(error).__name__})", "it must be a reranker") from None
    return scores
