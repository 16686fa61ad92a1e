"""Find the project for which a host's hook works: the project in which the hook was installed.

An agent may change to a folder of another repository, and the host then runs its hooks there; what they write still
belongs to the project. A linked work tree of the project's repository counts as the project.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gitmem.environment import root_of_active_profile
from gitmem.errors import GitMemError, OutsideRepository
from gitmem.git.git_config import user_settings
from gitmem.git.opening import discover
from gitmem.git.worktree import read_bytes
from gitmem.hosts.host import HOOK_COMMAND, Host

# Variables that tell Git where a repository is. They come from the environment in which the host was started, so they
# do not count for the project.
LOCATION_VARIABLES = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
)  # fmt: skip
MAX_SETTINGS_BYTES = 1 << 20  # bytes of a host's file in which our hook is looked for


def project_folder(
    host: Host, fields: Mapping[str, Any], environ: Mapping[str, str], *, user: bool = False
) -> Path | None:  # fmt: skip
    """The folder in which a hook of `host` works; None if the hook has nothing to do.

    With a root: the root that the host states in a variable or in the event's `fields`, else the nearest folder, from
    the current one upwards, in which `git mem install` registered the host. The result is the root, or the current
    folder if that is in a work tree of the same repository. Without a root: the current folder, if its repository has
    memory or a profile is active.

    A stated root without memory and without our registration gives None, unless a profile is active, since a hook in a
    person's own settings runs in every project. A hook of a plugin gives None if there is no memory, or if the host
    also runs our hooks by its own settings. `user`: the hook is in the person's own settings; it gives None if the host
    is registered in the project too, whose hooks do the same.
    """
    current = _current_folder()
    stated = stated_root(host, fields, environ)
    root = stated or _installed(host, current)
    start = stated or current
    if user and (start is None or (start != _home() and is_registered(host, start))):
        return None
    if environ.get(host.hook_form.plugin_variable):
        return _folder_for_plugin(host, root, environ)
    if root is not None:
        outside = without_location(environ)
        if root == stated and not (is_project(host, root, outside) or _has_profile(environ)):
            return None
        if current is not None and _is_work_tree_of(current, root, outside):
            return current
        return root
    if current is not None and (_has_memory(current, environ) or _has_profile(environ)):
        return current
    return None


def is_project(host: Host, folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether the repository of `folder` has memory, or the host is registered in `folder` or in a folder above it.
    Always True for a host that has all its files in the person's home (OpenClaw)."""
    if all(path.startswith("~/") for path in host.paths):
        return True
    return _installed(host, folder) is not None or _has_memory(folder, environ)


def serves_memory(environ: Mapping[str, str]) -> bool:
    """Whether a server that is started in the current folder has a memory to serve: that of the repository, or of a
    profile."""
    current = _current_folder()
    return current is not None and (_has_memory(current, environ) or _has_profile(environ))


def _has_profile(environ: Mapping[str, str]) -> bool:
    """Whether a profile is active in the person's settings."""
    return root_of_active_profile(user_settings(environ), None) is not None


def _folder_for_plugin(host: Host, root: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The root, if it has memory and the host does not run our hooks by its own settings as well; else None."""
    if root is None or not _has_memory(root, without_location(environ)):
        return None
    if is_registered(host, root) or is_registered_for_user(host):
        return None
    return root


def stated_root(host: Host, fields: Mapping[str, Any], environ: Mapping[str, str]) -> Path | None:
    """The root of the project as the host states it, in a variable or in the event's `fields`; None if it states no
    existing folder."""
    stated: list[Any] = [environ.get(name) for name in host.hook_form.project_variables]
    for name in host.hook_form.project_fields:
        value = fields.get(name)
        stated += value if isinstance(value, list) else [value]
    texts = [text for text in stated if isinstance(text, str) and os.path.isabs(text) and "\0" not in text]
    return next((Path(text) for text in texts if os.path.isdir(text)), None)


def without_location(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without the variables of LOCATION_VARIABLES."""
    return {name: value for name, value in environ.items() if name not in LOCATION_VARIABLES}


def _current_folder() -> Path | None:
    """The current folder, None if it was removed."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _installed(host: Host, start: Path | None) -> Path | None:
    """The nearest folder, from `start` upwards, in which the host is registered; None if there is none. The person's
    home is never a project."""
    if start is None:
        return None
    home = _home()
    return next((folder for folder in (start, *start.parents) if folder != home and is_registered(host, folder)), None)


def is_registered(host: Host, root: Path) -> bool:
    """Whether a settings file of the host in the project at `root` has our hook command (`git-mem session hook`). False
    if it cannot be read."""
    return any(_runs_our_hook(root, path) for path in host.paths if not path.startswith("~/"))


def is_registered_for_user(host: Host) -> bool:
    """Whether a settings file of the host in the person's home has our hook command, so that it runs in all
    projects."""
    return any(_runs_our_hook(_home(), file.path.removeprefix("~/")) for file in host.personal)


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _runs_our_hook(folder: Path, path: str) -> bool:
    """Whether the file `path` in `folder` names our hook."""
    try:
        return HOOK_COMMAND.encode() in read_bytes(folder, path, MAX_SETTINGS_BYTES)
    except (OSError, OutsideRepository):
        return False


def _is_work_tree_of(folder: Path, root: Path, environ: Mapping[str, str]) -> bool:
    """Whether `folder` is in a work tree of the repository at `root`, and not in its Git directory."""
    try:
        if folder.samefile(root):
            return True
        place = discover(folder, environ)
        return place.root is not None and place.common_dir == discover(root, environ).common_dir
    except (OSError, GitMemError):
        return False


def _has_memory(folder: Path, environ: Mapping[str, str]) -> bool:
    """Whether the repository of `folder` has MEMORY.md or memory/."""
    try:
        root = discover(folder, environ).root
    except GitMemError:
        return False
    return root is not None and ((root / "MEMORY.md").is_file() or (root / "memory").is_dir())
