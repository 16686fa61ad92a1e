"""A real HTTP server on loopback, for what the tests of models, forges and remotes answer with."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class QuietHandler(BaseHTTPRequestHandler):
    """Reads the body of a request and sends an answer with its length; writes nothing to stderr."""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def body(self) -> bytes:
        """What the request carries, b"" where it says no length."""
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def reply(self, status: int, data: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


class LoopbackServer:
    """Answers at `url`, a free port of loopback, with `handler` until it is closed; a context manager too."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> LoopbackServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
