"""`gguf:<path>`: a language model in a file, run by llama.cpp (extra `llama`) in a child process.

The answer is constrained by a JSON schema whose sources can only be lines that were shown; time and tokens of a run
are bounded, and a child that does not answer is killed. Nothing leaves this machine.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gitmem.errors import ModelUnavailable
from gitmem.models.child_processes import end
from gitmem.models.language import REPLY_TOKENS, Complete, OutOfBudget, Prompt, Reply, Setting
from gitmem.models.reply_cache import Cache

ANSWER_LIMIT = 1 << 20  # bytes of one answer of the child
LOAD_SECONDS = 60
PASSED_ON = ("PATH", "HOME", "PYTHONPATH", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "LANG", "LC_ALL", "TMPDIR")
CHILD = (sys.executable, "-P", "-m", "gitmem.models.llama_child")


def open(path: str, setting: Setting) -> GgufModel:
    """The model of a file. Raises ModelUnavailable: no file, no llama.cpp."""
    file = Path(os.path.expanduser(path))
    if not file.is_file():
        raise ModelUnavailable(f"there is no model file '{path}'", "git config --global mem.model gguf:<path>")
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelUnavailable("a GGUF model needs llama-cpp-python", "pip install 'git-mem[llama]'")
    return GgufModel(file.resolve(), setting)


class GgufModel:
    """A model in a file: its child process starts with the first prompt of a run and ends with the run."""

    def __init__(self, file: Path, setting: Setting, *, child: Sequence[str] = CHILD, context: int = 0) -> None:
        self.file, self.setting, self.context = file, setting, context
        self.id = f"gguf:{file.name}@{fingerprint(file)}"
        self._command = child
        self._child: subprocess.Popen[bytes] | None = None
        self._rest = b""
        self._deadline = 0.0
        self._tokens = setting.config.model_tokens
        self._cache = Cache(setting.state, self.id)

    @contextmanager
    def run(self) -> Iterator[Complete]:
        """As the protocol has it; the child ends with the run."""
        self._deadline = time.monotonic() + self.setting.config.model_seconds
        try:
            yield self._complete
        finally:
            self._end()

    def _complete(self, prompt: Prompt) -> Reply:
        known = self._cache.known(prompt, self._tokens)
        if known is not None:
            return known
        child = self._started()
        request = {
            "system": prompt.system, "user": prompt.user, "schema": prompt.schema,
            "max_tokens": min(REPLY_TOKENS, self._tokens),
        }  # fmt: skip
        answer = self._exchange(child, request, self._deadline)
        if "error" in answer:
            raise ModelUnavailable(f"the model '{self.file.name}' failed ({answer['error']})")
        reply = Reply(
            str(answer.get("text", "")), bool(answer.get("cut")), int(answer.get("tokens", 0)),
            bool(answer.get("too_long")),
        )  # fmt: skip
        self._tokens -= reply.tokens
        self._cache.put(prompt, reply)
        return reply

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            env = {name: self.setting.environ[name] for name in PASSED_ON if name in self.setting.environ}
            self._child = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env
            )
            until = min(self._deadline, time.monotonic() + LOAD_SECONDS)
            answer = self._exchange(self._child, {"path": str(self.file), "context": self.context}, until)
            if "error" in answer:
                raise ModelUnavailable(
                    f"the model '{self.file.name}' cannot be loaded ({answer['error']})", "is it a GGUF language model?"
                )
        return self._child

    def _exchange(self, child: subprocess.Popen[bytes], request: Any, deadline: float) -> dict[str, Any]:
        assert child.stdin is not None and child.stdout is not None
        try:
            child.stdin.write(json.dumps(request).encode() + b"\n")
            child.stdin.flush()
        except OSError:
            raise ModelUnavailable(f"the model '{self.file.name}' ended by itself") from None
        line = self._line(child.stdout.fileno(), deadline)
        try:
            answer = json.loads(line)
        except ValueError:
            raise ModelUnavailable(f"the model '{self.file.name}' gave an answer that is no JSON") from None
        return answer if isinstance(answer, dict) else {"error": "no object"}

    def _line(self, source: int, deadline: float) -> bytes:
        with selectors.DefaultSelector() as ready:
            ready.register(source, selectors.EVENT_READ)
            while b"\n" not in self._rest:
                left = deadline - time.monotonic()
                if left <= 0 or not ready.select(left):
                    self._end()
                    raise OutOfBudget("the model took longer than mem.modelSeconds allows and was stopped")
                data = os.read(source, 1 << 16)
                if not data:
                    raise ModelUnavailable(f"the model '{self.file.name}' ended by itself")
                self._rest += data
                if len(self._rest) > ANSWER_LIMIT:
                    self._end()
                    raise OutOfBudget(f"the model's answer was longer than {ANSWER_LIMIT} bytes and was dropped")
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _end(self) -> None:
        child, self._child, self._rest = self._child, None, b""
        if child is not None:
            end(child)


def fingerprint(file: Path) -> str:
    """12 hex of a file's size, first and last megabyte: enough to tell one model from another."""
    size = file.stat().st_size
    with file.open("rb") as data:
        digest = hashlib.sha256(str(size).encode() + data.read(1 << 20))
        data.seek(max(0, size - (1 << 20)))
        digest.update(data.read(1 << 20))
    return digest.hexdigest()[:12]
