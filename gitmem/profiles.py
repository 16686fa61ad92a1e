"""Profiles: several agents or people on one machine, each with a memory, an index and an identity of its own.

A profile is a name for a repository. It is stored in the user's own Git configuration (`mem.profile.<name>.root`,
`.agent`). Two profiles never share a repository, so nothing that one does reaches the other. This module only reads
files; `gitmem.git.user_config.configure` writes the configuration.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gitmem.config import Config
from gitmem.config.loading import changed
from gitmem.errors import GitMemError, UsageError

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
KEY = re.compile(r"mem\.profile\.(.+)\.(root|agent)", re.IGNORECASE)
IN_FORCE = "mem.profile"
SINCE = "mem.profileSince"  # time of the last switch: earlier messages of a session belong to another memory
Pairs = Iterable[tuple[str, str, str]]  # (key, value, scope) of the user's settings, later ones win


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile. `root`: the work tree of its memory. `agent`: the name of its agent; "" for mem.agent."""

    name: str
    root: Path
    agent: str = ""


def read(pairs: Pairs) -> dict[str, Profile]:
    """Name -> profile, sorted by name. `pairs`: the user's `mem.*` settings, (key, value, scope). A profile without a
    root is ignored."""
    sections: dict[str, dict[str, str]] = {}
    for key, value, _ in pairs:
        match = KEY.fullmatch(key)
        if match:
            sections.setdefault(match[1], {})[match[2].lower()] = value
    return {
        name: Profile(name, Path(os.path.expanduser(keys["root"])), keys.get("agent", ""))
        for name, keys in sorted(sections.items())
        if keys.get("root")
    }


def active_name(pairs: Pairs) -> str:
    """The name of the active profile (`mem.profile`, written by `git mem profile switch`); "" for none. `pairs`: the
    user's settings, (key, value, scope)."""
    return next((value for key, value, _ in reversed(list(pairs)) if key.lower() == IN_FORCE), "")


def find_profile(profiles: dict[str, Profile], name: str) -> Profile:
    """The profile with this name. Raises GitMemError when no profile has it, or when its folder is gone."""
    profile = profiles.get(name)
    if profile is None:
        hint_end = " makes it"
        if profiles:
            hint_end = f"; those there are: {', '.join(profiles)}"
        new_name = "NAME"
        if NAME.fullmatch(name):
            new_name = name
        raise GitMemError(f"there is no profile '{name}'", f"git mem profile add {new_name}{hint_end}")
    if not profile.root.is_dir():
        raise GitMemError(f"the memory of profile '{name}' is gone: {profile.root}", f"git mem profile remove {name}")
    return profile


def valid_profile_name(name: str) -> str:
    """The name, unchanged. Raises UsageError unless it is 1 to 40 of a-z, 0-9 and "-" and does not begin with "-": it
    becomes a key of Git's configuration and the name of a folder."""
    if not NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name of a profile", "small letters, digits and '-', at most 40")
    return name


def profile_of(profiles: dict[str, Profile], place: Path | None) -> Profile | None:
    """The profile whose repository contains `place` (a folder of a work tree, linked or not, or the Git directory);
    None without one."""
    if place is None or not profiles:
        return None
    real = place.resolve()
    mine = repository_of(real)
    for profile in profiles.values():
        root = profile.root.resolve()
        if root == real or (mine is not None and root.is_dir() and repository_of(root) == mine):
            return profile
    return None


def repository_of(place: Path) -> Path | None:
    """The common Git directory of the repository that contains the folder `place`, or that is `place`; None outside a
    repository. Git is not started."""
    for folder in (place, *place.parents):
        git_dir = folder / ".git"
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
            git_dir = folder
        elif git_dir.is_file():
            git_dir = folder / _line(git_dir).removeprefix("gitdir: ")
        if git_dir.is_dir():
            return (git_dir / _line(git_dir / "commondir")).resolve()
    return None


def _line(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape").strip("\r\n")
    except OSError:
        return ""


def switch_time(pairs: Pairs) -> datetime | None:
    """The time of the last switch between profiles (`mem.profileSince`); None before the first one, and for a value
    that is no ISO time with a zone. `pairs`: the user's settings, (key, value, scope)."""
    text = next((value for key, value, _ in reversed(list(pairs)) if key.lower() == SINCE.lower()), "")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not moment.tzinfo:
        return None
    return moment


def with_profile(config: Config, profiles: dict[str, Profile], root: Path | None, own_agent: bool) -> Config:
    """The settings with the identity of the profile whose repository contains `root`, a folder or the Git directory:
    `profile` is its name ("" if none owns it), and `agent` its agent.

    Memories of other profiles are removed from `organisation` and `personal`, with a warning. `own_agent`: whether a
    command-line option named the agent, which wins over the profile's. Raises BadConfig for a profile with an invalid
    agent name.
    """
    mine = profile_of(profiles, root)
    if mine is None:
        config = config._replace(profile="")
    else:
        config = config._replace(profile=mine.name)
        if mine.agent and not own_agent:
            config = changed(config, "agent", mine.agent)
    for field in ("organisation", "personal"):
        other = profile_of(profiles, _local(getattr(config, field)))
        if other is not None and other != mine:
            note = f"mem.{field} is the memory of profile '{other.name}' and is left out"
            config = config._replace(**{field: ""}, warnings=(*config.warnings, note))  # type: ignore[arg-type]
    return config


def _local(place: str) -> Path | None:
    """The local path of a place, without its fragment, `~` expanded; None for a URL or an empty place."""
    path = re.sub(r"^file://(?:localhost(?=/))?", "", place.partition("#")[0])
    if path and "://" not in path:
        return Path(os.path.expanduser(path))
    return None
