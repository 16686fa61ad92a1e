"""Scores passages for a question with a reranking model in GGUF (rank pooling: bge-reranker, jina-reranker,
Qwen3-Reranker).

The user names the file; nothing is downloaded. llama.cpp runs in a child process with a time limit, so that a damaged
file cannot crash or block the caller.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from gitmem.errors import ModelUnavailable, UsageError
from gitmem.json_values import parse_json
from gitmem.models.llama_process import PASSED_VARIABLES

CHILD = (sys.executable, "-P", "-m", "gitmem.models.reranker_child")
SPEC_HINT = "--rerank gguf:<path> takes a reranking model, such as bge-reranker-v2-m3 in GGUF"


def rerank(
    spec: str,
    question: str,
    passages: Sequence[str],
    seconds: float,
    environ: Mapping[str, str],
    child: Sequence[str] = CHILD,
) -> list[float]:
    """The score of each passage for the question, in their order, 0 to 1: the logistic function of the model's output.

    `spec`: `gguf:<path>`. `seconds`: time limit. `child`: the command of the child process. Raises UsageError for
    another spec, ModelUnavailable if the file is missing, is no reranking model, or takes longer than `seconds`, and if
    llama-cpp-python is not installed.
    """
    scheme, _, name = spec.partition(":")
    if scheme != "gguf" or not name:
        raise UsageError(f"'{spec}' is no reranker", "--rerank gguf:<path of a reranking model>")
    file = Path(os.path.expanduser(name))
    if not file.is_file():
        raise ModelUnavailable(f"there is no model file '{name}'", SPEC_HINT)
    if importlib.util.find_spec("llama_cpp") is None:
        raise ModelUnavailable("llama-cpp-python is not installed", "pip install 'git-mem[llama]'")
    if not passages:
        return []
    request = json.dumps({"path": str(file.resolve()), "question": question, "passages": list(passages)})
    try:
        result = subprocess.run(
            child,
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={key: environ[key] for key in PASSED_VARIABLES if key in environ},
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ModelUnavailable(
            f"the model '{file.name}' took longer than {seconds:g} s (mem.modelSeconds) and was stopped",
            "git config --global mem.rerankHits 5, or a smaller model",
        ) from None
    try:
        answer = parse_json(result.stdout)
        scores = [float(score) for score in answer.get("scores", ())]
    except (ValueError, AttributeError, TypeError):
        raise ModelUnavailable(f"the model '{file.name}' ended by itself", "is it a whole GGUF file?") from None
    if answer.get("error") == "no head":
        raise ModelUnavailable(f"'{file.name}' has no ranking head", SPEC_HINT)
    if "error" in answer or len(scores) != len(passages) or any(score != score for score in scores):
        raise ModelUnavailable(f"the model '{file.name}' cannot rank ({answer.get('error', 'no number')})", SPEC_HINT)
    return scores
