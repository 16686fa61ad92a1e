"""Faults at random moments of every writer: nothing committed or saved is lost, nothing taken out comes back.

A round is one command in a child process and one fault: a kill, an interrupt, a full disk, an editor that saves, a
commit or a branch switch by somebody else. The commits of the command meet a hook that takes its time and now and
then refuses. 25 rounds a fault in `make test`, 500 in `make stress`; rounds are spread over the commands.
"""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

import pytest

from gitmem.config import Config
from gitmem.errors import GitMemError
from gitmem.gate.policy import Policy
from gitmem.git import merge_driver
from gitmem.git.opening import Repository, open_repository
from gitmem.git.transaction import RECORD, writer
from gitmem.memory import facts, importing, insights, writing
from gitmem.memory.fact import Fact, fact_id
from gitmem.promotion.promote import Request, promote
from gitmem.promotion.proposal import Log, Proposal
from gitmem.promotion.rules_model import RulesModel
from gitmem.provenance import corrections, erasure
from tests.harness import Repo

NOW = datetime(2026, 3, 1, 12, 0)
HOOK = """#!/bin/sh
case $0 in *pre-commit) ls .git/refuse >/dev/null 2>&1 && sleep 0.02 && exit 1;; esac
if [ -f .git/held ]; then
    ls .git/held-hooks >/dev/null 2>&1 || mkdir .git/held-hooks
    echo "- Held open in $(cat .git/held-round) ${0##*/}" >> "$(cat .git/held)" && touch ".git/held-hooks/${0##*/}"
fi
sleep 0.02
"""
WORDS = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliet", "kilo", "lima",
         "mike", "november", "oscar", "papa")  # fmt: skip


class SlowModel:
    """The rules, after a while."""

    id = "rules/1"

    def propose(self, logs: Sequence[Log], existing: Sequence[Fact]) -> Proposal:
        time.sleep(0.03)
        return RulesModel().propose(logs, existing)


def promote_all(repo: Repository, number: int) -> None:
    promote(repo, Config(), SlowModel(), Policy(), Request(), NOW + timedelta(days=number))


def edit_first(repo: Repository, number: int) -> None:
    corrections.edit(
        repo,
        Config(),
        ("MEMORY.md", 3),
        f"We keep {WORDS[number % 16]} number {number}",
        "it changed",
        date(2026, 2, 5),
    )


def forget_first(repo: Repository, number: int) -> None:
    corrections.forget(repo, Config(), "MEMORY.md", 3, "it is over")


def forget_everywhere_first(repo: Repository, number: int) -> None:
    erasure.forget_everywhere(repo, Config(), "MEMORY.md", 3, "it is over")


def revert_source(repo: Repository, number: int) -> None:
    selector = corrections.Selector(corrections.By.ORIGIN, "tool")
    corrections.revert(repo, Config(), selector)


def add_line(repo: Repository, number: int) -> None:
    line = writing.NewLine(f"We added {WORDS[number % 16]} {number}", "decision")
    writing.add(repo, Config(), line, now=NOW)


def flush_lines(repo: Repository, number: int) -> None:
    entries = [writing.Entry(f"Decided {WORDS[number % 16]} {number}, part {n}", "decision") for n in range(3)]
    writing.log(repo, Config(), entries, now=NOW)


def add_insight(repo: Repository, number: int) -> None:
    insights.record(repo, Config(), f"[entity {number}] margin fell to {number} percent", NOW)


def import_notes(repo: Repository, number: int) -> None:
    assert repo.root is not None
    plan = importing.plan_import(repo.root.parent / "other", Config(), os.environ, repo.root)
    importing.import_files(repo, plan, NOW, os.environ)


def merge_side(repo: Repository, number: int) -> None:
    assert repo.root is not None
    if subprocess.run(["git", "merge", "-q", "--no-edit", "incoming"], cwd=repo.root, capture_output=True).returncode:
        raise GitMemError("not merged")


def merge_facts(repo: Repository, number: int) -> None:
    """Both sides changed MEMORY.md, and Git merges it line by line."""
    merge_side(repo, number)


def merge_facts_by_driver(repo: Repository, number: int) -> None:
    """The same with our merge driver."""
    merge_side(repo, number)


COMMANDS: tuple[Callable[[Repository, int], None], ...] = (
    promote_all, edit_first, forget_first, revert_source, add_line, flush_lines, add_insight, import_notes, merge_side,
    forget_everywhere_first, merge_facts, merge_facts_by_driver,
)  # fmt: skip
TAKES_OUT = (edit_first, forget_first, revert_source, forget_everywhere_first)
MERGES = (merge_side, merge_facts, merge_facts_by_driver)


@dataclass
class Round:
    """One round: what stood there, what the command may take out, and what somebody else wrote meanwhile."""

    repo: Repo
    number: int
    command: Callable[[Repository, int], None]
    before: set[str]
    may_go: set[str]
    child: int = 0
    saved: set[str] = field(default_factory=set)
    committed: set[str] = field(default_factory=set)


def texts(data: str) -> set[str]:
    return {fact.text for fact in facts.parse(data.encode()).facts}


def replaces(fact: Fact) -> list[str]:
    """The ids of the facts that a promotion says it replaced by this one."""
    return [value for key, value in fact.meta if key == "supersedes"]


def everything(repo: Repo, rev: str = "") -> set[str]:
    """The facts of MEMORY.md and its archives, of a commit or of the work tree."""
    listed = ["ls-tree", "-r", "--name-only", rev] if rev else ["ls-files", "-co"]
    names = repo.git(*listed, "MEMORY.md", "memory/archive/").split()
    names = [name for name in names if rev or (repo.path / name).exists()]
    return {text for name in names for text in texts(repo.git("show", f"{rev}:{name}") if rev else repo.read(name))}


def started(round_: Round, limit: int = 0) -> int:
    """The command in a child process, in a group of its own; its exit code is 0, 3 for an error of ours, else 4."""
    child = os.fork()
    if child:
        with suppress(OSError):
            os.setpgid(child, child)
        return child
    code = 4
    try:
        with suppress(OSError):
            os.setpgid(0, 0)
        os.chdir(round_.repo.path)
        quiet = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(quiet, handle)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if limit:  # a module that is imported under the limit would leave half its bytecode beside our source
            sys.dont_write_bytecode = True
            os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        round_.command(open_repository(round_.repo.path, os.environ), round_.number)
        code = 0
    except GitMemError:
        code = 3
    except KeyboardInterrupt:
        code = 130
    except OSError:
        code = 3
    finally:
        os._exit(code)


def pause(dice: random.Random) -> None:
    """Let the child get anywhere; not a wait for something to become true."""
    time.sleep(dice.random() * 0.15)


def fault_nothing(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)


def fault_kill(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)
    pause(dice)
    with suppress(ProcessLookupError):
        os.kill(round_.child, signal.SIGKILL)


def fault_kill_all(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)
    pause(dice)
    with suppress(ProcessLookupError):
        os.killpg(round_.child, signal.SIGKILL)


def fault_interrupt(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)
    pause(dice)
    with suppress(ProcessLookupError):
        os.killpg(round_.child, signal.SIGINT)


def fault_disk(round_: Round, dice: random.Random) -> None:
    size = (round_.repo.path / "MEMORY.md").stat().st_size
    round_.child = started(round_, dice.choice((64, 512, size - 1, size + 1, 2 * size + 100)))


def append(round_: Round, text: str) -> None:
    """Append a line to MEMORY.md. Git, which merges, takes the file away before it writes it anew, and stops where
    somebody made one in between: nobody makes one then. Our own writers never let it be missing."""
    try:
        handle = os.open(round_.repo.path / "MEMORY.md", os.O_WRONLY | os.O_APPEND)
    except FileNotFoundError:
        assert round_.command in MERGES, f"round {round_.number}, {round_.command.__name__}: no MEMORY.md"
        return
    with open(handle, "a", encoding="utf-8") as file:
        file.write(f"- {text}\n")
    round_.saved.add(text)


def fault_editor(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)
    for n in range(3):
        pause(dice)
        append(round_, f"Saved in round {round_.number}, {n}")


def fault_commit(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)
    pause(dice)
    text = f"Committed in round {round_.number}"
    append(round_, text)
    if text not in round_.saved:
        return
    done = round_.repo.run("git", "commit", "-qam", "mine", "--no-verify", check=False)
    # What was appended to the file that a writer had just replaced is brought along later: Git did not see it yet.
    if done.returncode == 0 and round_.repo.git(
        "log", "--all", "--reflog", "--format=%h", f"-S{text}", "--", "MEMORY.md"
    ):
        round_.committed.add(text)


def fault_switch(round_: Round, dice: random.Random) -> None:
    round_.child = started(round_)
    pause(dice)
    round_.repo.run("git", "switch", "-q", "other", check=False)


def is_whole(lines: list[str]) -> bool:
    """Whether a file was read that Git, which merges, was not in the middle of writing: nobody saves such a one."""
    return bool(lines) and lines[-1].endswith("\n")


def fault_editor_in_the_middle(round_: Round, dice: random.Random) -> None:
    """An editor that writes a changed file in its place."""
    round_.child = started(round_)
    for n in range(3):
        pause(dice)
        text = f"Saved in the middle in round {round_.number}, {n}"
        with suppress(FileNotFoundError), open(round_.repo.path / "MEMORY.md", "r+", encoding="utf-8") as file:
            lines = file.readlines()
            if not is_whole(lines) and round_.command in MERGES:
                continue
            middle = max(2, len(lines) // 2)
            file.seek(0)
            file.write("".join([*lines[:middle], f"- {text}\n", *lines[middle:]]))
            round_.saved.add(text)


def fault_editor_that_renames(round_: Round, dice: random.Random) -> None:
    """An editor that writes a new file and puts it in the place of the old one."""
    round_.child = started(round_)
    for n in range(3):
        pause(dice)
        text = f"Saved by a new file in round {round_.number}, {n}"
        with suppress(FileNotFoundError):
            lines = round_.repo.read("MEMORY.md").splitlines(keepends=True)
            if not is_whole(lines) and round_.command in MERGES:
                continue
            new = round_.repo.path / ".git/new-file"
            new.write_text("".join([*lines[:2], f"- {text}\n", *lines[2:]]), encoding="utf-8")
            os.replace(new, round_.repo.path / "MEMORY.md")
            round_.saved.add(text)


def fault_held_open(round_: Round, dice: random.Random) -> None:
    """A program that has the file open since before the command, and writes while the hooks run."""
    git = round_.repo.path / ".git"
    with open(round_.repo.path / "MEMORY.md", "ab") as held:
        (git / "held-round").write_text(str(round_.number))
        (git / "held").write_text(f"/proc/{os.getpid()}/fd/{held.fileno()}")
        round_.child = started(round_)
        os.waitid(os.P_PID, round_.child, os.WEXITED | os.WNOWAIT)
        (git / "held").unlink()
    ran = git / "held-hooks"
    if ran.exists():
        round_.saved |= {f"Held open in {round_.number} {hook.name}" for hook in ran.iterdir()}
        shutil.rmtree(ran)


FAULTS = (
    fault_nothing, fault_kill, fault_kill_all, fault_interrupt, fault_disk, fault_editor, fault_commit, fault_switch,
    fault_editor_in_the_middle, fault_editor_that_renames, fault_held_open,
)  # fmt: skip


def laid_out(repo: Repo) -> None:
    lines = [f"- We use {word} for {n} things <!-- mem origin=tool -->" for n, word in enumerate(WORDS[:2])]
    lines = [f"- We rely on {word} in place {n}" for n, word in enumerate(WORDS)] + lines
    repo.commit("start", {"MEMORY.md": "# Memory\n\n" + "\n".join(lines) + "\n", "memory/.gitkeep": ""})
    repo.git("tag", "start")
    repo.git("config", "gc.auto", "0")  # it would go on by itself and take folders away while they are looked through
    other = Repo(repo.path.parent / "other")
    other.commit(
        "theirs", {"MEMORY.md": "# Memory\n\n- An imported fact\n", "memory/imported.md": "- An imported note\n"}
    )
    for name in ("pre-commit", "post-commit"):
        hook = repo.path / ".git/hooks" / name
        hook.write_text(HOOK)
        hook.chmod(0o755)


def of_tools(repo: Repo) -> set[str]:
    """The facts that a tool wrote, also those that a promotion has put into an archive."""
    names = repo.git("ls-files", "MEMORY.md", "memory/archive").split()
    found = [fact for name in names for fact in facts.parse(repo.read(name).encode()).facts]
    return {fact.text for fact in found if fact.origin == "tool"}


def incoming(repo: Repo, number: int, memory: str, facts_too: bool) -> None:
    """A branch to merge: a note, and with `facts_too` a fact near the top of MEMORY.md, where main has another one."""
    files = {"memory/topics.md": f"- Topic {number}\n"}
    lines = memory.splitlines(keepends=True)
    repo.git("branch", "-f", "incoming")
    repo.git("switch", "-q", "incoming")
    if facts_too:
        files["MEMORY.md"] = "".join([*lines[:3], f"- Incoming fact {number}\n", *lines[3:]])
    repo.commit("incoming", files)
    repo.git("switch", "-q", "main")
    if facts_too:
        at = 3 if number % 2 else len(lines)  # the same place is a conflict for Git
        repo.commit("mine", {"MEMORY.md": "".join([*lines[:at], f"- My fact {number}\n", *lines[at:]])})


def prepared(repo: Repo, number: int) -> Round:
    """A clean repository on main with a new log line to promote, a branch to merge, and something for each command."""
    command = COMMANDS[number % len(COMMANDS)]
    repo.git("branch", "-f", "other", "start")
    day = date(2026, 1, 1) + timedelta(days=number % 300)
    mixed = " ".join(f"{WORDS[(step * number) % 16]}{number}" for step in (1, 3, 5, 7))  # nothing that replaces another
    log = f"# {day}\n\n## 09:00 - plan\n\n- Decided: {mixed} in week {number}\n"
    memory = repo.read("MEMORY.md")
    if command is revert_source:
        memory += f"- We saw {WORDS[number % 16]} page {number} <!-- mem origin=tool -->\n"
    repo.commit("prepared", {f"memory/{day}.md": log, "MEMORY.md": memory})
    first = next((fact.text for fact in facts.parse(memory.encode()).facts if fact.line == 3), "")
    if command is forget_everywhere_first:
        repo.commit("said again", {f"memory/{day}.md": log + f"- {first}\n", "memory/notes.md": f"- {first}\n"})
    if command in MERGES:
        incoming(repo, number, memory, facts_too=command is not merge_side)
        opened = open_repository(repo.path, os.environ)
        if command is merge_facts_by_driver:
            merge_driver.set_up(opened, sys.executable)
        else:
            merge_driver.take_out(opened)
        opened.close()
    before = everything(repo)
    taken = {edit_first: {first}, forget_first: {first}, forget_everywhere_first: {first}}
    may_go = of_tools(repo) if command is revert_source else taken.get(command, set())
    refuse = repo.path / ".git/refuse"
    refuse.touch() if number % 4 == 3 else refuse.unlink(missing_ok=True)
    return Round(repo, number, command, before, may_go)


def settled(round_: Round) -> None:
    """The command and every git that it began have ended; what a killed git left is removed, as a person would."""
    _, status = os.waitpid(round_.child, 0)
    assert os.waitstatus_to_exitcode(status) != 4, f"round {round_.number}, {round_.command.__name__}: a bug of ours"
    git = round_.repo.path / ".git"
    end = time.monotonic() + 30
    with suppress(ProcessLookupError):
        while time.monotonic() < end:
            os.killpg(round_.child, 0)
            time.sleep(0.01)
    for lock in git.rglob("*.lock"):
        if "gitmem" not in lock.parts:
            lock.unlink(missing_ok=True)
    opened = open_repository(round_.repo.path, os.environ)
    with writer(opened):
        pass
    opened.close()
    if round_.command in MERGES:
        merge_settled(round_)


def merge_settled(round_: Round) -> None:
    """A merge that did not end, as a person ends it: given up, or with what was saved meanwhile kept."""
    repo = round_.repo
    if not round_.saved:
        repo.git("reset", "-q", "--hard")
    elif (repo.path / ".git/MERGE_HEAD").exists():
        repo.git("merge", "--quit")
        text = re.sub(r"^(<{7}|={7}|>{7}|\|{7})( .*)?\n", "", repo.read("MEMORY.md"), flags=re.MULTILINE)
        repo.write("MEMORY.md", text)


def checked(round_: Round) -> None:
    """Nothing is lost, nothing is back, nothing lies around."""
    repo, git = round_.repo, round_.repo.path / ".git"
    where = f"round {round_.number}, {round_.command.__name__}"
    assert not (git / RECORD).exists(), where
    assert not list((git / "gitmem/writing").iterdir()), where
    assert not [path for path in repo.git("ls-files", "-o").split("\n") if ".gitmem-" in path], where
    branch = repo.git("branch", "--show-current").strip()
    if branch == "other":
        mine = round_.before - everything(repo, "start")
        if round_.command in MERGES:  # a merge that began after the switch brought `incoming` in here, rightly
            mine -= everything(repo, "incoming")
        assert not mine & everything(repo, "other"), (where, "on another branch")
        repo.git("checkout", "-q", "-f", "main")
    now, head = everything(repo), everything(repo, "HEAD")
    replaced = {value for fact in facts.parse(repo.read("MEMORY.md").encode()).facts for value in replaces(fact)}
    lost = {text for text in round_.before - now - round_.may_go if fact_id(text) not in replaced}
    assert not lost, (where, lost)
    if round_.command not in MERGES:  # Git's own checkout: what is saved between its look and its write is gone
        assert round_.saved <= now, (where, round_.saved - now)
    assert round_.committed <= head, (where, round_.committed - head)
    gone = round_.may_go & (round_.before - head)  # the commit that takes it out was made
    if round_.command in TAKES_OUT and gone and not round_.saved:
        assert not gone & now, (where, "came back")
    if round_.command is forget_everywhere_first and gone:
        for text in gone:
            said = repo.run("git", "grep", "-F", "-e", text, "HEAD", "--", "*.md", check=False).stdout
            assert not said, (where, said)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.removeprefix("fault_"))
@pytest.mark.parametrize("rounds", [25, pytest.param(500, marks=pytest.mark.stress)])
def test_no_fault_loses_or_brings_back_a_fact(
    repo: Repo, fault: Callable[[Round, random.Random], None], rounds: int
) -> None:
    laid_out(repo)
    dice = random.Random(f"{fault.__name__} {rounds}")
    for number in range(rounds):
        round_ = prepared(repo, number)
        fault(round_, dice)
        settled(round_)
        checked(round_)
        repo.commit("settled")
