"""Whether the hosts that are registered here can do their work: what `git mem doctor` and the inspector say of them."""

from __future__ import annotations

from datetime import datetime, timedelta

from gitmem.agents import hook_log
from gitmem.agents.host_project import is_registered
from gitmem.gate.setup_checks import Check
from gitmem.git.opening import Repository
from gitmem.hosts.registry import all_hosts
from gitmem.plural import counted

LOG_DAYS = 7  # of the log of hosts' hooks that are read out


def examine(repo: Repository, now: datetime) -> list[Check]:
    """What a host that is registered here asks first, and what hooks could not do in the last LOG_DAYS days."""
    asking = [host for host in all_hosts() if host.trust and repo.root and is_registered(host, repo.root)]
    checks = [Check(f"hooks of {host.name}", detail=host.trust) for host in asking]
    folder = repo.common_dir / "gitmem"
    failures = hook_log.failures(folder, now - timedelta(days=LOG_DAYS))
    if not failures:
        return checks
    last = failures[-1]
    wrong = f"{counted(len(failures), 'failure')} in {LOG_DAYS} days, the last {last.at:%Y-%m-%d %H:%M} at {last.event}"
    hint = f"all of them are in '{folder / hook_log.FILE}'; once it is mended, remove that file"
    return [*checks, Check("hooks of hosts", f"{wrong}: {last.words}", hint)]
