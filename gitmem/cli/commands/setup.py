"""`git mem setup`: set a memory up on a new machine, with one plain command for each step."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from gitmem.agents.host_checks import own_memory_checks
from gitmem.cli.commands.install import promotion_mode
from gitmem.cli.host_registration import hosts_on_path, is_registered
from gitmem.cli.options import json_option
from gitmem.cli.terminal import can_ask, escape, say, write, write_json
from gitmem.errors import Exit, NotARepository, UsageError
from gitmem.gate.quoting import without_secrets
from gitmem.gate.setup_checks import Check
from gitmem.git.hooks import HOOKS, installation
from gitmem.git.hooks.folder import hooks_folder
from gitmem.git.opening import Repository, open_repository
from gitmem.git.other_memories import shown_url
from gitmem.hosts.own_memory import find_own_memory, is_kept_here
from gitmem.hosts.registry import HOSTS, host_named
from gitmem.paths import is_memory, layout_of
from gitmem.shell_word import shell_command, shell_word

OURS = (".gitattributes", ".gitmem.toml", "memory/.gitkeep")  # files that `git mem init` writes beside memory files
NEXT = "next: "  # the beginning of lines in which our commands say what to type next
STEPS = ("repository", "hooks", "commit", "agents", "memories", "fact", "check")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the setup.

    `commands`: the words of each command that a person would type for it, in order; `git-mem` is this program; () if
    there is nothing to do. `why`: the reason why there is nothing to do.
    """

    name: str
    commands: tuple[tuple[str, ...], ...] = ()
    why: str = "there already"


@dataclass(frozen=True, slots=True)
class SetupOptions:
    """The folder and options, as `git mem setup -h` lists them. `clone`: "" to make a new memory. `adopt`: as
    `InitOptions.adopt`. `fact`: "" for no first fact."""

    folder: Path
    clone: str
    adopt: bool | None
    agents: tuple[str, ...]
    fact: str
    skip: tuple[str, ...]
    yes: bool
    dry_run: bool
    as_json: bool

    @property
    def asks(self) -> bool:
        """Whether questions are asked: at a terminal, without --yes, --dry-run and --json."""
        if self.yes or self.dry_run or self.as_json:
            return False
        return can_ask()


@click.command()
@click.argument("folder", default=".", type=click.Path(file_okay=False, path_type=Path))
@click.option("--clone", default="", metavar="URL", help="Clone this memory into FOLDER instead of making one.")
@click.option("--adopt/--only-new", default=None, help="Whether Markdown that is there stays memory (git mem init).")
@click.option(
    "--agent", "agents", multiple=True, type=click.Choice(list(HOSTS)), help="Register with this host; repeatable."
)
@click.option("--fact", default="", metavar="TEXT", help="A first fact to write.")
@click.option("--skip", multiple=True, type=click.Choice(STEPS), help="Leave this step out; repeatable.")
@click.option("--yes", is_flag=True, help="Do every step without asking.")
@click.option("--dry-run", is_flag=True, help="Print the commands it stands for; run none.")
@json_option
def command(**arguments: Any) -> int:
    """Set a memory up in FOLDER, step by step.

    The steps are repository, hooks, agents' hosts, a first fact, and a check that all of it answers.

    Each step prints the plain command that it stands for and asks before it runs it; what is done already is left as it
    is, so that it can be run again. Where nobody is at a terminal it asks nothing: it prints the commands, and runs
    them with --yes. Exit 3 when a step failed; later steps are not run then.

    \b
    git mem setup ~/memory
    git mem setup --clone git@example.com:me/memory.git ~/memory
    git mem setup --yes --agent claude --fact "Invoices are in UTC"
    """
    choices = SetupOptions(**arguments)
    if not choices.clone:  # a clone is a repository of its own in any folder
        _ensure_not_inside(choices.folder)
    runs = (choices.yes or choices.asks) and not choices.dry_run
    results: list[dict[str, object]] = []
    for number, step in enumerate(_steps(choices), 1):
        state = _run_step(step, choices, f"{number}/{len(STEPS)} {step.name}: ", runs=runs, quiet=choices.as_json)
        commands = [_shown_command(words) for words in step.commands]
        results.append({"step": step.name, "commands": commands, "state": state})
        if state == "failed":
            break
    failed = any(step["state"] == "failed" for step in results)
    if choices.as_json:
        write_json({"folder": str(choices.folder), "steps": results})
    elif failed:
        say("hint: mend what it says, then git mem setup again: what is done is left as it is")
    elif not runs:
        say("nothing was run: git mem setup --yes runs them")
    else:
        write(escape(_what_next(choices)))
    if failed:
        return Exit.CANNOT_RUN
    return Exit.DONE


def _what_next(choices: SetupOptions) -> str:
    """What a person can type now that memory is set up, one command a line."""
    steps = []
    if choices.folder.resolve() != Path.cwd():
        steps.append(f"cd {shell_word(str(choices.folder))}")
    if choices.agents or hosts_on_path():
        steps.append("start your agent and tell it something to keep")
    else:
        steps.append('git mem add "what is to be kept"')
    steps += ["git mem search 'a question'", "git mem ui", "git mem undo"]
    notes = {
        "git mem ui": "memory in a browser: what is kept, by whom, from where",
        "git mem undo": "takes back what git mem wrote last",
    }
    width = max(len(step) for step in steps if step in notes) + 2
    rows = [f"  {step:<{width}}{notes.get(step, '')}".rstrip() for step in steps]
    return "\n".join(["", "memory is set up; from here on:", *rows, ""])


def _run_step(step: Step, choices: SetupOptions, title: str, *, runs: bool, quiet: bool) -> str:
    """Print a step, ask about it and run it. Returns `done`, `nothing to do`, `skipped`, `would run` or `failed`.

    While the folder is not a repository, only the step "repository" runs: the other steps would change the repository
    around the folder. `runs`: steps are run. `quiet`: print nothing.
    """
    if step.name in choices.skip:
        step = Step(step.name, (), "skipped")
    elif runs and step.name != "repository" and step.commands and _repo(choices.folder) is None:
        step = Step(step.name, (), "after the repository is made")
    if not quiet:
        write(escape(title + ("; ".join(_shown_command(words) for words in step.commands) or step.why) + "\n"))
        sys.stdout.flush()
    if not step.commands:
        if step.name in choices.skip:
            return "skipped"
        return "nothing to do"
    if not runs:
        return "would run"
    if choices.asks and not click.confirm("run this?", default=True, err=True):
        return "skipped"
    for words in step.commands:
        code = _run(words, choices.folder, quiet=quiet)
        if code not in ((Exit.DONE, Exit.FINDINGS) if step.name == "check" else (Exit.DONE,)):
            return "failed"
    return "done"


def _run(words: tuple[str, ...], folder: Path, *, quiet: bool) -> int:
    """Run a command in the folder and return its exit status.

    The output of our own commands is shown without the lines that say what to type next, because setup does that step
    itself. `quiet`: show no output.
    """
    argv, stdout = list(words), None
    if words[0] == "git-mem":
        argv, stdout = [sys.executable, "-P", "-m", "gitmem", *words[1:]], subprocess.PIPE
    if quiet:
        stdout = subprocess.DEVNULL
    result = subprocess.run(argv, cwd=folder if folder.is_dir() else None, stdout=stdout, check=False)
    for line in (result.stdout or b"").decode("utf-8", "replace").splitlines(keepends=True):
        if not line.startswith(NEXT):
            write(line)
    sys.stdout.flush()
    return result.returncode


def _shown_command(words: tuple[str, ...]) -> str:
    """The command as it is printed, without a token in an address and without a secret in a fact."""
    if words[:2] == ("git", "clone"):
        words = tuple(map(shown_url, words))
    if "--" in words:
        words = (*words[:-1], without_secrets([words[-1]])[0])
    if words[0] == "git-mem":
        words = ("git", "mem", *words[1:])
    return shell_command(words)


# -- the steps ---------------------------------------------------------------------------------------------------


def _steps(choices: SetupOptions) -> Iterator[Step]:
    """The steps in order. Each step is planned when it is reached, from the results of the steps before."""
    yield _repository(choices)
    yield _hooks(choices.folder)
    yield _commit(choices.folder)  # after the hooks, so that they scan the commit
    hosts = choices.agents or tuple(hosts_on_path())
    yield _agents(choices.folder, hosts)
    yield _memories(choices, hosts)
    fact = choices.fact
    if choices.asks and not fact and "fact" not in choices.skip and _repo(choices.folder) is not None:
        fact = click.prompt("a first fact (Enter for none)", default="", show_default=False, err=True)
    first_check: tuple[str, ...] = ("git-mem", "index")
    if fact:
        yield Step("fact", (("git-mem", "add", "--to", "memory", "--", fact),))
        first_check = ("git-mem", "search", "--", fact)
    else:
        yield Step("fact", (), "none was given")
    yield Step("check", (first_check, ("git-mem", "doctor")))


def _repository(choices: SetupOptions) -> Step:
    """The step that makes or clones the repository; nothing to do if there is a memory already."""
    folder = choices.folder
    if choices.clone:
        if (folder / ".git").exists():
            return Step("repository")
        return Step("repository", (("git", "clone", "--", choices.clone, str(folder.absolute())),))
    if _repo(folder) is not None and ((folder / "MEMORY.md").exists() or (folder / "memory").exists()):
        return Step("repository")
    adopt = {True: ("--adopt",), False: ("--only-new",), None: ()}[choices.adopt]
    return Step("repository", (("git-mem", "init", *adopt, str(folder.absolute())),))


def _repo(folder: Path) -> Repository | None:
    """The repository of a folder; None if there is none. Raises UntrustedRepository if Git does not trust it."""
    try:
        if not folder.is_dir():
            return None
        return open_repository(folder, os.environ)
    except NotARepository:
        return None


def _ensure_not_inside(folder: Path) -> None:
    """Raise UsageError for a folder inside the work tree of a repository, since only the root can be set up."""
    existing = folder.absolute()
    while not existing.is_dir():
        existing = existing.parent
    repo = _repo(existing)
    if repo is None or repo.root is None:
        return
    root = repo.root.resolve()
    if folder.resolve() != root:
        top, place = shell_word(str(root)), shell_word(str(folder.absolute()))
        hint = f"git mem setup {top} sets that up; for a memory of its own: git init {place}, then this again"
        raise UsageError(f"'{folder}' is inside the repository '{root}'", hint)


def _commit(folder: Path) -> Step:
    """The first commit, of the files that `git mem init` wrote; nothing to do if there is a commit already."""
    repo = _repo(folder)
    if repo is None or repo.root is None:
        return Step("commit", (), "after the repository is made")
    staged = [entry.path for entry in repo.staged()]
    layout = layout_of(staged)
    # Without a commit, staged files are of a first commit that was refused: they are added again as they are now.
    refused: list[str] = staged if repo.head() is None else []
    new_paths = sorted(path for path in {*repo.untracked(), *refused} if is_memory(path, layout) or path in OURS)
    if not new_paths:
        return Step("commit")
    if repo.head() is not None:
        return Step("commit", (), "what is there is yours to commit")
    return Step("commit", (("git", "add", "--", *new_paths), ("git", "commit", "--quiet", "-m", "memory: begin")))


def _hooks(folder: Path) -> Step:
    """The step that installs the Git hooks; nothing to do if they are current."""
    repo = _repo(folder)
    install = Step("hooks", (("git-mem", "install"),))
    if repo is None:
        return install
    place = hooks_folder(repo)
    steps = installation.install(place, sys.executable, HOOKS, promotion_mode(place), dry=True)
    if steps:
        return install
    return Step("hooks")


def _agents(folder: Path, hosts: tuple[str, ...]) -> Step:
    """The step that registers with the hosts that are not registered yet."""
    if not hosts:
        return Step("agents", (), "no host was found; git mem install --agent NAME registers with one")
    repo = _repo(folder)
    unregistered = [host for host in hosts if repo is None or not is_registered(repo, host)]
    return Step("agents", tuple(("git-mem", "install", "--agent", host) for host in unregistered))


def _memories(choices: SetupOptions, hosts: tuple[str, ...]) -> Step:
    """The step that imports what hosts have remembered of the folder by themselves. The person is asked about each
    host; the default is to leave it."""
    repo = _repo(choices.folder)
    checks: list[tuple[str, Check]] = []
    if repo is not None:
        for check in own_memory_checks(repo):
            name = check.name.rpartition(" ")[2]
            if name in hosts:
                checks.append((name, check))
    if not checks:
        return Step("memories", (), "no host has a memory of its own that is not here")
    if not choices.asks or "memories" in choices.skip:
        return Step("memories", (), "; ".join(f"{check.detail}: {check.hint}" for _, check in checks))
    commands: list[tuple[str, ...]] = []
    home = Path(os.path.expanduser("~"))
    for name, check in checks:
        host = host_named(name)
        assert repo is not None and repo.root is not None
        own_memory = find_own_memory(host, home, repo.root)
        assert own_memory is not None and host.own_memory is not None
        question, answers = f"{check.detail}. Bring it along", ["along", "leave"]
        if host.own_memory.setting and not is_kept_here(host, repo.root):
            question, answers = f"{question}, keep it here from now on as well", ["along", "here", "leave"]
        answer = click.prompt(f"{question}, or leave it", type=click.Choice(answers), default="leave", err=True)
        if answer != "leave":
            commands.append(("git-mem", "import", "notes", str(own_memory.folder), "--into", name))
        if answer == "here":
            commands.append(("git-mem", "install", "--agent", name, "--own-memory"))
    return Step("memories", tuple(commands), "left as it is")
