"""Random histories of facts: written, edited, wrapped, moved, archived, lapsed, forgotten, merged, reverted; by people
and agents. And what Git says of them, read the plain way: every commit, every file, every fact."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from gitmem.memory import facts as memory_facts
from gitmem.memory.fact import Fact
from gitmem.paths import Kind, kind
from tests.harness import Repo

PEOPLE = ("Aiko", "Bea", "최민지")
AGENTS = ("Claude", "Codex")
FILES = ("MEMORY.md", "memory/archive/2026.md", "memory/topics/api.md")
THINGS = ("cache", "queue", "port", "배포", "invoice", "webhook", "staging", "release")
KINDS = (Kind.MEMORY, Kind.ARCHIVE, Kind.NOTE, Kind.RULE)


@dataclass
class History:
    """A repository that grows: `lines` of each file are its statements, each a block of one line or more."""

    repo: Repo
    dice: random.Random
    clock: int = 0
    made: int = 0
    branches: list[str] = field(default_factory=list)

    def _blocks(self, path: str) -> list[str]:
        target = self.repo.path / path
        text = target.read_text(encoding="utf-8") if target.exists() else "# Memory\n\nWhat is known here.\n"
        head, _, rest = text.partition("\n\n")
        return [head, *(block for block in rest.split("\n\n") if block.strip())]

    def _write(self, path: str, blocks: list[str]) -> None:
        self.repo.write(path, "\n\n".join(block.strip("\n") for block in blocks) + "\n")

    def commit(self, what: str) -> None:
        """A commit by somebody: a person, an agent under its own name, or one that a trailer names."""
        who = self.dice.choice((*PEOPLE, *AGENTS))
        message = what
        if who in PEOPLE and self.dice.random() < 0.25:
            message += f"\n\nMemory-Agent: {self.dice.choice(AGENTS)}"
        self.repo.git("add", "-A")
        self.repo.git("commit", "-q", "--no-verify", "--allow-empty", "-m", message, env=self.environment(who))

    def environment(self, who: str) -> dict[str, str]:
        self.clock += 3600
        when = f"{1767258000 + self.clock} +0000"
        mail = "noreply@anthropic.com" if who == "Claude" else f"{THINGS[0]}@example.com"
        return {
            "GIT_AUTHOR_NAME": who, "GIT_AUTHOR_EMAIL": mail, "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_NAME": who, "GIT_COMMITTER_EMAIL": mail, "GIT_COMMITTER_DATE": when,
        }  # fmt: skip

    def _text(self) -> str:
        self.made += 1
        return f"the {self.dice.choice(THINGS)} of team {self.made} has {self.dice.randrange(100)} of them"

    def step(self) -> None:
        """One thing happens."""
        getattr(self, self.dice.choice(("write", "write", "write", "edit", "comment", "wrap", "move", "move", "forget",
                                        "revert", "branch", "merge", "table")))()  # fmt: skip

    def _some(self) -> tuple[str, list[str], int] | None:
        path = self.dice.choice(FILES)
        blocks = self._blocks(path)
        places = [n for n, block in enumerate(blocks) if block.startswith("- ")]
        return (path, blocks, self.dice.choice(places)) if places else None

    def write(self) -> None:
        path = self.dice.choice(("MEMORY.md", "MEMORY.md", FILES[2]))
        blocks = self._blocks(path)
        lines = [f"- {self._text()}" for _ in range(self.dice.randrange(1, 3))]
        if path != "MEMORY.md":
            lines = [f"{line} <!-- mem src=memory/2026-01-01.md#L3@1a2b3c4d5e6f -->" for line in lines]
        blocks.insert(self.dice.randrange(1, len(blocks) + 1), "\n".join(lines) if len(lines) == 1 else lines[0])
        blocks += lines[1:]
        self._write(path, blocks)
        self.commit("write")

    def edit(self) -> None:
        if (found := self._some()) is not None:
            path, blocks, at = found
            blocks[at] = blocks[at].replace(" has ", f" had {self.dice.randrange(9)} and has ", 1)
            self._write(path, blocks)
            self.commit("edit")

    def comment(self) -> None:
        if (found := self._some()) is not None:
            path, blocks, at = found
            block = blocks[at].partition(" <!--")[0]
            blocks[at] = f"{block} <!-- mem until=2026-0{self.dice.randrange(1, 9)}-01 pinned=true -->"
            self._write(path, blocks)
            self.commit("comment")

    def wrap(self) -> None:
        if (found := self._some()) is not None:
            path, blocks, at = found
            blocks[at] = blocks[at].replace(" of team ", "\n  of team ", 1)
            self._write(path, blocks)
            self.commit("wrap")

    def move(self) -> None:
        if (found := self._some()) is not None:
            path, blocks, at = found
            other = self.dice.choice([name for name in FILES if name != path])
            block = blocks.pop(at)
            if other == FILES[2] and "src=" not in block:
                block = block.partition(" <!--")[0] + " <!-- mem src=memory/2026-01-01.md#L3@1a2b3c4d5e6f -->"
            self._write(path, blocks)
            self._write(other, [*self._blocks(other), block])
            self.commit("archive" if "archive" in other else "move")

    def table(self) -> None:
        blocks = self._blocks("MEMORY.md")
        blocks.append(f"| thing | number |\n|---|---|\n| {self._text()} | {self.made} |")
        self._write("MEMORY.md", blocks)
        self.commit("table")

    def forget(self) -> None:
        if (found := self._some()) is not None:
            path, blocks, at = found
            del blocks[at]
            self._write(path, blocks)
            self.commit("forget")

    def revert(self) -> None:
        who = self.dice.choice((*PEOPLE, *AGENTS))
        oid = self.dice.choice(self.repo.git("rev-list", "--no-merges", "--max-count=6", "HEAD").split())
        env = self.environment(who)
        self.repo.git("revert", "--no-edit", oid, check=False, env=env)
        if (self.repo.path / ".git/REVERT_HEAD").exists() or self.repo.git("status", "--porcelain").strip():
            self.repo.git("revert", "--abort", check=False)
            self.repo.git("reset", "-q", "--hard")

    def branch(self) -> None:
        if len(self.branches) < 2:
            name = f"side-{self.clock}"
            self.branches.append(name)
            self.repo.git("checkout", "-q", "-b", name)
            self.write()
            self.repo.git("checkout", "-q", "main")

    def merge(self) -> None:
        if self.branches:
            name = self.branches.pop()
            how = self.dice.choice((["-X", "ours"], ["-X", "theirs"]))
            env = self.environment(self.dice.choice((*PEOPLE, *AGENTS)))
            self.repo.git("merge", "-q", "--no-ff", "--no-edit", *how, name, check=False, env=env)
            if (self.repo.path / ".git/MERGE_HEAD").exists():
                self.repo.git("merge", "--abort", check=False)


def grown(repo: Repo, seed: int, steps: int) -> History:
    """A history of so many things that happened, ending on `main`."""
    history = History(repo, random.Random(seed))
    history.write()
    for _ in range(steps):
        history.step()
    return history


def facts_of(repo: Repo, commit: str) -> dict[str, dict[str, Fact]]:
    """path -> id -> fact of the files of long-term memory at a commit."""
    paths = repo.git("-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", commit).splitlines()
    found: dict[str, dict[str, Fact]] = {}
    for path in paths:
        if kind(path) in KINDS:
            data = repo.git("show", f"{commit}:{path}").encode()
            found[path] = {fact.id: fact for fact in memory_facts.parse(data).facts}
    return found


def who_made(repo: Repo, commit: str) -> str:
    """Whose commit it is: the agent of its trailer, else its author."""
    agent = repo.git("log", "-1", "--format=%(trailers:key=Memory-Agent,valueonly)", commit).strip()
    return agent or repo.git("log", "-1", "--format=%an", commit).strip()


def first_commits(repo: Repo, head: str = "HEAD") -> dict[str, str]:
    """id -> the first commit in which long-term memory has it, parents before children."""
    first: dict[str, str] = {}
    for commit in repo.git("rev-list", "--date-order", "--reverse", head).split():
        for facts in facts_of(repo, commit).values():
            for ident in facts:
                first.setdefault(ident, commit)
    return first
