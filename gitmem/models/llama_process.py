"""The parent's side of `llama_child`: starts the child process for a model file and exchanges JSON lines with it.

A child that crashes, misses its deadline or writes too much is killed, and the caller gets an error with a message.
Nothing leaves this machine.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitmem.errors import ModelUnavailable
from gitmem.json_values import parse_json
from gitmem.messages import Message
from gitmem.models.child_processes import end
from gitmem.models.language import OutOfBudget

MAX_ANSWER_BYTES = 1 << 20  # of one answer of the child, with its pieces
LOAD_SECONDS = 60  # time limit to load the model and to `prepare` it, apart from the run's limit
PASSED_VARIABLES = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "TMPDIR")
CHILD = (sys.executable, "-P", "-m", "gitmem.models.llama_child")


class LlamaProcess:
    """A child process that runs a model file. It starts with the first request of a `run` and ends with the run."""

    def __init__(
        self, file: Path, environ: Mapping[str, str], *, child: Sequence[str] = CHILD, context: int = 0
    ) -> None:
        """`child`: the command of the child. `context`: size of the model's context in tokens, 0 for the child's
        default."""
        self.file, self._environ, self._context = file, environ, context
        self._command = child
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._deadline = 0.0

    @property
    def alive(self) -> bool:
        """Whether the child was started and the run has not ended it; it may have crashed."""
        return self._child is not None

    @contextmanager
    def run(self, seconds: float) -> Iterator[None]:
        """A run: all calls of `ask` in the block may take `seconds` together. Loading the model and `prepare` do not
        count."""
        self._deadline = time.monotonic() + seconds
        try:
            yield
        finally:
            self._finish()

    def ask(self, request: Mapping[str, Any], pieces: list[str] | None = None) -> dict[str, Any]:
        """The child's answer to a request. Parts of the text that come before the answer are appended to `pieces`.

        Raises OutOfBudget after the time limit or over MAX_ANSWER_BYTES, ModelUnavailable if the model cannot be loaded
        or the child fails or ends.
        """
        return self._checked(self._exchange(self._started(), request, self._deadline, pieces))

    def prepare(self, request: Mapping[str, Any]) -> None:
        """Have the model evaluate a text once, before its answers. The limit is LOAD_SECONDS, and the time does not
        count for the run: otherwise a run of a few seconds would never reach its first answer. Raises OutOfBudget after
        this limit, ModelUnavailable as `ask` does."""
        self._checked(self._start(self._started(), request, "was not ready"))

    def _checked(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The same answer. Raises ModelUnavailable if it names an error."""
        if "error" in answer:
            raise ModelUnavailable(Message("the model '{}' failed ({})", self.file.name, answer["error"]))
        return answer

    def _finish(self) -> None:
        """Kill the child, if it was started."""
        child, self._child, self._rest = self._child, None, b""
        if child is not None:
            end(child)

    def _started(self) -> subprocess.Popen[bytes]:
        """The running child, started when it is first needed. Raises ModelUnavailable if it cannot load the model,
        OutOfBudget if that takes longer than LOAD_SECONDS."""
        if self._child is None:
            env = {name: self._environ[name] for name in PASSED_VARIABLES if name in self._environ}
            self._child = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
            )
            request = {"path": str(self.file), "context": self._context}
            answer = self._start(self._child, request, "was not loaded")
            if "error" in answer:
                self._finish()
                raise ModelUnavailable(
                    Message("the model '{}' cannot be loaded ({})", self.file.name, answer["error"]),
                    "is it a GGUF language model?",
                )
        return self._child

    def _start(self, child: subprocess.Popen[bytes], request: Mapping[str, Any], failed: str) -> dict[str, Any]:
        """The answer to a request within LOAD_SECONDS. Moves the run's deadline by the time that the answer took.
        `failed`: what the message of OutOfBudget says about the model."""
        began = time.monotonic()
        try:
            answer = self._exchange(child, request, began + LOAD_SECONDS)
        except OutOfBudget:
            raise OutOfBudget(f"the model {failed} in {LOAD_SECONDS} s and was stopped") from None
        self._deadline += time.monotonic() - began
        return answer

    def _exchange(
        self, child: subprocess.Popen[bytes], request: Any, deadline: float, pieces: list[str] | None = None
    ) -> dict[str, Any]:
        """Send a request, return the answer; pieces of text before it are appended to `pieces`. An answer that is no
        object counts as an error (`{"error": ...}`). Raises ModelUnavailable if the child ended or its answer is no
        JSON, OutOfBudget at `deadline` or over MAX_ANSWER_BYTES."""
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
        except OSError:
            raise self._ended(child) from None
        size = 0
        while True:
            line = self._line(child, child.stdout.fileno(), deadline)
            try:
                answer = parse_json(line)
            except ValueError:
                raise ModelUnavailable(
                    Message("the model '{}' gave an answer that is no JSON", self.file.name)
                ) from None
            if not isinstance(answer, dict):
                return {"error": "no object"}
            if pieces is None or "piece" not in answer:
                return answer
            size += len(line)
            if size > MAX_ANSWER_BYTES:
                raise self._too_long()
            pieces.append(str(answer["piece"]))

    def _line(self, child: subprocess.Popen[bytes], source: int, deadline: float) -> bytes:
        """The next line that the child writes, without its end. Raises OutOfBudget, with the child killed, at the
        deadline and over MAX_ANSWER_BYTES, and ModelUnavailable if the child ended."""
        with selectors.DefaultSelector() as ready:
            ready.register(source, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                seconds_left = deadline - time.monotonic()
                if seconds_left <= 0 or not ready.select(seconds_left):
                    self._finish()
                    raise OutOfBudget("the model took longer than mem.modelSeconds allows and was stopped")
                data = os.read(source, 1 << 16)
                if not data:
                    raise self._ended(child)
                self._rest += data
                if len(self._rest) > MAX_ANSWER_BYTES:
                    raise self._too_long()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _too_long(self) -> OutOfBudget:
        """End the child; return the error to raise."""
        self._finish()
        return OutOfBudget(f"the model's answer was longer than {MAX_ANSWER_BYTES} bytes and was dropped")

    def _ended(self, child: subprocess.Popen[bytes]) -> ModelUnavailable:
        """The error for a child that ended before it answered; the message has the signal that killed it, if any."""
        try:
            code = child.wait(5)
        except subprocess.TimeoutExpired:
            code = 0
        why = f" (signal {-code})" if code < 0 else ""
        return ModelUnavailable(
            Message("the model '{}' ended by itself{}", self.file.name, why), "is it a whole GGUF file?"
        )


def model_file(path: str) -> Path:
    """The absolute path of a model file; `path` may begin with `~`. Raises ModelUnavailable if there is no such file or
    llama-cpp-python is not installed."""
    file = Path(os.path.expanduser(path))
    if not file.is_file():
        raise ModelUnavailable(
            Message("there is no model file '{}'", path), "git config --global mem.model gguf:<path>"
        )
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelUnavailable("a GGUF model needs llama-cpp-python", "pip install 'git-mem[llama]'")
    return file.resolve()


def model_id(file: Path) -> str:
    """`gguf:<file name>@<fingerprint>`: the name of a model file in trailers and caches. Raises ModelUnavailable if the
    file cannot be read."""
    return f"gguf:{file.name}@{fingerprint(file)}"


def fingerprint(file: Path) -> str:
    """12 hex digits of the SHA-256 of a file's size, first and last MiB: enough to tell models apart. Raises
    ModelUnavailable if the file cannot be read."""
    try:
        size = file.stat().st_size
        with file.open("rb") as data:
            digest = hashlib.sha256(str(size).encode() + data.read(1 << 20))
            data.seek(max(0, size - (1 << 20)))
            digest.update(data.read(1 << 20))
    except OSError as error:
        words = Message("the model file '{}' cannot be read ({})", str(file), error.strerror)
        raise ModelUnavailable(words, "check its permissions") from None
    return digest.hexdigest()[:12]
