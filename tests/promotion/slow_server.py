"""An OpenAI-compatible server on loopback that answers when the test says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.loopback import LoopbackServer, QuietHandler


class SlowServer(LoopbackServer):
    """`asked` is set by each request, `answer` lets it be answered with `text`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked, self.answer = threading.Event(), threading.Event()
        self.requests = 0
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                self.body()
                outer.requests += 1
                outer.asked.set()
                outer.answer.wait(60)
                reply = {"choices": [{"message": {"content": outer.text}, "finish_reason": "stop"}]}
                self.reply(200, json.dumps(reply).encode())

        super().__init__(Handler)
        self.model = f"http:{self.url}/v1#slow"


@contextmanager
def slow_server(text: str) -> Iterator[SlowServer]:
    """A server that waits for `answer` before its first reply."""
    server = SlowServer(text)
    try:
        yield server
    finally:
        server.answer.set()
        server.close()
