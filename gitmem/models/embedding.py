"""Embedders: text in, vectors out. The registry, and what each has to offer; one file an embedder.

A vector is `dims` float32, little-endian, of length 1. Nothing here decides what may leave the machine: an embedder
that sends text to another one is opt-in by its own name (`http:`), and no embedder stands in for another in silence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from gitmem.errors import BadConfig

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.config import Config

EMBEDDERS: dict[str, str] = {
    "static": "gitmem.models.static_embedder",
    "gguf": "gitmem.models.gguf_embedder",
    "http": "gitmem.models.http_embedder",
}


class Embedder(Protocol):
    """`id` names the space: two embedders with one id give comparable vectors. May raise ModelUnavailable."""

    @property
    def id(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """One vector a text, in order; zeros for a text with nothing in it."""

    def embed_query(self, text: str) -> bytes:
        """The vector of a question."""


def open_embedder(spec: str, config: Config, state: Path | None = None) -> Embedder:
    """The embedder of a specification: `static`, `gguf:<path>`, `http:<url>#<model>`.

    `state` is the folder of the egress log; an `http:` embedder sends nothing without it. Raises BadConfig,
    ModelUnavailable.
    """
    from importlib import import_module

    name, _, rest = spec.partition(":")
    if name not in EMBEDDERS or (name != "static" and not rest) or (name == "static" and rest):
        raise BadConfig(
            f"there is no embedder '{spec}'", "git config --global mem.embedder static (or gguf:<path>, http:<url>)"
        )
    module = import_module(EMBEDDERS[name])
    if name == "static":
        made: Embedder = module.shared()
    else:
        made = module.open(rest, config)
        if hasattr(made, "state"):
            made.state = state
    return made


def open_in_force(spec: str, config: Config, state: Path | None = None) -> Embedder | None:
    """The embedder an index says its vectors are of; None for an endpoint the settings do not name (any more).

    The index is no authority on what may leave the machine: an `http:` embedder must be the configured one.
    """
    if spec.startswith("http:") and spec != config.embedder:
        return None
    return open_embedder(spec, config, state)
