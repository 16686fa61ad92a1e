"""The process that runs llama.cpp: one JSON line in, one out, until its input ends. For `gguf_language` only.

A crash, a hang or a runaway in native code ends here and not in git mem. It reads a model file and its standard
input, writes its standard output, and nothing else.
"""

from __future__ import annotations

import json
import os
from typing import Any

CONTEXT = 8192  # tokens at most, whatever the model could take


def main() -> None:
    """Serve requests: first {"path", "context"}, then {"system", "user", "schema", "max_tokens"} each."""
    out = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)  # llama.cpp may print there
    with os.fdopen(0, "r", encoding="utf-8") as requests:
        model = None
        for line in requests:
            request = json.loads(line)
            try:
                if model is None:
                    model = _load(request)
                    answer: dict[str, Any] = {"context": model.n_ctx()}
                else:
                    answer = _complete(model, request)
            except Exception as error:  # noqa: BLE001 - the parent turns it into a message
                answer = {"error": type(error).__name__}
            os.write(out, json.dumps(answer).encode() + b"\n")


def _load(request: dict[str, Any]) -> Any:
    from llama_cpp import Llama

    wanted = int(request["context"]) or CONTEXT
    return Llama(
        request["path"], n_ctx=wanted, n_batch=wanted, n_ubatch=wanted, seed=0, verbose=False,
        n_threads=max(1, os.cpu_count() or 1),
    )  # fmt: skip


def _complete(model: Any, request: dict[str, Any]) -> dict[str, Any]:
    from llama_cpp.llama_grammar import LlamaGrammar

    grammar = LlamaGrammar.from_json_schema(json.dumps(request["schema"]), verbose=False)
    free_tokens = model.n_ctx() - len(model.tokenize((request["system"] + request["user"]).encode())) - 64
    if free_tokens < min(256, request["max_tokens"]):
        return {"too_long": True}
    try:
        made = model.create_chat_completion(
            [{"role": "system", "content": request["system"]}, {"role": "user", "content": request["user"]}],
            grammar=grammar, max_tokens=min(free_tokens, request["max_tokens"]), temperature=0.0, seed=0,
        )  # fmt: skip
    except ValueError:
        return {"too_long": True}
    choice = made["choices"][0]
    return {
        "text": choice["message"]["content"] or "",
        "cut": choice["finish_reason"] == "length",
        "tokens": made["usage"]["completion_tokens"],
    }


if __name__ == "__main__":
    main()
