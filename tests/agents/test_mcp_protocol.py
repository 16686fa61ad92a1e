"""The MCP server over standard input and output, line by line as the protocol has it, without any client of the SDK."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

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
