"""Promotion models: `rules`, `gguf:<path>`, `http:<url>#<model>`. Adding one: a file here, a line below, a test, a
heading in docs/promotion.md. There is no fallback from one to another, and never from a local to a remote one.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitmem.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gitmem.config import Config
    from gitmem.models.protocol import Model

# name before the colon -> the module with `open(rest, setting) -> Model`
MODELS: dict[str, str] = {
    "rules": "gitmem.models.rules",
    "gguf": "gitmem.models.gguf",
    "http": "gitmem.models.http",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What a model may need from the edge: settings, environment (keys), state folder, and the redaction of texts.

    `words` are said to it instead of the package's own for a promotion.
    """

    config: Config
    environ: Mapping[str, str]
    state: Path | None
    redact: Callable[[str, str], str]
    words: str = ""


def open_model(name: str, setting: Setting) -> Model:
    """The model `name` says (`rules`, `gguf:/path/to.gguf`, `http:https://HOST/v1#NAME`). Raises ModelUnavailable."""
    head, _, rest = name.partition(":")
    module = MODELS.get(head)
    if module is None or (head == "rules") != (rest == ""):
        raise ModelUnavailable(f"there is no promotion model '{name}'", "rules, gguf:<path> or http:<url>#<model>")
    model: Model = importlib.import_module(module).open(rest, setting)
    return model
