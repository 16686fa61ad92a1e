"""llama.cpp's library as every module here that runs a model opens it: threads, and weights without AMX tiles.

Only the processes and functions that run a model import it; it writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


def threads() -> int:
    """How many threads a model gets: half of the cores. llama.cpp's threads wait by spinning: with as many as cores,
    one busy neighbour makes all of them thirty times slower."""
    return max(1, (os.cpu_count() or 2) // 2)


def open_llama(path: str, **options: Any) -> Any:
    """`llama_cpp.Llama` of a model file, with `threads()`.

    Where the processor has AMX, the weights stay as they are in the file: llama.cpp's AMX kernels end the process at
    the first prompt on some machines (https://github.com/ggml-org/llama.cpp/issues/20824).
    """
    import llama_cpp

    given = {"n_threads": threads(), "n_threads_batch": threads(), "verbose": False, **options}
    if b"AMX_INT8 = 1" not in llama_cpp.llama_print_system_info():
        return llama_cpp.Llama(path, **given)
    with _weights_as_in_the_file(llama_cpp.llama_cpp):
        return llama_cpp.Llama(path, **given)


@contextmanager
def _weights_as_in_the_file(library: Any) -> Iterator[None]:
    """`Llama` has no argument for it: it takes the library's default parameters, which say so meanwhile."""
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
