"""Judges in real files: one evaluation of the rubric, a number a statement, nothing lost or kept that should not be."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.models import gguf_judge, llama_library, llama_process
from gitmem.models.gguf_judge import GgufJudge
from gitmem.models.gguf_parameters import parameters
from gitmem.models.judgement_cache import JudgementCache, judge_key
from gitmem.models.judging import STATEMENTS_PER_REQUEST, Rubric, open_judge
from gitmem.models.language import OutOfBudget, Setting
from tests.tiny_gguf import make_language_model

RUBRIC = Rubric("Say yes or no.", (("we use it", True), ("we keep it", False)))


def setting(state: Path | None = None, **config: Any) -> Setting:
    return Setting(Config(**config), os.environ, state, lambda text, path: text)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("llama_cpp")
    return make_language_model(tmp_path_factory.mktemp("model") / "tiny.gguf", context=8192)


def judged(judge: GgufJudge, *statements: str) -> list[float]:
    with judge.run() as judge_statements:
        return list(judge_statements(RUBRIC, statements))


def test_each_statement_is_judged_alone_whatever_stood_before_it(tiny: Path) -> None:
    there = judged(GgufJudge(tiny, setting()), "the memory", "we use facts", "결정")
    back = judged(GgufJudge(tiny, setting()), "결정", "we use facts", "the memory")
    assert there == pytest.approx(back[::-1], abs=1e-3) and len(set(there)) == 3


def test_what_was_judged_is_kept_without_its_text_and_not_judged_again(tiny: Path, tmp_path: Path) -> None:
    first = judged(GgufJudge(tiny, setting(tmp_path)), "the memory", "we use facts")
    broken = GgufJudge(tiny, setting(tmp_path), child=(sys.executable, "-c", "raise SystemExit(1)"))
    assert judged(broken, "we use facts", "the memory") == pytest.approx(first[::-1], abs=1e-3)
    (kept,) = (tmp_path / "judgements").iterdir()
    assert kept.stat().st_mode & 0o077 == 0 and "memory" not in kept.read_text() and "facts" not in kept.read_text()
    with pytest.raises(ModelUnavailable, match="ended by itself"):
        judged(broken, "another statement")


def test_a_rubric_that_does_not_fit_and_words_a_model_cannot_tell_apart_are_said(tiny: Path) -> None:
    with pytest.raises(ModelUnavailable, match="do not fit into its context"):
        judged(GgufJudge(tiny, setting(), context=256), "the memory")
    same = Rubric("Say it.", RUBRIC.examples, "same", "same")
    with (
        GgufJudge(tiny, setting()).run() as judge,
        pytest.raises(ModelUnavailable, match="does not tell same from same"),
    ):
        list(judge(same, ["the memory"]))


SLOW = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    if number == 4:
        time.sleep(600)
    print(json.dumps({"log_odds": [0.5] * len(request.get("statements", ()))}), flush=True)
"""


def test_a_time_out_loses_one_batch_and_the_next_run_goes_on_from_there(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    statements = [f"statement {number}" for number in range(2 * STATEMENTS_PER_REQUEST)]

    def told() -> Iterator[float]:
        judge = GgufJudge(file, setting(tmp_path, model_seconds=2), child=(sys.executable, "-c", SLOW))
        with judge.run() as judge_statements:
            yield from judge_statements(RUBRIC, statements)

    got = []
    with pytest.raises(OutOfBudget, match=r"mem\.modelSeconds"):
        for number in told():
            got.append(number)
    assert len(got) == 1 + STATEMENTS_PER_REQUEST
    assert list(told()) == [0.5] * 2 * STATEMENTS_PER_REQUEST


LOADS_SLOWLY = """
import json, sys, time
for number, line in enumerate(sys.stdin):
    statements = json.loads(line).get("statements", ())
    time.sleep(1.2 if number < 2 else 0.3 * len(statements))
    print(json.dumps({"log_odds": [0.5] * len(statements)}), flush=True)
"""


def test_runs_shorter_than_the_models_start_come_to_the_end_all_the_same(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    statements = [f"statement {number}" for number in range(3)]
    runs = 0
    got: list[float] = []
    while len(got) < len(statements):
        runs += 1
        assert runs <= len(statements), "each run keeps one judgement at least"
        judge = GgufJudge(file, setting(tmp_path, model_seconds=1), child=(sys.executable, "-c", LOADS_SLOWLY))
        got = []
        with suppress(OutOfBudget), judge.run() as judged_statements:
            got += judged_statements(RUBRIC, statements)


def test_a_model_that_is_never_loaded_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.models.llama_process.LOAD_SECONDS", 0.2)
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    judge = GgufJudge(file, setting(), child=(sys.executable, "-c", "import time; time.sleep(600)"))
    with pytest.raises(OutOfBudget, match="was not loaded in"), judge.run() as judged_statements:
        list(judged_statements(RUBRIC, ["one"]))


def test_numbers_that_are_none_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.gguf"
    file.write_bytes(b"GGUF")
    child = "import sys\nfor line in sys.stdin: print('{\"log_odds\": [NaN]}', flush=True)"
    with pytest.raises(ModelUnavailable, match="no usable numbers"):
        judged(GgufJudge(file, setting(), child=(sys.executable, "-c", child)), "one")


def test_a_file_of_judgements_is_bounded_and_survives_a_line_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitmem.models.judgement_cache.MAX_LINES", 20)
    for number in range(100):
        JudgementCache(tmp_path, judge_key("m", RUBRIC)).put({f"statement {number}": number / 7})
    (kept,) = (tmp_path / "judgements").iterdir()
    assert kept.stat().st_size <= 21 * 64
    with kept.open("a") as file:
        file.write("abc\n0123 x")
    again = JudgementCache(tmp_path, judge_key("m", RUBRIC))
    assert again.get("statement 99") == pytest.approx(99 / 7, abs=1e-3) and again.get("statement 0") is None
    assert JudgementCache(tmp_path, judge_key("other", RUBRIC)).get("statement 99") is None


def test_parameters_are_counted_from_the_file_and_junk_is_refused(tiny: Path, tmp_path: Path) -> None:
    import gguf

    assert parameters(tiny) == sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(str(tiny)).tensors)
    for data in (b"", b"GGUF", b"GGUF" + b"\xff" * 64, b"PK" + b"\0" * 64, tiny.read_bytes()[:2000]):
        (tmp_path / "junk.gguf").write_bytes(data)
        with pytest.raises(ModelUnavailable, match="no GGUF file that can be read"):
            parameters(tmp_path / "junk.gguf")


def test_a_small_model_judges_by_itself_and_a_large_one_does_not(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gguf_judge.judges_by_default(str(tiny))
    monkeypatch.setattr(gguf_judge, "SMALL_MODEL_PARAMETERS", 1000)
    assert not gguf_judge.judges_by_default(str(tiny))


def test_what_cannot_judge_says_what_to_type() -> None:
    with pytest.raises(ModelUnavailable) as caught:
        open_judge("http:https://api.example.org/v1#m", setting())
    assert "mem.modelUse list" in caught.value.hint


def test_the_weights_are_left_alone_for_one_model_only_and_a_core_stays_free() -> None:
    made = SimpleNamespace(use_extra_bufts=True)
    library = SimpleNamespace(llama_model_default_params=lambda: made)
    defaults = library.llama_model_default_params
    with llama_library._without_repacked_weights(library):
        assert library.llama_model_default_params().use_extra_bufts is False
    assert library.llama_model_default_params is defaults
    assert 1 <= llama_library.threads() <= max(1, (os.cpu_count() or 2) // 2)


def test_a_model_file_that_cannot_be_read_is_an_unavailable_model(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        llama_process.fingerprint(tmp_path)  # a folder
