"""Register git-mem with agents' hosts and unregister it (`git mem install --agent`, `git mem uninstall`): write our MCP
server, hooks and instructions into the hosts' files, or remove them. Entries of others are never changed."""

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
from gitmem.agents.host_checks import subfolder_check
from gitmem.agents.host_project import is_registered_for_user
from gitmem.cli.server_check import count_tools
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.errors import Exit, GitMemError, UsageError
from gitmem.gate.setup_checks import hook_check
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.opening import Repository
from gitmem.git.worktree import read_bytes, resolve, write_atomic
from gitmem.hosts import registration
from gitmem.hosts.host import Host, RegistrationFile, Setup
from gitmem.hosts.own_memory import find_own_memory, import_command, is_kept_here, write_folder_setting
from gitmem.hosts.registry import HOSTS, all_hosts, host_named
from gitmem.json_values import json_keys
from gitmem.plural import counted

FOUND = "found"  # in place of a host's name: all hosts whose program is on the PATH
AGENTS = [*HOSTS, FOUND]  # values of --agent
VALIDATOR_SECONDS = 60  # time limit of the command by which a host checks its own settings


@json_keys("agent=host dry_run files=changes problem?")
@dataclass(frozen=True, slots=True)
class Registration:
    """The result of registering with one host, or unregistering.

    `changes`: the files with their new texts. `problem`: why a file was not changed, "" if there was no problem.
    `hint`: what to type about the problem.

    JSON: `files`: the files that changed; `text` is the new content, null for a removed file. `problem`: why
    nothing was changed.
    """

    host: str
    changes: Sequence[registration.Change] = ()
    problem: str = ""
    hint: str = ""
    dry_run: bool = False


def register(
    repo: Repository, names: Sequence[str], *, dry_run: bool, as_json: bool, remove: bool = False,
    own_memory: bool = False,
) -> int:  # fmt: skip
    """Register with the named hosts in this project, or with `remove` unregister, and print the changes.

    `own_memory`: only set the setting by which a host keeps its own memory in memory/HOST here; unregistering removes
    it. A host with a problem does not stop the others. After registering, the MCP server is started once, and its
    number of tools is printed. Returns 3 if a host had a problem, else 0. Raises GitMemError in a bare repository and
    for the problem of a single host, UsageError if no host is named or found.
    """
    if repo.root is None:
        raise GitMemError("an agent works in a work tree, and the repository is bare", "run it in a clone")
    hosts = [host_named(name) for name in _hosts_named(repo.root, names, remove)]
    program, notes = _program()
    setup = Setup(str(repo.root), program, remove, system.POSIX)
    staying: list[Host] = []
    if remove:
        leaving = {host.name for host in hosts}
        staying = [host for host in all_hosts() if host.name not in leaving and _is_registered_here(repo.root, host)]
    if own_memory:
        hosts = [_only_own_memory(host) for host in hosts]
    elif remove:
        hosts = [_with_own_memory(host) for host in hosts]
    results = [_register(repo.root, host, setup, dry_run, staying) for host in hosts]
    if remove and FOUND in names:  # without hosts whose file another host shares and has changed already
        results = [result for result in results if result.changes or result.problem or result.host in names]
    if len(results) == 1 and results[0].problem and not results[0].changes:
        raise GitMemError(results[0].problem, results[0].hint)
    if own_memory and not dry_run:
        home = Path(os.path.expanduser("~"))
        memories = filter(None, (find_own_memory(host, home, repo.root) for host in hosts))
        notes = [f"what it has stays where it is: {import_command(memory)} brings it along" for memory in memories]
    _show_all(results, names, setup, dry_run=dry_run, as_json=as_json)
    if not (own_memory or remove or dry_run):
        notes += [note for host in hosts for note in _first_steps(repo.root, host)]
        checks = filter(None, [subfolder_check(host, repo.root) for host in hosts])
        notes += [f"{check.detail}; {check.hint}" for check in checks]
        hooks = hook_check(repo, hooks_folder(repo))
        if hooks.hint and not hooks.wrong:
            notes.append(f"Git hooks: {hooks.detail}; {hooks.hint}")
        if not all(result.problem for result in results):
            notes += _server_problem(repo.root, program)
    return _say_notes(results, notes, remove)


def _show_all(
    results: Sequence[Registration], names: Sequence[str], setup: Setup, *, dry_run: bool, as_json: bool
) -> None:
    """Print the changes for each host; problems go to standard error. Without a result nothing is printed, or with
    `as_json` an object with empty `agents`. `names`: the hosts as the person typed them.

    For a single result the JSON is the host's object, unless FOUND was named; else an object whose `agents` lists them.
    """
    if not as_json:
        for result in results:
            _show(result, setup, dry_run)
        return
    write_json(results[0] if len(results) == 1 and FOUND not in names else {"agents": results})


def _say_notes(results: Sequence[Registration], notes: Sequence[str], remove: bool) -> int:
    """Print the notes, unless the hosts were unregistered (`remove`), and return the exit code."""
    if not remove:
        for note in notes:
            say(escape(f"note: {note}"))
    if any(result.problem for result in results):
        return Exit.CANNOT_RUN
    return Exit.DONE


def _with_own_memory(host: Host) -> Host:
    """The host, with the setting by which it keeps its own memory here added to its files, if it has such a setting."""
    own_memory = host.own_memory
    if own_memory is None or not own_memory.setting:
        return host
    file = RegistrationFile(own_memory.settings, write_folder_setting, names_us=False)
    return replace(host, registration=(*host.registration, file))


def _only_own_memory(host: Host) -> Host:
    """The host, with the setting by which it keeps its own memory here as its only file. Raises UsageError if it has no
    such setting."""
    if host.own_memory is None or not host.own_memory.setting:
        able = ", ".join(peer.name for peer in all_hosts() if peer.own_memory is not None and peer.own_memory.setting)
        raise UsageError(f"{host.name} cannot be told where it keeps its own memory", f"--own-memory goes with {able}")
    return replace(host, registration=_with_own_memory(host).registration[-1:])


def require_agents(names: Sequence[str]) -> Sequence[str]:
    """The names, unchanged. Raises UsageError if there is none, since `--user` needs `--agent`."""
    if not names:
        raise UsageError("--user goes with --agent", "git mem install --agent claude --user")
    return names


def register_for_user(names: Sequence[str], *, dry_run: bool, as_json: bool, remove: bool = False) -> int:
    """Register with the named hosts in the person's own settings, for all projects, or with `remove` unregister there.
    FOUND among `names`: all such hosts on the PATH, with `remove` those that are registered.

    Prints the changes; a host with a problem does not stop the others. Returns 3 if a host had a problem, else 0.
    Raises UsageError if no host is named or found, or for one that cannot be registered in a person's settings;
    GitMemError for the problem of a single host: then no changes are printed, though files may have been changed.
    """
    personal_hosts = {host.name: host for host in all_hosts() if host.personal}
    if remove:
        detected = [name for name, host in personal_hosts.items() if is_registered_for_user(host)]
    else:
        detected = [name for name in hosts_on_path() if name in personal_hosts]
    chosen = dict.fromkeys(name for typed in names for name in (detected if typed == FOUND else [typed]))
    unable = [f"{name} is not registered in a person's own settings" for name in chosen if name not in personal_hosts]
    if unable or not chosen:
        raise UsageError([*unable, "no agent's host was found"][0], f"--user goes with {', '.join(personal_hosts)}")
    program, notes = _program()
    setup = Setup("", program, remove, system.POSIX, user=True)
    hosts = [replace(personal_hosts[name], registration=personal_hosts[name].personal) for name in chosen]
    home = Path(os.path.expanduser("~"))
    results = [_register(home, host, setup, dry_run) for host in hosts]
    if len(results) == 1 and results[0].problem:
        raise GitMemError(results[0].problem, results[0].hint)
    _show_all(results, names, setup, dry_run=dry_run, as_json=as_json)
    notes += [f"the tools of {host.name}: {host.personal_tools}" for host in hosts if host.personal_tools]
    notes.append("in a project without memory the hooks do nothing; where a project has its own, those are run")
    return _say_notes(results, notes, remove)


def unregister_project(repo: Repository, *, dry_run: bool) -> list[Registration]:
    """Remove our entries from every host's files in this project: MCP servers, hooks, the block of AGENTS.md, and the
    setting by which a host keeps its own memory here. Files in the person's home stay (`unregister_home`). Returns one
    entry for each host that changes or has a problem, [] in a bare repository. `dry_run`: change nothing."""
    if repo.root is None:
        return []
    setup = Setup(str(repo.root), _program()[0], remove=True, posix=system.POSIX)
    results = []
    for host in map(_with_own_memory, all_hosts()):
        project_files = tuple(file for file in host.registration if not file.path.startswith("~/"))
        if is_kept_here(host, repo.root) or any(_names_us(repo.root, file.path) for file in project_files):
            results.append(_register(repo.root, replace(host, registration=project_files), setup, dry_run))
    seen_paths: set[str] = set()  # paths; a dry run finds an entry that hosts share once for each host
    for index, result in enumerate(results):
        results[index] = replace(result, changes=[change for change in result.changes if change.path not in seen_paths])
        seen_paths.update(change.path for change in result.changes if dry_run)
    return [result for result in results if result.changes or result.problem]


def unregister_home(*, dry_run: bool) -> list[Registration]:
    """Remove our entries from every host's files in the person's home, which apply to all projects. Returns one entry
    for each host that changes or has a problem. `dry_run`: change nothing."""
    home = Path(os.path.expanduser("~"))
    setup = Setup("", _program()[0], remove=True, posix=system.POSIX, user=True)
    results = []
    for host in all_hosts():
        home_files = tuple(file for file in (*host.registration, *host.personal) if file.path.startswith("~/"))
        if any(_names_us(home, file.path) for file in home_files):
            results.append(_register(home, replace(host, registration=home_files), setup, dry_run))
    return [result for result in results if result.changes or result.problem]


def show_unregistered(result: Registration, dry_run: bool) -> None:
    """Print the changes for one host that was, or would be, unregistered."""
    take, remove = ("would take", "would remove") if dry_run else ("took", "removed")
    for change in result.changes:
        if change.text:
            write(escape(f"{result.host}: {take} our entries out of {change.path}\n"))
        else:
            write(escape(f"{result.host}: {remove} {change.path}\n"))
    if result.problem:
        say(escape(f"git mem: {result.host}: {result.problem}"))
        say(escape(f"hint: {result.hint or 'take the entries named git-mem out of it by hand'}"))


def _hosts_named(root: Path, names: Sequence[str], remove: bool) -> list[str]:
    """The named hosts, each once. FOUND means the hosts whose program is on the PATH, or with `remove` the hosts that
    are registered here. Raises UsageError if there is none."""
    chosen = dict.fromkeys(name for name in names if name != FOUND)
    if FOUND in names:
        registered = (host.name for host in all_hosts() if any(_names_us(root, path) for path in host.paths))
        chosen.update(dict.fromkeys(registered if remove else hosts_on_path()))
    if not chosen:
        condition = "is registered here" if remove else "is on the PATH"
        raise UsageError(f"no agent's host {condition}", f"name one: {', '.join(HOSTS)}")
    return list(chosen)


def _names_us(root: Path, path: str, words: str = registration.NAME) -> bool:
    """Whether a host's file contains `words` (default: our name); False if it cannot be read."""
    try:
        return words in _read(root, path)
    except GitMemError:
        return False


def _is_registered_here(root: Path, host: Host) -> bool:
    """Whether a host is registered in the project: a file that only this host reads names us, or a shared file has a
    command with the host's name."""
    shared = {path for other in all_hosts() if other is not host for path in other.paths}
    option = registration.command_option(host)
    in_own_file = any(_names_us(root, path) for path in host.paths if path not in shared)
    return in_own_file or (bool(option) and any(_names_us(root, path, option) for path in host.paths))


def _register(root: Path, host: Host, setup: Setup, dry_run: bool, staying: Sequence[Host] = ()) -> Registration:
    """Write the changes for one host, unless `dry_run`. If one of its files cannot be changed, nothing is written; when
    a host is unregistered, its other files are still changed. `staying`: hosts whose entries in shared files are
    kept."""
    parts = [host]
    if setup.remove:
        parts = [replace(host, registration=(file,)) for file in host.registration]
    all_changes: list[registration.Change] = []
    problem = hint = ""
    for part in parts:
        try:
            changes = _changes(root, part, setup, staying)
            if not dry_run:
                for change in changes:
                    _write(root, change)
            all_changes += changes
        except GitMemError as error:
            problem, hint = error.message, error.hint
    return Registration(host.name, all_changes, problem, hint, dry_run)


def _show(result: Registration, setup: Setup, dry_run: bool) -> None:
    """Print the changed files of one host, or with `dry_run` the texts that they would have; then what to do next."""
    host, changes = result.host, result.changes
    prefix = "would " if dry_run else ""
    for change in changes:
        verb = "write" if change.text else "remove"
        write(escape(f"{prefix}{verb} {change.path}\n"))
        if dry_run and change.text:
            write("".join(escape(f"    {line}\n") for line in change.text.splitlines()))
    if result.problem:
        say(escape(f"git mem: {host}: {result.problem}"))
        if result.hint:
            say(escape(f"hint: {result.hint}"))
        return
    if not changes:
        write(f"{host} is {'not registered' if setup.remove else 'registered already'}\n")
    elif not setup.remove and not dry_run:
        folder_note = "" if setup.user else " in this folder"
        trusted = "the server and the hooks" if host_named(host).hooks is not None else "the server"
        write(f"next: start {host}{folder_note} again; it may ask whether you trust {trusted}\n")


def is_registered(repo: Repository, name: str) -> bool:
    """Whether `register` would write nothing for a host; False in a bare repository. Raises GitMemError for a file that
    cannot be changed."""
    if repo.root is None:
        return False
    return not _changes(repo.root, host_named(name), Setup(str(repo.root), _program()[0], posix=system.POSIX))


def hosts_on_path() -> list[str]:
    """The names of the hosts whose program is on the PATH."""
    return [host.name for host in all_hosts() if any(map(shutil.which, host.programs))]


def _changes(root: Path, host: Host, setup: Setup, staying: Sequence[Host] = ()) -> list[registration.Change]:
    """The changes of files that register a host, or unregister it. Raises GitMemError for a file that cannot be
    changed."""
    texts = {path: _read(root, path) for path in host.paths}
    used = [file for file in host.registration if _is_used(root, file, texts[file.path])]
    return registration.plan(replace(host, registration=tuple(used)), texts, setup, staying)


def _is_used(root: Path, file: RegistrationFile, text: str) -> bool:
    """Whether a host's file is relevant here: the product that reads it is used in the project, or the file names us
    already."""
    return not file.only_with or (root / file.only_with).is_dir() or registration.NAME in text


def _program() -> tuple[str, list[str]]:
    """(program that hosts start, notes about it for the person): `git-mem` without a note if it is on the PATH, else
    the absolute path beside this Python, or `git-mem` again if there is none or the path has unusual characters."""
    if shutil.which("git-mem") is not None:
        return "git-mem", []
    path = Path(sys.executable).with_name("git-mem")
    if os.access(path, os.X_OK) and re.fullmatch(r"[\w/.+@-]+", str(path)):
        return str(path), [f"'git-mem' is not on the PATH: hosts are told {path}, which is right on this machine alone"]
    return "git-mem", [f"a host starts 'git-mem', which is not on the PATH; add {path.parent} to it, or use pipx"]


def _first_steps(root: Path, host: Host) -> list[str]:
    """Notes: what the person has to confirm in the host first, and whether the host rejects the written settings (if it
    has a command that checks them)."""
    notes = list(filter(None, (host.trust,)))
    if host.validator and shutil.which(host.validator[0]) is not None:
        try:
            check = subprocess.run(
                host.validator, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=VALIDATOR_SECONDS
            )
        except (OSError, subprocess.TimeoutExpired):
            return notes
        if check.returncode:
            notes.append(f"{host.name} does not accept its settings: '{' '.join(host.validator)}' says why")
    return notes


def _server_problem(root: Path, program: str) -> list[str]:
    """Start the MCP server and print how many tools it has. Returns a note if it does not answer, else []."""
    if shutil.which(program) is None:
        return []
    try:
        say(f"the MCP server answers: {counted(count_tools([program, 'mcp'], root), 'tool')}")
    except GitMemError as error:
        return [": ".join(filter(None, (error.message, error.hint)))]
    return []


def _place(root: Path, path: str) -> tuple[Path, str]:
    """(folder, path in it) of a host's file: the home folder for `~/...`, else the work tree."""
    if path.startswith("~/"):
        return Path(os.path.expanduser("~")), path[2:]
    return root, path


def _read(root: Path, path: str) -> str:
    """The text of a host's file, "" if there is none. Raises GitMemError if it cannot be read."""
    folder, name = _place(root, path)
    try:
        return read_bytes(folder, name).decode("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError):
        raise GitMemError(f"'{path}' cannot be read and is left as it is") from None


def _write(root: Path, change: registration.Change) -> None:
    """Write a host's file, executable if it is a script. If the change has no text, remove the file and the folders
    that become empty."""
    folder, name = _place(root, change.path)
    if change.text:
        write_atomic(folder, name, change.text.encode())
        if change.text.startswith("#!"):
            place = resolve(folder, name)
            place.chmod(place.stat().st_mode | 0o111)
    else:
        place = resolve(folder, name)
        place.unlink(missing_ok=True)
        with suppress(OSError):  # the first folder that is not empty ends it
            for parent in place.parents:
                if parent == folder:
                    break
                parent.rmdir()
