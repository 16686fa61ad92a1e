"""The tiny models load in real llama.cpp, and are the same bytes every time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tiny_gguf import make_embedding_model, make_language_model


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    for make in (make_language_model, make_embedding_model):
        one, two = make(tmp_path / "one.gguf"), make(tmp_path / "two.gguf")
        assert one.read_bytes() == two.read_bytes()
        assert one.stat().st_size < 2_000_000


def test_llama_cpp_generates_with_one_and_embeds_with_the_other(tmp_path: Path) -> None:
    llama_cpp = pytest.importorskip("llama_cpp")
    talker = llama_cpp.Llama(str(make_language_model(tmp_path / "lm.gguf")), n_ctx=256, verbose=False, seed=1)
    text = "결정: we keep REST. 😀"
    tokens = talker.tokenize(text.encode())
    assert talker.detokenize(tokens).decode().strip() == text
    assert isinstance(talker("the", max_tokens=8)["choices"][0]["text"], str)

    embedder = llama_cpp.Llama(
        str(make_embedding_model(tmp_path / "em.gguf")),
        n_ctx=256,
        n_batch=256,
        n_ubatch=256,
        embedding=True,
        verbose=False,
    )
    same, other = embedder.embed("memory fact"), embedder.embed("결정 하기로 한다")
    assert len(same) == len(other) == 64
    assert same == embedder.embed("memory fact") != other
