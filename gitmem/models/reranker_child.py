"""The process that runs a reranking model: one JSON object in, one out. Started by `models/reranker.py` only.

It reads a model file and its standard input, writes its standard output, and nothing else. The texts are tokens of
text alone: what looks like a special token in a memory file is not one.
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

from gitmem.models.llama_library import open_llama

RANK = 4  # LLAMA_POOLING_TYPE_RANK
CONTEXT = 2048  # tokens of a question and a passage at most
HEADER = 64 << 20  # bytes within which a file names its tensors: the vocabulary stands before them
HEADS = (b"cls.output.weight", b"cls.weight")  # what a classification head is called


def main() -> None:
    """Answer {"path", "question", "passages"} with {"scores"} or {"error"}."""
    out = os.dup(1)
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
    os.write(out, json.dumps(answer).encode())


def has_head(path: str) -> bool:
    """Whether the file names a ranking head: llama.cpp ranks with any model and does not say that it has none."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size < 24:
            return False
        with mmap.mmap(file.fileno(), min(size, HEADER), access=mmap.ACCESS_READ) as start:
            return any(start.find(struct.pack("<Q", len(name)) + name) >= 0 for name in HEADS)


def scores(path: str, question: str, passages: Sequence[str]) -> list[float]:
    """One number of 0..1 a passage."""
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
            for at, token in enumerate(tokens):
                batch.token[at], batch.pos[at] = token, at
                batch.n_seq_id[at], batch.seq_id[at][0], batch.logits[at] = 1, 0, True
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
    known = open_llama(path, vocab_only=True)
    trained = known.metadata.get(f"{known.metadata.get('general.architecture', '')}.context_length", "")
    known.close()
    # More positions than it was trained for end the process; n_batch = n_ubatch = n_ctx, else longer input is cut.
    window = min(int(trained) if trained.isdigit() and int(trained) else 512, CONTEXT)
    return open_llama(path, embedding=True, pooling_type=RANK, n_ctx=window, n_batch=window, n_ubatch=window)


def pair(model: Any, c: Any, vocabulary: Any, question: str, passage: str) -> list[int]:
    """[BOS] question [EOS] [SEP] passage [EOS], each where the vocabulary wants it: as llama-server joins them, but a
    BERT's passage ends with [SEP], as in its training.

    The passage's end is cut where both are too long, the question's where it alone takes more than half.
    """
    end = c.llama_vocab_eos(vocabulary)
    if end < 0:
        end = c.llama_vocab_sep(vocabulary)
    if c.llama_vocab_get_add_bos(vocabulary):
        begin = [c.llama_vocab_bos(vocabulary)]
    else:
        begin = []
    if c.llama_vocab_get_add_eos(vocabulary):
        close = [end]
    else:
        close = []
    if c.llama_vocab_get_add_sep(vocabulary):
        apart = [c.llama_vocab_sep(vocabulary)]
    else:
        apart = []
    between, close = close + apart, close or apart
    asked = plain(model, question)[: model.n_ctx() // 2]
    left = model.n_ctx() - len(begin) - len(asked) - len(between) - len(close)
    return [*begin, *asked, *between, *plain(model, passage)[:left], *close]


def from_template(model: Any, template: str, question: str, passage: str) -> list[int]:
    """The model's own prompt (Qwen3-Reranker): its special tokens are read as such, those of the texts are not."""
    before, _, rest = template.partition("{query}")
    between, _, after = rest.partition("{document}")
    parts = [model.tokenize(text.encode(), add_bos=False, special=True) for text in (before, between, after)]
    asked = plain(model, question)[: model.n_ctx() // 2]
    left = model.n_ctx() - len(asked) - sum(map(len, parts))
    return [*parts[0], *asked, *parts[1], *plain(model, passage)[: max(0, left)], *parts[2]]


def plain(model: Any, text: str) -> list[int]:
    """The tokens of a text, without those a vocabulary puts around it."""
    return list(model.tokenize(text.encode("utf-8", "replace"), add_bos=False, special=False))


if __name__ == "__main__":
    main()
