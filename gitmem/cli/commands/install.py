"""`git mem install`: install the Git hooks that keep the index current and run the gate, or register with a host."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from gitmem.cli.host_registration import AGENTS, FOUND, register, register_for_user, require_agents
from gitmem.cli.options import open_here
from gitmem.cli.terminal import escape, say, write, write_json
from gitmem.errors import Exit, UsageError
from gitmem.git import merge_driver
from gitmem.git.hooks import HOOKS, REFRESH, SERVER
from gitmem.git.hooks.folder import hooks_folder, is_husky, is_shared, lefthook_file, serves_others
from gitmem.git.hooks.installation import Step
from gitmem.git.hooks.installation import install as install_hooks
from gitmem.git.hooks.record import former_name, remember
from gitmem.git.opening import Repository
from gitmem.git.worktree import state_dir

LEFTHOOK = {  # hook that lefthook can run for us -> the rest of its `run:` line
    "pre-commit": "",
    "commit-msg": " {1}",
    "pre-push": " {1} {2}\n      use_stdin: true",
}


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@click.option("--refresh-only", is_flag=True, help="Only the hooks that keep the index fresh: no gate.")
@click.option(
    "--promote", type=click.Choice(["stage", "branch", "commit"]), is_flag=False, flag_value="branch", default=None,
    help="After a commit that changed a daily log, promote: staged, on a branch (when no value is given) or committed.",
)  # fmt: skip
@click.option("--server", is_flag=True, help="pre-receive instead: for the repository people push to.")
@click.option(
    "--agent", "agents", type=click.Choice(AGENTS), multiple=True, is_flag=False, flag_value=FOUND,
    help="Register with an agent's host instead: MCP and hooks. Repeatable; without a name, with those on the PATH.",
)  # fmt: skip
@click.option("--own-memory", is_flag=True, help="With --agent claude: have it keep its own memory in memory/claude.")
@click.option("--user", is_flag=True, help="With --agent: in your own settings, for all projects.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON (docs/json.md).")
def command(
    dry_run: bool,
    refresh_only: bool,
    promote: str | None,
    server: bool,
    agents: Sequence[str],
    own_memory: bool,
    user: bool,
    as_json: bool,
) -> int:
    """Install the Git hooks and the merge driver.

    Our lines are added to this repository's hooks, and Git merges memory fact by fact. Hooks that are there keep
    running; `git mem uninstall` restores them byte for byte. core.hooksPath is respected (with husky the files it runs;
    in a folder for all repositories our lines act in this one only); all work trees share the hooks. Installing again
    updates. `git mem doctor` says when another program has taken them away.
    """
    if own_memory and (user or not agents or FOUND in agents):
        raise UsageError("--own-memory goes with --agent NAME", "git mem install --agent claude --own-memory")
    if user:
        return register_for_user(require_agents(agents), dry_run=dry_run, as_json=as_json)
    repo, config = open_here()
    if agents:
        return register(repo, agents, dry_run=dry_run, as_json=as_json, own_memory=own_memory)
    folder = hooks_folder(repo)
    names = _hook_names(server=server, refresh_only=refresh_only)
    if not dry_run and not server:
        state_dir(repo.common_dir)  # created here, so that no hook creates it while a script removes the repository
    shared = is_shared(repo, folder)
    python = "" if shared else sys.executable
    only = repo.common_dir.as_posix() if serves_others(repo, folder) else ""
    if only and not _may_use(folder, ask=not (dry_run or as_json)):
        return Exit.DONE
    former = former_name(repo.common_dir)
    mode = promote or promotion_mode(folder)
    steps = install_hooks(folder, python, names, mode, only=only, former=former, dry=dry_run)
    if not dry_run and not server:
        remember(repo.common_dir, names, only)
    driven = not server and not refresh_only
    merging = driven and merge_driver.set_up(repo, sys.executable, config.memory_daily, dry=dry_run)
    if repo.root is None and not server:
        say("note: nobody commits in a bare repository; 'git mem install --server' holds what is pushed to the gate")
    if shared and shutil.which("git-mem") is None:
        say("note: these hooks may be tracked, so they call git-mem by its name, which is not on your PATH")
    for line in _beside_others(repo, folder, names):
        say(line)
    show_steps(steps, folder, dry_run, as_json, "the hooks are there and current", "set" if merging else "")
    return Exit.DONE


def _hook_names(*, server: bool, refresh_only: bool) -> tuple[str, ...]:
    """The Git hooks that `git mem install` writes for these options."""
    if server:
        return SERVER
    if refresh_only:
        return REFRESH
    return HOOKS


def _may_use(folder: Path, *, ask: bool) -> bool:
    """Whether our lines may be put into a folder of hooks that all repositories of the user share. Asks the person on a
    terminal; if there is none, or if not `ask`, prints a note and returns True."""
    words = f"'{folder}' serves all repositories (core.hooksPath): our lines there act in this repository only"
    if not ask or not (sys.stdin.isatty() and sys.stderr.isatty()):
        say(f"note: {escape(words, '')}")
        return True
    return click.confirm(f"{words}. Put them there?", default=True, err=True)


def _beside_others(repo: Repository, folder: Path, names: Sequence[str]) -> Iterator[str]:
    """Notes about husky and lefthook, which write hook files themselves, if the repository uses one of them."""
    if is_husky(folder):
        own = folder.name
        yield f"note: husky writes {own}/_ anew, so our lines stand in the files of {own}, which it runs"
    file = lefthook_file(repo)
    if file is None:
        return
    text = file.read_text("utf-8", "replace")
    lacking = [name for name in LEFTHOOK if name in names and f"hook {name}" not in text]
    if lacking:
        yield f"note: lefthook writes hook files anew and moves ours away; to have it run ours, add to {file.name}:"
        for name in lacking:
            yield f"{name}:\n  jobs:\n    - name: git mem\n      run: git-mem hook {name}{LEFTHOOK[name]}"


def promotion_mode(folder: Path) -> str:
    """The mode that an earlier `git mem install --promote` set, so that installing again keeps it; "" for none."""
    try:
        text = (folder / "post-commit").read_text("utf-8", "replace")
    except OSError:
        return ""
    match = re.search(r"^gitmem_promote='(stage|branch|commit)'$", text, re.MULTILINE)
    return match[1] if match else ""


def show_steps(steps: list[Step], folder: Path, dry: bool, as_json: bool, nothing: str, merging: str) -> None:
    """Print what was done to each hook, or the sentence `nothing` if there are no steps. `merging`: what was done to
    the merge driver, "" for nothing. `dry`: the steps are only planned."""
    if as_json:
        done = [{"hook": step.path.name, "what": step.what} for step in steps]
        write_json({"folder": str(folder), "dry_run": dry, "hooks": done, "merge_driver": bool(merging)})
        return
    would = "would be: " if dry else ""
    for step in steps:
        write(escape(f"{would}{step.path.name}: {step.what}") + "\n")
    if merging:
        where = f"{merge_driver.SECTION} in the configuration of this clone"
        write(f"{would}merge driver: {merging} ({where})\n")
    if not steps:
        write(f"{nothing} ")
    write(escape(f"in {folder}") + "\n")
