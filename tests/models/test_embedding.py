"""Embedders give comparable vectors or a clear refusal; what leaves the machine is asked for, redacted and logged."""

from __future__ import annotations

import json
import math
import os
from array import array
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from gitmem.cli.commands import context, promote
from gitmem.config import Config, keys
from gitmem.errors import BadConfig, ModelUnavailable
from gitmem.git.opening import open_repository
from gitmem.index import db, indexer
from gitmem.models import embedding, http_embedder
from gitmem.models.embedding import open_embedder, open_in_force
from gitmem.models.endpoint import Endpoint
from gitmem.models.gguf_embedder import GgufEmbedder
from gitmem.models.language import LANGUAGE_MODELS
from tests.harness import Repo
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
    help_of = {name: row["doc"] for name, row in keys()}
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
        made = http_embedder.HttpEmbedder(
            Endpoint(
                "https://api.example.org/v1", "m", key,
                transport=httpx.MockTransport(self), sleep=self.naps.append, now=lambda: NOW,
            )
        )  # fmt: skip
        made.state = state
        return made


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
    embedder.origins = [("memory/a.md", "ab" * 20)]
    embedder.embed(["alpha"])
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


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[]),
        httpx.Response(200, json={"data": []}),
        httpx.Response(200, json={"data": [{"index": 1, "embedding": [1.0]}]}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": []}]}),
        httpx.Response(200, json={"data": [{"index": 0, "embedding": [0.0, 0.0]}]}),
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
    assert open_in_force("http:https://evil.example/v1#m", Config()) is None
    assert open_in_force("http:https://a.example/v1#m", Config(embedder="http:https://b.example/v1#m")) is None


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
    assert index is not None and index.counts()["vector"] == index.counts()["chunk"] == 3
    index.close()
