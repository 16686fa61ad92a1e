"""`git mem install --agent`: write a host's registration, or say what would be written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from gitmem import system
from gitmem.agents.host_checks import started_below
from gitmem.agents.host_project import is_registered_for_user
from gitmem.cli.server_check import count_tools
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes, resolve, write_atomic
from gitmem.hosts import registration
from gitmem.hosts.host import Host, RegistrationFile, Setup
from gitmem.hosts.own_memory import bringing, is_kept_here, kept_here, remembered
from gitmem.hosts.registry import HOSTS, all_hosts, host_named
from gitmem.plural import counted

FOUND = "found"  # in the place of a host's name: those that are on this machine
AGENTS = [*HOSTS, FOUND]
VALIDATOR_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Registration:
    """What registering with one host changed, or would change, and `problem`, why nothing was."""

    host: str
    changes: Sequence[registration.Change] = ()
    problem: str = ""
    hint: str = ""

    def as_value(self, dry_run: bool) -> dict[str, object]:
        """An object of docs/json.md, "install --agent"."""
        files = [{"path": change.path, "text": change.text or None} for change in self.changes]
        return {"agent": self.host, "dry_run": dry_run, "files": files, "problem": self.problem or None}


def register(
    repo: Repository, names: Sequence[str], *, dry_run: bool, as_json: bool, remove: bool = False,
    own_memory: bool = False,
) -> int:  # fmt: skip
    """Register with these hosts (or leave them): only our own entries change; files of others are kept.

    `own_memory` has a host keep what it remembers by itself in memory/HOST here, and nothing else; leaving a host takes
    that back too. One that cannot be registered with leaves the others as they are; the exit code says so. Of one host
    alone it raises GitMemError.
    """
    if repo.root is None:
        raise GitMemError("an agent works in a work tree, and the repository is bare", "run it in a clone")
    hosts = [host_named(name) for name in _hosts_named(repo.root, names, remove)]
    program, notes = _program()
    setup = Setup(str(repo.root), program, remove, system.POSIX)
    if own_memory:
        hosts = [_keeping_its_memory_here(host) for host in hosts]
    elif remove:
        hosts = [_with_own_memory(host) for host in hosts]
    leaving = {host.name for host in hosts}
    staying: list[Host] = []
    if remove:
        staying = [host for host in all_hosts() if host.name not in leaving and _is_here(repo.root, host)]
    done = [_register(repo.root, host, setup, dry_run, staying) for host in hosts]
    if remove and FOUND in names:  # a host that shares its file with one before it
        done = [each for each in done if each.changes or each.problem or each.host in names]
    if len(done) == 1 and done[0].problem and not done[0].changes:
        raise GitMemError(done[0].problem, done[0].hint)
    if as_json:
        values = [each.as_value(dry_run) for each in done]
        write_json(values[0] if FOUND not in names and len(values) == 1 else {"agents": values})
    else:
        for each in done:
            _show(each, setup, dry_run)
    if own_memory and not dry_run:
        home = Path(os.path.expanduser("~"))
        kept = [remembered(host, home, repo.root) for host in hosts]
        notes = [f"what it has stays where it is: {bringing(has)} brings it along" for has in kept if has is not None]
    elif not remove and not dry_run:
        notes += [note for host in hosts for note in _first_steps(repo.root, host)]
        notes += [f"{check.detail}; {check.hint}" for host in hosts if (check := started_below(host, repo.root))]
        notes += [] if all(each.problem for each in done) else _server_problem(repo.root, program)
    if not remove:
        for note in notes:
            say(escape(f"note: {note}"))
    if any(each.problem for each in done):
        return Exit.CANNOT_RUN
    return Exit.DONE


def _with_own_memory(host: Host) -> Host:
    """The host with the setting by which it keeps its own memory here among its files."""
    own = host.own_memory
    if own is None or not own.setting:
        return host
    return replace(host, registration=(*host.registration, RegistrationFile(own.settings, kept_here, names_us=False)))


def _keeping_its_memory_here(host: Host) -> Host:
    """The host with that setting alone. Raises UsageError for one that has none."""
    if host.own_memory is None or not host.own_memory.setting:
        able = ", ".join(each.name for each in all_hosts() if each.own_memory is not None and each.own_memory.setting)
        raise UsageError(f"{host.name} cannot be told where it keeps its own memory", f"--own-memory goes with {able}")
    return replace(host, registration=_with_own_memory(host).registration[-1:])


def agents_for_user(names: Sequence[str]) -> Sequence[str]:
    """The hosts named with `--user`. Raises UsageError where none is."""
    if not names:
        raise UsageError("--user goes with --agent", "git mem install --agent claude --user")
    return names


def register_for_user(names: Sequence[str], *, dry_run: bool, as_json: bool, remove: bool = False) -> int:
    """Register with these hosts in the person's own settings, for all projects; or leave them there.

    Raises UsageError for a host that has no such settings, GitMemError as `register`.
    """
    known = {host.name: host for host in all_hosts() if host.personal}
    registered = [name for name, host in known.items() if is_registered_for_user(host)]
    if remove:
        there = registered
    else:
        there = [name for name in hosts_on_path() if name in known]
    chosen = dict.fromkeys(name for given in names for name in (there if given == FOUND else [given]))
    unable = [name for name in chosen if name not in known]
    if unable or not chosen:
        what = "no agent's host was found"
        if unable:
            what = f"{unable[0]} is not registered in a person's own settings"
        raise UsageError(what, f"--user goes with {', '.join(known)}")
    program, notes = _program()
    setup = Setup("", program, remove, system.POSIX, user=True)
    hosts = [replace(known[name], registration=known[name].personal) for name in chosen]
    home = Path(os.path.expanduser("~"))
    done = [_register(home, host, setup, dry_run) for host in hosts]
    if len(done) == 1 and done[0].problem:
        raise GitMemError(done[0].problem, done[0].hint)
    if as_json:
        values = [each.as_value(dry_run) for each in done]
        write_json(values[0] if len(values) == 1 and FOUND not in names else {"agents": values})
    else:
        for each in done:
            _show(each, setup, dry_run)
    if not remove:
        notes += [f"the tools of {host.name}: {host.personal_tools}" for host in hosts if host.personal_tools]
        notes.append("in a project without memory the hooks do nothing; where a project has its own, those are run")
        for note in notes:
            say(escape(f"note: {note}"))
    if any(each.problem for each in done):
        return Exit.CANNOT_RUN
    return Exit.DONE


def leave_project(repo: Repository, *, dry_run: bool) -> list[Registration]:
    """Take every host's entries out of the files of this project: MCP servers, hooks, the block of AGENTS.md, the
    setting by which a host keeps its own memory here. The files in the person's home stay (`leave_home`). One entry for
    each host that changes, or whose file is refused."""
    if repo.root is None:
        return []
    setup = Setup(str(repo.root), _program()[0], remove=True, posix=system.POSIX)
    done = []
    for host in map(_with_own_memory, all_hosts()):
        here = tuple(file for file in host.registration if not file.path.startswith("~/"))
        if is_kept_here(host, repo.root) or any(_holds_us(repo.root, file.path) for file in here):
            done.append(_register(repo.root, replace(host, registration=here), setup, dry_run))
    seen: set[str] = set()  # a dry run finds the entry that hosts share once for each of them
    for at, each in enumerate(done):
        done[at] = replace(each, changes=[change for change in each.changes if change.path not in seen])
        seen.update(change.path for change in each.changes if dry_run)
    return [each for each in done if each.changes or each.problem]


def leave_home(*, dry_run: bool) -> list[Registration]:
    """The same for the files in the person's home, which serve all projects. With `dry_run`: what would be changed."""
    home = Path(os.path.expanduser("~"))
    setup = Setup("", _program()[0], remove=True, posix=system.POSIX, user=True)
    done = []
    for host in all_hosts():
        own = tuple(file for file in (*host.registration, *host.personal) if file.path.startswith("~/"))
        if any(_holds_us(home, file.path) for file in own):
            done.append(_register(home, replace(host, registration=own), setup, dry_run))
    return [each for each in done if each.changes or each.problem]


def show_left(done: Registration, dry_run: bool) -> None:
    """Print what leaving a host changed, or would change."""
    for change in done.changes:
        if change.text:
            what = f"{'would take' if dry_run else 'took'} our entries out of {change.path}"
        else:
            what = f"{'would remove' if dry_run else 'removed'} {change.path}"
        write(escape(f"{done.host}: {what}\n"))
    if done.problem:
        say(escape(f"git mem: {done.host}: {done.problem}"))
        say(escape(f"hint: {done.hint or 'take the entries named git-mem out of it by hand'}"))


def _hosts_named(root: Path, names: Sequence[str], remove: bool) -> list[str]:
    """The hosts by name, each once; for FOUND those whose program is on the PATH, or with `remove` those that are
    registered here. Raises UsageError where there is none."""
    found = dict.fromkeys(name for name in names if name != FOUND)
    if FOUND in names:
        registered = (host.name for host in all_hosts() if any(_holds_us(root, path) for path in host.paths))
        found.update(dict.fromkeys(registered if remove else hosts_on_path()))
    if not found:
        where = "is on the PATH"
        if remove:
            where = "is registered here"
        raise UsageError(f"no agent's host {where}", f"name one: {', '.join(HOSTS)}")
    return list(found)


def _holds_us(root: Path, path: str, words: str = registration.NAME) -> bool:
    try:
        return words in _read(root, path)
    except GitMemError:
        return False


def _is_here(root: Path, host: Host) -> bool:
    """Whether a host is registered here: by a file that no other reads, or by its name in a command."""
    shared = {path for other in all_hosts() if other is not host for path in other.paths}
    option = registration.command_option(host)
    own = any(_holds_us(root, path) for path in host.paths if path not in shared)
    return own or (bool(option) and any(_holds_us(root, path, option) for path in host.paths))


def _register(root: Path, host: Host, setup: Setup, dry_run: bool, staying: Sequence[Host] = ()) -> Registration:
    """Write what changes for one host. Where one of its files is refused nothing of it is written; a host that is
    removed loses what is in its others."""
    if setup.remove:
        files = [replace(host, registration=(file,)) for file in host.registration]
    else:
        files = [host]
    done: list[registration.Change] = []
    refused = None
    for each in files:
        try:
            changes = _changes(root, each, setup, staying)
            if not dry_run:
                for change in changes:
                    _write(root, change)
            done += changes
        except GitMemError as error:
            refused = error
    return Registration(host.name, done, *((refused.message, refused.hint) if refused else ()))


def _show(done: Registration, setup: Setup, dry_run: bool) -> None:
    host, changes = done.host, done.changes
    for change in changes:
        verb = "remove"
        if change.text:
            verb = "write"
        write(escape(f"{'would ' if dry_run else ''}{verb} {change.path}\n"))
        if dry_run and change.text:
            write("".join(escape(f"    {line}\n") for line in change.text.splitlines()))
    if done.problem:
        say(escape(f"git mem: {host}: {done.problem}"))
        if done.hint:
            say(escape(f"hint: {done.hint}"))
        return
    if changes and not setup.remove and not dry_run:
        where = " in this folder"
        if setup.user:
            where = ""
        write(f"next: start {host}{where} again; it may ask whether you trust the server and the hooks\n")
    if not changes:
        write(f"{host} is {'not registered' if setup.remove else 'registered already'}\n")


def is_registered(repo: Repository, name: str) -> bool:
    """Whether there is nothing that `register` would write. Raises GitMemError for a file that would be refused."""
    if repo.root is None:
        return False
    return not _changes(repo.root, host_named(name), Setup(str(repo.root), _program()[0], posix=system.POSIX))


def hosts_on_path() -> list[str]:
    """The names of the hosts whose program is on the PATH."""
    return [host.name for host in all_hosts() if any(map(shutil.which, host.programs))]


def _changes(root: Path, host: Host, setup: Setup, staying: Sequence[Host] = ()) -> list[registration.Change]:
    texts = {path: _read(root, path) for path in host.paths}
    used = [file for file in host.registration if _is_used(root, file, texts[file.path])]
    return registration.plan(replace(host, registration=tuple(used)), texts, setup, staying)


def _is_used(root: Path, file: RegistrationFile, text: str) -> bool:
    """Whether a file is written and looked at: its product is used in the project, or we are in it already."""
    return not file.only_with or (root / file.only_with).is_dir() or registration.NAME in text


def _program() -> tuple[str, list[str]]:
    """What a host is told to start, and what a person should know of it."""
    if shutil.which("git-mem") is not None:
        return "git-mem", []
    here = Path(sys.executable).with_name("git-mem")
    if os.access(here, os.X_OK) and re.fullmatch(r"[\w/.+@-]+", str(here)):
        return str(here), [f"'git-mem' is not on the PATH: hosts are told {here}, which is right on this machine alone"]
    return "git-mem", [f"a host starts 'git-mem', which is not on the PATH; add {here.parent} to it, or use pipx"]


def _first_steps(root: Path, host: Host) -> list[str]:
    """What a host asks of a person first, and whether it accepts what was written where it can say so."""
    if host.trust:
        notes = [host.trust]
    else:
        notes = []
    if host.validator and shutil.which(host.validator[0]) is not None:
        try:
            done = subprocess.run(
                host.validator, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=VALIDATOR_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            return notes
        if done.returncode:
            notes.append(f"{host.name} does not accept its settings: '{' '.join(host.validator)}' says why")
    return notes


def _server_problem(root: Path, program: str) -> list[str]:
    """Why a host would get no tools; [] where the server answers, which is said."""
    if shutil.which(program) is None:
        return []
    try:
        say(f"the MCP server answers: {counted(count_tools([program, 'mcp'], root), 'tool')}")
    except GitMemError as error:
        return [f"{error.message}{': ' if error.hint else ''}{error.hint}"]
    return []


def _place(root: Path, path: str) -> tuple[Path, str]:
    """(folder, path in it): home for `~/`, else the work tree. Neither is left through a link."""
    if path.startswith("~/"):
        return (Path(os.path.expanduser("~")), path[2:])
    return (root, path)


def _read(root: Path, path: str) -> str:
    folder, name = _place(root, path)
    try:
        return read_bytes(folder, name).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"'{path}' cannot be read and is left as it is") from None


def _write(root: Path, change: registration.Change) -> None:
    folder, name = _place(root, change.path)
    if change.text:
        write_atomic(folder, name, change.text.encode())
        if change.text.startswith("#!"):
            place = resolve(folder, name)
            place.chmod(place.stat().st_mode | 0o111)
    else:
        place = resolve(folder, name)
        place.unlink(missing_ok=True)
        with suppress(OSError):  # a folder that holds something else stays, and what is above it
            for parent in place.parents:
                if parent == folder:
                    break
                parent.rmdir()
