"""A scripted model behind the APIs of four vendors, on loopback: it keeps every request and answers from a script.

Anthropic messages, OpenAI responses and chat completions, Gemini. An answer is a text or one call of a tool; nothing
is understood, nothing is stored, and nothing outside this machine is asked.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gitmem.gate.quoting import LEAD

Json = dict[str, Any]
BEHIND_PROMPT = (
    "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>",
    LEAD,
    "<system-reminder>",
)  # how a message begins that no person wrote


@dataclass(frozen=True)
class Asked:
    """What a request asks, whatever its API: all its text, the last message's text, the tools, whether the last message
    is the result of a tool."""

    path: str
    body: Json
    text: str
    last: str
    tools: tuple[str, ...]
    is_result: bool


@dataclass(frozen=True)
class Answer:
    """A text, or a call of the tool `tool` with `arguments`; `tokens` is how long the conversation was, for a chat."""

    text: str = ""
    tool: str = ""
    arguments: Json = field(default_factory=dict)
    tokens: int = 100


Script = Callable[[Asked], Answer]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a host that closes its connection in the middle: they do so at their end."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class Endpoint:
    """The server: `url` is its address, `asked` every request so far."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        endpoint = self

        class Handler(_Handler):
            of = endpoint

        self._server = _Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def serve(self) -> None:
        self._server.serve_forever()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving(script: Script) -> Iterator[Endpoint]:
    """The endpoint, while the block runs."""
    endpoint = Endpoint(script)
    thread = threading.Thread(target=endpoint.serve, daemon=True)
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.stop()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    of: Endpoint
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        return

    def do_GET(self) -> None:
        models = [{"id": "scripted", "object": "model", "created": 0, "owned_by": "nobody", "name": "scripted"}]
        self._json({"object": "list", "data": models, "models": [{"name": "models/scripted"}]})

    def do_POST(self) -> None:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = {}
        path = self.path.partition("?")[0]
        kind = next((kind for pattern, kind in APIS if re.search(pattern, path)), None)
        if kind is None:
            self._json({"input_tokens": 100, "totalTokens": 100})  # counting tokens, telemetry
            return
        asked = kind.read(path, body)
        self.of.asked.append(asked)
        answer = self.of.script(asked)
        streamed = body.get("stream") or "streamGenerateContent" in path
        if streamed:
            self._send(kind.stream(answer), "text/event-stream")
        else:
            self._json(kind.whole(answer))

    def _json(self, value: Json) -> None:
        self._send(json.dumps(value).encode(), "application/json")

    def _send(self, data: bytes, kind: str) -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
        except OSError:
            return


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


def _is_of_host(message: Json) -> bool:
    """Whether a host says all of it in the person's name: what OpenClaw runs, our context in pi, a reminder. Qwen Code
    puts its reminders and the person's prompt into one message, a part each."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    said = [text for text in texts if isinstance(text, str) and text.strip()]
    return bool(said) and all(text.startswith(BEHIND_PROMPT) for text in said)


def _asked(path: str, body: Json, messages: list[Any], tools: list[str], is_result: bool) -> Asked:
    """The last message is the last one that no host put behind it as its own."""
    said = [message for message in messages if message.get("role") not in ("system", "developer")]
    last = "\n".join(_texts(said[-1])) if said else ""
    return Asked(path, body, "\n".join(_texts(body)), last, tuple(tools), is_result)


def _events(*events: Json, named: bool = False, done: bool = False) -> bytes:
    rows = [(f"event: {event['type']}\n" if named else "") + f"data: {json.dumps(event)}\n\n" for event in events]
    return ("".join(rows) + ("data: [DONE]\n\n" if done else "")).encode()


class Anthropic:
    """`/v1/messages`."""

    @staticmethod
    def read(path: str, body: Json) -> Asked:
        messages = body.get("messages") or []
        said = [message for message in messages if message.get("role") != "system"]
        content = said[-1].get("content") if said else ""
        results = [part for part in content if part.get("type") == "tool_result"] if isinstance(content, list) else []
        return _asked(path, body, messages, [tool.get("name", "") for tool in body.get("tools") or []], bool(results))

    @staticmethod
    def _block(answer: Answer) -> Json:
        if answer.tool:
            return {"type": "tool_use", "id": "toolu_1", "name": answer.tool, "input": answer.arguments}
        return {"type": "text", "text": answer.text}

    @classmethod
    def whole(cls, answer: Answer) -> Json:
        return {
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [cls._block(answer)],
            "stop_reason": "tool_use" if answer.tool else "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 10},
        }  # fmt: skip

    @classmethod
    def stream(cls, answer: Answer) -> bytes:
        whole = cls.whole(answer)
        if answer.tool:
            block: Json = {"type": "tool_use", "id": "toolu_1", "name": answer.tool, "input": {}}
            delta: Json = {"type": "input_json_delta", "partial_json": json.dumps(answer.arguments)}
        else:
            block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": answer.text}
        return _events(
            {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"], "stop_sequence": None},
             "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
            named=True,
        )  # fmt: skip


class Responses:
    """`/v1/responses` of OpenAI."""

    number = 0

    @staticmethod
    def read(path: str, body: Json) -> Asked:
        items = body.get("input") or []
        items = items if isinstance(items, list) else [items]
        items = [{"role": "user", "content": item} if isinstance(item, str) else item for item in items]
        said = [item for item in items if item.get("role") != "developer"]
        is_result = bool(said) and str(said[-1].get("type", "")).endswith("_output")
        tools = [tool.get("name") or tool.get("type") or "" for tool in body.get("tools") or []]
        for tool in body.get("tools") or []:  # Codex puts those of a server into a namespace
            tools += [f"{tool.get('name')}.{inner.get('name')}" for inner in tool.get("tools") or []]
        return _asked(path, body, items, tools, is_result)

    @classmethod
    def _item(cls, answer: Answer) -> Json:
        cls.number += 1
        if answer.tool:
            space, _, name = answer.tool.rpartition(".")
            return {
                "type": "function_call", "id": f"fc_{cls.number}", "call_id": f"call_{cls.number}", "name": name,
                "arguments": json.dumps(answer.arguments), "status": "completed",
                **({"namespace": space} if space else {}),
            }  # fmt: skip
        return {
            "type": "message", "id": f"msg_{cls.number}", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }  # fmt: skip

    @classmethod
    def whole(cls, answer: Answer) -> Json:
        usage = {
            "input_tokens": 100, "output_tokens": 10, "total_tokens": 110,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        return {"id": f"resp_{cls.number}", "object": "response", "created_at": 0, "status": "completed",
                "model": "scripted", "output": [cls._item(answer)], "usage": usage}  # fmt: skip

    @classmethod
    def stream(cls, answer: Answer) -> bytes:
        whole = cls.whole(answer)
        (item,) = whole["output"]
        events: list[Json] = [
            {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        ]
        if not answer.tool:
            place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
            empty = {"type": "output_text", "text": "", "annotations": []}
            events += [
                {"type": "response.content_part.added", **place, "part": empty},
                {"type": "response.output_text.delta", **place, "delta": answer.text},
                {"type": "response.output_text.done", **place, "text": answer.text},
            ]  # fmt: skip
        else:
            events += [{"type": "response.function_call_arguments.done", "item_id": item["id"], "output_index": 0,
                        "arguments": item["arguments"]}]  # fmt: skip
        events += [{"type": "response.output_item.done", "output_index": 0, "item": item},
                   {"type": "response.completed", "response": whole}]  # fmt: skip
        return _events(*({**event, "sequence_number": n} for n, event in enumerate(events)), named=True)


class Chat:
    """`/v1/chat/completions` of OpenAI."""

    @staticmethod
    def read(path: str, body: Json) -> Asked:
        messages = [message for message in body.get("messages") or [] if not _is_of_host(message)]
        tools = [tool.get("function", {}).get("name", "") for tool in body.get("tools") or []]
        return _asked(path, body, messages, tools, bool(messages) and messages[-1].get("role") == "tool")

    @staticmethod
    def _usage(answer: Answer) -> Json:
        return {"prompt_tokens": answer.tokens, "completion_tokens": 10, "total_tokens": answer.tokens + 10}

    @staticmethod
    def _message(answer: Answer) -> Json:
        if not answer.tool:
            return {"role": "assistant", "content": answer.text}
        call = {"name": answer.tool, "arguments": json.dumps(answer.arguments)}
        return {"role": "assistant", "content": None,
                "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}  # fmt: skip

    @classmethod
    def whole(cls, answer: Answer) -> Json:
        reason = "tool_calls" if answer.tool else "stop"
        return {"id": "c1", "object": "chat.completion", "created": 0, "model": "scripted",
                "choices": [{"index": 0, "message": cls._message(answer), "finish_reason": reason}],
                "usage": cls._usage(answer)}  # fmt: skip

    @classmethod
    def stream(cls, answer: Answer) -> bytes:
        head = {"id": "c1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        reason = "tool_calls" if answer.tool else "stop"
        return _events(
            {**head, "choices": [{"index": 0, "delta": cls._message(answer), "finish_reason": None}]},
            {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": cls._usage(answer)},
            done=True,
        )  # fmt: skip


class Gemini:
    """`generateContent` and `streamGenerateContent`."""

    @staticmethod
    def read(path: str, body: Json) -> Asked:
        contents = body.get("contents") or []
        parts = contents[-1].get("parts", []) if contents else []
        declared = [tool.get("functionDeclarations") or [] for tool in body.get("tools") or []]
        tools = [function.get("name", "") for functions in declared for function in functions]
        return _asked(path, body, contents, tools, any("functionResponse" in part for part in parts))

    @staticmethod
    def whole(answer: Answer) -> Json:
        part = (
            {"functionCall": {"name": answer.tool, "args": answer.arguments}} if answer.tool else {"text": answer.text}
        )
        return {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
                "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
                "modelVersion": "scripted"}  # fmt: skip

    @classmethod
    def stream(cls, answer: Answer) -> bytes:
        return _events(cls.whole(answer))


APIS: tuple[tuple[str, Any], ...] = (
    (r"/messages$", Anthropic), (r"/responses(/compact)?$", Responses), (r"/chat/completions$", Chat),
    (r":(stream)?[gG]enerateContent$", Gemini),
)  # fmt: skip
