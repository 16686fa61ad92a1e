"""`gguf:<path>`: an embedder for any GGUF embedding model, through llama.cpp (extra `llama`).

The user names the file; nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import math
import os
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.models.llama_library import context_tokens, open_llama
from gitmem.models.prefixes import NO_PREFIXES, Prefixes, id_suffix, prefixes_of
from gitmem.regular_file import open_regular

MAX_CONTEXT_TOKENS = 2048  # of a text; a chunk has some hundred
HASHED_BYTES = 1 << 20  # at either end of the file, for the fingerprint


def open(path: str, config: Config, state: Path | None = None) -> GgufEmbedder:
    """The embedder of a model file. `state` is not used. Raises ModelUnavailable if the file cannot be read or is not a
    GGUF file. The embedder itself raises ModelUnavailable if llama.cpp is missing or the model makes no embeddings."""
    file = Path(os.path.expanduser(path))
    return GgufEmbedder(file, prefixes_of(f"{file.parent.name}/{file.name}", config))  # `e5-small/model-q8_0.gguf`


class GgufEmbedder:
    """The embedder of a model file. `id`: a hash of the file's size, its first and last MiB, and the prefixes, so that
    the same model at another path has the same id."""

    def __init__(self, path: Path, prefixes: Prefixes = NO_PREFIXES) -> None:
        self.path = path
        self.id = f"gguf:{_fingerprint(path)}{id_suffix(prefixes)}"
        self._prefixes = prefixes
        self._model: Any = None
        self._dims = 0

    @property
    def dims(self) -> int:
        """The dimensions of a vector; loads the model the first time."""
        if not self._dims:
            self._dims = int(self._loaded().n_embd())
        return self._dims

    def embed(self, texts: Sequence[str], origins: Sequence[tuple[str, str]] = ()) -> list[bytes]:
        """One unit vector for each text; zeros for an empty text. A text longer than the context is cut."""
        return [self._vector(self._prefixes.passage, text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        return self._vector(self._prefixes.query, text)

    def _vector(self, prefix: str, text: str) -> bytes:
        """The vector of a text as float32 bytes, of length 1; all zeros for a blank text. Raises ModelUnavailable if
        the model makes no usable vectors."""
        if not text.strip():
            return bytes(4 * self.dims)
        model = self._loaded()
        try:
            output = model.embed(prefix + text, normalize=False, truncate=True)
        except (RuntimeError, ValueError) as error:
            raise ModelUnavailable(
                f"the model '{self.path.name}' makes no embeddings ({type(error).__name__})",
                "name an embedding model: git config --global mem.embedder gguf:<path>",
            ) from None
        # A model without pooling gives one vector for each token.
        rows = output if output and isinstance(output[0], list) else [output]
        numbers = [sum(column) for column in zip(*rows, strict=True)]
        length = math.sqrt(sum(x * x for x in numbers))
        if len(numbers) != self.dims or not math.isfinite(length):
            raise ModelUnavailable(f"the model '{self.path.name}' gives no usable vectors", "is it damaged?")
        return array("f", [x / (length or 1.0) for x in numbers]).tobytes()

    def _loaded(self) -> Any:
        """The model, loaded when it is first needed."""
        if self._model is None:
            self._model = _load(self.path)
        return self._model


def _fingerprint(path: Path) -> str:
    """16 hex digits of a hash of the file's size and its first and last MiB. Raises ModelUnavailable if it is not a
    readable GGUF file."""
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256(b"%d\0" % size)
            head = file.read(HASHED_BYTES)
            digest.update(head)
            file.seek(max(0, size - HASHED_BYTES))
            digest.update(file.read(HASHED_BYTES))
    except OSError as error:
        raise ModelUnavailable(
            f"the model file '{path}' cannot be read: {error.strerror}",
            "git config --global mem.embedder gguf:<path>, or static",
        ) from None
    if head[:4] != b"GGUF":
        raise ModelUnavailable(f"'{path}' is no GGUF file", "git config --global mem.embedder gguf:<path>, or static")
    return digest.hexdigest()[:16]


def _load(path: Path) -> Any:
    """The loaded embedding model. Raises ModelUnavailable without llama-cpp-python and for a file that cannot be
    loaded."""
    try:
        import llama_cpp  # noqa: F401 - `open_llama` imports it too
    except ImportError:
        raise ModelUnavailable(
            "a GGUF model needs llama-cpp-python, which is not installed", "pip install 'git-mem[llama]'"
        ) from None
    try:
        window = context_tokens(str(path), MAX_CONTEXT_TOKENS)
        # llama.cpp silently cuts input that is longer than n_batch or n_ubatch.
        return open_llama(str(path), embedding=True, n_ctx=window, n_batch=window, n_ubatch=window)
    except (ValueError, AssertionError, RuntimeError, OSError) as error:
        raise ModelUnavailable(
            f"llama.cpp cannot load '{path.name}' ({type(error).__name__})", "is it a whole embedding model?"
        ) from None
