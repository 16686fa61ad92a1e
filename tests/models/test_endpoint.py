"""A request is logged before it leaves, tried again where that helps, and its answer is bounded; over real sockets."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest

from gitmem.errors import BadConfig, ModelUnavailable
from gitmem.models import endpoint
from gitmem.models.endpoint import Endpoint, ErrorStatus, LimitExceeded
from tests.loopback import LoopbackServer, QuietHandler


class Handler(QuietHandler):
    """Answers the next of `script`: (status, headers, pieces of the body); None drops the connection."""

    script: ClassVar[list[Any]] = []
    seen: ClassVar[list[tuple[str, str | None, Any]]] = []

    def do_POST(self) -> None:
        self.seen.append((self.path, self.headers["authorization"], json.loads(self.body())))
        step = self.script.pop(0)
        if step is None:
            self.close_connection = True
            return
        status, headers, pieces = step
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for piece in pieces:
                self.wfile.write(piece)
        except OSError:
            self.close_connection = True


@pytest.fixture
def address() -> Iterator[str]:
    Handler.script, Handler.seen = [], []
    with LoopbackServer(Handler) as server:
        yield f"{server.url}/v1"


def post(server: Endpoint, state: Path | None, *, limit: int = 1000, seconds: float = 60.0) -> bytes:
    return server.post(
        "embeddings", {"input": ["a"]}, endpoint.RequestLimits(limit, time.monotonic() + seconds), state=state,
        origins=[("memory/a.md", "ab")],
    )  # fmt: skip


def test_an_answer_comes_back_and_the_request_is_in_the_log(address: str, tmp_path: Path) -> None:
    Handler.script = [(200, {}, [b"{}"])]
    assert post(Endpoint(address, "m", "k3y"), tmp_path) == b"{}"
    assert Handler.seen == [("/v1/embeddings", "Bearer k3y", {"input": ["a"]})]
    entry = json.loads((tmp_path / "egress.log").read_text())
    assert entry["path"] == "memory/a.md" and entry["provider"].startswith("127.0.0.1:")
    assert "k3y" not in (tmp_path / "egress.log").read_text()


def test_nothing_is_sent_that_cannot_be_logged(address: str, tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="nothing was sent"):
        post(Endpoint(address, "m"), None)
    (tmp_path / "egress.log").mkdir()
    with pytest.raises(ModelUnavailable, match="nothing was sent"):
        post(Endpoint(address, "m"), tmp_path)
    assert Handler.seen == []


def test_a_busy_server_and_a_dropped_connection_are_tried_again_with_growing_waits(
    address: str, tmp_path: Path
) -> None:
    naps: list[float] = []
    Handler.script = [(429, {"retry-after": "7"}, []), None, (503, {"retry-after": "9999"}, []), (200, {}, [b"1"])]
    assert post(Endpoint(address, "m", sleep=naps.append), tmp_path) == b"1"
    assert naps == [7.0, 2.0, endpoint.MAX_WAIT_SECONDS]


def test_an_error_status_before_a_dropped_connection_is_not_taken_for_the_last_answer(
    address: str, tmp_path: Path
) -> None:
    Handler.script = [(503, {}, []), None, None, None]
    with pytest.raises(ModelUnavailable, match="gave no answer") as caught:
        post(Endpoint(address, "m", sleep=lambda seconds: None), tmp_path)
    assert not isinstance(caught.value, ErrorStatus)


@pytest.mark.parametrize(("status", "headers"), [(401, {}), (404, {}), (302, {"location": "https://evil.example/"})])
def test_a_refusal_and_a_redirect_end_it_at_once(
    address: str, tmp_path: Path, status: int, headers: dict[str, str]
) -> None:
    Handler.script = [(status, headers, [])]
    with pytest.raises(ModelUnavailable, match=f"HTTP {status}"):
        post(Endpoint(address, "m"), tmp_path)
    assert len(Handler.seen) == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": {"message": "no such model\\nas m"}}', "HTTP 400: no such model as m"),
        (b'{"detail": [{"msg": "bad", "key": "k3y"}]}', 'HTTP 400: [{"msg": "bad", "key": "[key]"}]'),
        (b"\x1b[31mplain words about a secret", "HTTP 400: [31mplain words about a [hidden]"),
        (b"<html><body>proxy</body></html>", "HTTP 400)"),
        (b"", "HTTP 400)"),
        (b"x" * 900, "HTTP 400: " + "x" * endpoint.MAX_ERROR_CHARS + ")"),
    ],
)
def test_what_a_server_says_of_an_error_is_shown_masked_and_bounded(
    address: str, tmp_path: Path, body: bytes, said: str
) -> None:
    Handler.script = [(400, {}, [body] if body else [])]
    with pytest.raises(ErrorStatus) as caught:
        post(Endpoint(address, "m", "k3y", mask=lambda words: words.replace("secret", "[hidden]")), tmp_path)
    assert said in caught.value.message and "k3y" not in caught.value.message and caught.value.status == 400


def test_a_server_may_be_silent_until_the_deadline(address: str, tmp_path: Path) -> None:
    """The time that one silence may take is what is left of the run, where no other is said."""
    seen: list[object] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.extensions["timeout"])
        return httpx.Response(200, content=b"1")

    post(Endpoint("http://h/v1", "m", timeout=None, transport=httpx.MockTransport(handler)), tmp_path, seconds=500)
    post(Endpoint("http://h/v1", "m", timeout=7.0, transport=httpx.MockTransport(handler)), tmp_path, seconds=500)
    assert [400 < one["read"] <= 500 for one in seen] == [True, False]  # type: ignore[index]


def test_a_flood_is_cut_and_a_wait_past_the_deadline_is_not_begun(address: str, tmp_path: Path) -> None:
    Handler.script = [(200, {}, [b"x" * 10_000] * 100)]
    with pytest.raises(LimitExceeded, match="longer than 1000 bytes"):
        post(Endpoint(address, "m"), tmp_path)
    naps: list[float] = []
    Handler.script = [(503, {"retry-after": "20"}, [])]
    with pytest.raises(LimitExceeded, match="in time"):
        post(Endpoint(address, "m", sleep=naps.append), tmp_path, seconds=10)
    assert naps == []
    Handler.script = [(200, {}, [b"x"])]
    with pytest.raises(LimitExceeded, match="in time"):
        post(Endpoint(address, "m"), tmp_path, seconds=-1)


@pytest.mark.parametrize(
    "address", ["", "m", "ftp://h/v1#m", "https://h/v1", "https:///v1#m", "https://user:pass@h/v1#m", "https://h/v1#"]
)
def test_an_address_is_a_url_with_a_model_and_no_password(address: str) -> None:
    with pytest.raises(BadConfig, match="http:<url>#<model>"):
        endpoint.parse(address, "git config --global mem.model ...")


def test_a_key_is_read_from_its_file_and_not_sent_in_the_open(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("k3y\n")
    assert endpoint.parse("https://h/v1/#m", "") == ("https://h/v1", "m")
    assert endpoint.read_key("https://h/v1", str(file)) == endpoint.read_key("http://localhost/v1", str(file)) == "k3y"
    assert endpoint.read_key("http://h/v1", "") == ""
    with pytest.raises(BadConfig, match="plain http") as caught:
        endpoint.read_key("http://h/v1", str(file))
    assert "k3y" not in str(caught.value)
    with pytest.raises(ModelUnavailable, match="cannot be read"):
        endpoint.read_key("https://h/v1", str(tmp_path / "none"))
