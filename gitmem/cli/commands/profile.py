"""`git mem profile`: keep the memories of several agents or people on one machine apart."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import click

from gitmem import profiles
from gitmem.cli.options import agent_option, json_option
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.environment import now
from gitmem.errors import GitMemError, NotARepository, UsageError
from gitmem.git.git_config import user_settings
from gitmem.git.opening import discover, open_repository
from gitmem.git.user_config import configure
from gitmem.git.write import run_git
from gitmem.memory.new_repository import create_memory_files, place_for
from gitmem.sessions.working_memory import Store


@click.group()
def command() -> None:
    """Keep several memories apart.

    Each profile has its own repository, index and identity. The profile in force (`switch`) is where commands go, from
    any folder; `git mem --profile NAME ...` names one for one command. The gate, `install` and hooks always act on the
    repository of the current folder.
    """


@command.command("add")
@click.argument("name")
@click.argument("path", required=False, type=click.Path(file_okay=False, path_type=Path))
@agent_option("Name its agent writes under (default: NAME).")
@click.option("--name", "author", default="", help="Author of its commits.")
@click.option("--email", default="", help="Address of its commits.")
@json_option
def add_command(name: str, path: Path | None, agent: str, author: str, email: str, as_json: bool) -> None:
    """Make the profile NAME, whose memory is at PATH.

    PATH is a repository, by default one in ~/.local/share/git-mem. Lays out a memory where there is none. Two profiles
    never share a repository.
    """
    existing = profiles.read(user_settings(os.environ))
    if profiles.valid_profile_name(name) in existing:
        raise UsageError(f"there is a profile '{name}' already", f"git mem profile remove {name}")
    data = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share") / "git-mem"
    root = Path(os.path.expanduser(path or data / name))
    if str(root).startswith("~"):
        raise UsageError(f"'{root}' is in nobody's home folder", f"git mem profile add {name} PATH")
    root = root.absolute()
    _ensure_apart_from_others(root, existing)
    try:
        if not _is_repository(root):
            root = create_memory_files(place_for(root, os.environ), os.environ, "en").root
    except OSError as error:
        raise GitMemError(f"cannot make '{root}': {error.strerror}") from None
    with closing(open_repository(root, os.environ)) as repo:
        for key, value in (("user.name", author), ("user.email", email)):
            if value:
                run_git(repo, ["config", "--local", key, value])
    configure(os.environ, f"mem.profile.{name}.root", str(root))
    configure(os.environ, f"mem.profile.{name}.agent", agent or name)
    profile = profiles.Profile(name, root, agent or name)
    if as_json:
        write_json(shape(profile, ""))
    else:
        write(escape(f"{name}  {root}\n"))
        write(f"next: git mem profile switch {name}, or git mem --profile {name} ...\n")


def _is_repository(root: Path) -> bool:
    """Whether `root` is the root of a repository's work tree."""
    if not root.is_dir():
        return False
    try:
        discovered = discover(root, os.environ).root
    except NotARepository:
        return False
    return discovered is not None and discovered.resolve() == root.resolve()


def _ensure_apart_from_others(root: Path, existing: dict[str, profiles.Profile]) -> None:
    """Raise UsageError if the folder `root` is another profile's memory, lies in it or around it, or shares its
    repository (a linked work tree), and if it is a folder inside the work tree of a repository."""
    real = root.resolve()
    own_dir = discover(root, os.environ).common_dir.resolve() if _is_repository(root) else None
    for other in existing.values():
        peer = other.root.resolve()
        if peer in real.parents or real in peer.parents:
            raise UsageError(
                f"'{root}' and the memory of profile '{other.name}' lie in each other", "name a folder elsewhere"
            )
        shared = (
            own_dir is not None and _is_repository(peer) and discover(peer, os.environ).common_dir.resolve() == own_dir
        )
        if real == peer or shared:
            raise UsageError(
                f"that is the memory of profile '{other.name}'", "each profile has a repository of its own"
            )
    if own_dir is None and real.is_dir():
        try:
            above = discover(root, os.environ).root
        except NotARepository:
            return
        if above is not None:
            raise UsageError(
                f"'{root}' is a folder of the repository '{above}'", "name a repository of its own, or a new folder"
            )


@command.command("list")
@json_option
def list_command(as_json: bool) -> None:
    """List the profiles; `*` marks the one in force."""
    pairs = user_settings(os.environ)
    active = profiles.active_name(pairs)
    existing = list(profiles.read(pairs).values())
    if as_json:
        write_json({"profiles": [shape(profile, active) for profile in existing]})
        return
    if not existing:
        say("there are no profiles: git mem profile add NAME makes one")
    for profile in existing:
        mark = "*" if profile.name == active else " "
        missing_note = "" if profile.root.is_dir() else "  (gone)"
        write(escape(f"{mark} {profile.name}  {profile.root}{missing_note}\n"))


def shape(profile: profiles.Profile, active: str) -> dict[str, object]:
    """The JSON of a profile (docs/json.md, "profile"). `active`: the name of the profile in force, "" for none."""
    return {
        "name": profile.name,
        "root": str(profile.root),
        "agent": profile.agent,
        "active": profile.name == active,
        "exists": profile.root.is_dir(),
    }


@command.command("switch")
@click.argument("name", required=False)
@click.option("--none", "nobody", is_flag=True, help="No profile: commands speak of the repository they stand in.")
@json_option
def switch_command(name: str | None, nobody: bool, as_json: bool) -> None:
    """Put the profile NAME in force.

    Working values of sessions are cleared in the memories of both profiles, and hooks write nothing that was said
    before: nothing is carried over.
    """
    if bool(name) == nobody:
        raise UsageError("name a profile, or --none", "git mem profile list")
    pairs = user_settings(os.environ)
    existing = profiles.read(pairs)
    former = profiles.active_name(pairs)
    chosen = profiles.find_profile(existing, name) if name else None
    for profile in (existing.get(former), chosen):
        if profile is not None:
            _clear(profile)
    if former != (chosen.name if chosen else ""):
        configure(os.environ, "--replace-all", profiles.SINCE, now().isoformat())
    if chosen is None:
        configure(os.environ, "--unset-all", profiles.IN_FORCE)
    else:
        configure(os.environ, "--replace-all", profiles.IN_FORCE, chosen.name)
    if as_json:
        write_json(shape(chosen, chosen.name) if chosen else None)
    elif chosen:
        write(escape(f"{chosen.name}  {chosen.root}\n"))
    else:
        write("no profile is in force\n")


def _clear(profile: profiles.Profile) -> None:
    """Clear the working values of a profile's sessions."""
    if not _is_repository(profile.root):
        return
    common = discover(profile.root, os.environ).common_dir
    for name in (profile.name, ""):
        Store(common, name).clear()


@command.command("remove")
@click.argument("name")
@json_option
def remove_command(name: str, as_json: bool) -> None:
    """Forget the profile NAME; its repository stays as it is."""
    pairs = user_settings(os.environ)
    existing = profiles.read(pairs)
    if name not in existing:
        raise UsageError(f"there is no profile '{name}'", "git mem profile list")
    _clear(existing[name])
    configure(os.environ, "--remove-section", f"mem.profile.{name}")
    if profiles.active_name(pairs) == name:
        configure(os.environ, "--unset-all", profiles.IN_FORCE)
    if as_json:
        write_json(shape(existing[name], ""))
        return
    write(escape(f"removed {name}; its files are still in {existing[name].root}\n"))
