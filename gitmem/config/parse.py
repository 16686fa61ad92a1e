"""Parses the text that Git's configuration has for a setting: one parser for each type."""

from __future__ import annotations

from typing import Any

from gitmem.config import Config
from gitmem.config.settings import SETTINGS, Setting, git_name
from gitmem.errors import BadConfig, UsageError
from gitmem.messages import Message

TRUE_WORDS = ("true", "yes", "on", "1", "")
FALSE_WORDS = ("false", "no", "off", "0")


def parse_value(name: str, text: str) -> Any:
    """The value that a text gives the field `name` of Config; a tuple of one for a setting with several values.

    Raises BadConfig for an invalid text.
    """
    key, setting, default = git_name(name), SETTINGS[name], Config._field_defaults[name]
    if isinstance(default, bool):
        return _flag(key, text)
    if isinstance(default, int | float):
        return _number(key, text, default, setting.limits)
    value = _text(key, text, setting)
    return (value,) if isinstance(default, tuple) else value


def _flag(key: str, text: str) -> bool:
    word = text.lower()
    if word not in TRUE_WORDS and word not in FALSE_WORDS:
        raise BadConfig(Message("{} must be true or false, not '{}'", key, text), f"git config --global {key} true")
    return word in TRUE_WORDS


def _number(key: str, text: str, default: float, limits: tuple[float, float]) -> float:
    """The number of a text, with the type of `default`. Raises BadConfig for another text, and outside of `limits`."""
    low, high = limits
    hint = f"git config --global {key} {default}"
    kind = "a whole number" if isinstance(default, int) else "a number"
    try:
        number = type(default)(text)
    except ValueError:
        raise BadConfig(Message("{} must be {}, not '{}'", key, kind, text), hint) from None
    if not low <= number <= high:
        raise BadConfig(Message("{} must be {} to {}, not {}", key, f"{low:g}", f"{high:g}", text), hint)
    return number


def _text(key: str, text: str, setting: Setting) -> str:
    if setting.choices and text not in setting.choices:
        raise BadConfig(Message("{} must be one of {}, not '{}'", key, ", ".join(setting.choices), text))
    if setting.form is None:
        return text
    try:
        return setting.form(text)
    except UsageError as error:
        raise BadConfig(f"{key}: {error.message}", error.hint) from None
