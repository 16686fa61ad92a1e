"""The parent's side of `llama_child`: a process for one model file, asked one JSON object at a time until a deadline.

A child that crashes, hangs or floods is ended here, and that is said in words. Nothing leaves this machine.
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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gitmem.errors import ModelUnavailable
from gitmem.messages import Message
from gitmem.models.child_processes import end
from gitmem.models.language import OutOfBudget

ANSWER_LIMIT = 1 << 20  # bytes of one answer of the child
LOAD_SECONDS = 60  # in which a model must be loaded, or have read what it is told once, whatever a run may take
PASSED_ON = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "TMPDIR")
CHILD = (sys.executable, "-P", "-m", "gitmem.models.llama_child")


class LlamaProcess:
    """The child starts with the first question after `begin` and ends with `finish`."""

    def __init__(
        self, file: Path, environ: Mapping[str, str], *, child: Sequence[str] = CHILD, context: int = 0
    ) -> None:
        """`context` is in tokens, 0 for as many as the child takes by itself."""
        self.file, self._environ, self._context = file, environ, context
        self._command = child
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._deadline = 0.0

    @property
    def alive(self) -> bool:
        """Whether the child was started and not ended by us."""
        return self._child is not None

    def begin(self, seconds: float) -> None:
        """What is asked from here on is answered within `seconds` all together, loading and `prepare` apart."""
        self._deadline = time.monotonic() + seconds

    def ask(self, request: Mapping[str, Any], pieces: list[str] | None = None) -> dict[str, Any]:
        """The answer to a request; what comes of it before is added to `pieces`. Raises OutOfBudget where the time is
        used up or the answer too long, and ModelUnavailable where the model cannot be loaded or the child ended or
        failed."""
        answer = self._exchange(self._started(), request, self._deadline, pieces)
        if "error" in answer:
            raise ModelUnavailable(Message("the model '{}' failed ({})", self.file.name, answer["error"]))
        return answer

    def prepare(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The same for what a model reads once before it answers: within LOAD_SECONDS, on no account of the run's time.
        A run of few seconds would never come to its first answer otherwise."""
        child = self._started()
        answer = self._start(child, request, "was not ready")
        if "error" in answer:
            raise ModelUnavailable(Message("the model '{}' failed ({})", self.file.name, answer["error"]))
        return answer

    def finish(self) -> None:
        """End the child, if there is one."""
        child, self._child, self._rest = self._child, None, b""
        if child is not None:
            end(child)

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            env = {name: self._environ[name] for name in PASSED_ON if name in self._environ}
            self._child = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
            )
            request = {"path": str(self.file), "context": self._context}
            answer = self._start(self._child, request, "was not loaded")
            if "error" in answer:
                raise ModelUnavailable(
                    Message("the model '{}' cannot be loaded ({})", self.file.name, answer["error"]),
                    "is it a GGUF language model?",
                )
        return self._child

    def _start(self, child: subprocess.Popen[bytes], request: Mapping[str, Any], failed: str) -> dict[str, Any]:
        """The answer within LOAD_SECONDS; the deadline moves by the time that it took."""
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
                answer = json.loads(line)
            except ValueError:
                raise ModelUnavailable(
                    Message("the model '{}' gave an answer that is no JSON", self.file.name)
                ) from None
            if not isinstance(answer, dict):
                return {"error": "no object"}
            if pieces is None or "piece" not in answer:
                return answer
            size += len(line)
            if size > ANSWER_LIMIT:
                raise self._too_long()
            pieces.append(str(answer["piece"]))

    def _line(self, child: subprocess.Popen[bytes], source: int, deadline: float) -> bytes:
        with selectors.DefaultSelector() as ready:
            ready.register(source, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - time.monotonic()
                if left <= 0 or not ready.select(left):
                    self.finish()
                    raise OutOfBudget("the model took longer than mem.modelSeconds allows and was stopped")
                data = os.read(source, 1 << 16)
                if not data:
                    raise self._ended(child)
                self._rest += data
                if len(self._rest) > ANSWER_LIMIT:
                    raise self._too_long()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _too_long(self) -> OutOfBudget:
        self.finish()
        return OutOfBudget(f"the model's answer was longer than {ANSWER_LIMIT} bytes and was dropped")

    def _ended(self, child: subprocess.Popen[bytes]) -> ModelUnavailable:
        """What to say of a child that ended before it answered: with the signal, where one killed it."""
        try:
            code = child.wait(5)
        except subprocess.TimeoutExpired:
            code = 0
        why = ""
        if code < 0:
            why = f" (signal {-code})"
        return ModelUnavailable(
            Message("the model '{}' ended by itself{}", self.file.name, why), "is it a whole GGUF file?"
        )


def model_file(path: str) -> Path:
    """The file that `gguf:<path>` names. Raises ModelUnavailable: no file, no llama.cpp."""
    file = Path(os.path.expanduser(path))
    if not file.is_file():
        raise ModelUnavailable(
            Message("there is no model file '{}'", path), "git config --global mem.model gguf:<path>"
        )
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelUnavailable("a GGUF model needs llama-cpp-python", "pip install 'git-mem[llama]'")
    return file.resolve()


def name_of(file: Path) -> str:
    """`gguf:<name>@<fingerprint>`: what trailers and caches call a model file."""
    return f"gguf:{file.name}@{fingerprint(file)}"


def fingerprint(file: Path) -> str:
    """12 hex of a file's size, first and last megabyte: enough to tell one model from another."""
    size = file.stat().st_size
    with file.open("rb") as data:
        digest = hashlib.sha256(str(size).encode() + data.read(1 << 20))
        data.seek(max(0, size - (1 << 20)))
        digest.update(data.read(1 << 20))
    return digest.hexdigest()[:12]
