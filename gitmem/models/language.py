"""The registry of language models, their protocol, and its values: the prompt, the reply and the setting.

A model is named `gguf:<path>` or `http:<url>#<model>`; docs/contributing.md says what a new kind needs. A model that
fails is never replaced by another.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from gitmem.errors import ModelUnavailable
from gitmem.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from gitmem.config import Config

MAX_REPLY_CHARACTERS = 1 << 18  # maximum characters of a reply that are parsed
MAX_REPLY_TOKENS = 1500  # maximum tokens of a reply


class LanguageModelKind(NamedTuple):
    """A kind of language model. `module`: name of the module with `open(rest, setting) -> LanguageModel`. `form`: how a
    setting spells it."""

    module: str
    form: str


LANGUAGE_MODELS: dict[str, LanguageModelKind] = {  # by the part of a setting before the colon
    "gguf": LanguageModelKind("gitmem.models.gguf_language", "gguf:<path>"),
    "http": LanguageModelKind("gitmem.models.http_language", "http:<url>#<model>"),
}
FORMS = " or ".join(kind.form for kind in LANGUAGE_MODELS.values())


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a model: the system and the user message, and the JSON schema of the reply.

    `origins`: (path, blob oid) of each file whose text the messages quote; the egress log names them.
    """

    system: str
    user: str
    schema: dict[str, Any]
    origins: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to a prompt. `cut`: the text ends before its JSON does. `tokens`: tokens of the text, 0 if unknown or
    cached. `too_long`: the prompt does not fit into the model's context; the text is "". `stopped`: why the run ended
    before the reply was complete, else ""."""

    text: str = ""
    cut: bool = False
    tokens: int = 0
    too_long: bool = False
    stopped: str = ""


class OutOfBudget(Exception):
    """A run reached its limit of time or tokens, or a reply its limit of size; the message says which limit."""


Complete = Callable[[Prompt], Reply]


class LanguageModel(Protocol):
    """A model that replies to prompts. `id`: its name in `Memory-Model` trailers."""

    @property
    def id(self) -> str: ...

    def run(self) -> AbstractContextManager[Complete]:
        """Start a run, which may take `mem.modelSeconds` and `mem.modelTokens` in all.

        The value of the `with` statement is a function that replies to one prompt. It raises OutOfBudget over the run's
        limits, ModelUnavailable if the model cannot be loaded or gives no reply. A model that is stopped in the middle
        of a reply may return the part that it has, with `Reply.stopped` set, instead of OutOfBudget.
        """


@dataclass(frozen=True, slots=True)
class Setting:
    """The surroundings that the entry point passes to a model. `environ`: environment variables. `state`: the folder of
    cached replies and of the egress log, None if there is none. `redact(text, path)`: returns the text as the gate
    masks it. `progress`: called with a text about the progress of a run. `reading`: called by the rules with the
    numbers of lines that they have scored, and of all lines; equal numbers say that they are done."""

    config: Config
    environ: Mapping[str, str]
    state: Path | None
    redact: Callable[[str, str], str]
    progress: Callable[[str], None] = lambda words: None
    reading: Callable[[int, int], None] = lambda done, count: None


def open_language_model(name: str, setting: Setting) -> LanguageModel:
    """Open the model that a setting names, such as `gguf:/path/to.gguf` or `http:https://HOST/v1#NAME`.

    Raises ModelUnavailable for an unknown kind, a missing file or a missing library; BadConfig for an address of
    another form.
    """
    head, _, spec = name.partition(":")
    kind = LANGUAGE_MODELS.get(head)
    if kind is None or not spec:
        raise ModelUnavailable(Message("there is no language model '{}'", name), FORMS)
    model: LanguageModel = import_module(kind.module).open(spec, setting)
    return model
