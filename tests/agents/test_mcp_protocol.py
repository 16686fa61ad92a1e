"""The MCP server over standard input and output, line by line as the protocol has it, without any client of the SDK."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from gitmem.agents import mcp_protocol
from gitmem.agents.mcp_server import build
from tests.harness import Repo

HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"  # has no handshake: each request says what the client speaks
CLIENT = {"name": "raw", "version": "1"}


class Server:
    """A server as a host starts it."""

    def __init__(self, repo: Repo, stderr: int | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gitmem", "mcp"], cwd=repo.path, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=stderr, text=True, encoding="utf-8",
        )  # fmt: skip
        self.requests = 0

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method: str, **params: Any) -> Any:
        self.requests += 1
        self.send({"id": self.requests, "method": method, "params": params})
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert answer["id"] == self.requests, answer
        return answer["result"]


@pytest.fixture
def server(repo: Repo) -> Iterator[Server]:
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- The webhook uses REST.\n"})
    started = Server(repo)
    yield started
    started.process.kill()
    started.process.communicate()


@pytest.mark.parametrize("version", [*HANDSHAKES, MODERN])
def test_every_version_of_the_protocol_is_spoken(server: Server, version: str) -> None:
    more: dict[str, Any] = {}
    if version == MODERN:
        prefix = "io.modelcontextprotocol/"
        more["_meta"] = {
            f"{prefix}protocolVersion": version, f"{prefix}clientInfo": CLIENT, f"{prefix}clientCapabilities": {},
        }  # fmt: skip
        assert version in server.ask("server/discover", **more)["supportedVersions"]
    else:
        hello = server.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)
        assert hello["protocolVersion"] == version
        server.send({"method": "notifications/initialized"})
    assert "memory_search" in {tool["name"] for tool in server.ask("tools/list", **more)["tools"]}
    found = server.ask("tools/call", name="memory_search", arguments={"query": "webhook"}, **more)
    assert "REST" in found["content"][0]["text"] and not found.get("isError")
    wrong = server.ask("tools/call", name="memory", arguments={"command": "view", "path": "/memories/x"}, **more)
    assert wrong["isError"] and wrong["content"][0]["text"].startswith("The path /memories/x does not exist")
    assert server.ask("resources/list", **more)["resources"][0]["uri"] == "memory://MEMORY.md"


def read(server: Server) -> Any:
    assert server.process.stdout is not None
    return json.loads(server.process.stdout.readline())


def write(server: Server, line: str) -> None:
    assert server.process.stdin is not None
    server.process.stdin.write(line + "\n")
    server.process.stdin.flush()


@pytest.mark.parametrize(
    ("line", "code", "ident"),
    [
        ("{not JSON", -32700, None),
        ("[" * 100_000, -32700, None),
        ("[]", -32600, None),
        ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": 7}', -32600, 7),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}', -32600, None),
        ('{"jsonrpc": "2.0", "id": "x", "method": "ping", "params": [1]}', -32602, "x"),
        ('{"jsonrpc": "2.0", "id": "x", "method": "memory/none"}', -32601, "x"),
        ('{"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": {"name": 5}}', -32602, "x"),
        ('{"jsonrpc": "2.0", "id": "x", "method": "resources/read", "params": {"uri": "file:///etc/passwd"}}', -32002, "x"),
    ],
)  # fmt: skip
def test_what_is_no_request_is_an_error_and_the_next_one_is_answered(
    server: Server, line: str, code: int, ident: Any
) -> None:
    write(server, line)
    answer = read(server)
    assert (answer["error"]["code"], answer["id"]) == (code, ident)
    assert server.ask("ping") == {}


def test_a_message_that_is_too_long_is_refused_and_the_next_one_is_answered(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, answers = (
        io.BytesIO(b'{"a": "' + b"x" * 500 + b'"}\n{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n'),
        io.BytesIO(),
    )
    monkeypatch.setattr(mcp_protocol, "LINE_LIMIT", 100)
    monkeypatch.setattr(mcp_protocol, "_own_streams", lambda: (source, answers))
    mcp_protocol.serve(build(repo.path))
    refused, answered = map(json.loads, answers.getvalue().splitlines())
    assert refused["error"]["code"] == -32600 and answered == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_version_that_is_not_spoken_is_refused_with_those_that_are(server: Server) -> None:
    hello = server.ask("initialize", protocolVersion="2031-01-01", capabilities={}, clientInfo=CLIENT)
    assert hello["protocolVersion"] == HANDSHAKES[-1]
    meta = {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    server.send({"id": 9, "method": "tools/list", "params": {"_meta": meta}})
    error = read(server)["error"]
    assert error["code"] == -32022 and error["data"]["supported"] == [MODERN]


def test_the_first_answers_need_neither_a_search_nor_the_repositorys_reader(repo: Repo) -> None:
    """Each session of each host waits for them, most never call a tool."""
    repo.commit("one", {"MEMORY.md": "- a\n"})
    asked = ("initialize", "tools/list", "prompts/list", "resources/templates/list", "ping")
    lines = "".join(
        json.dumps({"jsonrpc": "2.0", "id": at, "method": method, "params": {}}) + "\n"
        for at, method in enumerate(asked)
    )
    code = (
        "import atexit, os, sys; sys.argv = ['git-mem', 'mcp']; leave = os._exit\n"
        "def told(code): print(*sys.modules, file=sys.stderr); leave(code)\n"
        "os._exit = told\nfrom gitmem.__main__ import main\nmain()"
    )
    done = repo.run(sys.executable, "-c", code, input=lines)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == list(range(len(asked)))
    heavy = {"mcp", "pydantic", "anyio", "apsw", "click", "gitmem.search.search", "gitmem.index.kept_index"}
    assert "gitmem.agents.mcp_server" in done.stderr.split() and heavy & set(done.stderr.split()) == set()


def test_requests_at_the_end_of_the_input_are_answered_all_the_same(repo: Repo) -> None:
    repo.commit("one", {"MEMORY.md": "# Memory\n\n- The webhook uses REST.\n"})
    call = {"name": "memory_search", "arguments": {"query": "webhook"}}
    lines = [json.dumps({"jsonrpc": "2.0", "id": at, "method": "tools/call", "params": call}) for at in range(20)]
    done = repo.run(sys.executable, "-m", "gitmem", "mcp", input="\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == list(range(20))
    assert all("REST" in answer["result"]["content"][0]["text"] for answer in answers)


def test_a_call_that_its_client_cancelled_is_not_answered(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, sent = threading.Event(), threading.Event(), []

    def slow(params: Any) -> dict[str, Any]:
        begun.set()
        assert go_on.wait(60)
        return {}

    methods = {"slow": mcp_protocol.Method(slow, slow=True)}
    connection = mcp_protocol.Connection(mcp_protocol.Server("a", "A", "1", "", methods), sent.append)
    connection.receive({"jsonrpc": "2.0", "id": 1, "method": "slow"})
    assert begun.wait(60)
    connection.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    connection.receive({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    go_on.set()
    connection.finish()
    assert [message["id"] for message in sent] == [2]


def test_what_a_hook_prints_stays_out_of_the_conversation(repo: Repo) -> None:
    repo.commit("one", {"src/a.py": "a = 1\nb = 2\n", "MEMORY.md": "# Memory\n"})
    repo.mem("add", "--type", "rule", "--commit", "--cites", "src/a.py:1-2", "The value of b is always 2")
    repo.commit("two", {"src/a.py": "a = 1\nb = 2  # two\n"})
    hook = repo.path / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho chatter\ncat\n")
    hook.chmod(0o755)
    place = {"path": "MEMORY.md", "line": 5, "quote": "a = 1\nb = 2  # two", "cites": ["src/a.py:1-2"]}
    call = {"name": "memory_confirm", "arguments": place}
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    done = repo.run(sys.executable, "-m", "gitmem", "mcp", input=f"{line}\n")
    (answer,) = map(json.loads, done.stdout.splitlines())
    assert answer["id"] == 1 and "Confirmed" in answer["result"]["content"][0]["text"], answer


def test_an_interrupt_ends_a_server_that_waits(server: Server) -> None:
    server.ask("initialize", protocolVersion=HANDSHAKES[0], capabilities={}, clientInfo=CLIENT)
    os.kill(server.process.pid, signal.SIGINT)
    assert server.process.wait(60) == 128 + signal.SIGINT


def test_a_client_that_is_gone_before_its_answer_is_no_bug(repo: Repo) -> None:
    repo.commit("one", {"MEMORY.md": "- a\n"})
    server = Server(repo, stderr=subprocess.PIPE)
    server.ask("initialize", protocolVersion=HANDSHAKES[0], capabilities={}, clientInfo=CLIENT)
    assert server.process.stdout and server.process.stdin and server.process.stderr
    server.process.stdout.close()
    server.send({"id": 9, "method": "tools/list", "params": {}})
    time.sleep(2)  # a busy machine would see the end of the input before it answers, and end with 0
    server.process.stdin.close()
    assert "bug" not in server.process.stderr.read() and server.process.wait(60) == 128 + signal.SIGPIPE


def test_several_messages_as_one_list_are_answered_as_one_in_the_version_that_has_them(server: Server) -> None:
    client = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": CLIENT}
    assert server.ask("initialize", **client)["protocolVersion"] == "2025-03-26"
    search = {"name": "memory_search", "arguments": {"query": "webhook"}}
    write(server, json.dumps([
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": search},
        {"jsonrpc": "2.0", "id": "eight", "method": "ping"},
        {"jsonrpc": "2.0", "id": 9, "method": "nothing"},
        3,
        [],
    ]))  # fmt: skip
    answers = read(server)
    assert isinstance(answers, list) and len(answers) == 5
    known = {answer["id"]: answer for answer in answers if answer["id"] is not None}
    assert "REST" in known[7]["result"]["content"][0]["text"] and known["eight"]["result"] == {}
    assert known[9]["error"]["code"] == mcp_protocol.METHOD_NOT_FOUND
    assert sum("error" in answer for answer in answers) == 3
    write(server, json.dumps([{"jsonrpc": "2.0", "method": "notifications/initialized"}]))  # nothing is asked for
    many = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in range(mcp_protocol.MAX_BATCH + 1)]
    for refused in ([], many, [{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}]):
        write(server, json.dumps(refused))
        assert read(server)["error"]["code"] == mcp_protocol.INVALID_REQUEST
    assert server.ask("ping") == {}


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_other_versions_have_no_lists(server: Server, version: str) -> None:
    server.ask("initialize", protocolVersion=version, capabilities={}, clientInfo=CLIENT)
    write(server, json.dumps([{"jsonrpc": "2.0", "id": 1, "method": "ping"}]))
    assert read(server)["error"]["code"] == mcp_protocol.INVALID_REQUEST


def test_a_list_at_the_end_of_the_input_is_answered_and_its_calls_can_be_cancelled() -> None:
    sent: list[Any] = []
    started, cancelled = threading.Event(), threading.Event()

    def slow(params: Any) -> dict[str, Any]:
        started.set()
        cancelled.wait(60)
        return {"done": True}

    methods = {"slow": mcp_protocol.Method(slow, slow=True)}
    connection = mcp_protocol.Connection(mcp_protocol.Server("a", "A", "1", "", methods), sent.append)
    connection.version = "2025-03-26"
    calls = [{"jsonrpc": "2.0", "id": 1, "method": "slow"}, {"jsonrpc": "2.0", "id": 2, "method": "ping"}]
    connection.receive(calls)
    assert started.wait(60)
    connection.receive({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
    cancelled.set()
    connection.finish()
    assert sent == [[{"jsonrpc": "2.0", "id": 2, "result": {}}]]
