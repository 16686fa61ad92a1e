"""Faults at every step of every writer: nothing committed or saved is lost, nothing taken out comes back.

A round is one command in a child process and one fault: a kill, an interrupt, a full disk, an editor, a commit or a
branch switch by somebody else. The child stops at each step, and the test acts there, as another process, before the
child goes on. A step is a file operation or a git process of the write step (Python's audit events), or a hook that
Git runs. `make test` plays ROUNDS rounds a fault, spread over the commands; `make stress` plays every step of every
command.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import resource
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pygit2
import pytest

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate.policy import Policy
from gitmem.git import merge_driver
from gitmem.git.opening import Repository, open_repository
from gitmem.git.recovery import RECORD
from gitmem.git.transaction import writer
from gitmem.memory import facts, importing, insights, writing
from gitmem.memory.fact import fact_id
from gitmem.promotion.promote import Request, promote
from gitmem.promotion.rules_model import RulesModel
from gitmem.provenance import corrections, erasure
from gitmem.provenance.facts_of_source import By, Selector
from tests.harness import Repo

ROUNDS = 25  # of a fault in `make test`
NOW = datetime(2026, 3, 1, 12, 0)
TODAY = "memory/2026-03-01.md"
NO_HOOKS = ("-c", "core.hooksPath=/dev/null")  # for the gits of somebody else, which nobody stops
HOOKS = (
    "pre-commit", "pre-merge-commit", "post-commit", "post-merge", "post-index-change", "reference-transaction",
)  # fmt: skip
# `.git/steps` and `.git/answers` are pipes to the test: a hook names its step and waits for the answer.
HOOK = """#!/bin/sh
[ -p .git/steps ] && echo "hook ${0##*/} $1" >.git/steps && read answer <.git/answers
case $0 in *pre-commit) [ ! -f .git/refuse ] ;; esac
"""
DRIVER = "[ -p .git/steps ] && echo driver >.git/steps && read answer <.git/answers; "
# Audit events before an operation that changes a file. `ctypes.dlsym` comes before the exchange of two files.
CHANGES = (
    "os.rename", "os.link", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "os.truncate", "subprocess.Popen",
    "ctypes.dlsym",
)  # fmt: skip
HOOK_STEPS = ("hook ", "driver")  # how the names of steps in hooks, and in our merge driver, begin
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima",
         "mike", "november", "oscar", "papa")  # fmt: skip

UNTOUCHED = "We rely on papa in place 15"


# -- the commands --------------------------------------------------------------------------------------------


def promote_all(repo: Repository) -> None:
    promote(repo, Config(), RulesModel(), Policy(), Request(), NOW)


def edit_first(repo: Repository) -> None:
    corrections.edit(repo, Config(), ("MEMORY.md", 3), "We keep golf number 7", "it changed", date(2026, 2, 5))


def forget_first(repo: Repository) -> None:
    corrections.forget(repo, Config(), "MEMORY.md", 3, "it is over")


def forget_everywhere_first(repo: Repository) -> None:
    erasure.forget_everywhere(repo, Config(), "MEMORY.md", 3, "it is over")


def revert_source(repo: Repository) -> None:
    corrections.revert(repo, Config(), Selector(By.ORIGIN, "tool"))


def add_line(repo: Repository) -> None:
    writing.add(repo, Config(), writing.NewLine("We added kilo 7", "decision", to="memory"), now=NOW)


def flush_lines(repo: Repository) -> None:
    entries = [writing.LogEntry(f"Decided lima 7, part {n}", "decision") for n in range(3)]
    gated = writing.gate_for_logs(repo, Config(), entries, now=NOW)
    writing.append_to_logs(repo, [entry for entry in gated if isinstance(entry, writing.GatedEntry)])


def flush_more_lines(repo: Repository) -> None:
    """The same when the log of the day is there."""
    flush_lines(repo)


def add_insight(repo: Repository) -> None:
    insights.record(repo, Config(), "[entity 7] margin fell to 7 percent", NOW)


def import_notes(repo: Repository) -> None:
    assert repo.root is not None
    plan = importing.plan_import(repo.root.parent / "other", Config(), os.environ, repo.root)
    importing.import_files(repo, plan, NOW, os.environ)


def merge_side(repo: Repository) -> None:
    assert repo.root is not None
    if subprocess.run(["git", "merge", "-q", "--no-edit", "incoming"], cwd=repo.root, capture_output=True).returncode:
        raise GitMemError("not merged")


def merge_facts(repo: Repository) -> None:
    """Both sides changed MEMORY.md, and Git merges it line by line."""
    merge_side(repo)


def merge_facts_by_driver(repo: Repository) -> None:
    """The same with our merge driver."""
    merge_side(repo)


COMMANDS: tuple[Callable[[Repository], None], ...] = (
    promote_all, edit_first, forget_first, revert_source, add_line, flush_lines, flush_more_lines, add_insight,
    import_notes, merge_side, forget_everywhere_first, merge_facts, merge_facts_by_driver,
)  # fmt: skip
TAKES_OUT = (edit_first, forget_first, revert_source, forget_everywhere_first)
MERGES = (merge_side, merge_facts, merge_facts_by_driver)


# -- the repository of a command, prepared once --------------------------------------------------------------


def fact_texts(data: bytes) -> set[str]:
    return {fact.text for fact in facts.parse(data).facts}


def lasting_files(repo: Repo) -> list[Path]:
    """MEMORY.md and its archives in the work tree."""
    files = [repo.path / "MEMORY.md", *(repo.path / "memory/archive").glob("*.md")]
    return [file for file in files if file.is_file()]


def facts_here(repo: Repo) -> set[str]:
    """The facts of MEMORY.md and its archives in the work tree."""
    return {text for file in lasting_files(repo) for text in fact_texts(file.read_bytes())}


def staged_facts(repo: Repo) -> set[str]:
    """The facts of MEMORY.md in Git's index: what the next commit of a person would have."""
    opened: Any = pygit2.Repository(str(repo.path))
    return fact_texts(opened[opened.index["MEMORY.md"].id].data)


def facts_at(repo: Repo, revision: str) -> set[str]:
    """The facts of MEMORY.md and its archives in a commit."""
    opened: Any = pygit2.Repository(str(repo.path))
    tree = opened.revparse_single(revision).peel(pygit2.Tree)
    files = [tree["MEMORY.md"]]
    if "memory/archive" in tree:
        files += tree["memory/archive"]
    return {text for file in files for text in fact_texts(file.data)}


@dataclass(frozen=True)
class Prepared:
    """A repository for one command. `before`: its facts. `may_go`: the facts that the command takes out. `target`: the
    file that the command writes. `refused`: the pre-commit hook refuses."""

    folder: Path
    command: Callable[[Repository], None]
    before: frozenset[str]
    may_go: frozenset[str]
    target: str
    refused: bool
    steps: list[str] = field(default_factory=list)  # of a run without a fault


def bring_incoming(repo: Repo, facts_too: bool) -> None:
    """A branch to merge: a note, and with `facts_too` a fact near the top of MEMORY.md, where main has another one."""
    files = {"memory/topics.md": "- Topic 7\n"}
    lines = repo.read("MEMORY.md").splitlines(keepends=True)
    repo.git("switch", "-q", "-c", "incoming")
    if facts_too:
        files["MEMORY.md"] = "".join([*lines[:3], "- Incoming fact 7\n", *lines[3:]])
    repo.commit("incoming", files)
    repo.git("switch", "-q", "main")
    if facts_too:  # the same place is a conflict for Git
        repo.commit("mine", {"MEMORY.md": "".join([*lines[:3], "- My fact 7\n", *lines[3:]])})


def prepare(folder: Path, command: Callable[[Repository], None], refused: bool) -> Prepared:
    """A clean repository on main with a log line to promote, a branch `other`, and something for the command."""
    repo = Repo(folder)
    lines = [f"- We rely on {word} in place {n}" for n, word in enumerate(WORDS)]
    lines += [f"- We use {word} for {n} things <!-- mem origin=tool -->" for n, word in enumerate(WORDS[:2])]
    memory = "# Memory\n\n" + "\n".join(lines) + "\n"
    repo.commit("start", {"MEMORY.md": memory, "memory/.gitkeep": ""})
    repo.git("tag", "start")
    repo.git("branch", "other")
    log = "# 2026-01-07\n\n## 09:00 - plan\n\n- Decided: bravo7 delta7 foxtrot7 hotel7 in week 7\n"
    files = {"memory/2026-01-07.md": log, "MEMORY.md": memory + "- We saw hotel page 7\n"}
    target = "MEMORY.md"
    if command is import_notes:
        target = "memory/imported.md"
    elif command is revert_source:
        files["MEMORY.md"] = memory + "- We saw hotel page 7 <!-- mem origin=tool -->\n"
    elif command is forget_everywhere_first:
        files["memory/2026-01-07.md"] = log + "- We rely on alpha in place 0\n"
        files["memory/notes.md"] = "- We rely on alpha in place 0\n"
    elif command in (flush_lines, flush_more_lines):
        target = TODAY
        if command is flush_more_lines:
            files[TODAY] = "# 2026-03-01\n\n- Said in the morning\n"
    repo.commit("prepared", files)
    if command in MERGES:
        bring_incoming(repo, facts_too=command is not merge_side)
    if command is merge_facts_by_driver:
        opened = open_repository(repo.path, os.environ)
        merge_driver.set_up(opened, sys.executable)
        opened.close()
        repo.git("config", merge_driver.DRIVER, DRIVER + repo.git("config", merge_driver.DRIVER).strip())
    repo.git("branch", "same")
    repo.git("tag", "prepared")
    repo.git("config", "gc.auto", "0")  # it would go on by itself and take folders away while they are looked through
    repo.git("gc", "-q")
    shutil.rmtree(repo.path / ".git/hooks")
    (repo.path / ".git/hooks").mkdir()
    for name in HOOKS:
        hook = repo.path / ".git/hooks" / name
        hook.write_text(HOOK)
        hook.chmod(0o755)
    if refused:
        (repo.path / ".git/refuse").touch()
    may_go = {"We rely on alpha in place 0"}
    if command is revert_source:
        may_go = {fact.text for fact in facts.parse(repo.read("MEMORY.md").encode()).facts if fact.origin == "tool"}
    elif command not in TAKES_OUT:
        may_go = set()
    return Prepared(folder, command, frozenset(facts_here(repo)), frozenset(may_go), target, refused)


class Commands:
    """The prepared repositories, made when they are first asked for, and their copies for the rounds."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._prepared: dict[tuple[Callable[[Repository], None], bool], Prepared] = {}
        other = Repo(folder / "other")
        files = {"MEMORY.md": "# Memory\n\n- An imported fact\n", "memory/imported.md": "- An imported note\n"}
        other.commit("theirs", files)

    def prepared(self, command: Callable[[Repository], None], refused: bool) -> Prepared:
        key = (command, refused)
        if key not in self._prepared:
            name = f"{command.__name__}-{refused}"
            self._prepared[key] = prepare(self._folder / name, command, refused)
            here = open_repository(self.run(self._prepared[key]).repo.path, os.environ)
            with suppress(GitMemError):
                command(here)  # each child has what is imported here, and need not import it again
            here.close()
            run = self.run(self._prepared[key])
            run.play({})
            run.close()
            os.waitpid(run.child, 0)
            self._prepared[key].steps.extend(run.steps)
        return self._prepared[key]

    def run(self, prepared: Prepared) -> Run:
        """A run of the command in a fresh copy of its repository."""
        copy = self._folder / "repo"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(prepared.folder, copy, symlinks=True)
        return Run(prepared, Repo(copy, init=False))


# -- a run of a command --------------------------------------------------------------------------------------


Actions = dict[int, Callable[[str], None]]  # number of a step -> what the test does there, given the step's name


class Run:
    """One run of a command in a child process that stops at each step. `saved`: lines that somebody else saved
    meanwhile. `committed`: facts that somebody else committed meanwhile. `removed`: facts that somebody else took out
    meanwhile. `steps`: the names of the steps so far."""

    def __init__(self, prepared: Prepared, repo: Repo) -> None:
        self.prepared, self.repo = prepared, repo
        self.command = prepared.command
        self.target = repo.path / prepared.target
        self.saved: set[str] = set()
        self.committed: set[str] = set()
        self.removed: set[str] = set()
        self.steps: list[str] = []
        self.child = 0
        self._answer = b"go\n"
        self._handles: list[int] = []  # open files, closed by `close`
        self.file_size = 0  # in bytes; the child can write no larger file; 0: any
        self.at_end: Callable[[], None] = lambda: None  # of an editor that has not saved yet
        self.in_hook = False  # the child was killed, and a hook of its git waits

    def __repr__(self) -> str:
        refused = " refused" if self.prepared.refused else ""
        return f"{self.command.__name__}{refused}, step {len(self.steps) - 1} {self.steps[-1:]}"

    def play(self, actions: Actions) -> None:
        """Run the command to its end.

        It does not stop before the first action, where its steps are known, nor after the last one.
        """
        known = self.prepared.steps
        first, last = min(actions, default=len(known)), max(actions, default=-1)
        self._unstopped = sum(not step.startswith(HOOK_STEPS) for step in known[:first])
        git = self.repo.path / ".git"
        os.mkfifo(git / "steps")
        os.mkfifo(git / "answers")
        self._steps = self.opened(git / "steps", os.O_RDWR)
        self._answers = self.opened(git / "answers", os.O_RDWR | os.O_NONBLOCK)
        alive, alive_end = os.pipe()
        self.child = os.fork()
        if not self.child:
            os.close(alive)
            self._run_child()
        os.close(alive_end)
        with suppress(OSError):
            os.setpgid(self.child, self.child)
        while self._steps in (ready := select.select([self._steps, alive], [], [], 120)[0]):
            step = os.read(self._steps, 4096).decode("utf-8", "replace").strip()
            in_hook = step.startswith(HOOK_STEPS)
            while len(self.steps) < first and not (in_hook and known[len(self.steps)].startswith(HOOK_STEPS)):
                self.steps.append(known[len(self.steps)])  # the command did not stop there
            self.steps.append(step)
            actions.get(len(self.steps) - 1, lambda step: None)(step)
            if self.in_hook:
                break
            if known and len(self.steps) > last and self._answer == b"go\n":
                (git / "steps").unlink(missing_ok=True)
                self._answer = b"ok\n"
            self.go_on()
        assert ready, (self, "stands still")
        os.close(alive)
        self.at_end()

    def opened(self, path: Path, flags: int) -> int:
        """The handle of an open file, until `close`."""
        self._handles.append(os.open(path, flags))
        return self._handles[-1]

    def close(self) -> None:
        for handle in self._handles:
            os.close(handle)
        self._handles.clear()

    def go_on(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._answers, 4096)  # an answer that nobody took, because its step was interrupted
        os.write(self._answers, self._answer)
        self._answer = b"go\n"

    def _run_child(self) -> None:
        """The command; the exit code is 0, 3 for an error of ours, 130 for an interrupt, else 4."""
        code = 4
        try:
            with suppress(OSError):
                os.setpgid(0, 0)
            os.chdir(self.repo.path)
            quiet = os.open(os.devnull, os.O_RDWR)
            for handle in (0, 1, 2):
                os.dup2(quiet, handle)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._stop_at_steps()
            if (
                self.file_size
            ):  # a module that is imported under the limit would leave half its bytecode beside our source
                sys.dont_write_bytecode = True
                os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
                resource.setrlimit(resource.RLIMIT_FSIZE, (self.file_size, self.file_size))
            self.command(open_repository(self.repo.path, os.environ))
            code = 0
        except KeyboardInterrupt:
            code = 130
        except (GitMemError, OSError):
            code = 3
        finally:
            os._exit(code)

    def _stop_at_steps(self) -> None:
        root, counting, passed = str(self.repo.path), False, 0

        def hook(event: str, args: tuple[Any, ...]) -> None:
            nonlocal counting, passed
            if event == "open":
                path = str(args[0])
                counting = counting or path.endswith("/gitmem/write.lock")
                if not path.startswith(root) or "/.git/objects" in path:
                    return
            elif event not in CHANGES or (event == "ctypes.dlsym" and args[1] != "renameat2"):
                return
            passed += counting
            if counting and passed > self._unstopped:
                os.write(self._steps, f"{event} {' '.join(map(str, args))}"[:1000].replace("\n", " ").encode() + b"\n")
                select.select([self._answers], [], [])
                answer = os.read(self._answers, 3)
                if answer == b"no\n":
                    raise OSError(28, "No space left on device")
                if answer == b"ok\n":
                    self._unstopped = sys.maxsize

        sys.addaudithook(hook)

    def kill(self, group: bool, step: str) -> None:
        (self.repo.path / ".git/steps").unlink()  # the hooks that follow do not stop
        if group:
            os.killpg(self.child, signal.SIGKILL)
        else:
            os.kill(self.child, signal.SIGKILL)
            self.in_hook = step.startswith(HOOK_STEPS)

    def fail(self, step: str) -> None:
        self._answer = b"no\n"

    def interrupt(self, step: str) -> None:
        os.killpg(self.child, signal.SIGINT)


# -- the faults ----------------------------------------------------------------------------------------------


def line_of(run: Run, what: str) -> str:
    """A line that is written once."""
    return f"{what} at step {len(run.steps)}"


def append(run: Run, what: str, step: str = "") -> None:
    """Append a line. Git, which merges, takes a file away before it writes it anew, and stops where somebody made one
    in between: nobody makes one then. Our own writers never let a file be missing that was there."""
    text = line_of(run, what)
    flags = os.O_WRONLY | os.O_APPEND
    if run.prepared.target != "MEMORY.md" and run.command not in MERGES:
        flags |= os.O_CREAT
    try:
        handle = os.open(run.target, flags)
    except FileNotFoundError:
        assert run.command in MERGES, (run, "the file is missing")
        return
    with open(handle, "a", encoding="utf-8") as file:
        file.write(f"- {text}\n")
    run.saved.add(text)


def is_whole(run: Run, lines: list[str]) -> bool:
    """Whether Git, which merges, was not in the middle of writing the file: nobody saves such a one."""
    return run.command not in MERGES or (bool(lines) and lines[-1].endswith("\n"))


def save_new_file(run: Run, step: str) -> None:
    """Write a new file and put it in the place of the old one."""
    text = line_of(run, "Saved by a new file")
    lines = []
    with suppress(FileNotFoundError):
        lines = run.target.read_text(encoding="utf-8").splitlines(keepends=True)
    if is_whole(run, lines) and (lines or run.prepared.target != "MEMORY.md"):
        new = run.repo.path / ".git/new-file"
        new.write_text("".join([*lines[:2], f"- {text}\n", *lines[2:]]), encoding="utf-8")
        os.replace(new, run.target)
        run.saved.add(text)


def take_line_out(run: Run, step: str) -> None:
    """Write a new file without a line that no command is about, and put it in the place of the old one."""
    text = run.repo.read("MEMORY.md")
    new = run.repo.path / ".git/new-file"
    new.write_text(text.replace(f"- {UNTOUCHED}\n", ""), encoding="utf-8")
    os.replace(new, run.repo.path / "MEMORY.md")
    run.removed.add(UNTOUCHED)


def save_in_place(run: Run, step: str) -> None:
    """Write the changed text into the file."""
    text = line_of(run, "Saved in the middle")
    with suppress(FileNotFoundError), open(run.target, "r+", encoding="utf-8") as file:
        lines = file.readlines()
        if is_whole(run, lines):
            middle = max(2, len(lines) // 2)
            file.seek(0)
            file.write("".join([*lines[:middle], f"- {text}\n", *lines[middle:]]))
            run.saved.add(text)


class OpenFile:
    """A file that a program holds open for writing since before the command or since a step."""

    def __init__(self, run: Run, handle: int) -> None:
        self._run, self._handle = run, handle
        self._looks = 0

    def is_last_look(self, step: str) -> bool:
        """Whether our writer looks at this file, which it replaced, for the second and last time."""
        event, _, rest = step.partition(" ")
        with suppress(OSError):
            if event == "open" and "/gitmem/writing/" in rest:
                self._looks += os.path.samestat(os.stat(rest.split(" ")[0]), os.fstat(self._handle))
        return self._looks > 1

    def is_removed(self, step: str) -> bool:
        """Whether the file has no name any more, or is about to lose it: what is written there now is nowhere."""
        status, removes = os.fstat(self._handle), False
        if step.startswith("os.remove "):
            with suppress(OSError):
                removes = os.path.samestat(os.stat(step.split(" ")[1]), status)
        return removes or not status.st_nlink

    def write(self, data: bytes) -> None:
        os.write(self._handle, data)


def fault_nothing(run: Run, at: int, dice: random.Random) -> Actions:
    return {}


def fault_kill(run: Run, at: int, dice: random.Random) -> Actions:
    """The command is killed; a git that it began goes on."""
    return {at: partial(run.kill, False)}


def fault_kill_all(run: Run, at: int, dice: random.Random) -> Actions:
    """The command is killed and every git that it began."""
    return {at: partial(run.kill, True)}


def fault_interrupt(run: Run, at: int, dice: random.Random) -> Actions:
    return {at: run.interrupt}


def fault_error(run: Run, at: int, dice: random.Random) -> Actions:
    """The disk is full at one step."""
    return {at: run.fail}


def fault_disk(run: Run, at: int, dice: random.Random) -> Actions:
    """The disk takes no file that is larger than a few bytes, or than MEMORY.md is."""
    size = (run.repo.path / "MEMORY.md").stat().st_size
    run.file_size = dice.choice((64, 512, size - 1, size + 1, 2 * size + 100))
    return {}


def fault_editor(run: Run, at: int, dice: random.Random) -> Actions:
    """An editor that appends, three times."""
    steps = {at, at + 1, at + 1 + dice.randrange(8)}
    return dict.fromkeys(steps, partial(append, run, "Saved"))


def fault_editor_in_place(run: Run, at: int, dice: random.Random) -> Actions:
    """An editor that writes a changed file in its place."""
    steps = {at, at + 1, at + 1 + dice.randrange(8)}
    return dict.fromkeys(steps, partial(save_in_place, run))


def fault_editor_that_renames(run: Run, at: int, dice: random.Random) -> Actions:
    """An editor that writes a new file and puts it in the place of the old one."""
    steps = {at, at + 1, at + 1 + dice.randrange(8)}
    return dict.fromkeys(steps, partial(save_new_file, run))


def fault_editor_that_removes(run: Run, at: int, dice: random.Random) -> Actions:
    """An editor that takes a line out, by a new file."""
    if run.prepared.target != "MEMORY.md" or run.command in MERGES:
        return {}
    return {at: partial(take_line_out, run)}


def fault_editor_that_truncates(run: Run, at: int, dice: random.Random) -> Actions:
    """An editor that empties the file and writes the text a few steps later, into the file that it has open."""
    end = at + 1 + dice.randrange(12)
    opened: list[tuple[OpenFile, bytes]] = []

    def empty(step: str) -> None:
        with suppress(FileNotFoundError):
            text = run.target.read_bytes()
            if run.command not in MERGES:
                opened.append((OpenFile(run, run.opened(run.target, os.O_WRONLY | os.O_TRUNC | os.O_APPEND)), text))

    def fill() -> None:
        for file, text in opened:
            line = line_of(run, "Saved anew")
            file.write(text + f"- {line}\n".encode())
            run.saved.add(line)
        opened.clear()

    def fill_in_time(step: str) -> None:
        if len(run.steps) > end or (opened and opened[0][0].is_last_look(step)):
            fill()

    run.at_end = fill
    return {at: empty} | {number: fill_in_time for number in range(at + 1, 400)}


def fault_held_open(run: Run, at: int, dice: random.Random) -> Actions:
    """A program that has the file open since before the command, and appends at three steps."""
    if not run.target.exists():
        return {}
    file = OpenFile(run, run.opened(run.target, os.O_WRONLY | os.O_APPEND))

    def write(step: str) -> None:
        text = line_of(run, "Held open")
        if run.command not in MERGES and not file.is_removed(step):
            file.write(f"- {text}\n".encode())
            run.saved.add(text)

    return dict.fromkeys({at, at + 1, at + 1 + dice.randrange(8)}, write)


def fault_commit(run: Run, at: int, dice: random.Random) -> Actions:
    def commit(step: str) -> None:
        append(run, "Committed")
        text = line_of(run, "Committed")
        if text not in run.saved:
            return
        done = run.repo.run("git", *NO_HOOKS, "commit", "-qam", "mine", "--no-verify", check=False)
        # What was appended to the file that a writer had just replaced is brought along later: Git did not see it yet.
        if done.returncode == 0 and run.repo.git("log", "--all", "--reflog", "--format=%h", f"-S{text}"):
            run.committed.add(text)

    return {at: commit}


def fault_commit_of_staged(run: Run, at: int, dice: random.Random) -> Actions:
    """Somebody commits a line that is only staged, as Git's own tools for a part of a file do."""

    def commit(step: str) -> None:
        text = line_of(run, "Staged")
        memory = run.repo.git("show", "HEAD:MEMORY.md") + f"- {text}\n"
        oid = run.repo.git("hash-object", "-w", "--stdin", input=memory).strip()
        staged = run.repo.run("git", *NO_HOOKS, "update-index", "--cacheinfo", f"100644,{oid},MEMORY.md", check=False)
        done = run.repo.run("git", *NO_HOOKS, "commit", "-qm", "mine", check=False)
        if staged.returncode == 0 == done.returncode:
            run.committed.add(text)

    if run.command not in TAKES_OUT:  # the others keep what is edited and not committed: here, that the line is gone
        return {}
    return {at: commit}


def fault_switch(run: Run, at: int, dice: random.Random) -> Actions:
    """Somebody switches to a branch with other files, or to one with the same files."""

    def switch(step: str) -> None:
        branch = "other"
        if any(RECORD in step for step in run.steps[1:]):  # the command has noted the branch
            branch = dice.choice(["other", "same"])
        run.repo.run("git", *NO_HOOKS, "switch", "-q", branch, check=False)

    return {at: switch}


FAULTS = (
    fault_nothing, fault_kill, fault_kill_all, fault_interrupt, fault_error, fault_disk, fault_editor, fault_editor_in_place,
    fault_editor_that_renames, fault_editor_that_removes, fault_editor_that_truncates, fault_held_open, fault_commit, fault_commit_of_staged, fault_switch,
)  # fmt: skip


# -- after the command ---------------------------------------------------------------------------------------


def settle(run: Run, patch: pytest.MonkeyPatch) -> None:
    """The command has ended, the next writer comes, and every git of the command has ended.

    A git that goes on in a hook after its command was killed goes on when the next writer waits for it. What a killed
    git left is removed, as a person would.
    """
    _, status = os.waitpid(run.child, 0)
    assert os.waitstatus_to_exitcode(status) != 4, (run, "a bug of ours")
    git = run.repo.path / ".git"
    if run.in_hook:
        with patch.context() as inner:
            sleep = time.sleep
            inner.setattr(time, "sleep", lambda seconds: (run.go_on(), sleep(seconds)))
            next_writer(run)
            run.go_on()
    with suppress(ChildProcessError):  # none is left
        while True:
            os.waitpid(-run.child, 0)
    for lock in git.rglob("*.lock"):
        if "gitmem" not in lock.parts:
            lock.unlink(missing_ok=True)
    (git / "steps").unlink(missing_ok=True)
    next_writer(run)
    if run.command in MERGES:
        end_merge(run)


def next_writer(run: Run) -> None:
    opened = open_repository(run.repo.path, os.environ)
    with writer(opened):
        pass
    opened.close()


def end_merge(run: Run) -> None:
    """A merge that did not end, as a person ends it: given up, or with what was saved meanwhile kept."""
    if not run.saved:
        run.repo.git("reset", "-q", "--hard")
    elif (run.repo.path / ".git/MERGE_HEAD").exists():
        run.repo.git("merge", "--quit")
        text = re.sub(r"^(<{7}|={7}|>{7}|\|{7})( .*)?\n", "", run.repo.read("MEMORY.md"), flags=re.MULTILINE)
        run.repo.write("MEMORY.md", text)


def check(run: Run) -> None:
    """Nothing is lost, nothing is back, nothing lies around."""
    repo, git = run.repo, run.repo.path / ".git"
    before, may_go = run.prepared.before, run.prepared.may_go
    assert not (git / RECORD).exists(), run
    assert not list((git / "gitmem/writing").iterdir()), run
    files = [file for file in repo.path.rglob("*") if ".git" not in file.relative_to(repo.path).parts]
    assert not [file for file in files if file.name.startswith(".gitmem-")], run
    if (git / "HEAD").read_text().strip() == "ref: refs/heads/other":
        mine = before - facts_at(repo, "start")
        if run.command in MERGES:  # a merge that began after the switch brought `incoming` in here, rightly
            mine -= facts_at(repo, "incoming")
        assert not mine & facts_at(repo, "other"), (run, "on another branch")
        repo.git(*NO_HOOKS, "checkout", "-q", "-f", "main")
        files = [file for file in repo.path.rglob("*") if ".git" not in file.relative_to(repo.path).parts]
    if run.command not in MERGES:
        assert repo.git("rev-parse", "same") == repo.git("rev-parse", "prepared"), (run, "on another branch")
    now, head = facts_here(repo), facts_at(repo, "HEAD")
    memory = facts.parse(repo.read("MEMORY.md").encode()).facts
    replaced = {value for fact in memory for key, value in fact.meta if key == "supersedes"}
    lost = {text for text in before - now - may_go - run.removed if fact_id(text) not in replaced}
    assert not lost, (run, lost)
    assert not run.removed & now, (run, "came back")
    if run.command not in MERGES:  # Git's own checkout: what is saved between its look and its write is gone
        written = "\n".join(file.read_text(encoding="utf-8") for file in files if file.suffix == ".md")
        unsaved = {text for text in run.saved if f"- {text}\n" not in written}
        assert not unsaved, (run, unsaved)
        assert "Said in the morning" in written or run.command is not flush_more_lines, run
    if run.committed:
        committed = "\n".join(data.decode() for data in markdown_at_head(repo))
        assert not {text for text in run.committed if text not in committed}, run
    gone = may_go & (before - head)  # the commit that takes it out was made
    if run.command in TAKES_OUT and gone and not run.saved:
        assert not gone & now, (run, "came back")
        assert not gone & staged_facts(repo), (run, "comes back with the next commit")
    if run.command is forget_everywhere_first and gone:
        for text in gone:
            said = repo.run("git", "grep", "-F", "-e", text, "HEAD", "--", "*.md", check=False).stdout
            assert not said, (run, said)


def markdown_at_head(repo: Repo) -> Iterator[bytes]:
    """The bytes of the Markdown files of HEAD."""
    opened: Any = pygit2.Repository(str(repo.path))
    trees = [opened.head.peel(pygit2.Tree)]
    for tree in trees:
        for entry in tree:
            if entry.type_str == "tree":
                trees.append(entry)
            elif entry.name.endswith(".md"):
                yield entry.data


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    adopt_orphans = 36  # PR_SET_CHILD_SUBREAPER of prctl(2): the gits of a killed command are waited for here
    ctypes.CDLL(None).prctl(adopt_orphans, 1, 0, 0, 0)
    return Commands(tmp_path_factory.mktemp("commands"))


def rounds_of(commands: Commands, number: int | None, dice: random.Random) -> Iterator[tuple[Prepared, int]]:
    """(command, step): `number` of them spread over the commands, or all steps of all commands for None.

    In every fourth round the hooks refuse. Every second step is in a hook: Git is in the middle of its work there.
    """
    if number is None:
        for command in COMMANDS:
            accepted, refused = (commands.prepared(command, refused) for refused in (False, True))
            yield from ((accepted, step) for step in range(len(accepted.steps)))
            if len(refused.steps) != len(accepted.steps):  # the command commits
                yield from ((refused, step) for step in range(len(refused.steps)))
        return
    for round_ in range(number):
        prepared = commands.prepared(COMMANDS[round_ % len(COMMANDS)], round_ % 4 == 3)
        steps = range(len(prepared.steps))
        hooks = [step for step in steps if prepared.steps[step].startswith("hook ")]
        yield prepared, dice.choice(hooks if hooks and round_ % 2 else steps)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.removeprefix("fault_"))
@pytest.mark.parametrize("rounds", [ROUNDS, pytest.param(None, marks=pytest.mark.stress)], ids=["some", "all"])
def test_no_fault_loses_or_brings_back_a_fact(
    commands: Commands,
    monkeypatch: pytest.MonkeyPatch,
    fault: Callable[[Run, int, random.Random], Actions],
    rounds: int | None,
) -> None:
    dice = random.Random(f"{fault.__name__} {rounds}")
    for prepared, step in rounds_of(commands, rounds, dice):
        run = commands.run(prepared)
        run.play(fault(run, step, dice))
        settle(run, monkeypatch)
        check(run)
        run.close()
