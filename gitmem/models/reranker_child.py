"""The child process of `models/reranker.py`: reads one JSON request, runs the reranking model, writes one JSON answer.

It reads a model file and its standard input, writes its standard output, and nothing else. Questions and passages are
tokenized as plain text: the spelling of a special token in a memory file is not read as that token.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import sys
from collections.abc import Sequence
from math import exp
from typing import Any

from gitmem.models.llama_library import context_tokens, open_llama

RANK = 4  # LLAMA_POOLING_TYPE_RANK
MAX_CONTEXT_TOKENS = 2048  # of a question and a passage together
MAX_HEADER_BYTES = 64 << 20  # in which a file's tensor names are searched; the vocabulary precedes them
HEADS = (b"cls.output.weight", b"cls.weight")  # tensor names of a classification head


def main() -> None:
    """Read {"path", "question", "passages"} from the standard input, write {"scores"} or {"error"} to the standard
    output. An error is "no head" for a model that cannot rank, else the name of an exception. Whatever llama.cpp prints
    is dropped."""
    output = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # llama.cpp may print there
    request = json.loads(sys.stdin.buffer.read())
    try:
        if not has_head(request["path"]):
            answer: dict[str, Any] = {"error": "no head"}
        else:
            answer = {"scores": scores(request["path"], request["question"], request["passages"])}
    except Exception as error:  # noqa: BLE001 - the parent turns it into a message
        answer = {"error": type(error).__name__}
    os.write(output, json.dumps(answer).encode())


def has_head(path: str) -> bool:
    """Whether the file has the tensor of a ranking head. llama.cpp gives no error for a model without one."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < 24:
            return False
        with mmap.mmap(file.fileno(), min(size, MAX_HEADER_BYTES), access=mmap.ACCESS_READ) as start:
            return any(start.find(struct.pack("<Q", len(name)) + name) >= 0 for name in HEADS)


def scores(path: str, question: str, passages: Sequence[str]) -> list[float]:
    """The score of each passage, 0 to 1. Raises RuntimeError if llama.cpp cannot evaluate one."""
    from llama_cpp import llama_cpp as c

    model = _load(path)
    vocabulary = c.llama_model_get_vocab(model.model)
    template = c.llama_model_chat_template(model.model, b"rerank")
    batch = c.llama_batch_init(model.n_ctx(), 0, 1)
    probabilities = []
    try:
        for passage in passages:
            if template:
                tokens = from_template(model, template.decode("utf-8", "replace"), question, passage)
            else:
                tokens = pair(model, c, vocabulary, question, passage)
            batch.n_tokens = len(tokens)
            for index, token in enumerate(tokens):
                batch.token[index], batch.pos[index] = token, index
                batch.n_seq_id[index], batch.seq_id[index][0], batch.logits[index] = 1, 0, True
            memory = c.llama_get_memory(model.ctx)
            if memory:
                c.llama_memory_clear(memory, True)
            if c.llama_decode(model.ctx, batch) != 0:
                raise RuntimeError
            score = float(c.llama_get_embeddings_seq(model.ctx, 0)[0])
            probabilities.append(1 / (1 + exp(-max(-60.0, min(60.0, score)))))
    finally:
        c.llama_batch_free(batch)
    return probabilities


def _load(path: str) -> Any:
    """The loaded reranker, with the context that it was trained for, at most MAX_CONTEXT_TOKENS."""
    window = context_tokens(path, MAX_CONTEXT_TOKENS)  # llama.cpp cuts input longer than n_batch or n_ubatch
    return open_llama(path, embedding=True, pooling_type=RANK, n_ctx=window, n_batch=window, n_ubatch=window)


def pair(model: Any, c: Any, vocabulary: Any, question: str, passage: str) -> list[int]:
    """The tokens [BOS] question [EOS] [SEP] passage [EOS], with the special tokens that the vocabulary adds: as
    llama-server does, but a BERT's passage ends with [SEP], as in its training.

    The question is cut at half of the context, the passage at the rest.
    """
    eos, sep = c.llama_vocab_eos(vocabulary), c.llama_vocab_sep(vocabulary)
    begin = [c.llama_vocab_bos(vocabulary)] if c.llama_vocab_get_add_bos(vocabulary) else []
    ends: list[int] = []
    if c.llama_vocab_get_add_eos(vocabulary):
        ends = [eos if eos >= 0 else sep]
    separators = [sep] if c.llama_vocab_get_add_sep(vocabulary) else []
    between, close = ends + separators, ends or separators
    question_tokens = plain(model, question)[: model.n_ctx() // 2]
    free_tokens = model.n_ctx() - len(begin) - len(question_tokens) - len(between) - len(close)
    return [*begin, *question_tokens, *between, *plain(model, passage)[:free_tokens], *close]


def from_template(model: Any, template: str, question: str, passage: str) -> list[int]:
    """The tokens of the model's own rerank template (Qwen3-Reranker) with `{query}` and `{document}` filled in. Only
    the template may have special tokens. The question is cut at half of the context, the passage at the rest."""
    before, _, behind_query = template.partition("{query}")
    between, _, after = behind_query.partition("{document}")
    parts = [model.tokenize(text.encode(), add_bos=False, special=True) for text in (before, between, after)]
    question_tokens = plain(model, question)[: model.n_ctx() // 2]
    free_tokens = model.n_ctx() - len(question_tokens) - sum(map(len, parts))
    return [*parts[0], *question_tokens, *parts[1], *plain(model, passage)[: max(0, free_tokens)], *parts[2]]


def plain(model: Any, text: str) -> list[int]:
    """The tokens of a text, without special tokens."""
    return list(model.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=False))


if __name__ == "__main__":
    main()
