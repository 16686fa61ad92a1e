"""Language models by name: what each is asked and answers, and how one is opened. Values and one protocol.

`gguf:<path>` and `http:<url>#<model>`; docs/contributing.md says what a new kind needs.
There is no fallback from one to another, and never from a local to a remote one.
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

REPLY_LIMIT = 1 << 18  # characters of a reply that are looked at
REPLY_TOKENS = 1500  # tokens a reply may have


class LanguageModelKind(NamedTuple):
    """A kind of language model: its module with `open(rest, setting) -> LanguageModel`, and how a setting spells it."""

    module: str
    form: str


LANGUAGE_MODELS: dict[str, LanguageModelKind] = {  # by what stands before the colon
    "gguf": LanguageModelKind("gitmem.models.gguf_language", "gguf:<path>"),
    "http": LanguageModelKind("gitmem.models.http_language", "http:<url>#<model>"),
}
FORMS = " or ".join(kind.form for kind in LANGUAGE_MODELS.values())


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: what to say and the JSON schema that constrains the answer.

    `origins` are the (path, blob oid) pairs whose text it holds: what the egress log names.
    """

    system: str
    user: str
    schema: dict[str, Any]
    origins: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: the text, whether it was cut short, the tokens it cost. `too_long`: the prompt did not fit.
    `stopped`: why the run ended before the reply did, "" where it did not; the text is what had come by then."""

    text: str = ""
    cut: bool = False
    tokens: int = 0
    too_long: bool = False
    stopped: str = ""


class OutOfBudget(Exception):
    """The run's time or tokens are used up; the message says which."""


Complete = Callable[[Prompt], Reply]


class LanguageModel(Protocol):
    """A model that completes prompts; `id` names it in `Memory-Model` trailers."""

    @property
    def id(self) -> str: ...

    def run(self) -> AbstractContextManager[Complete]:
        """One run, whose time (`mem.modelSeconds`) and tokens (`mem.modelTokens`) are bounded from here on.

        What it gives answers one prompt a call. That raises OutOfBudget where the run's budget is used up, and
        ModelUnavailable where the model cannot be loaded or gives no answer.
        """


@dataclass(frozen=True, slots=True)
class Setting:
    """What a model may need from the entry point: settings, environment (keys), state folder, redaction of texts.

    `redact(text, path)` gives the text with what the gate masks in it; `state` is where replies and the egress log
    are kept, None where nothing can be. `progress` is told in words how far a run is.
    """

    config: Config
    environ: Mapping[str, str]
    state: Path | None
    redact: Callable[[str, str], str]
    progress: Callable[[str], None] = lambda words: None


def open_language_model(name: str, setting: Setting) -> LanguageModel:
    """The model `name` says (`gguf:/path/to.gguf`, `http:https://HOST/v1#NAME`).

    Raises ModelUnavailable where there is no such kind of model, no file or no library; BadConfig for an address of
    another form.
    """
    head, _, rest = name.partition(":")
    kind = LANGUAGE_MODELS.get(head)
    if kind is None or not rest:
        raise ModelUnavailable(Message("there is no language model '{}'", name), FORMS)
    model: LanguageModel = import_module(kind.module).open(rest, setting)
    return model
