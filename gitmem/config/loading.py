"""The settings in force, from the user's Git configuration and .gitmem.toml. Pure: pairs and text in, Config out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gitmem.config import TRACKED, Config
from gitmem.config.settings import FIELDS, SETTINGS, Setting, git_name
from gitmem.daily_logs import daily_form, daily_glob
from gitmem.errors import BadConfig, UsageError
from gitmem.messages import Message

TRUE_WORDS = ("true", "yes", "on", "1", "")
FALSE_WORDS = ("false", "no", "off", "0")
PROFILE_SWITCH_TIME = "mem.profilesince"  # written by `profiles`; no setting


def load(
    pairs: Iterable[tuple[str, str, str]], tracked: str = "", overrides: Mapping[str, str] | None = None
) -> Config:
    """The settings in force.

    `pairs`: (key, value, scope) of the user's Git configuration, as `Repository.user_config` returns them. `tracked`:
    the text of .gitmem.toml. `overrides`: field -> value from command-line options, which win over `pairs`.

    Raises BadConfig for an invalid value of the user and for a .gitmem.toml that is not TOML. An invalid value in
    .gitmem.toml and an unknown key of either are ignored with a warning. A value that .gitmem.toml tightens stays
    tight, whatever the user sets.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    warnings: list[str] = []
    settings = [*pairs, *((git_name(name), value, "option") for name, value in (overrides or {}).items())]
    for key, text, origin in settings:
        name = FIELDS.get(key.lower())
        if name is None:
            if key.count(".") == 1 and key.lower() != PROFILE_SWITCH_TIME:  # mem.profile.NAME.* belongs to `profiles`
                warnings.append(f"'{key}' ({origin}) is no setting; ignored")
            continue
        value = parse_value(name, text)
        if isinstance(value, tuple):
            value = values.get(name, ()) + value
        values[name] = value
        origins[name] = origin
    config = _checked_together(Config(**values))
    if tracked.strip():
        from gitmem.config.tracked_file import tightened  # its `tomllib` takes 2 ms

        stricter = tightened(config, tracked, warnings)
        config = config._replace(**stricter)
        origins |= dict.fromkeys(stricter, TRACKED)
    config = _with_folders(_with_daily_logs(config, warnings))
    return config._replace(origins=tuple(origins.items()), warnings=tuple(warnings))


def changed(config: Config, key: str, text: str) -> Config:
    """`config` with one setting changed as by the user; a setting with several values gets one more. `key`: `maxFacts`
    or `mem.maxFacts`, in any case. `text`: the value.

    Raises BadConfig for an unknown key or an invalid value.
    """
    full_key = key.lower()
    if not full_key.startswith("mem."):
        full_key = f"mem.{full_key}"
    if full_key not in FIELDS:
        raise BadConfig(Message("there is no setting '{}'", key), "'git mem config --list' shows them all")
    name = FIELDS[full_key]
    value = parse_value(name, text)
    if isinstance(value, tuple):
        value = getattr(config, name) + value
    return _checked_together(config._replace(**{name: value}))


def _checked_together(config: Config) -> Config:
    """The same settings. Raises BadConfig when two of them contradict each other."""
    if config.chunk_overlap >= config.chunk_size:
        raise BadConfig(
            Message(
                "mem.chunkOverlap ({}) must be less than mem.chunkSize ({})", config.chunk_overlap, config.chunk_size
            ),
            "git config --global mem.chunkOverlap 0",
        )
    return config


def _with_folders(config: Config) -> Config:
    """The same, where a path `notes` or `notes/` of memory also matches the Markdown below that folder."""
    paths = [glob.rstrip("/") for glob in config.memory_paths if not any(sign in glob for sign in "*?[")]
    folders = [f"{glob}/*.md" for glob in paths if glob and not glob.endswith(".md")]
    if not folders:
        return config
    return config._replace(memory_paths=tuple(dict.fromkeys([*config.memory_paths, *folders])))


def _with_daily_logs(config: Config, warnings: list[str]) -> Config:
    """The same, with daily logs counted as memory. An invalid daily pattern is ignored with a warning."""
    if not config.memory_daily:
        return config
    patterns: list[str] = []
    for pattern in config.memory_daily:
        try:
            daily_form(pattern)
            patterns.append(pattern)
        except UsageError as error:
            warnings.append(f"{error.message} ({error.hint}); ignored")
    paths = (*config.memory_paths, *(daily_glob(pattern) for pattern in patterns))
    return config._replace(memory_daily=tuple(patterns), memory_paths=tuple(dict.fromkeys(paths)))


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
