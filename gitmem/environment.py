"""Where a command runs and what holds there: the repository, the settings, the clock. Knows nothing of how a command
was spelled, and imports nothing that reads command lines: `cli/fast_search` starts from here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from gitmem.config import TRACKED, Config, load
from gitmem.errors import GitMemError, NotARepository
from gitmem.git.opening import Repository, RepositoryLookup, open_repository
from gitmem.messages import Message

LONGEST_SETTINGS = 1 << 20  # bytes of .gitmem.toml


def now() -> datetime:
    """The clock, local zone. GITMEM_NOW (ISO 8601) sets it, for reproducible runs."""
    fixed = os.environ.get("GITMEM_NOW")
    if fixed:
        return datetime.fromisoformat(fixed).astimezone()
    return datetime.now().astimezone()


def cache_folder() -> Path:
    """Where copies of other memories are kept; for a user without a home, where nothing can be."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    return (folder if folder.is_absolute() else Path(os.devnull)) / "git-mem"


def look_up() -> RepositoryLookup:
    """The repository of the current folder, being looked for."""
    return RepositoryLookup(Path.cwd(), os.environ)


def opened(
    overrides: Mapping[str, str] | None = None, *, stay: bool = False, here: RepositoryLookup | None = None
) -> tuple[Repository, Config]:
    """The repository of the current folder (`here`, where it is being looked for), for the caller to close, and the
    settings in force.

    Where a profile is in force (`git mem profile switch`), its memory instead, as if started there: not with `stay`,
    nor inside a Git hook or where the environment names a repository. Another profile's memory is refused.
    """
    named = "GIT_DIR" in os.environ or "GIT_INDEX_FILE" in os.environ
    repo: Repository
    try:
        repo, pairs = (here or look_up()).result()
    except NotARepository:
        from gitmem.git.git_config import user_settings

        if stay or named:
            root = None
        else:
            root = in_force(user_settings(os.environ), None)
        if root is None:
            raise
        os.chdir(root)
        repo, pairs = look_up().result()
    try:
        if stay:
            root = None
        else:
            root = in_force(pairs, repo.common_dir)
    except BaseException:
        repo.close()
        raise
    if root is not None and not named:
        repo.close()
        os.chdir(root)
        repo = open_repository(Path.cwd(), os.environ)
    return repo, settings(repo, overrides, pairs)


def in_force(pairs: Sequence[tuple[str, str, str]], here: Path | None) -> Path | None:
    """The work tree of the profile in force; None when there is none, or the repository at `here` is its own.

    Raises GitMemError where that is another profile's.
    """
    if not any(key.startswith("mem.profile") for key, _, _ in pairs):
        return None
    from gitmem import profiles

    name = profiles.in_force(pairs)
    if not name:
        return None
    known = profiles.read(pairs)
    chosen = profiles.named(known, name)
    owner = profiles.owner(known, here)
    if owner == chosen:
        return None
    if owner is not None:
        raise GitMemError(
            Message("this is the memory of profile '{}', and '{}' is in force", owner.name, name),
            f"git mem --profile {owner.name} ..., or git mem profile switch {owner.name}",
        )
    return chosen.root


def enter(name: str) -> None:
    """Go to the memory of a profile: what `--profile` does."""
    from gitmem import profiles
    from gitmem.git.git_config import user_settings

    chosen = profiles.named(profiles.read(user_settings(os.environ)), name)
    for key in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        os.environ.pop(key, None)
    os.chdir(chosen.root)


def settings(
    repo: Repository,
    overrides: Mapping[str, str] | None = None,
    pairs: Sequence[tuple[str, str, str]] | None = None,
) -> Config:
    """The settings in force, with the work tree's .gitmem.toml (HEAD's in a bare repository) and its profile's name."""
    if pairs is None:
        pairs = repo.user_config()
    config = load(pairs, tracked_text(repo), overrides or {})
    if any(key.startswith("mem.profile") for key, _, _ in pairs):
        from gitmem import profiles

        config = profiles.applied(config, profiles.read(pairs), repo.common_dir, bool((overrides or {}).get("agent")))
    return config


def tracked_text(repo: Repository) -> str:
    """The work tree's .gitmem.toml, Git's index's where a sparse checkout leaves it out, "" where there is none; a link
    or an unreadable one counts as none."""
    if repo.root is None:
        return ""
    from gitmem.errors import OutsideRepository
    from gitmem.git.worktree import read_bytes

    try:
        return read_bytes(repo.root, TRACKED, LONGEST_SETTINGS).decode("utf-8", "replace")
    except FileNotFoundError:
        return _left_out_text(repo)
    except (OSError, OutsideRepository):
        return ""


def _left_out_text(repo: Repository) -> str:
    """The .gitmem.toml that a sparse checkout leaves out of the work tree, "" where it leaves out none."""
    from gitmem.git.objects import LINKS
    from gitmem.git.sparse_checkout import left_out

    if TRACKED not in left_out(repo):
        return ""
    oids = [entry.oid for entry in repo.staged() if entry.path == TRACKED and entry.mode not in LINKS]
    if not oids:
        return ""
    return repo.read(oids[0])[:LONGEST_SETTINGS].decode("utf-8", "replace")
