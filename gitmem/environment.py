"""The environment of a command: its repository, its settings and the clock.

This module imports no parser of command lines, since `cli/fast_search` starts with it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from gitmem.config import TRACKED, Config
from gitmem.config.loading import load
from gitmem.errors import BadConfig, GitMemError, NotARepository, UntrustedRepository
from gitmem.git.opening import Repository, RepositoryLookup, open_repository
from gitmem.messages import Message

MAX_SETTINGS_BYTES = 1 << 20  # of .gitmem.toml; the rest of a longer file is ignored
FIRST_YEAR, LAST_YEAR = 1970, 9000  # of GITMEM_NOW


def now() -> datetime:
    """The current time in the local zone, or the time in the variable GITMEM_NOW (ISO 8601) for reproducible runs.

    A GITMEM_NOW without a zone is a local time. Raises BadConfig if it is not ISO 8601, or not of FIRST_YEAR to
    LAST_YEAR: days before and after it are computed.
    """
    fixed = os.environ.get("GITMEM_NOW")
    if not fixed:
        return datetime.now().astimezone()
    try:
        moment = datetime.fromisoformat(fixed)
        if FIRST_YEAR <= moment.year <= LAST_YEAR:
            return moment.astimezone()
    except ValueError:
        pass
    raise BadConfig(
        Message("GITMEM_NOW is '{}', which is no time of the years {} to {}", fixed, FIRST_YEAR, LAST_YEAR),
        "unset GITMEM_NOW, or write it as 2026-02-05T09:00",
    )


def cache_folder() -> Path:
    """The folder for copies of other memories: `git-mem` in XDG_CACHE_HOME, or in ~/.cache. It need not exist.

    If that is not an absolute path (a user without a home), it is a path below /dev/null, so that nothing is stored.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return (folder if folder.is_absolute() else Path(os.devnull)) / "git-mem"


def start_lookup() -> RepositoryLookup:
    """Start to look up the repository of the current folder and the user's settings; `result()` of the returned value
    waits, and returns (repository, settings). Raises GitMemError if git is not installed."""
    return RepositoryLookup(Path.cwd(), os.environ)


def open_environment(
    overrides: Mapping[str, str] | None = None, *, stay: bool = False, lookup: RepositoryLookup | None = None
) -> tuple[Repository, Config]:
    """Open the repository of the current folder and load the settings in force: (repository, settings). The caller
    closes the repository.

    When a profile is active (`git mem profile switch`), the command goes to that profile's memory, as if it had been
    started there: the current folder of the process becomes the root of that memory. The command stays in the current
    folder with `stay`, and when GIT_DIR or GIT_INDEX_FILE is set, as inside a Git hook. `overrides`: setting -> value
    of command-line options. `lookup`: a lookup of the repository that has already started. Without an active profile
    raises NotARepository outside a repository and UntrustedRepository in one that Git does not trust. Raises GitFailed
    when Git fails, BadConfig for an invalid setting, and GitMemError when the current folder belongs to another
    profile, or when the active profile is unknown or its folder is gone.
    """
    names_repository = "GIT_DIR" in os.environ or "GIT_INDEX_FILE" in os.environ
    repo: Repository
    try:
        repo, pairs = (lookup or start_lookup()).result()
    except (NotARepository, UntrustedRepository):
        from gitmem.git.git_config import user_settings

        root = None
        if not stay and not names_repository:
            root = root_of_active_profile(user_settings(os.environ), None)
        if root is None:
            raise
        os.chdir(root)
        repo, pairs = start_lookup().result()
    root = None
    try:
        if not stay:
            root = root_of_active_profile(pairs, repo.common_dir)
    except BaseException:
        repo.close()
        raise
    if root is not None and not names_repository:
        repo.close()
        os.chdir(root)
        repo = open_repository(Path.cwd(), os.environ)
    try:
        return repo, settings(repo, overrides, pairs)
    except BaseException:
        repo.close()
        raise


def root_of_active_profile(pairs: Sequence[tuple[str, str, str]], git_dir: Path | None) -> Path | None:
    """The work tree of the active profile. None without an active profile, or when the current repository is its own.

    `pairs`: the user's settings, (key, value, scope). `git_dir`: the Git directory of the current repository, None
    outside one. Raises GitMemError when the current repository is another profile's, and when the active profile is
    unknown or its folder is gone.
    """
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return None
    from gitmem import profiles

    name = profiles.active_name(pairs)
    if not name:
        return None
    all_profiles = profiles.read(pairs)
    chosen = profiles.find_profile(all_profiles, name)
    owner = profiles.profile_of(all_profiles, git_dir)
    if owner == chosen:
        return None
    if owner is not None:
        raise GitMemError(
            Message("this is the memory of profile '{}', and '{}' is in force", owner.name, name),
            f"git mem --profile {owner.name} ..., or git mem profile switch {owner.name}",
        )
    return chosen.root


def change_to_profile(name: str) -> None:
    """Make the work tree of a profile's memory the current folder, for the option `--profile`.

    Removes GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE from the environment of the process, since they would name another
    repository. Raises GitMemError for an unknown profile, or one whose folder is gone.
    """
    from gitmem import profiles
    from gitmem.git.git_config import user_settings

    chosen = profiles.find_profile(profiles.read(user_settings(os.environ)), name)
    for key in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        os.environ.pop(key, None)
    os.chdir(chosen.root)


def settings(
    repo: Repository,
    overrides: Mapping[str, str] | None = None,
    pairs: Sequence[tuple[str, str, str]] | None = None,
) -> Config:
    """The settings in force for a repository: its .gitmem.toml, the user's Git configuration and options.

    `overrides`: setting -> value of command-line options, which win. `pairs`: the user's settings, (key, value, scope);
    None reads them from the repository. Raises BadConfig for an invalid setting, also for an invalid agent name of a
    profile.
    """
    if pairs is None:
        pairs = repo.user_config()
    config = load(pairs, tracked_text(repo), overrides or {})
    if any(key.startswith("mem.profile") for key, _, _ in pairs):
        from gitmem import profiles

        config = profiles.with_profile(
            config, profiles.read(pairs), repo.common_dir, bool((overrides or {}).get("agent"))
        )
    return config


def tracked_text(repo: Repository) -> str:
    """The text of .gitmem.toml in the work tree, or in Git's index when a sparse checkout leaves the file out.

    "" for a repository without that file, a bare repository, a symbolic link and an unreadable file. At most
    MAX_SETTINGS_BYTES are read; bytes that are not UTF-8 become U+FFFD.
    """
    if repo.root is None:
        return ""
    from gitmem.errors import OutsideRepository
    from gitmem.git.worktree import read_bytes

    try:
        return read_bytes(repo.root, TRACKED, MAX_SETTINGS_BYTES).decode("utf-8", "replace")
    except FileNotFoundError:
        return _left_out_text(repo)
    except (OSError, OutsideRepository):
        return ""


def _left_out_text(repo: Repository) -> str:
    """The text of .gitmem.toml in Git's index, if a sparse checkout leaves it out of the work tree; else ""."""
    from gitmem.git.objects import LINKS
    from gitmem.git.sparse_checkout import left_out

    if TRACKED not in left_out(repo):
        return ""
    oids = [entry.oid for entry in repo.staged() if entry.path == TRACKED and entry.mode not in LINKS]
    if not oids:
        return ""
    return repo.read(oids[0])[:MAX_SETTINGS_BYTES].decode("utf-8", "replace")
