"""Find the folder in which a host's hook works: the project for which the hook was installed.

An agent may change to a folder of another repository, and the host then runs its hooks there; what they write still
belongs to the project. A linked work tree of the project's repository counts as the project.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitmem.environment import in_force
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.git_config import user_settings
from gitmem.git.opening import discover
from gitmem.git.worktree import read_bytes
from gitmem.hosts.host import OURS, Host

# Variables that tell Git where a repository is. They come from the environment in which the host was started, so they
# do not count for the project.
LOCATION = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
MAX_SETTINGS_BYTES = 1 << 20  # bytes of a host's file in which our hook is looked for


def project_folder(
    host: Host, fields: Mapping[str, Any], environ: Mapping[str, str], *, user: bool = False
) -> Path | None:  # fmt: skip
    """The folder in which a hook of `host` works; None if it has nothing to do there.

    1. The root that the host states, in a variable or in the event's `fields`; else the nearest folder, from the
    current one upwards, in which `git mem install` registered the host. If the current folder is in a work tree of the
    same repository, the current folder. 2. Without a root the current folder, if it has memory or a profile is in
    force.

    A stated root without memory and without our registration gives None, unless a profile is in force, since a hook in
    a person's own settings runs in every project. A hook of a plugin gives None where there is no memory, and where the
    host runs our hooks by its own settings too. `user`: the hook stands in the person's own settings; it gives None
    where the host is registered in the project itself, whose hooks do the same.
    """
    here = _current_folder()
    stated = stated_root(host, fields, environ)
    root = stated or _installed(host, here)
    start = stated or here
    if user and (start is None or (start != _home() and is_registered(host, start))):
        return None
    if host.hooks is not None and environ.get(host.hooks.plugin_variable):
        return _folder_for_plugin(host, root, environ)
    if root is not None:
        outside = without_location(environ)
        if root == stated and not (is_project(host, root, outside) or _has_profile(environ)):
            return None
        if here is not None and _is_work_tree_of(here, root, outside):
            return here
        return root
    if here is not None and (_holds_memory(here, environ) or _has_profile(environ)):
        return here
    return None


def is_project(host: Host, folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether a folder's repository has memory, or the host is registered there. Always True for a host whose files are
    all in the person's home (OpenClaw)."""
    if all(path.startswith("~/") for path in host.paths):
        return True
    return _installed(host, folder) is not None or _holds_memory(folder, environ)


def serves_memory(environ: Mapping[str, str]) -> bool:
    """Whether a server that is started here has a memory to serve: that of this repository, or of a profile."""
    here = _current_folder()
    return here is not None and (_holds_memory(here, environ) or _has_profile(environ))


def _has_profile(environ: Mapping[str, str]) -> bool:
    return in_force(user_settings(environ), None) is not None


def _folder_for_plugin(host: Host, root: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The root, if it has memory and the host does not run our hooks by its own settings, which would do the same."""
    if root is None or not _holds_memory(root, without_location(environ)):
        return None
    if is_registered(host, root) or is_registered_for_user(host):
        return None
    return root


def stated_root(host: Host, fields: Mapping[str, Any], environ: Mapping[str, str]) -> Path | None:
    """The root of the project as the host states it; None if it states no folder that exists."""
    if host.hooks is None:
        return None
    stated: list[Any] = [environ.get(name) for name in host.hooks.project_variables]
    for name in host.hooks.project_fields:
        value = fields.get(name)
        stated += value if isinstance(value, list) else [value]
    texts = [text for text in stated if isinstance(text, str) and os.path.isabs(text) and "\0" not in text]
    return next((Path(text) for text in texts if os.path.isdir(text)), None)


def without_location(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables of LOCATION."""
    return {name: value for name, value in environ.items() if name not in LOCATION}


def _current_folder() -> Path | None:
    """The current folder, None if it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _installed(host: Host, here: Path | None) -> Path | None:
    """The nearest folder, from `here` upwards, in which the host is registered; None without one. The person's home is
    never a project."""
    if here is None:
        return None
    home = _home()
    return next((folder for folder in (here, *here.parents) if folder != home and is_registered(host, folder)), None)


def is_registered(host: Host, root: Path) -> bool:
    """Whether the host runs our hooks in the project at `root`."""
    return any(_runs_our_hook(root, path) for path in host.paths if not path.startswith("~/"))


def is_registered_for_user(host: Host) -> bool:
    """Whether the host runs our hooks in all projects of the person."""
    return any(_runs_our_hook(_home(), file.path.removeprefix("~/")) for file in host.personal)


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _runs_our_hook(folder: Path, path: str) -> bool:
    """Whether a host's file names our hook."""
    try:
        return OURS.encode() in read_bytes(folder, path, MAX_SETTINGS_BYTES)
    except (OSError, OutsideRepository):
        return False


def _is_work_tree_of(here: Path, root: Path, environ: Mapping[str, str]) -> bool:
    """Whether `here` is in a work tree of the repository at `root`, and not in its Git directory."""
    try:
        if here.samefile(root):
            return True
        place = discover(here, environ)
        return place.root is not None and place.common_dir == discover(root, environ).common_dir
    except (OSError, GitMemError):
        return False


def _holds_memory(here: Path, environ: Mapping[str, str]) -> bool:
    """Whether the repository of a folder has MEMORY.md or memory/."""
    try:
        root = discover(here, environ).root
    except GitMemError:
        return False
    return root is not None and ((root / "MEMORY.md").is_file() or (root / "memory").is_dir())
