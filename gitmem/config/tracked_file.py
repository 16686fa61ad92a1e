"""Tightens settings by .gitmem.toml, which a clone may bring: one rule for each way in which a setting is tightened.

Pure: the user's settings and the text of the file in, stricter values out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gitmem.config import TRACKED, Config
from gitmem.config.retention import MIN_TRACKED_LIFE_DAYS, life_form, lives
from gitmem.config.settings import SETTINGS, Setting
from gitmem.errors import BadConfig, UsageError
from gitmem.messages import Message


class Rule(NamedTuple):
    """How a value of .gitmem.toml tightens a setting.

    `parse`: (setting, key in its TOML table, TOML value) -> the value for `combine`, None for one without effect.
    Raises ValueError, with the end of a warning, for an invalid value.
    `combine`: (the user's value, the value of `parse`) -> the value in force.
    """

    parse: Callable[[Setting, str, Any], Any]
    combine: Callable[[Any, Any], Any]


def _list_of_texts(setting: Setting, key: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError("has the wrong type")
    return tuple(value)


def _whole_number(setting: Setting, key: str, value: Any) -> int:
    if type(value) is not int:  # isinstance() takes `true` for 1
        raise ValueError("has the wrong type")
    return value


def _last_choice(setting: Setting, key: str, value: Any) -> str | None:
    """The last of `choices`, for `true` or its name; None for `false` or the name of another choice.

    A choice with the name of its key, as in `strict = "strict"`, is invalid: such a key is true or false. Raises
    ValueError for an invalid value.
    """
    last = setting.choices[-1]
    if not isinstance(value, bool) and (value not in setting.choices or value == key):
        raise ValueError("has the wrong type")
    if value in (True, last):
        return last
    return None


def _life(setting: Setting, key: str, value: Any) -> tuple[str]:
    """The retention entry of a key and its life: `("note=180d",)`. Raises ValueError for an invalid life."""
    entry = f"{key}={value}" if isinstance(value, str) else ""
    try:
        return (life_form(entry),)
    except UsageError as error:
        raise ValueError(f"is no life of a type ({error.hint})") from None


def _union(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return old + tuple(value for value in new if value not in old)


def _shorter(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    """The user's entries `old`, and after them each entry of .gitmem.toml that gives its type a shorter life."""
    user_lives, entries = lives(old), old
    for kind, days in lives(new).items():
        days = max(days, MIN_TRACKED_LIFE_DAYS)
        if kind not in user_lives or days < user_lives[kind]:
            entries = (*entries, f"{kind}={days}d")
    return entries


TIGHTEN: dict[str, Rule] = {
    "union": Rule(_list_of_texts, _union),  # adds the items of a list
    "min": Rule(_whole_number, min),
    "last": Rule(_last_choice, lambda old, new: new),  # turns the last of `choices` on
    "shorter": Rule(_life, _shorter),  # gives facts a shorter life, of MIN_TRACKED_LIFE_DAYS or more
}


def tightened(config: Config, text: str, warnings: list[str]) -> dict[str, Any]:
    """Field -> stricter value, for each setting of `config` that `text`, the content of .gitmem.toml, tightens.

    Adds a sentence to `warnings` for each unknown key and each invalid value. Raises BadConfig if `text` is not TOML.
    """
    stricter: dict[str, Any] = {}
    for name, value in _valid_values(text, warnings):
        before = stricter.get(name, getattr(config, name))
        after = TIGHTEN[SETTINGS[name].tighten].combine(before, value)
        if after != before:
            stricter[name] = after
    return stricter


def _valid_values(text: str, warnings: list[str]) -> Iterable[tuple[str, Any]]:
    """(field, parsed value) of the settings in the text of .gitmem.toml. Invalid ones add to `warnings` instead. Raises
    BadConfig if the text is not TOML."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        raise BadConfig(Message("{} is not valid TOML", TRACKED), Message("mend {}, or remove it", TRACKED)) from None
    names = {setting.tracked: name for name, setting in SETTINGS.items() if setting.tracked}
    for table, content in tables.items():
        if not isinstance(content, dict):
            content = {"": content}  # a key outside tables
        for key, value in content.items():
            name = names.get(f"{table}.{key}")
            if name is None and key:
                name = names.get(f"{table}.*")
            if name is None:
                warnings.append(f"{TRACKED}: '{table}.{key}' is unknown or only the user's own to set; ignored")
                continue
            setting = SETTINGS[name]
            try:
                parsed = TIGHTEN[setting.tighten].parse(setting, key, value)
            except ValueError as error:
                warnings.append(f"{TRACKED}: '{table}.{key}' {error}; ignored")
                continue
            if parsed is not None:
                yield name, parsed
