"""`git mem install`: install the Git hooks that keep the index current and run the gate, or register with a host."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from gitmem.cli.host_registration import AGENTS, FOUND, register, register_for_user, require_agents
from gitmem.cli.options import open_here
from gitmem.cli.terminal import can_ask, escape, say, write, write_json
from gitmem.config import Config
from gitmem.errors import Exit, UsageError
from gitmem.git import merge_driver
from gitmem.git.hooks import HOOKS, REFRESH, SERVER, installation
from gitmem.git.hooks.folder import hooks_folder, is_husky, is_shared, lefthook_file, serves_others
from gitmem.git.hooks.record import former_name, remember
from gitmem.git.opening import Repository
from gitmem.git.worktree import state_dir


@dataclass(frozen=True, slots=True)
class HookSelection:
    """The hooks that one run installs. `names`: of Git's hooks. `on_server`: they are for the repository that people
    push to, which keeps no state of ours and no record of its hooks. `with_merge_driver`: the merge driver is set up
    too."""

    names: tuple[str, ...]
    on_server: bool
    with_merge_driver: bool


ALL_HOOKS = HookSelection(HOOKS, on_server=False, with_merge_driver=True)
REFRESH_HOOKS = HookSelection(REFRESH, on_server=False, with_merge_driver=False)
SERVER_HOOKS = HookSelection(SERVER, on_server=True, with_merge_driver=False)


@dataclass(frozen=True, slots=True)
class LefthookJob:
    """How lefthook runs one of our hooks. `arguments`: its placeholders for the arguments that Git gives. `uses_stdin`:
    whether the hook reads what Git writes to its standard input."""

    hook: str
    arguments: str = ""
    uses_stdin: bool = False

    def yaml(self) -> str:
        """The job as a part of lefthook.yml."""
        command = f"git-mem hook {self.hook} {self.arguments}".rstrip()
        lines = [f"{self.hook}:", "  jobs:", "    - name: git mem", f"      run: {command}"]
        if self.uses_stdin:
            lines.append("      use_stdin: true")
        return "\n".join(lines)


LEFTHOOK_JOBS = (  # of the hooks that lefthook can run for us
    LefthookJob("pre-commit"),
    LefthookJob("commit-msg", "{1}"),
    LefthookJob("pre-push", "{1} {2}", uses_stdin=True),
)


@dataclass(frozen=True, slots=True)
class HookChanges:
    """What `install` or `uninstall` did to the hook files in `folder` (`steps`) and to the merge driver, or with
    `dry_run` would do."""

    folder: Path
    steps: Sequence[installation.Step]
    changed_merge_driver: bool
    dry_run: bool


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
    updates. With --agent it registers with hosts of agents and leaves the Git hooks as they are. `git mem doctor` says
    when another program has taken them away.
    """
    if own_memory and (user or not agents or FOUND in agents):
        raise UsageError("--own-memory goes with --agent NAME", "git mem install --agent claude --own-memory")
    if user:
        return register_for_user(require_agents(agents), dry_run=dry_run, as_json=as_json)
    repo, config = open_here()
    if agents:
        return register(repo, agents, dry_run=dry_run, as_json=as_json, own_memory=own_memory)
    selection = _selection(server=server, refresh_only=refresh_only)
    return _install_in(repo, config, selection, promote=promote, dry_run=dry_run, as_json=as_json)


def _selection(*, server: bool, refresh_only: bool) -> HookSelection:
    """The hooks that these options select; `server` wins over `refresh_only`."""
    if server:
        return SERVER_HOOKS
    if refresh_only:
        return REFRESH_HOOKS
    return ALL_HOOKS


def _install_in(
    repo: Repository, config: Config, selection: HookSelection, *, promote: str | None, dry_run: bool, as_json: bool
) -> int:
    """Install the selected hooks in this repository, and print what was done. Returns the exit code."""
    folder = hooks_folder(repo)
    keeps_record = not (selection.on_server or dry_run)
    if keeps_record:
        state_dir(repo.common_dir)  # created here, so that no hook creates it while a script removes the repository
    if serves_others(repo, folder) and not _may_use(folder, ask=not (dry_run or as_json)):
        return Exit.DONE
    only_repository = _only_repository(repo, folder)
    steps = installation.install(
        folder,
        python=_interpreter(repo, folder),
        names=selection.names,
        promote=promote or promotion_mode(folder),
        git_dir=only_repository,
        former=former_name(repo.common_dir),
        dry=dry_run,
    )
    if keeps_record:
        remember(repo.common_dir, selection.names, only_repository)
    changed_merge_driver = False
    if selection.with_merge_driver:
        changed_merge_driver = merge_driver.set_up(repo, sys.executable, config.memory_daily, dry=dry_run)
    for note in _notes(repo, folder, selection):
        say(note)
    changes = HookChanges(folder, steps, changed_merge_driver, dry_run)
    if as_json:
        write_json({
            "folder": str(folder), "dry_run": dry_run,
            "hooks": [{"hook": step.path.name, "what": step.what} for step in steps],
            "merge_driver": changed_merge_driver,
        })  # fmt: skip
    else:
        show_changes(changes, without_steps="the hooks are there and current", driver_change="set")
    return Exit.DONE


def _interpreter(repo: Repository, folder: Path) -> str:
    """The path of the Python that the hooks run; "" for hooks that call `git-mem` by its name. Files of the work tree
    may be tracked, and run on machines where our Python is somewhere else."""
    if is_shared(repo, folder):
        return ""
    return sys.executable


def _only_repository(repo: Repository, folder: Path) -> str:
    """The Git directory for which our lines in `folder` act; "" if the folder is this repository's own, so that they
    need no condition."""
    if serves_others(repo, folder):
        return repo.common_dir.as_posix()
    return ""


def _may_use(folder: Path, *, ask: bool) -> bool:
    """Whether our lines may be put into a folder of hooks that all repositories of the user share. Asks the person on a
    terminal; if there is none, or if not `ask`, prints a note and returns True."""
    words = f"'{folder}' serves all repositories (core.hooksPath): our lines there act in this repository only"
    if not ask or not can_ask():
        say(f"note: {escape(words, '')}")
        return True
    return click.confirm(f"{words}. Put them there?", default=True, err=True)


def _notes(repo: Repository, folder: Path, selection: HookSelection) -> Iterator[str]:
    """Sentences about what may keep the installed hooks from running."""
    if repo.root is None and not selection.on_server:
        yield "note: nobody commits in a bare repository; 'git mem install --server' holds what is pushed to the gate"
    if is_shared(repo, folder) and shutil.which("git-mem") is None:
        yield "note: these hooks may be tracked, so they call git-mem by its name, which is not on your PATH"
    if is_husky(folder):
        husky = folder.name
        yield f"note: husky writes {husky}/_ anew, so our lines stand in the files of {husky}, which it runs"
    file = lefthook_file(repo)
    if file is not None:
        yield from _lefthook_notes(file, selection.names)


def _lefthook_notes(file: Path, names: Sequence[str]) -> Iterator[str]:
    """What to add to `file`, the configuration of lefthook, so that it runs our hooks of these names.

    A job that is there is found by its command, since the file may be YAML, TOML or JSON and the command is spelled
    alike in all of them.
    """
    text = file.read_text("utf-8", "replace")
    missing = [job for job in LEFTHOOK_JOBS if job.hook in names and f"hook {job.hook}" not in text]
    if missing:
        yield f"note: lefthook writes hook files anew and moves ours away; to have it run ours, add to {file.name}:"
        for job in missing:
            yield job.yaml()


def promotion_mode(folder: Path) -> str:
    """The mode that an earlier `git mem install --promote` set, so that installing again keeps it; "" for none."""
    try:
        text = (folder / "post-commit").read_text("utf-8", "replace")
    except OSError:
        return ""
    match = re.search(r"^gitmem_promote='(?P<mode>stage|branch|commit)'$", text, re.MULTILINE)
    if match is None:
        return ""
    return match["mode"]


def show_changes(changes: HookChanges, *, without_steps: str, driver_change: str) -> None:
    """Print the changes. `without_steps`: the sentence to print if no hook changed; the folder follows it.
    `driver_change`: the word for a change of the merge driver, such as "set"."""
    prefix = ""
    if changes.dry_run:
        prefix = "would be: "
    for step in changes.steps:
        write(escape(f"{prefix}{step.path.name}: {step.what}") + "\n")
    if changes.changed_merge_driver:
        section = f"{merge_driver.SECTION} in the configuration of this clone"
        write(f"{prefix}merge driver: {driver_change} ({section})\n")
    if not changes.steps:
        write(f"{without_steps} ")
    write(escape(f"in {changes.folder}") + "\n")
