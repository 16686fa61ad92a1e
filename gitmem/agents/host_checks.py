"""Checks of the hosts that are registered in a project, for `git mem doctor` and the inspector."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path

from gitmem.agents import hook_log
from gitmem.agents.host_project import is_registered, is_registered_for_user
from gitmem.environment import cache_folder
from gitmem.gate.setup_checks import Check
from gitmem.git.opening import Repository
from gitmem.hosts.host import Host
from gitmem.hosts.own_memory import find_own_memory, folder_here, import_command, is_kept_here
from gitmem.hosts.registry import all_hosts
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.sessions.pending_session_names import waiting_sessions

MAX_NAMED_SESSIONS = 3  # waiting sessions that a check names; the others are counted
MAX_SESSION_CHARS = 80  # characters of a session's name
LOG_DAYS = 7  # days back for which failures of hosts' hooks are shown


def all_checks(repo: Repository, now: datetime) -> list[Check]:
    """All checks, for this repository at the time `now`: what a registered host asks the person to confirm, hosts that
    do not run their hooks in subfolders, memories that hosts keep outside this repository, sessions that wait to be
    written, and failures of hooks in the last LOG_DAYS days."""
    checks: list[Check] = []
    if repo.root is not None:
        trusting = [host for host in all_hosts() if host.trust and is_registered(host, repo.root)]
        checks += [Check(Message("hooks of {}", host.name), detail=host.trust) for host in trusting]
        checks += filter(None, (subfolder_check(host, repo.root) for host in all_hosts()))
    checks += own_memory_checks(repo)
    checks += waiting_check(repo)
    folders = (repo.common_dir / "gitmem", hook_log.spare_folder(cache_folder(), repo.common_dir))
    since = now - timedelta(days=LOG_DAYS)
    logged = [(failure, folder) for folder in folders for failure in hook_log.failures(folder, since)]
    if not logged:
        return checks
    failures = sorted(failure for failure, _ in logged)
    latest = failures[-1]
    files = " and ".join(f"'{folder / hook_log.FILE}'" for folder in dict.fromkeys(folder for _, folder in logged))
    count, latest_time = counted(len(failures), "failure"), f"{latest.at:%Y-%m-%d %H:%M}"
    problem = Message("{} in {} days, the last {} at {}: {}", count, LOG_DAYS, latest_time, latest.event, latest.words)
    hint = Message("all of them are in {}; once it is mended, remove that file", files)
    return [*checks, Check("hooks of hosts", problem, hint)]


def subfolder_check(host: Host, root: Path) -> Check | None:
    """A check that says whether a host that is registered at `root` lacks its hooks, or its tools too, when it is
    started in a subfolder. None if it lacks nothing, is not registered, or is registered in the person's own
    settings."""
    if not host.below or not is_registered(host, root) or is_registered_for_user(host):
        return None
    detail = Message("{} started in a subfolder gets neither the tools nor the hooks", host.below)
    if host.tools_below:
        detail = Message("{} started in a subfolder gets the tools but not the hooks", host.below)
    hint = Message("to cover subfolders: git mem install --agent {} --user", host.name)
    return Check(f"folders below, with {host.name}", detail=detail, hint=hint)


def own_memory_checks(repo: Repository) -> list[Check]:
    """A check for each host that has a memory of its own with files of this project that are not in this repository
    yet; [] if no host has one, and in a bare repository."""
    if repo.root is None:
        return []
    home = Path(os.path.expanduser("~"))
    checks = []
    for host in all_hosts():
        own_memory = find_own_memory(host, home, repo.root)
        if own_memory is None or not _has_new(own_memory.folder, folder_here(host, repo.root)):
            continue
        files = counted(own_memory.files, "file")
        detail = f"{host.name} keeps a memory of its own, which no gate reads and nothing is forgotten in: {files}"
        hint = f"{import_command(own_memory)}"
        if host.own_memory is not None and host.own_memory.setting and not is_kept_here(host, repo.root):
            hint += f"; git mem install --agent {host.name} --own-memory has it write to memory/{host.name}"
        checks.append(Check(f"own memory of {host.name}", detail=detail, hint=hint))
    return checks


def _has_new(folder: Path, kept_folder: Path) -> bool:
    """Whether `folder`, a host's own memory, has a Markdown file that `kept_folder` does not have. Contents are not
    compared, since an imported file may have been masked or edited."""
    return any(not (kept_folder / path.relative_to(folder)).exists() for path in folder.rglob("*.md"))


def waiting_check(repo: Repository) -> list[Check]:
    """A list with one check that names the sessions that wait to be written; [] if none waits."""
    waiting = waiting_sessions(repo.common_dir)
    if not waiting:
        return []
    sessions = list(dict.fromkeys(session for _, session in waiting))
    names = ", ".join(session[:MAX_SESSION_CHARS] for session in sessions[:MAX_NAMED_SESSIONS])
    if len(sessions) > MAX_NAMED_SESSIONS:
        names += f" and {len(sessions) - MAX_NAMED_SESSIONS} more"
    verb = "waits" if len(sessions) == 1 else "wait"
    oldest = f"{waiting[0][0]:%Y-%m-%d %H:%M}"
    problem = f"{counted(len(sessions), 'session')} {verb} to be written, since {oldest}: {names}"
    return [
        Check("pending sessions", problem, "git mem session retry writes them now; the next event of a host does too")
    ]
