"""Which folder a host's hook works in: the project it was installed for, not one its agent walked into.

An agent changes directory, into a repository inside the project or another one altogether, and the host runs its
hooks there. What is written then belongs to the project all the same. A linked work tree of the project's own
repository is the project: what is said there is written there.
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

# What says to Git where a repository is: the environment of a host's starter, not of its project.
LOCATION = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES")
SETTINGS_LIMIT = 1 << 20  # bytes of a host's file in which our hook is looked for


def project_folder(
    host: Host, fields: Mapping[str, Any], environ: Mapping[str, str], *, user: bool = False
) -> Path | None:  # fmt: skip
    """The folder a hook of `host` works in, None where there is nothing for it to do.

    The root that the host states, in a variable or in the event's `fields`, else the nearest folder from here upwards
    in which `install` registered the host. Here itself where its repository is the same as the root's (a linked work
    tree). Without any of that, as by hand, here. A root or a folder in which neither memory is nor the host was
    registered is nobody's project (a hook in a person's own settings runs in every one), unless a profile is in force.
    A plugin's hook works where memory is, and leaves those alone that run our hooks themselves. So does one in the
    person's own settings (`user`): where the host was started in a folder below a project that has our hooks, the host
    runs those of the person alone.
    """
    here = _current_folder()
    stated = stated_root(host, fields, environ)
    root = stated or _installed(host, here)
    start = stated or here
    if user and (start is None or (start != _home() and is_registered(host, start))):
        return None  # the project's own hooks do the same
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
    """Whether memory is in a folder's repository, or the host was registered there (or for the person, as OpenClaw)."""
    if all(path.startswith("~/") for path in host.paths):
        return True
    return _installed(host, folder) is not None or _holds_memory(folder, environ)


def serves_memory(environ: Mapping[str, str]) -> bool:
    """Whether there is a memory for a server that was started here: one in this repository, or that of a profile."""
    here = _current_folder()
    return here is not None and (_holds_memory(here, environ) or _has_profile(environ))


def _has_profile(environ: Mapping[str, str]) -> bool:
    return in_force(user_settings(environ), None) is not None


def _folder_for_plugin(host: Host, root: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The root, where memory is and the project has no hooks of its own, which would do the same a second time."""
    if root is None or not _holds_memory(root, without_location(environ)):
        return None
    if is_registered(host, root) or is_registered_for_user(host):
        return None
    return root


def stated_root(host: Host, fields: Mapping[str, Any], environ: Mapping[str, str]) -> Path | None:
    """The project's root as the host states it, None where it states none that is there."""
    if host.hooks is None:
        return None
    stated: list[Any] = [environ.get(name) for name in host.hooks.project_variables]
    for name in host.hooks.project_fields:
        value = fields.get(name)
        stated += value if isinstance(value, list) else [value]
    texts = [text for text in stated if isinstance(text, str) and os.path.isabs(text) and "\0" not in text]
    return next((Path(text) for text in texts if os.path.isdir(text)), None)


def without_location(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment without what names a repository."""
    return {name: value for name, value in environ.items() if name not in LOCATION}


def _current_folder() -> Path | None:
    """The current folder, None where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


def _installed(host: Host, here: Path | None) -> Path | None:
    """The nearest folder upwards in which the host runs our hook; home is the person's, of no project."""
    home = _home()
    paths = [path for path in host.paths if not path.startswith("~/")]
    for folder in (here, *here.parents) if here is not None else ():
        if folder != home and any(_runs_our_hook(folder, path) for path in paths):
            return folder
    return None


def is_registered(host: Host, root: Path) -> bool:
    """Whether the host runs our hooks in the project at `root`."""
    return any(_runs_our_hook(root, path) for path in host.paths if not path.startswith("~/"))


def is_registered_for_user(host: Host) -> bool:
    """Whether the host runs our hooks in all projects of the person."""
    return any(_runs_our_hook(_home(), file.path.removeprefix("~/")) for file in host.personal)


def _home() -> Path:
    return Path(os.path.expanduser("~"))


def _runs_our_hook(folder: Path, path: str) -> bool:
    try:
        return OURS.encode() in read_bytes(folder, path, SETTINGS_LIMIT)
    except (OSError, OutsideRepository):
        return False


def _is_work_tree_of(here: Path, root: Path, environ: Mapping[str, str]) -> bool:
    """Whether here is in a work tree of the repository at `root`, not in its Git directory."""
    try:
        if here.samefile(root):
            return True
        place = discover(here, environ)
        return place.root is not None and place.common_dir == discover(root, environ).common_dir
    except (OSError, GitMemError):
        return False


def _holds_memory(here: Path, environ: Mapping[str, str]) -> bool:
    try:
        root = discover(here, environ).root
    except GitMemError:
        return False
    return root is not None and ((root / "MEMORY.md").is_file() or (root / "memory").is_dir())
