"""Reads Git's configuration without an open repository: the user's `mem.*`, a clone's own `mem.*`, and the files.

For an open repository use its `user_config`. `settings_as_variables` adds settings to one run of Git.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gitmem.errors import GitFailed
from gitmem.git.process import Git, first_line, read_environment

USER_SETTINGS = ("--show-scope", "-z", "--get-regexp", r"^mem\.")  # options of `git config`, for `users_own`


def users_own(output: bytes) -> list[tuple[str, str, str]]:
    """(key, value, scope) from the output of `git config` with USER_SETTINGS, without the repository's own settings.
    The scope is `system`, `global` or `command`."""
    return [(key, value, scope) for scope, key, value in _scoped(output) if scope in ("system", "global", "command")]


def _scoped(output: bytes) -> Iterator[tuple[str, str, str]]:
    """(scope, key, value) from the output of `git config` with USER_SETTINGS; the value is "" for a key without one."""
    fields = os.fsdecode(output).split("\0")
    for scope, pair in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = pair.partition("\n")
        yield scope, key, value


def user_settings(environ: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """(key, value, scope) of the user's own `mem.*`, outside any repository; [] if there are none. `scope`: `system`,
    `global` or `command`. Raises GitFailed if Git cannot read its configuration."""
    elsewhere = {name: value for name, value in environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    return users_own(_config(Path("/"), elsewhere, USER_SETTINGS))


def clones_settings(folder: Path, environ: Mapping[str, str]) -> list[str]:
    """The `mem.*` keys of the own configuration of the repository that contains `folder`, each once; [] outside
    a repository. No code reads their values: they may come with a clone.

    Raises GitFailed if Git cannot read the configuration.
    """
    scoped = _scoped(_config(folder, environ, USER_SETTINGS))
    keys = [key for scope, key, _ in scoped if scope in ("local", "worktree")]
    return list(dict.fromkeys(keys))


def config_files(folder: Path, environ: Mapping[str, str]) -> list[Path]:
    """The files from which Git reads the settings of the repository at `folder`, included files too.

    Files of the user's settings that do not exist yet are listed as well: a setting changes only if one of the files
    does. Raises GitFailed if Git cannot read the configuration.
    """
    output = _config(folder, environ, ("--list", "--show-origin", "--name-only", "-z"))
    origins = dict.fromkeys(output.split(b"\0")[::2])
    files = [folder / os.fsdecode(origin).removeprefix("file:") for origin in origins if origin.startswith(b"file:")]
    home, global_file = environ.get("HOME", ""), environ.get("GIT_CONFIG_GLOBAL")
    if global_file:
        files.append(Path(global_file))
    if home:
        user_folder = environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
        files += [Path(user_folder, "git/config"), Path(home, ".gitconfig")]
    return list(dict.fromkeys([*files, Path("/etc/gitconfig")]))


def _config(folder: Path, environ: Mapping[str, str], options: Sequence[str]) -> bytes:
    """The output of `git config` in `folder`, b"" if no key matches. Raises GitFailed if Git cannot read the
    configuration."""
    result = Git(folder, read_environment(environ)).result(["config", *options])
    if result.returncode not in (0, 1):
        raise GitFailed(first_line(os.fsdecode(result.stderr)) or "git config failed")
    return result.stdout


def settings_as_variables(settings: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variables that add `settings` to one run of Git, after the settings that `environ` adds."""
    count_text = environ.get("GIT_CONFIG_COUNT", "")
    count = int(count_text) if count_text.isdecimal() else 0
    variables = {"GIT_CONFIG_COUNT": str(count + len(settings))}
    for number, (key, value) in enumerate(settings.items(), count):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
