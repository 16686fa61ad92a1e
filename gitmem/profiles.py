"""Profiles: several agents or people on one machine, each with a memory, an index and an identity of its own.

A profile is a name for a repository, kept in the user's own Git configuration (`mem.profile.<name>.root`, `.agent`).
Two profiles never share a repository, so that what one does cannot reach the other. Pure but for paths that are looked
up; writing the configuration is `gitmem.git.write.configure`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gitmem.config import Config
from gitmem.errors import GitMemError, UsageError

NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
KEY = re.compile(r"mem\.profile\.(.+)\.(root|agent)", re.IGNORECASE)
IN_FORCE = "mem.profile"
Pairs = Iterable[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Profile:
    """A name, the work tree of its memory, and the name its agent writes under ("" for mem.agent)."""

    name: str
    root: Path
    agent: str = ""


def read(pairs: Pairs) -> dict[str, Profile]:
    """The profiles of the user's `mem.*` settings, by name. One without a root counts as none."""
    found: dict[str, dict[str, str]] = {}
    for key, value, _ in pairs:
        match = KEY.fullmatch(key)
        if match:
            found.setdefault(match[1], {})[match[2].lower()] = value
    return {
        name: Profile(name, Path(keys["root"]).expanduser(), keys.get("agent", ""))
        for name, keys in sorted(found.items())
        if keys.get("root")
    }


def in_force(pairs: Pairs) -> str:
    """The profile `git mem profile switch` chose, "" for none."""
    return next((value for key, value, _ in reversed(list(pairs)) if key.lower() == IN_FORCE), "")


def named(profiles: dict[str, Profile], name: str) -> Profile:
    """The profile of a name. Raises GitMemError when there is none or its memory is gone."""
    found = profiles.get(name)
    if found is None:
        there = ", ".join(profiles) or "there are none yet"
        raise GitMemError(f"there is no profile '{name}'", f"git mem profile add {name}; those there are: {there}")
    if not found.root.is_dir():
        raise GitMemError(f"the memory of profile '{name}' is gone: {found.root}", f"git mem profile remove {name}")
    return found


def checked(name: str) -> str:
    """A name that can be a key of Git's configuration and a folder. Raises UsageError."""
    if not NAME.fullmatch(name):
        raise UsageError(f"'{name}' is no name of a profile", "small letters, digits and '-', at most 40")
    return name


def owner(profiles: dict[str, Profile], root: Path | None) -> Profile | None:
    """The profile whose memory is the work tree `root`."""
    if root is None or not profiles:
        return None
    real = root.resolve()
    return next((profile for profile in profiles.values() if profile.root.resolve() == real), None)


def applied(config: Config, profiles: dict[str, Profile], root: Path | None, own_agent: bool) -> Config:
    """The settings as the owner of `root` has them: its identity, and no memory of another profile beside its own.

    `own_agent` says that an option named the agent, which wins.
    """
    mine = owner(profiles, root)
    config = config._replace(profile=mine.name if mine else "")
    if mine and mine.agent and not own_agent:
        config = config._replace(agent=mine.agent)
    for field in ("organisation", "personal"):
        other = owner(profiles, _local(getattr(config, field)))
        if other is not None and other != mine:
            note = f"mem.{field} is the memory of profile '{other.name}' and is left out"
            config = config._replace(**{field: ""}, warnings=(*config.warnings, note))  # type: ignore[arg-type]
    return config


def _local(place: str) -> Path | None:
    path = place.partition("#")[0].removeprefix("file://")
    return Path(path).expanduser() if path and "://" not in path else None
