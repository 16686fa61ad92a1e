"""Counting tokens: the built-in word pieces never fall short of a word-piece vocabulary, and a GGUF counts exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.errors import BadConfig, ModelUnavailable
from gitmem.models.token_count import by_pieces, count_of
from tests.tiny_gguf import make_embedding_model, make_language_model

TEXTS = [
    "We keep the decision to use memory.",
    "Deploy window: before 11:00 on 2026-02-05 (v2.3.0, port 5433).",
    "우리는 그 결정을 기억하고 배포를 되돌렸다.",
    "記憶の事実を確認する。",
    "def fit(parts, total):\n    return [part for part in parts if part.tokens < total]\n",
    "<memory path=\"memory/notes.md\" lines=\"3-4\">\n- Привет, мир 😀\n</memory>",
]  # fmt: skip


def test_the_built_in_count_is_one_for_a_piece_a_digit_and_a_mark_and_more_for_wide_letters() -> None:
    count = count_of("pieces")
    assert [count(text) for text in ("", "memory", "memory memory", "a.b", "2026", "\n\n")] == [0, 1, 2, 3, 4, 1]
    assert count("배포") == 3 and count("記憶") == 3 and count("😀") >= 2
    assert count("tokenization") > 1  # no piece is the whole word


def test_a_letter_no_piece_has_counts_as_the_bytes_it_is_spelled_in() -> None:
    count = by_pieces(lambda piece: -1)
    assert count("word") == 8


def test_a_model_counts_with_its_own_vocabulary_and_the_built_in_count_covers_it(tmp_path: Path) -> None:
    """The small BERT knows single letters; where it and the built-in table know the same words they agree."""
    llama_cpp = pytest.importorskip("llama_cpp")
    path = make_embedding_model(tmp_path / "words.gguf")
    exact, built_in = count_of(f"gguf:{path}"), count_of("")
    model = llama_cpp.Llama(str(path), vocab_only=True, verbose=False)
    for text in TEXTS:
        assert exact(text) == len(model.tokenize(text.encode(), add_bos=False, special=False)) == exact(text)
    for text in ("we keep the memory", "the decision, the fact.", "use memory"):
        assert exact(text) == built_in(text)


def test_a_language_model_that_spells_in_bytes_counts_more_than_any_guess(tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp")
    exact = count_of(f"gguf:{make_language_model(tmp_path / 'bytes.gguf')}")
    assert exact("zebra") > 1
    assert exact("메모") > count_of("")("메모")  # three bytes a syllable: why a model of one's own can be named


def test_a_name_that_is_no_tokenizer_and_a_file_that_is_no_model_are_said(tmp_path: Path) -> None:
    with pytest.raises(BadConfig):
        count_of("tiktoken")
    with pytest.raises(ModelUnavailable):
        count_of(f"gguf:{tmp_path / 'none.gguf'}")
    (tmp_path / "text.gguf").write_text("no model")
    with pytest.raises(ModelUnavailable):
        count_of(f"gguf:{tmp_path / 'text.gguf'}")
