"""Whether the hosts that are registered here can do their work: what `git mem doctor` and the inspector say of them."""

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
from gitmem.hosts.own_memory import bringing, folder_here, is_kept_here, remembered
from gitmem.hosts.registry import all_hosts
from gitmem.messages import Message
from gitmem.plural import counted
from gitmem.sessions.pending_names import waiting_sessions

SESSIONS_NAMED, LONGEST_SESSION = 3, 80  # sessions that are named, and characters of each name
LOG_DAYS = 7  # of the log of hosts' hooks that are read out


def examine(repo: Repository, now: datetime) -> list[Check]:
    """What a host that is registered here asks first, the sessions that wait to be written, and what hooks could not do
    in the last LOG_DAYS days."""
    asking = [host for host in all_hosts() if host.trust and repo.root and is_registered(host, repo.root)]
    checks = [Check(Message("hooks of {}", host.name), detail=host.trust) for host in asking]
    checks += [check for host in all_hosts() if repo.root and (check := started_below(host, repo.root))]
    checks += own_memories(repo)
    checks += waiting(repo)
    folders = (repo.common_dir / "gitmem", hook_log.spare_folder(cache_folder(), repo.common_dir))
    since = now - timedelta(days=LOG_DAYS)
    found = [(failure, folder) for folder in folders for failure in hook_log.failures(folder, since)]
    if not found:
        return checks
    failures = sorted(failure for failure, _ in found)
    last = failures[-1]
    files = " and ".join(f"'{folder / hook_log.FILE}'" for folder in dict.fromkeys(folder for _, folder in found))
    count, when = counted(len(failures), "failure"), f"{last.at:%Y-%m-%d %H:%M}"
    wrong = Message("{} in {} days, the last {} at {}: {}", count, LOG_DAYS, when, last.event, last.words)
    hint = Message("all of them are in {}; once it is mended, remove that file", files)
    return [*checks, Check("hooks of hosts", wrong, hint)]


def started_below(host: Host, root: Path) -> Check | None:
    """What a host that is registered at `root` lacks where it is started in a folder below; None where it lacks nothing
    there, or has it from the person's own settings."""
    if not host.below or not is_registered(host, root) or is_registered_for_user(host):
        return None
    said = Message("{} started in a subfolder gets neither the tools nor the hooks", host.below)
    if host.tools_below:
        said = Message("{} started in a subfolder gets the tools but not the hooks", host.below)
    hint = Message("to cover subfolders: git mem install --agent {} --user", host.name)
    return Check(f"folders below, with {host.name}", detail=said, hint=hint)


def own_memories(repo: Repository) -> list[Check]:
    """What hosts have remembered of this project by themselves, that is not in memory yet."""
    home = Path(os.path.expanduser("~"))
    checks = []
    for host in all_hosts():
        found = None
        if repo.root is not None:
            found = remembered(host, home, repo.root)
        if found is None or repo.root is None or not _has_new(found.folder, folder_here(host, repo.root)):
            continue
        files = counted(found.files, "file")
        detail = f"{host.name} keeps a memory of its own, which no gate reads and nothing is forgotten in: {files}"
        elsewhere = host.own_memory is not None and host.own_memory.setting and not is_kept_here(host, repo.root)
        more = f"; git mem install --agent {host.name} --own-memory has it write to memory/{host.name}"
        checks.append(
            Check(f"own memory of {host.name}", detail=detail, hint=f"{bringing(found)}{more if elsewhere else ''}")
        )
    return checks


def _has_new(folder: Path, here: Path) -> bool:
    """Whether a file of a host's own memory has none of its name in ours: one that was brought along may be masked or
    edited there."""
    return any(not (here / path.relative_to(folder)).exists() for path in folder.rglob("*.md"))


def waiting(repo: Repository) -> list[Check]:
    """The sessions that no event could write yet."""
    found = waiting_sessions(repo.common_dir)
    if not found:
        return []
    sessions = list(dict.fromkeys(session for _, session in found))
    named = ", ".join(session[:LONGEST_SESSION] for session in sessions[:SESSIONS_NAMED])
    more = ""
    if len(sessions) > SESSIONS_NAMED:
        more = f" and {len(sessions) - SESSIONS_NAMED} more"
    verb = "wait"
    if len(sessions) == 1:
        verb = "waits"
    wrong = (
        f"{counted(len(sessions), 'session')} {verb} to be written, since {found[0][0]:%Y-%m-%d %H:%M}: {named}{more}"
    )
    return [
        Check("pending sessions", wrong, "git mem session retry writes them now; the next event of a host does too")
    ]
