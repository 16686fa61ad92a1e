"""Embedders give comparable vectors or a clear refusal; what leaves the machine is asked for, redacted and logged."""

from __future__ import annotations

import json
import math
import os
import threading
from array import array
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from gitmem.cli.commands import context, promote
from gitmem.config import Config
from gitmem.config.settings import SETTINGS
from gitmem.errors import BadConfig, ModelUnavailable
from gitmem.git.opening import open_repository
from gitmem.index import blob_indexer, db, indexer
from gitmem.index.db import inspection
from gitmem.models import embedding, http_embedder
from gitmem.models.embedding import open_embedder, open_embedder_of_index
from gitmem.models.endpoint import Endpoint
from gitmem.models.gguf_embedder import GgufEmbedder
from gitmem.models.language import LANGUAGE_MODELS
from gitmem.models.prefixes import FAMILIES, Prefixes, prefixes_of
from tests.harness import Repo
from tests.loopback import LoopbackServer, QuietHandler
from tests.tiny_gguf import make_embedding_model

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def length(vector: bytes) -> float:
    return math.sqrt(sum(x * x for x in array("f", vector)))


def test_an_unknown_embedder_is_refused_with_the_setting_to_change() -> None:
    for spec in ("magic", "static:x", "gguf:", "http:", ""):
        with pytest.raises(BadConfig) as caught:
            open_embedder(spec, Config())
        assert "mem.embedder" in caught.value.hint


# -- gguf ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_embedding_model(tmp_path_factory.mktemp("models") / "tiny.gguf", context=128)


def test_the_settings_and_options_name_every_kind_of_model() -> None:
    help_of = {name: setting.doc for name, setting in SETTINGS.items()}
    assert all(f"`{kind.form}`" in help_of["embedder"] for kind in embedding.EMBEDDERS.values())
    for kind in LANGUAGE_MODELS.values():
        assert f"`{kind.form}`" in help_of["model"]
        (merge,) = (option for option in context.command.params if option.name == "merge")
        (model,) = (option for option in promote.command.params if option.name == "model")
        assert kind.form in str(vars(merge)["help"])
        assert kind.form.partition("#")[0] in str(vars(model)["help"])


def test_a_gguf_model_gives_unit_vectors_the_same_each_time(model: Path, tmp_path: Path) -> None:
    embedder = open_embedder(f"gguf:{model}", Config())
    first = embedder.embed(["we use memory", "결정 사실", "  "])
    assert [len(v) for v in first] == [4 * embedder.dims] * 3
    assert abs(length(first[0]) - 1) < 1e-5 and abs(length(first[1]) - 1) < 1e-5 and not any(first[2])
    assert embedder.embed_query("we use memory") == first[0]
    copy = tmp_path / "elsewhere.gguf"
    copy.write_bytes(model.read_bytes())
    assert GgufEmbedder(copy).id == embedder.id


def test_a_text_longer_than_the_context_is_cut_and_not_fatal(model: Path) -> None:
    embedder = open_embedder(f"gguf:{model}", Config())
    assert abs(length(embedder.embed_query("we use memory " * 500)) - 1) < 1e-5


def test_a_missing_or_wrong_model_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        open_embedder(f"gguf:{tmp_path}/none.gguf", Config())
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(ModelUnavailable, match="no GGUF file"):
        open_embedder(f"gguf:{tmp_path}/text.gguf", Config())
    (tmp_path / "cut.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(ModelUnavailable, match="cannot load"):
        open_embedder(f"gguf:{tmp_path}/cut.gguf", Config()).embed_query("x")


def test_git_mem_index_with_a_gguf_model_that_is_gone_says_what_to_type(repo: Repo, tmp_path: Path) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n"})
    repo.git("config", "--global", "mem.embedder", f"gguf:{tmp_path}/gone.gguf")
    done = repo.mem("index", check=False)
    assert "gone.gguf' cannot be read" in done.stderr and "Traceback" not in done.stderr
    repo.git("config", "--global", "mem.embedder", "nonsense")
    done = repo.mem("index", check=False)
    assert done.returncode == 3 and "no embedder 'nonsense'" in done.stderr and "hint: git config" in done.stderr


# -- http ----------------------------------------------------------------------------------------------------


class Server:
    """An endpoint in memory: answers vectors of the text's length, or what `answers` says, and remembers requests."""

    def __init__(self) -> None:
        self.requests: list[httpx.Request] = []
        self.answers: list[httpx.Response | Exception] = []
        self.naps: list[float] = []

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in json.loads(request.content)["input"]]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        texts = json.loads(request.content)["input"]
        rows = [{"index": n, "embedding": [1.0, float(len(t)), 3.0]} for n, t in enumerate(texts)]
        return httpx.Response(200, json={"data": rows[::-1]})

    def embedder(self, state: Path | None, key: str = "") -> http_embedder.HttpEmbedder:
        endpoint = Endpoint(
            "https://api.example.org/v1", "m", key,
            transport=httpx.MockTransport(self), sleep=self.naps.append, now=lambda: NOW,
        )  # fmt: skip
        return http_embedder.HttpEmbedder(endpoint, state=state)


@pytest.fixture
def server() -> Server:
    return Server()


def logged(state: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (state / "egress.log").read_text().splitlines()]


def test_an_endpoint_gives_unit_vectors_in_order_in_batches(server: Server, tmp_path: Path) -> None:
    embedder = server.embedder(tmp_path, key="k3y")
    found = embedder.embed([f"text {'x' * n}" for n in range(130)])
    assert len(found) == 130 and all(abs(length(v) - 1) < 1e-6 for v in found) and embedder.dims == 3
    assert len(set(found)) == 130 and [len(json.loads(r.content)["input"]) for r in server.requests] == [64, 64, 2]
    request = server.requests[0]
    assert str(request.url) == "https://api.example.org/v1/embeddings" and json.loads(request.content)["model"] == "m"
    assert request.headers["authorization"] == "Bearer k3y"


def test_every_text_is_logged_before_it_is_sent_and_nothing_is_sent_without_a_log(
    server: Server, tmp_path: Path
) -> None:
    embedder = server.embedder(tmp_path)
    embedder.embed(["alpha"], [("memory/a.md", "ab" * 20)])
    embedder.embed_query("what is alpha?")
    assert logged(tmp_path) == [
        {"time": "2026-03-01T12:00:00+00:00", "provider": "api.example.org", "path": "memory/a.md", "blob": "ab" * 20},
        {"time": "2026-03-01T12:00:00+00:00", "provider": "api.example.org", "path": "(question)", "blob": ""},
    ]
    assert (tmp_path / "egress.log").stat().st_mode & 0o777 == 0o600
    server.requests.clear()
    with pytest.raises(ModelUnavailable, match="nothing was sent"):
        server.embedder(None).embed(["alpha"])
    (tmp_path / "egress.log").unlink()
    (tmp_path / "egress.log").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ModelUnavailable, match="nothing was sent"):
        server.embedder(tmp_path).embed(["alpha"])
    assert server.requests == []


def test_what_is_sent_is_redacted(server: Server, tmp_path: Path) -> None:
    server.embedder(tmp_path).embed([f"토큰은{TOKEN}를 쓴다", "mail kim@realcompany.co.kr"])
    assert TOKEN not in "".join(server.texts) and "realcompany" not in "".join(server.texts)
    assert TOKEN not in (tmp_path / "egress.log").read_text()


def test_a_busy_or_broken_endpoint_is_tried_again_and_then_named(server: Server, tmp_path: Path) -> None:
    server.answers = [
        httpx.Response(429, headers={"retry-after": "7"}), httpx.ConnectError("refused"), httpx.Response(503),
    ]  # fmt: skip
    assert len(server.embedder(tmp_path).embed(["alpha"])) == 1
    assert server.naps == [7.0, 2.0, 4.0]
    server.answers = [httpx.Response(500)] * 4
    with pytest.raises(ModelUnavailable, match=r"HTTP 500"):
        server.embedder(tmp_path).embed(["alpha"])
    server.requests.clear()
    server.answers = [httpx.Response(401)]
    with pytest.raises(ModelUnavailable, match=r"HTTP 401"):
        server.embedder(tmp_path).embed(["alpha"])
    server.answers = [httpx.Response(302, headers={"location": "https://evil.example/"})]
    with pytest.raises(ModelUnavailable, match=r"HTTP 302"):
        server.embedder(tmp_path).embed(["alpha"])
    assert len(server.requests) == 2


def test_a_batch_has_so_many_characters_at_most_and_one_text_at_least(server: Server, tmp_path: Path) -> None:
    embedder = server.embedder(tmp_path)
    texts = ["x" * 20_000, "y" * 11_000, "z" * 5_000, "w" * 40_000, "v"]
    assert len(embedder.embed(texts)) == 5
    sent = [[text[0] for text in json.loads(request.content)["input"]] for request in server.requests]
    assert sent == [["x", "y"], ["z"], ["w"], ["v"]]


def test_a_batch_that_is_not_answered_in_time_is_halved_down_to_one_text(server: Server, tmp_path: Path) -> None:
    embedder = server.embedder(tmp_path)
    server.answers = [httpx.ReadTimeout("silence"), httpx.ReadTimeout("silence")]
    vectors = embedder.embed([f"text {n}" for n in range(8)])
    counts = [len(json.loads(request.content)["input"]) for request in server.requests]
    assert len(vectors) == 8 and counts == [8, 4, 2, 2, 2, 2] and server.naps == []
    server.answers = [httpx.ReadTimeout("silence")] * 9
    with pytest.raises(ModelUnavailable, match="did not answer in time"):
        embedder.embed(["one", "other"])


def test_a_batch_of_empty_texts_that_is_not_answered_in_time_is_halved_too(server: Server, tmp_path: Path) -> None:
    server.answers = [httpx.ReadTimeout("silence")]
    assert len(server.embedder(tmp_path).embed([""] * 3)) == 3
    assert [len(json.loads(request.content)["input"]) for request in server.requests] == [3, 2, 1]


def test_a_question_is_not_asked_again_and_again(server: Server, tmp_path: Path) -> None:
    server.answers = [httpx.ConnectError("refused")] * 9
    with pytest.raises(ModelUnavailable, match="gave no answer"):
        server.embedder(tmp_path).embed_query("why?")
    assert len(server.requests) == 2


def test_a_request_takes_no_longer_than_mem_http_seconds(tmp_path: Path) -> None:
    class Silent(QuietHandler):
        def do_POST(self) -> None:
            self.body()
            asked.set()
            answered.wait(30)

    asked, answered = threading.Event(), threading.Event()
    with LoopbackServer(Silent) as silent:
        embedder = open_embedder(f"http:{silent.url}/v1#m", Config(http_seconds=1), tmp_path)
        with pytest.raises(ModelUnavailable, match="did not answer in time"):
            embedder.embed_query("why?")
        answered.set()
    assert asked.is_set()


# -- prefixes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("multilingual-e5-small-q8_0.gguf", "query: ", "passage: "),
        ("intfloat/E5_base-v2", "query: ", "passage: "),
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("bge-base-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("bge-m3", "", ""),
        ("all-MiniLM-L6-v2.Q8_0.gguf", "", ""),
        ("note5-model", "", ""),
        ("text-embedding-3-small", "", ""),
    ],
)
def test_a_models_family_says_its_prefixes(model: str, query: str, passage: str) -> None:
    assert prefixes_of(model, Config()) == Prefixes(query, passage)
    assert prefixes_of(model, Config(query_prefix="none", passage_prefix="none")) == Prefixes()
    assert prefixes_of(model, Config(query_prefix="Q ", passage_prefix="P ")) == Prefixes("Q ", "P ")


def test_every_family_is_met_by_a_name_of_its_own() -> None:
    names = (
        "multilingual-e5-large-instruct", "e5-large", "nomic-embed-text", "snowflake-arctic-embed-l-v2.0",
        "snowflake-arctic-embed-m", "bge-small-zh-v1.5", "embeddinggemma-300m",
    )  # fmt: skip
    assert [prefixes_of(name, Config()) for name in names] == [prefixes for _, prefixes in FAMILIES]


def test_questions_and_passages_go_out_with_their_prefixes(server: Server, tmp_path: Path) -> None:
    prefixes = Prefixes("query: ", "passage: ")
    embedder = http_embedder.HttpEmbedder(server.embedder(tmp_path)._server, prefixes, state=tmp_path)
    embedder.embed(["alpha", " "])
    embedder.embed_query("beta")
    assert server.texts == ["passage: alpha", "passage:  ", "query: beta"]
    assert embedder.id.startswith("http:api.example.org/v1#m+") and server.embedder(tmp_path).id not in (embedder.id,)


def test_a_gguf_model_reads_a_question_with_its_prefix_and_other_prefixes_are_another_space(
    model: Path, tmp_path: Path
) -> None:
    plain = GgufEmbedder(model)
    family = tmp_path / "multilingual-e5-small/model-q8_0.gguf"
    family.parent.mkdir()
    family.write_bytes(model.read_bytes())
    prefixed = open_embedder(f"gguf:{family}", Config())
    assert prefixed.embed_query("memory") == plain.embed_query("query: memory") != plain.embed_query("memory")
    assert prefixed.embed(["memory"]) == plain.embed(["passage: memory"])
    set_to = open_embedder(f"gguf:{family}", Config(query_prefix="Q "))
    assert len({plain.id, prefixed.id, set_to.id}) == 3
    assert not any(prefixed.embed_query(" "))


def test_vectors_made_with_other_prefixes_are_made_again(repo: Repo, model: Path) -> None:
    repo.git("config", "--global", "mem.embedder", f"gguf:{model}")
    repo.commit(files={"memory/a.md": "- alpha\n"})
    assert "1 embedded" in repo.mem("index").stdout
    repo.git("config", "--global", "mem.passagePrefix", "text: ")
    assert repo.git("config", "--global", "mem.passagePrefix") == "text: \n"
    done = repo.mem("search", "alpha")
    assert "alpha" in done.stdout and "words only: the vectors are of another embedder (git mem index)" in done.stderr
    assert "1 embedded" in repo.mem("index").stdout
    assert "words only" not in repo.mem("search", "alpha").stderr


# -- an embedder that does not answer ------------------------------------------------------------------------

DEAD = ["http:http://127.0.0.1:9/v1#m", "gguf:/nowhere/gone.gguf"]


@pytest.mark.parametrize("spec", DEAD)
def test_words_answer_where_the_embedder_never_did_and_the_reason_is_said(repo: Repo, spec: str) -> None:
    repo.commit(files={"memory/a.md": "# A\n\n- webhooks are easier to debug\n- lunch at noon\n"})
    repo.git("config", "--global", "mem.embedder", spec)
    done = repo.mem("search", "webhooks")
    assert "webhooks are easier" in done.stdout and "note: no vectors: " in done.stderr
    value = json.loads(repo.mem("search", "webhooks", "--json").stdout)
    assert value["lanes"] == ["lexical"] and value["hits"][0]["start_line"] == 3
    assert value["notes"] == ["words only: the index has no vectors (git mem index)"]
    only = repo.mem("search", "webhooks", "--lane", "vector", check=False)
    assert only.returncode == 3 and "the index has no vectors" in only.stderr


@pytest.mark.parametrize("spec", DEAD)
def test_git_mem_index_brings_words_and_history_and_says_that_vectors_are_missing(repo: Repo, spec: str) -> None:
    repo.commit(files={"memory/a.md": "- alpha\n", "code.py": "x = 1\n"})
    repo.git("config", "--global", "mem.embedder", spec)
    done = repo.mem("index", "--json", check=False)
    value = json.loads(done.stdout)
    assert done.returncode == 3 and value["blobs"] == 1 and value["commits"] == 1 and value["embedded"] == 0
    assert value["unfinished"].startswith("no vectors: ") and value["unfinished"] in done.stderr
    doctor = repo.mem("doctor", "--json", check=False)
    vectors = next(check for check in json.loads(doctor.stdout)["checks"] if check["name"] == "vectors")
    assert doctor.returncode == 1 and vectors["detail"] == "0 vectors"
    repo.git("config", "--global", "mem.embedder", "static")
    assert "1 embedded" in repo.mem("index").stdout
    assert repo.mem("doctor", check=False).returncode == 0
    assert repo.mem("search", "alpha").stderr == ""


def test_lines_are_still_weighed_by_the_table_where_the_embedder_in_force_stopped_answering(
    repo: Repo, model: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(model.read_bytes())
    repo.commit(files={"memory/a.md": "- the car is in the garage\n- the garage is red\n- the automobile broke\n"})
    repo.git("config", "--global", "mem.embedder", f"gguf:{copy}")
    repo.mem("index")
    copy.unlink()
    done = repo.mem("search", "the garage vehicle", "--json", "--explain")
    value = json.loads(done.stdout)
    assert value["lanes"] == ["lexical"] and "copy.gguf' cannot be read" in value["notes"][0]
    assert "vector0" in value["hits"][0]["explain"]["evidence"]


def test_a_models_vector_of_a_chunk_counts_for_its_lines_and_the_static_table_gives_none(
    repo: Repo, model: Path
) -> None:
    repo.commit(
        files={"memory/a.md": "# A\n\n- we use memory\n", "memory/b.md": "# B\n\n- we use memory of facts, decisions\n"}
    )

    def evidence() -> list[dict[str, float]]:
        hits = json.loads(repo.mem("search", "we use memory", "--json", "--explain").stdout)["hits"]
        return [hit["explain"]["evidence"] for hit in hits]

    assert not any(each.get("chunk") for each in evidence())
    repo.git("config", "--global", "mem.embedder", f"gguf:{model}")
    repo.mem("index")
    assert any(each.get("chunk") for each in evidence())
    repo.git("config", "--global", "mem.searchWeight", "chunk=0")
    assert not any(each.get("chunk") for each in evidence())


def test_indexing_with_a_model_says_how_far_it_is(repo: Repo, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "open_embedder", lambda spec, config, state=None: server.embedder(state))
    monkeypatch.setattr(embedding, "open_embedder_of_index", lambda spec, config, state=None: server.embedder(state))
    ticks = iter(range(1_000))
    monkeypatch.setattr(blob_indexer.time, "monotonic", lambda: float(next(ticks)))
    repo.commit(files={f"memory/{n}.md": f"- fact number {n}\n" for n in range(150)})
    opened = open_repository(repo.path, os.environ)
    said: list[str] = []
    indexer.refresh(opened, Config(embedder="http:https://api.example.org/v1#m"), say=said.append)
    opened.close()
    assert [text for text in said if "embedded" in text] == [
        "64 chunks embedded", "128 chunks embedded", "150 chunks embedded",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json={"data": [{"index": 1, "embedding": [1.0]}]}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": []}]}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": ["x"]}]}),
        httpx.Response(200, content=b'{"data": [{"index": 0, "embedding": [1e999, NaN]}]}'),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": None}]}),
    ],
)
def test_an_answer_that_is_no_embedding_is_a_clear_refusal(
    server: Server, tmp_path: Path, answer: httpx.Response
) -> None:
    server.answers = [answer]
    with pytest.raises(ModelUnavailable, match="the answer of api"):
        server.embedder(tmp_path).embed(["alpha"])


def test_a_vector_of_zeros_is_that_texts_alone(server: Server, tmp_path: Path) -> None:
    rows = [{"index": 0, "embedding": [0.0, 0.0]}, {"index": 1, "embedding": [0.0, 2.0]}]
    server.answers = [httpx.Response(200, json={"data": rows})]
    zeros, other = server.embedder(tmp_path).embed(["alpha", "beta"])
    assert zeros == bytes(8) and array("f", other).tolist() == [0.0, 1.0]


def test_zeros_for_one_text_without_known_words_are_its_vector_and_zeros_for_a_question_are_an_error(
    server: Server, tmp_path: Path
) -> None:
    zeros = httpx.Response(200, json={"data": [{"index": 0, "embedding": [0.0, 0.0]}]})
    server.answers = [zeros]
    assert server.embedder(tmp_path).embed(["alpha"]) == [bytes(8)]
    for ask in (lambda: server.embedder(tmp_path).embed_query("alpha"), lambda: server.embedder(tmp_path).dims):
        server.answers = [zeros]
        with pytest.raises(ModelUnavailable, match="no vector with a direction"):
            ask()


def test_each_text_has_one_origin_in_the_log(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 texts have 1 origins"):
        server.embedder(tmp_path).embed(["alpha", "beta"], [("memory/a.md", "ab" * 20)])
    assert server.requests == []


def test_the_number_of_dimensions_may_not_change(server: Server, tmp_path: Path) -> None:
    embedder = server.embedder(tmp_path)
    assert embedder.dims == 3
    server.answers = [httpx.Response(200, json={"data": [{"index": 0, "embedding": [1.0, 2.0]}]})]
    with pytest.raises(ModelUnavailable, match="2 numbers, not 3"):
        embedder.embed(["alpha"])


def test_addresses_and_keys_are_checked_before_anything_is_sent(tmp_path: Path) -> None:
    for spec in ("http:example.org#m", "http:https://example.org/v1", "http:ftp://x#m", "http:https://u:p@x#m"):
        with pytest.raises(BadConfig):
            open_embedder(spec, Config())
    key = tmp_path / "key"
    key.write_text("k3y\n")
    config = Config(http_key_file=str(key))
    with pytest.raises(BadConfig, match="plain http"):
        open_embedder("http:http://example.org#m", config)
    made = open_embedder("http:http://localhost:8080/v1#m", config, tmp_path)
    assert made.id == "http:localhost:8080/v1#m" and "k3y" not in made.id
    with pytest.raises(ModelUnavailable, match="httpKeyFile"):
        open_embedder("http:https://example.org#m", Config(http_key_file=str(tmp_path / "none")))


def test_an_index_cannot_name_an_endpoint_that_the_settings_do_not() -> None:
    assert open_embedder_of_index("http:https://evil.example/v1#m", Config()) is None
    assert open_embedder_of_index("http:https://a.example/v1#m", Config(embedder="http:https://b.example/v1#m")) is None


def test_indexing_sends_only_new_chunks_with_their_path_and_blob(
    repo: Repo, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = repo.path / ".git/gitmem"
    monkeypatch.setattr(embedding, "open_embedder", lambda spec, config, state=None: server.embedder(state))
    config = Config(embedder="http:https://api.example.org/v1#m")
    repo.commit(files={"memory/a.md": f"# A\n- alpha\n- key {TOKEN}\n", "memory/b.md": "- beta\n"})
    opened = open_repository(repo.path, os.environ)
    indexer.refresh(opened, config)
    sent = {(row["path"], row["blob"]) for row in logged(state)}
    blobs = {path: repo.git("rev-parse", f"HEAD:{path}").strip() for path in ("memory/a.md", "memory/b.md")}
    assert sent == {("(question)", ""), *blobs.items()}
    assert TOKEN not in "".join(server.texts)
    server.requests.clear()
    repo.commit(files={"memory/c.md": "- gamma\n"})
    indexer.refresh(opened, config)
    assert [text for text in server.texts if text != "memory"] == ["gamma"] or "gamma" in "".join(server.texts)
    assert "alpha" not in "".join(server.texts) and "beta" not in "".join(server.texts)
    opened.close()
    index = db.open_index(state)
    assert index is not None and inspection.counts(index.database) == (3, 3, 3)
    index.close()
