"""The registry of embedders, and the protocol that each embedder follows. An embedder makes vectors of texts; each kind
has its own module.

A vector is `dims` little-endian float32 of length 1. Only an embedder that the user names with `http:` sends text to
another machine, and an embedder that fails is never replaced by another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gitmem.errors import BadConfig
from gitmem.messages import Message

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.config import Config


class EmbedderKind(NamedTuple):
    """A kind of embedder. `module`: name of the module with `open(argument, config, state) -> Embedder`. `form`: its
    spelling in a setting. `remote`: whether it sends text to another machine."""

    module: str
    form: str
    remote: bool = False


EMBEDDERS: dict[str, EmbedderKind] = {  # by the part of a setting before the colon
    "static": EmbedderKind("gitmem.models.static_embedder", "static"),
    "gguf": EmbedderKind("gitmem.models.gguf_embedder", "gguf:<path>"),
    "http": EmbedderKind("gitmem.models.http_embedder", "http:<url>", remote=True),
}


class Embedder(Protocol):
    """Makes vectors of texts. `id`: the name of the vector space; vectors of embedders with the same id can be
    compared. `dims`: how many numbers a vector has. Each member may raise ModelUnavailable."""

    @property
    def id(self) -> str: ...

    @property
    def dims(self) -> int: ...

    def embed(self, texts: Sequence[str], origins: Sequence[tuple[str, str]] = ()) -> list[bytes]:
        """One vector for each text, in order: `dims` little-endian float32 of length 1, all zeros for an empty text.
        `origins`: (path, blob oid) of each text, which a remote embedder logs; empty for texts of no file."""

    def embed_query(self, text: str) -> bytes:
        """The vector of a query, comparable with those of `embed`."""


def open_embedder(spec: str, config: Config, state: Path | None = None) -> Embedder:
    """Open the embedder that a setting names: `static`, `gguf:<path>` or `http:<url>#<model>`.

    `state`: the folder of the egress log; without it an `http:` embedder sends nothing. Raises BadConfig for an unknown
    kind or form, ModelUnavailable if the model cannot be opened.
    """
    from importlib import import_module

    name, _, argument = spec.partition(":")
    kind = EMBEDDERS.get(name)
    if kind is None or bool(argument) is not (":" in kind.form):
        first, *others = (kind.form for kind in EMBEDDERS.values())
        hint = f"git config --global mem.embedder {first} (or {', '.join(others)})"
        raise BadConfig(Message("there is no embedder '{}'", spec), hint)
    embedder: Embedder = import_module(kind.module).open(argument, config, state)
    return embedder


def is_remote(spec: str) -> bool:
    """Whether the embedder of a setting sends text to another machine; False for an unknown kind."""
    kind = EMBEDDERS.get(spec.partition(":")[0])
    return kind is not None and kind.remote


def open_embedder_of_index(spec: str, config: Config, state: Path | None = None) -> Embedder | None:
    """Open the embedder that made the vectors of an index. `spec`: the setting that is stored in the index.

    None for a remote embedder that is not, or no longer, in the configuration: an index file must not decide where text
    is sent. Raises BadConfig and ModelUnavailable as `open_embedder` does.
    """
    if is_remote(spec) and spec != config.embedder:
        return None
    return open_embedder(spec, config, state)
