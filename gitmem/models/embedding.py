"""Embedders: text in, vectors out. The registry, and what each has to offer; one file an embedder.

A vector is `dims` float32, little-endian, of length 1. Nothing here decides what may leave the machine: an embedder
that sends text to another one is opt-in by its own name (`http:`), and no embedder stands in for another in silence.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import BadConfig
from gitmem.light_typing import TYPE_CHECKING, NamedTuple, Protocol
from gitmem.messages import Message

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.config import Config


class EmbedderKind(NamedTuple):
    """A kind of embedder: its module with `open(rest, config) -> Embedder`, how a setting spells it, and whether it
    sends text to another machine (it has an attribute `state` then, the folder of the egress log)."""

    module: str
    form: str
    remote: bool = False


EMBEDDERS: dict[str, EmbedderKind] = {  # by what stands before the colon
    "static": EmbedderKind("gitmem.models.static_embedder", "static"),
    "gguf": EmbedderKind("gitmem.models.gguf_embedder", "gguf:<path>"),
    "http": EmbedderKind("gitmem.models.http_embedder", "http:<url>", remote=True),
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
    kind = EMBEDDERS.get(name)
    if kind is None or bool(rest) is not (":" in kind.form):
        first, *others = (each.form for each in EMBEDDERS.values())
        hint = f"git config --global mem.embedder {first} (or {', '.join(others)})"
        raise BadConfig(Message("there is no embedder '{}'", spec), hint)
    made: Embedder = import_module(kind.module).open(rest, config)
    if hasattr(made, "state"):
        made.state = state
    return made


def is_remote(spec: str) -> bool:
    """Whether the embedder of a specification sends text to another machine."""
    kind = EMBEDDERS.get(spec.partition(":")[0])
    return kind is not None and kind.remote


def open_in_force(spec: str, config: Config, state: Path | None = None) -> Embedder | None:
    """The embedder an index says its vectors are of; None for an endpoint the settings do not name (any more).

    The index is no authority on what may leave the machine: an embedder that sends text must be the configured one.
    """
    if is_remote(spec) and spec != config.embedder:
        return None
    return open_embedder(spec, config, state)
