"""Serve the Model Context Protocol over standard input and output: JSON-RPC messages, one on each line.

The protocol's own SDK is not used, because a host waits for the server at the start of every session: the SDK imports
29 packages (0.7 s of processor time on two cores), this module imports `json` and `threading`. The tests use the SDK's
client (`tests/agents/test_mcp_protocol.py`). The module knows nothing of memory; no error text quotes a message.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, NamedTuple

from gitmem.json_values import parse_json

VERSIONS_WITH_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # they begin with `initialize`
VERSION_WITH_BATCHES = "2025-03-26"  # the only version in which a list of messages may be sent
VERSION_WITHOUT_HANDSHAKE = "2026-07-28"  # the version without a handshake: `_meta` of each request names it
META = "io.modelcontextprotocol/"  # prefix of the protocol's keys in `_meta`
LINE_LIMIT = 64 << 20  # bytes of a message; a longer line is skipped and refused
MAX_BATCH = 100  # messages of a list
MAX_CALLS = 16  # calls that run at once; further calls wait
PROGRESS_SECONDS = 1.0  # between two progress messages of a call; clients give up after 30 to 60 without one
WARM_AFTER_SECONDS = 2.0  # after the first message until `warm` runs, so that it does not slow the start of a session
PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_FOUND = -32002  # code for a missing resource; INVALID_PARAMS since 2026-07-28
UNSUPPORTED_VERSION = -32022
CACHEABLE = frozenset(  # methods whose results name a time for which clients may cache them
    ("server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read", "prompts/list")
)


class ProtocolError(Exception):
    """A JSON-RPC error. `code`: its number. `message`: a sentence. `data`: details for the client's program, None for
    none."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


class Method(NamedTuple):
    """A method of the protocol. `run`: takes the request's params and returns the result. `slow`: the method runs in a
    thread."""

    run: Callable[[Mapping[str, Any]], dict[str, Any]]
    slow: bool = False


class Server(NamedTuple):
    """A server. `instructions`: text for the model. `methods`: name -> method. `warm`: imports and opens what the first
    call needs; it runs in a thread a while after the session's first message."""

    name: str
    title: str
    version: str
    instructions: str
    methods: Mapping[str, Method]
    warm: Callable[[], object] = lambda: None

    @property
    def info(self) -> dict[str, str]:
        """The name, title and version, as the protocol's `serverInfo`."""
        return {"name": self.name, "title": self.title, "version": self.version}


class Connection:
    """The connection to one client. `write`: sends one message (a JSON value) to the client; it is called from several
    threads, but never at the same time."""

    def __init__(self, server: Server, write: Callable[[Any], None]) -> None:
        self.server = server
        self.version = ""  # the protocol's version that the handshake chose, "" before it
        self._write = write
        self._lock = threading.Lock()
        self._turns = threading.BoundedSemaphore(MAX_CALLS)
        self._running: dict[str, threading.Event] = {}  # a request's id as JSON -> event that its cancellation sets
        self._threads: set[threading.Thread] = set()

    def receive(self, message: Any) -> None:
        """Handle one message of the client, a parsed JSON value: answer a request, mark a call as cancelled, or refuse
        an invalid message. A slow request is answered from a thread. Raises the errors of `write`."""
        if isinstance(message, list) and self.version == VERSION_WITH_BATCHES:
            self._receive_batch(message)
            return
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            self.refuse(INVALID_REQUEST, 'a message is a JSON object with "jsonrpc": "2.0"')
            return
        method, ident = message.get("method"), message.get("id")
        params = message.get("params") or {}
        if not isinstance(method, str):
            if "result" not in message and "error" not in message:  # answers of the client are ignored
                self.refuse(INVALID_REQUEST, "a message names a method", ident)
        elif "id" not in message:
            if method == "notifications/cancelled" and isinstance(params, dict):
                self._cancel(params.get("requestId"))
        elif not isinstance(ident, str | int) or isinstance(ident, bool):
            self.refuse(INVALID_REQUEST, "an id is a text or a whole number")
        elif not isinstance(params, dict):
            self.refuse(INVALID_PARAMS, "params is a JSON object", ident)
        else:
            self._start(method, ident, params)

    def _receive_batch(self, messages: list[Any]) -> None:
        """Answer a list of messages with one list of answers after the last call has ended; send nothing if no message
        needs an answer. Progress messages are sent at once."""
        names = [message.get("method") for message in messages if isinstance(message, dict)]
        if not messages or len(messages) > MAX_BATCH or "initialize" in names:
            self.refuse(INVALID_REQUEST, f"a list has 1 to {MAX_BATCH} messages, and 'initialize' is none of them")
            return
        answers: list[dict[str, Any]] = []

        def write(message: dict[str, Any]) -> None:
            if "method" in message:  # a progress message
                self._write_message(message)
            else:
                answers.append(message)

        batch = Connection(self.server, write)
        batch.version, batch._turns, batch._running = self.version, self._turns, self._running
        for message in messages:
            if isinstance(message, list):
                batch.refuse(INVALID_REQUEST, "a list holds no list")
            else:
                batch.receive(message)

        def answer() -> None:
            batch.finish()
            with suppress(OSError, ValueError):  # the client has closed the pipe; `serve` notices at its next line
                if answers:
                    self._write_message(answers)
            with self._lock:
                self._threads.discard(threading.current_thread())

        thread = threading.Thread(target=answer, daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def refuse(self, code: int, words: str, ident: Any = None) -> None:
        """Answer with an error. `ident`: the id of the message, sent as null if it is neither text nor number."""
        if not isinstance(ident, str | int):
            ident = None
        self.send({"id": ident, "error": {"code": code, "message": words}})

    def send(self, fields: dict[str, Any]) -> None:
        """Send one message with these fields."""
        self._write_message({"jsonrpc": "2.0", **fields})

    def _write_message(self, message: Any) -> None:
        """Write one message while no other thread writes."""
        with self._lock:
            self._write(message)

    def finish(self) -> None:
        """Wait until all running calls have ended."""
        while True:
            with self._lock:
                thread = next(iter(self._threads), None)
            if thread is None:
                return
            thread.join()

    def _start(self, method: str, ident: str | int, params: dict[str, Any]) -> None:
        """Answer a request: a slow method in a thread, any other method at once. An unknown method gets an error."""
        handler = self.server.methods.get(method)
        if handler is None or not handler.slow:
            self.send(self._answer(method, ident, params))
            return
        cancelled = threading.Event()
        self._running[json.dumps(ident)] = cancelled
        thread = threading.Thread(target=self._call, args=(method, ident, params, cancelled), daemon=True)
        with self._lock:
            self._threads.add(thread)
        thread.start()

    def _call(self, method: str, ident: str | int, params: dict[str, Any], cancelled: threading.Event) -> None:
        """Run a slow method and send its answer, unless the call was cancelled. While it runs, send a progress message
        every PROGRESS_SECONDS if the request has a progress token. At most MAX_CALLS run at the same time."""
        token = _meta(params).get("progressToken")
        finished = threading.Event()
        with suppress(OSError, ValueError):  # the client has closed the pipe; `serve` notices at its next line
            if token is not None:
                threading.Thread(target=self._send_progress, args=(token, finished, cancelled), daemon=True).start()
            try:
                with self._turns:
                    answer = self._answer(method, ident, params)
                if not cancelled.is_set():
                    self.send(answer)
            finally:
                finished.set()
                self._running.pop(json.dumps(ident), None)
                with self._lock:
                    self._threads.discard(threading.current_thread())

    def _send_progress(self, token: Any, finished: threading.Event, cancelled: threading.Event) -> None:
        """Send a progress message every PROGRESS_SECONDS until the call is done or cancelled. `token`: the request's
        progress token."""
        passed = 0.0
        with suppress(OSError, ValueError):
            while not finished.wait(PROGRESS_SECONDS) and not cancelled.is_set():
                passed += PROGRESS_SECONDS
                params = {"progressToken": token, "progress": passed, "message": "git mem is working"}
                self.send({"method": "notifications/progress", "params": params})

    def _cancel(self, ident: Any) -> None:
        """Mark a running call as cancelled, so that it is not answered. The call still runs to its end, because it may
        be writing."""
        running = self._running.get(json.dumps(ident))
        if running is not None:
            running.set()

    def _answer(self, method: str, ident: str | int, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request: its result, or an error. Never raises."""
        try:
            return {"id": ident, "result": self._result(method, params)}
        except ProtocolError as error:
            fields = {"code": error.code, "message": str(error)}
            if error.data is not None:
                fields["data"] = error.data
            return {"id": ident, "error": fields}
        except Exception as error:  # noqa: BLE001 - the server goes on; the error's message may quote memory
            words = f"git mem failed ({type(error).__name__}); 'git mem doctor' may say why"
            return {"id": ident, "error": {"code": INTERNAL, "message": words}}

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a request. Raises ProtocolError, and the errors of the method."""
        version = _version_of(params)
        if version and version not in (*VERSIONS_WITH_HANDSHAKE, VERSION_WITHOUT_HANDSHAKE):
            data = {"supported": [VERSION_WITHOUT_HANDSHAKE], "requested": version}
            raise ProtocolError(UNSUPPORTED_VERSION, "this version of the protocol is not spoken", data)
        if method == "initialize":
            return self._initialize(params)
        if method == "ping":
            return {}
        if method == "server/discover":
            result = {"supportedVersions": [VERSION_WITHOUT_HANDSHAKE], **self._capabilities()}
        elif method in self.server.methods:
            result = self._run(version, method, params)
        else:
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method[:80])
        if version != VERSION_WITHOUT_HANDSHAKE:
            return result
        if method in CACHEABLE:
            result = {**result, "ttlMs": 0, "cacheScope": "private"}
        return {**result, "resultType": "complete", "_meta": {f"{META}serverInfo": self.server.info}}

    def _run(self, version: str, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of a method of the server. Raises ProtocolError as the method does; in the version without a
        handshake the code for a missing resource is INVALID_PARAMS."""
        try:
            return self.server.methods[method].run(params)
        except ProtocolError as error:
            if error.code == NOT_FOUND and version == VERSION_WITHOUT_HANDSHAKE:
                raise ProtocolError(INVALID_PARAMS, str(error), error.data) from None
            raise

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        """The result of the handshake, with the version that the client wants, if it is known, else the newest version
        with a handshake. Sets `self.version` to it."""
        requested = params.get("protocolVersion")
        self.version = str(requested) if requested in VERSIONS_WITH_HANDSHAKE else VERSIONS_WITH_HANDSHAKE[-1]
        return {"protocolVersion": self.version, "serverInfo": self.server.info, **self._capabilities()}

    def _capabilities(self) -> dict[str, Any]:
        """The server's capabilities and instructions."""
        kinds = dict.fromkeys(name.partition("/")[0] for name in self.server.methods)
        return {"capabilities": {kind: {} for kind in kinds}, "instructions": self.server.instructions}


def _version_of(params: Mapping[str, Any]) -> str:
    """The protocol version in the `_meta` of a request; "" if there is none (as after a handshake), "?" if it is not a
    text."""
    value = _meta(params).get(f"{META}protocolVersion", "")
    return value if isinstance(value, str) else "?"


def _meta(params: Mapping[str, Any]) -> dict[str, Any]:
    """The `_meta` object of a request; {} if there is none."""
    meta = params.get("_meta")
    return meta if isinstance(meta, dict) else {}


def text_argument(params: Mapping[str, Any], name: str) -> str:
    """The text in the param `name`. Raises ProtocolError if it is missing or not a text."""
    value = params.get(name)
    if not isinstance(value, str):
        raise ProtocolError(INVALID_PARAMS, f"'{name}' takes a text")
    return value


def serve(server: Server) -> None:
    """Answer the client on standard input and output until the client closes the input. Raises BrokenPipeError if the
    client closed the output before it had all answers."""
    source, sink = _own_streams()
    client_gone = threading.Event()

    def write(message: Any) -> None:
        try:
            sink.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n")
            sink.flush()
        except (OSError, ValueError):
            client_gone.set()
            raise

    connection = Connection(server, write)
    warming: threading.Timer | None = None
    while line := source.readline(LINE_LIMIT + 1):
        if len(line) > LINE_LIMIT:
            _skip_line(source, line)
            connection.refuse(INVALID_REQUEST, f"a message has at most {LINE_LIMIT >> 20} MiB")
            continue
        if not line.strip():
            continue
        try:
            message = parse_json(line)
        except ValueError:
            connection.refuse(PARSE_ERROR, "a message is one line of JSON")
            continue
        connection.receive(message)
        if warming is None:
            warming = threading.Timer(WARM_AFTER_SECONDS, _warm, (server,))
            warming.daemon = True
            warming.start()
    connection.finish()
    if client_gone.is_set():
        raise BrokenPipeError


def _warm(server: Server) -> None:
    """Run the server's `warm` and ignore its errors."""
    with suppress(Exception):  # the first call will meet the same error and report it
        server.warm()


def _skip_line(source: BinaryIO, part: bytes) -> None:
    """Read `source` up to the end of the line that begins with `part`."""
    while part and not part.endswith(b"\n"):
        part = source.readline(LINE_LIMIT)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Reserve standard input and output for the protocol: returns both as new streams. From then on the output of git,
    its hooks and libraries goes to standard error, and they read an empty input."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    return os.fdopen(source, "rb"), os.fdopen(sink, "wb")
