"""A Git server over HTTP on loopback: `git http-backend` behind Python's own HTTP server. A real remote."""

from __future__ import annotations

import os
import subprocess
from base64 import b64decode
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from tests.loopback import LoopbackServer, QuietHandler


class GitServer(LoopbackServer):
    """Serves the bare repositories below `root`; `token` (when set) must be the password of a push."""

    def __init__(self, root: Path, token: str = "") -> None:
        self.root, self.token = root, token
        self.pushes = 0
        outer = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                outer.serve(self, b"")

            def do_POST(self) -> None:
                if "chunked" in self.headers.get("Transfer-Encoding", ""):
                    body = b""
                    while size := int(self.rfile.readline().strip() or b"0", 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                else:
                    body = self.body()
                outer.serve(self, body)

        super().__init__(Handler)

    def serve(self, request: BaseHTTPRequestHandler, body: bytes) -> None:
        path, _, query = request.path.partition("?")
        pushing = "receive-pack" in request.path
        if pushing and self.token:
            header = request.headers.get("Authorization", "")
            password = b64decode(header.removeprefix("Basic ")).decode().partition(":")[2] if header else ""
            if password != self.token and header != f"Bearer {self.token}":
                request.send_response(401 if not header else 403)
                request.send_header("WWW-Authenticate", 'Basic realm="git"')
                request.end_headers()
                return
        env = {
            **os.environ, "GIT_PROJECT_ROOT": str(self.root), "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path,
            "QUERY_STRING": query, "REQUEST_METHOD": request.command, "REMOTE_USER": "runner",
            "CONTENT_TYPE": request.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        }  # fmt: skip
        done = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=env)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        status = 200
        headers = []
        for line in head.split(b"\r\n"):
            name, _, value = line.decode().partition(": ")
            if name == "Status":
                status = int(value.split()[0])
            elif name:
                headers.append((name, value))
        if pushing and request.command == "POST" and status == 200:
            self.pushes += 1
        request.send_response(status)
        for name, value in headers:
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)
