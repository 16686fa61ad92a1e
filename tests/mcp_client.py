"""The SDK's own client on our server, in memory: what a host's client takes from each answer is what a test sees."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from mcp import Client
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from gitmem.agents.mcp_protocol import Connection, Server


@asynccontextmanager
async def in_memory(server: Server) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a client whose other end is `server`."""
    answers, read = create_context_streams[SessionMessage | Exception](1000)
    write, questions = create_context_streams[SessionMessage](0)
    token = anyio.lowlevel.current_token()

    def send(message: dict[str, Any]) -> None:
        parsed = jsonrpc_message_adapter.validate_python(json.loads(json.dumps(message)))
        anyio.from_thread.run(answers.send, SessionMessage(parsed), token=token)

    connection = Connection(server, send)

    async def take() -> None:
        async with questions:
            async for asked in questions:
                line = asked.message.model_dump_json(by_alias=True, exclude_unset=True)
                await anyio.to_thread.run_sync(connection.receive, json.loads(line))

    async with anyio.create_task_group() as group:
        group.start_soon(take)
        yield read, write
        await anyio.to_thread.run_sync(connection.finish)
        group.cancel_scope.cancel()
    await answers.aclose()


def ask(server: Any, steps: Callable[[Client], Awaitable[Any]]) -> Any:
    """Run `steps` with a connected client."""

    async def main() -> Any:
        async with Client(in_memory(server)) as client:
            return await steps(client)

    return anyio.run(main)


async def call(client: Client, tool: str, **arguments: Any) -> str:
    """The text of a tool's answer, which is all of it."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    (block,) = result.content
    assert result.structured_content is None and block.type == "text"
    return block.text
