"""Reranking with real llama.cpp: a small cross-encoder that likes the word "decision"."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from gitmem.errors import ModelUnavailable, UsageError
from gitmem.models.reranker import rerank
from tests.harness import Repo
from tests.tiny_gguf import make_embedding_model, make_language_model, make_reranking_model

pytest.importorskip("llama_cpp", reason="the extra `llama` is not installed")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_reranking_model(tmp_path_factory.mktemp("model") / "rank.gguf")


def ranked(model: Path, question: str, *passages: str) -> list[float]:
    return rerank(f"gguf:{model}", question, passages, 60, os.environ)


def test_the_scores_are_the_models_and_between_0_and_1(model: Path) -> None:
    none, one, only = ranked(model, "what", "we keep the memory", "the decision to keep memory", "decision decision")
    assert 0 < none < one < only < 1


def test_no_passages_need_no_model(model: Path) -> None:
    assert ranked(model, "what") == []


def test_the_end_of_a_passage_that_is_too_long_is_cut_and_not_the_question(model: Path) -> None:
    long = "the memory of " * 5000
    early, late, plain = ranked(model, "what " * 2000, f"decision decision {long}", f"{long} decision", long)
    assert early > late == plain


def test_what_looks_like_a_special_token_is_text(model: Path) -> None:
    marked, plain = ranked(model, "what", "decision [SEP] [CLS]", "decision")
    assert marked < plain  # more tokens, none of them special: the share of the word is less


def test_empty_odd_and_korean_passages_have_a_score(model: Path) -> None:
    assert len(ranked(model, "", "", "\0", "결정 사실", "\ud800")) == 4


@pytest.mark.parametrize("make", [make_embedding_model, make_language_model])
def test_a_model_without_a_ranking_head_is_refused_with_what_to_type(make: object, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable) as error:
        ranked(make(tmp_path / "other.gguf"), "what", "decision")  # type: ignore[operator]
    assert "no ranking head" in error.value.message and "--rerank gguf:" in error.value.hint


@pytest.mark.parametrize("data", [b"", b"GGUF", b"no model\n" * 1000])
def test_a_damaged_model_is_refused(data: bytes, tmp_path: Path, model: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(data)
    with pytest.raises(ModelUnavailable):
        ranked(broken, "what", "decision")
    broken.write_bytes(model.read_bytes()[:-5000])
    with pytest.raises(ModelUnavailable):
        ranked(broken, "what", "decision")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import os; os.abort()", "ended by itself"),
        ("print('no JSON')", "ended by itself"),
        ("print('[]')", "ended by itself"),
        ("print('{\"scores\": [0.5]}')", "cannot rank"),
        ("print('{\"scores\": [0.5, NaN]}')", "cannot rank"),
        ("import time; time.sleep(100)", "took longer than 0.5 s"),
    ],
)
def test_a_child_that_misbehaves_is_an_error_and_not_an_order(code: str, said: str, model: Path) -> None:
    with pytest.raises(ModelUnavailable, match=said):
        rerank(
            f"gguf:{model}", "q", ["a", "b"], 0.5 if "sleep" in code else 60, os.environ, (sys.executable, "-c", code)
        )


@pytest.mark.parametrize("spec", ["", "gguf:", "http://x", "/a/path"])
def test_a_spec_that_names_no_file_is_a_usage_error(spec: str) -> None:
    with pytest.raises(UsageError):
        rerank(spec, "q", ["a"], 60, os.environ)


LOG = "# 2026-02-02\n\n" + "\n\n".join(
    [
        "The release train leaves on Friday.",
        "The release train is late.",
        "A release train of memory.",
        "The decision decision: no release on Friday.",
    ]
)


def told(repo: Repo, model: Path, *args: str) -> list[str]:
    done = repo.mem("search", "release train", "--json", "--rerank", f"gguf:{model}", *args)
    return [hit["text"] for hit in json.loads(done.stdout)["hits"]]


@pytest.fixture
def memory(repo: Repo) -> Repo:
    files = {f"memory/n{n}.md": f"# Note\n\n{line}\n" for n, line in enumerate(LOG.split("\n\n")[1:])}
    repo.commit("logs", files)
    return repo


def test_search_puts_the_hits_in_the_order_of_the_models_scores(memory: Repo, model: Path) -> None:
    plain = [hit["text"] for hit in json.loads(memory.mem("search", "release train", "--json").stdout)["hits"]]
    assert "decision" not in plain[0] and "decision" in told(memory, model)[0]
    assert sorted(told(memory, model)) == sorted(plain)
    assert "decision" in told(memory, model, "-n", "1")[0]
    assert len(told(memory, model, "--budget", "14")) == 1


def test_explain_has_the_score_of_search_beside_the_models(memory: Repo, model: Path) -> None:
    done = memory.mem("search", "release train", "--json", "--explain", "--rerank", f"gguf:{model}", "-n", "1")
    (hit,) = json.loads(done.stdout)["hits"]
    assert hit["explain"]["searched"] != hit["score"]
    shown = memory.mem("search", "release train", "--explain", "--rerank", f"gguf:{model}", "-n", "1").stdout
    assert f"reranked {hit['score']:.3f}" in shown and f"score {hit['explain']['searched']:.3f} =" in shown


def test_only_the_first_hits_are_read_and_the_rest_keep_their_place(memory: Repo, model: Path) -> None:
    memory.git("config", "--global", "mem.rerankHits", "1")
    hits = json.loads(memory.mem("search", "release train", "--json", "--rerank", f"gguf:{model}").stdout)["hits"]
    plain = json.loads(memory.mem("search", "release train", "--json").stdout)["hits"]
    assert [hit["text"] for hit in hits] == [hit["text"] for hit in plain]
    assert hits[0]["score"] > 0 and {hit["score"] for hit in hits[1:]} == {0.0}


def test_search_without_a_model_that_ranks_exits_3(memory: Repo, tmp_path: Path) -> None:
    for path in (tmp_path / "none.gguf", make_embedding_model(tmp_path / "other.gguf")):
        done = memory.mem("search", "release", "--rerank", f"gguf:{path}", check=False)
        assert done.returncode == 3 and "hint: --rerank gguf:<path>" in done.stderr and "Traceback" not in done.stderr
    assert memory.mem("search", "release", "--rerank", "nonsense", check=False).returncode == 2
