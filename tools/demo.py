"""`make demo`: build a memory repository from examples/, commit its history through the hooks, and use it.

Prints each command it runs and what came back. The repository is left in .demo/ to play with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "workspace"
DEMO = ROOT / ".demo"
BIN = Path(os.environ.get("GITMEM_DEMO_BIN") or Path(sys.executable).parent)
SECTION = re.compile(r"(?m)^(?=## \d{2}:\d{2})")
LAST = "2026-01-25T21:00:00+09:00"


def environment(when: str = "") -> dict[str, str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env["PATH"] = f"{BIN}{os.pathsep}{env['PATH']}"
    env.update(GIT_AUTHOR_NAME="Demo", GIT_AUTHOR_EMAIL="demo@example.com", GIT_PAGER="cat", GITMEM_FOREGROUND="1")
    env.update(GIT_COMMITTER_NAME="Demo", GIT_COMMITTER_EMAIL="demo@example.com", LC_ALL="C.UTF-8")
    if when:
        env.update(GIT_AUTHOR_DATE=when, GIT_COMMITTER_DATE=when, GITMEM_NOW=when)
    return env


def run(*command: str, when: str = "", ok: tuple[int, ...] = (0,), show: bool = False) -> str:
    """Run in the demo repository; the exit code must be one of `ok`."""
    done = subprocess.run(command, cwd=DEMO, env=environment(when), capture_output=True, text=True)
    if show:
        words = " ".join(f"'{word}'" if " " in word else word for word in command)
        print(f"\n$ {words}")
        print("\n".join("  " + line for line in (done.stdout + done.stderr).rstrip().splitlines()[:24]), flush=True)
    if done.returncode not in ok:
        sys.exit(f"demo: {command} exited {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def steps() -> list[tuple[str, str, str, str]]:
    """(when, path, text, subject) of every commit, oldest first: one a section of a log, one a note."""
    found = []
    for path in sorted(EXAMPLE.rglob("*.md")):
        name = path.relative_to(EXAMPLE).as_posix()
        text = path.read_text(encoding="utf-8")
        day = re.match(r"memory/(?:sessions/)?(\d{4}-\d{2}-\d{2})", name)
        if day is None:
            when = "2026-01-05T09:00:00+09:00" if "/" not in name else "2026-01-21T11:00:00+09:00"
            found.append((when, name, text, f"memory: write {name}"))
            continue
        head, *sections = SECTION.split(text)
        so_far = head
        for section in sections or [""]:
            so_far += section
            clock = section[3:8] or "18:30"
            found.append((f"{day[1]}T{clock}:00+09:00", name, so_far, f"log: {day[1]} {clock}"))
    return sorted(found)


def build() -> None:
    """The repository, its hooks, and a history in which every commit passed the gate."""
    if DEMO.exists():
        shutil.rmtree(DEMO)
    DEMO.mkdir()
    run("git", "init", "--quiet", "--initial-branch=main")
    run("git", "mem", "init", "--lang", "en", show=True)
    run("git", "mem", "install", show=True)
    run("git", "add", "-A")
    run("git", "commit", "--quiet", "-m", "memory: lay out", when="2026-01-05T08:50:00+09:00")
    for when, path, text, subject in steps():
        target = DEMO / path
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        run("git", "add", "--", path)
        run("git", "commit", "--quiet", "-m", subject, when=when)
    print(f"\n  ... {run('git', 'rev-list', '--count', 'HEAD').strip()} commits, each through the hooks")


def main() -> None:
    print("1. A memory repository, its hooks, and a history")
    build()
    print("\n2. Search it: English, Korean, one in the other")
    run("git", "mem", "search", "why did the worker stop consuming?", "-n", "3", show=True)
    run("git", "mem", "search", "배포는 언제까지 해야 하나", "-n", "3", show=True)
    run("git", "mem", "search", "how do I undo the release", "-n", "2", show=True)

    print("\n3. Search it as it was: the limit now, and before it was raised")
    run("git", "mem", "search", "dispatch rate limit", "-n", "2", show=True)
    run("git", "mem", "search", "dispatch rate limit", "-n", "2", "--at", "2026-01-10", show=True)

    print("\n4. Promote what matters from the logs to MEMORY.md, and ask why it is there")
    run("git", "mem", "promote", "--dry-run", "--max", "5", show=True, when=LAST)
    run("git", "mem", "promote", "--max", "8", show=True, when=LAST)
    lines = (DEMO / "MEMORY.md").read_text(encoding="utf-8").splitlines()
    promoted = next(number for number, text in enumerate(lines, 1) if "src=memory/" in text)
    run("git", "mem", "why", f"MEMORY.md:{promoted}", show=True)
    run("git", "mem", "changes", "HEAD~1..HEAD", show=True)

    print("\n5. The gate: a secret does not become memory")
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5" + "1nD5bw"
    with (DEMO / "memory/2026-01-25.ops.md").open("a", encoding="utf-8") as log:
        log.write(f"- 배포 토큰은 {token} 이다\n")
    run("git", "commit", "--quiet", "-am", "log: a token", ok=(1,), show=True)
    run("git", "checkout", "--quiet", "--", ".")
    print("\nThe repository is in .demo/: try  cd .demo && git mem search '...'")


if __name__ == "__main__":
    main()
