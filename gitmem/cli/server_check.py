"""Check the MCP server that a host is told to start: start it, list its tools, stop it."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from gitmem.errors import GitMemError

SECONDS = 30  # time limit of the check; a host waits as long for the first answer
CLIENT = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "git-mem install", "version": "1"},
}
MESSAGES = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def count_tools(command: Sequence[str], folder: Path) -> int:
    """The number of tools of the server that `command` starts in `folder`. Raises GitMemError if it cannot be started
    or does not answer within SECONDS."""
    try:
        server = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
        )
    except OSError as error:
        raise GitMemError(f"cannot start '{command[0]}': {error.strerror}") from None
    try:
        assert server.stdin is not None and server.stdout is not None
        with suppress(BrokenPipeError):
            server.stdin.write("".join(f"{json.dumps(message)}\n" for message in MESSAGES).encode())
        for answer in _answers(server.stdout.fileno(), time.monotonic() + SECONDS):
            tools = _tools(answer)
            if tools is not None:
                return len(tools)
        raise GitMemError("the MCP server does not answer", f"{' '.join(command)}, in this folder, says why")
    finally:
        server.kill()
        server.communicate()


def _answers(handle: int, deadline: float) -> Iterator[Any]:
    """The JSON values that a server writes, one on each line, until it closes the pipe or the deadline passes. A line
    that is not JSON is skipped.
    `handle`: file descriptor. `deadline`: seconds of the monotonic clock."""
    data = b""
    while (left := deadline - time.monotonic()) > 0 and select.select([handle], [], [], left)[0]:
        part = os.read(handle, 1 << 16)
        if not part:
            return
        *lines, data = (data + part).split(b"\n")
        for line in lines:
            with suppress(ValueError):
                yield json.loads(line)


def _tools(answer: Any) -> list[Any] | None:
    """The tools in the answer to `tools/list`; None for every other message."""
    match answer:
        case {"id": 2, "result": {"tools": list(tools)}}:
            return tools
    return None
