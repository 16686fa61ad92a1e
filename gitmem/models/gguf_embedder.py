"""Any GGUF embedding model through llama.cpp (extra `llama`): the user names a file, nothing is downloaded."""

from __future__ import annotations

import hashlib
import math
import os
from array import array
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

from gitmem.config import Config
from gitmem.errors import ModelUnavailable
from gitmem.models.llama_library import open_llama
from gitmem.models.prefixes import NO_PREFIXES, Prefixes, mark, prefixes_of
from gitmem.regular_file import open_regular

CONTEXT = 2048  # tokens of a text at most; a chunk has some hundred
HASHED = 1 << 20  # bytes at either end of the file that name the model


def open(path: str, config: Config) -> GgufEmbedder:  # the name all embedders of a file or an address share
    """The embedder of a model file. Raises ModelUnavailable: no file, no llama.cpp, no embedding model."""
    file = Path(os.path.expanduser(path))
    return GgufEmbedder(file, prefixes_of(f"{file.parent.name}/{file.name}", config))  # `e5-small/model-q8_0.gguf`


class GgufEmbedder:
    """`id` is made of the file's size, first and last megabyte, and of the prefixes: the same model elsewhere is the
    same space."""

    def __init__(self, path: Path, prefixes: Prefixes = NO_PREFIXES) -> None:
        self.path = path
        self.id = f"gguf:{_fingerprint(path)}{mark(prefixes)}"
        self._prefixes = prefixes
        self._model: Any = None
        self._dims = 0

    @property
    def dims(self) -> int:
        if not self._dims:
            self._dims = int(self._loaded().n_embd())
        return self._dims

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One unit vector a text; zeros for an empty one. A text longer than the context is cut there."""
        return [self._vector(self._prefixes.passage, text) for text in texts]

    def embed_query(self, text: str) -> bytes:
        return self._vector(self._prefixes.query, text)

    def _vector(self, prefix: str, text: str) -> bytes:
        if not text.strip():
            return bytes(4 * self.dims)
        model = self._loaded()
        try:
            made = model.embed(prefix + text, normalize=False, truncate=True)
        except (RuntimeError, ValueError) as error:
            raise ModelUnavailable(
                f"the model '{self.path.name}' makes no embeddings ({type(error).__name__})",
                "name an embedding model: git config --global mem.embedder gguf:<path>",
            ) from None
        # A model without pooling gives a vector a token.
        if made and isinstance(made[0], list):
            rows = made
        else:
            rows = [made]
        numbers = [sum(column) for column in zip(*rows, strict=True)]
        length = math.sqrt(sum(x * x for x in numbers))
        if len(numbers) != self.dims or not math.isfinite(length):
            raise ModelUnavailable(f"the model '{self.path.name}' gives no usable vectors", "is it damaged?")
        return array("f", [x / length for x in numbers] if length else numbers).tobytes()

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = _load(self.path)
        return self._model


def _fingerprint(path: Path) -> str:
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            digest = hashlib.sha256(b"%d\0" % size)
            head = file.read(HASHED)
            digest.update(head)
            file.seek(max(0, size - HASHED))
            digest.update(file.read(HASHED))
    except OSError as error:
        raise ModelUnavailable(
            f"the model file '{path}' cannot be read: {error.strerror}",
            "git config --global mem.embedder gguf:<path>, or static",
        ) from None
    if head[:4] != b"GGUF":
        raise ModelUnavailable(f"'{path}' is no GGUF file", "git config --global mem.embedder gguf:<path>, or static")
    return digest.hexdigest()[:16]


def _load(path: Path) -> Any:
    try:
        import llama_cpp
    except ImportError:
        raise ModelUnavailable(
            "a GGUF model needs llama-cpp-python, which is not installed", "pip install 'git-mem[llama]'"
        ) from None
    try:
        with redirect_stderr(StringIO()):  # it warns of a context that is never made
            known = llama_cpp.Llama(model_path=str(path), vocab_only=True, verbose=False)
        kind = known.metadata.get("general.architecture", "")
        trained = known.metadata.get(f"{kind}.context_length", "")
        known.close()
        # More positions than it was trained for end the whole process; llama.cpp does not say so before.
        context_tokens = min(int(trained) if trained.isdigit() and int(trained) else 512, CONTEXT)
        # n_batch = n_ubatch = n_ctx, else llama.cpp cuts longer input without a word.
        return open_llama(
            str(path), embedding=True, n_ctx=context_tokens, n_batch=context_tokens, n_ubatch=context_tokens
        )
    except (ValueError, AssertionError, RuntimeError, OSError) as error:
        raise ModelUnavailable(
            f"llama.cpp cannot load '{path.name}' ({type(error).__name__})", "is it a whole embedding model?"
        ) from None
