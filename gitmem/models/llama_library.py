"""Opens a model with llama-cpp-python: the number of threads, the size of the context, and a workaround for a crash on
processors with AMX."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from typing import Any


def threads() -> int:
    """The number of threads of a model: half of the cores, at least 1. llama.cpp's threads spin while they wait: with
    as many threads as cores, one other busy process makes the model thirty times slower."""
    return max(1, (os.cpu_count() or 2) // 2)


def open_llama(path: str, **options: Any) -> Any:
    """A `llama_cpp.Llama` of a model file, with `threads()` threads.

    On a processor with AMX the weights are not repacked for it: llama.cpp's AMX kernels crash the process at the first
    prompt on some machines (https://github.com/ggml-org/llama.cpp/issues/20824).
    """
    import llama_cpp

    options = {"n_threads": threads(), "n_threads_batch": threads(), "verbose": False, **options}
    if b"AMX_INT8 = 1" not in llama_cpp.llama_print_system_info():
        return llama_cpp.Llama(path, **options)
    with _without_repacked_weights(llama_cpp.llama_cpp):
        return llama_cpp.Llama(path, **options)


def context_tokens(path: str, limit: int) -> int:
    """The context that the model in a file was trained for, at most `limit` tokens; 512 if the file does not say.
    llama.cpp aborts the process at more positions than that."""
    with redirect_stderr(StringIO()):  # llama.cpp warns about a context that is never made
        model = open_llama(path, vocab_only=True)
    trained = model.metadata.get(f"{model.metadata.get('general.architecture', '')}.context_length", "")
    model.close()
    return min((trained.isdigit() and int(trained)) or 512, limit)


@contextmanager
def _without_repacked_weights(library: Any) -> Iterator[None]:
    """Turn `use_extra_bufts` off in the library's default parameters meanwhile: `Llama` has no argument for it."""
    defaults = library.llama_model_default_params

    def without_extra_buffers() -> Any:
        parameters = defaults()
        parameters.use_extra_bufts = False
        return parameters

    library.llama_model_default_params = without_extra_buffers
    try:
        yield
    finally:
        library.llama_model_default_params = defaults
