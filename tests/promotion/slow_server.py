"""An OpenAI-compatible server on loopback that answers when the test says so."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class SlowServer:
    """`asked` is set by each request, `answer` lets it be answered with `text`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked, self.answer = threading.Event(), threading.Event()
        self.requests = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests += 1
                outer.asked.set()
                outer.answer.wait(60)
                reply = {"choices": [{"message": {"content": outer.text}, "finish_reason": "stop"}]}
                data = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.model = f"http:http://127.0.0.1:{self.http.server_port}/v1#slow"


@contextmanager
def slow_server(text: str) -> Iterator[SlowServer]:
    """A server that waits for `answer` before its first reply."""
    server = SlowServer(text)
    thread = threading.Thread(target=server.http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.answer.set()
        server.http.shutdown()
        server.http.server_close()
        thread.join()
