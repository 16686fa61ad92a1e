"""Classes of words that mean alike: the file, how a token is cut, and the features made of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from zlib import compress

import numpy as np
import pytest

from gitmem.gate.detectors.injection import features, word_classes


def test_the_shipped_file_is_read_and_is_small_in_the_wheel() -> None:
    data = word_classes.PATH.read_bytes()
    assert len(word_classes.load()) == features.BUCKETS and len(compress(data)) <= 125_000


def test_a_damaged_file_is_an_error_and_never_words_without_classes() -> None:
    data = word_classes.PATH.read_bytes()
    for damaged in (b"", data[:-1], b"x" + data[1:], data[:-1] + bytes([data[-1] ^ 1])):
        with pytest.raises(ValueError, match="damaged"):
            word_classes.parse(damaged)


def test_words_of_one_meaning_in_several_languages_are_of_one_class() -> None:
    assert word_classes.of_token("send") == word_classes.of_token("보내") == word_classes.of_token("发送") != ()


def test_a_run_of_characters_is_cut_into_the_longest_words_known() -> None:
    assert word_classes.of_token("비밀번호") == word_classes.of_token("비밀번호")[:1]
    assert word_classes.of_token("보내") == word_classes.of_token("보내세요")[:1]


def test_numbers_are_one_class_and_an_unknown_word_is_of_none() -> None:
    assert word_classes.of_token("7") == word_classes.of_token("2026") == (word_classes.NUMBER,)
    assert word_classes.of_token("qzxvkjw") == ()


def test_two_classes_make_a_feature_in_their_order_where_they_are_near_each_other() -> None:
    send, token = word_classes.of_token("send"), word_classes.of_token("token")
    pair = features.bucket(f"@{send[0]}+{token[0]}")
    assert pair in word_classes.class_buckets("send a token") and pair not in word_classes.class_buckets("token send")
    assert word_classes.class_buckets("send https://one.example/x") == word_classes.class_buckets(
        "send http://two.example/y"
    )
    assert word_classes.class_buckets("qzxvkjw") == set()


def test_rows_that_point_the_same_way_are_put_into_one_class(tool: Callable[[str], ModuleType]) -> None:
    ways = np.eye(4, dtype=np.float32)
    rows = np.concatenate([way + 0.05 * np.random.default_rng(1).random((10, 4), dtype=np.float32) for way in ways])
    found = tool("word_classes").cluster(rows, 8).reshape(4, 10)
    owners = [set(row.tolist()) for row in found]
    assert all(not one & other for at, one in enumerate(owners) for other in owners[at + 1 :])


def test_the_shipped_classes_are_of_the_words_that_the_tool_writes(
    tool: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tool("word_classes")
    monkeypatch.setattr(program, "FILE", tmp_path / "word_classes.bin")
    monkeypatch.setattr(program, "ROUNDS", 0)
    program.run(Namespace())
    written = word_classes.parse((tmp_path / "word_classes.bin").read_bytes())
    known = [at for at, one in enumerate(word_classes.load()) if one != word_classes.NONE]
    assert known == [at for at, one in enumerate(written) if one != word_classes.NONE]
