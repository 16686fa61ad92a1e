"""How long `git mem why` takes in a repository of 5,000 commits (aim: 0.3 s), the process start included.

    python bench/why.py [--commits 5000] [--runs 5]

The repository is made with `git fast-import`: one commit a log entry, every tenth a promotion with its trailers,
MEMORY.md kept at 150 facts, every line of it asked for in turn: the newest, the oldest, one whose line moved, one
whose source blob is gone, one added by hand.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

SOURCE = Path(__file__).parent.parent
KEEP = 150


def blob_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def stream(commits: int) -> bytes:
    """A fast-import stream of `commits` commits on refs/heads/main."""
    out: list[bytes] = []
    facts: list[str] = []
    day, log, when = date(2024, 1, 1), "", 1_704_100_000
    path = f"memory/{day}.md"

    def commit(message: str, files: dict[str, str]) -> None:
        nonlocal when
        when += 600
        body = message.encode()
        out.append(b"commit refs/heads/main\ncommitter A <a@example.com> %d +0000\n" % when)
        out.append(b"data %d\n%s\n" % (len(body), body))
        for name, text in files.items():
            data = text.encode()
            out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(data), data))

    for number in range(commits):
        if number % 40 == 0:
            day += timedelta(days=1)
            path, log = f"memory/{day}.md", f"# {day}\n"
        if number == 3:
            facts.append("- The archive is kept for 7 years. <!-- mem type=fact -->")
            commit("remember the archive", {"MEMORY.md": memory(facts)})
        elif number % 10 == 9:
            count = log.count("\n")
            text = f"Service {number} uses port {9000 + number}."
            oid = blob_oid(log.encode())
            if number == commits // 2 * 2 - 1:
                oid = "0" * 40
            facts.insert(0, f"- {text} <!-- mem type=decision src={path}#L{count}@{oid[:12]} -->")
            digest = hashlib.sha256(text.encode()).hexdigest()
            facts = [*facts[: KEEP - 1], facts[-1]] if len(facts) > KEEP else facts
            trailers = f"Memory-Source: {path}#L{count}@{oid} -> MEMORY.md sha256:{digest}\nMemory-Model: rules/1\n"
            commit(f"memory: promote 1 fact from {day}\n\n- {text}\n\n{trailers}", {"MEMORY.md": memory(facts)})
        else:
            log += f"- entry {number}: Service {number + 1} uses port {9001 + number}.\n"
            commit(f"log {number}", {path: log})
    return b"".join(out)


def memory(facts: list[str]) -> str:
    return "# Memory\n\n## Decisions\n\n" + "\n".join(facts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commits", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--keep", default="", help="Make the repository here and leave it.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        at = Path(given.keep or folder)
        at.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "init", "-q", "-b", "main", str(at)], check=True)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=at, input=stream(given.commits), check=True)
        subprocess.run(["git", "reset", "-q", "--hard"], cwd=at, check=True)
        lines = (at / "MEMORY.md").read_text().splitlines()
        cases = {"newest": 5, "middle": 5 + KEEP // 2, "oldest promoted": len(lines) - 1, "by hand": len(lines)}
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        for name, line in cases.items():
            command = [sys.executable, "-m", "gitmem", "why", f"MEMORY.md:{line}", "--json"]
            took = []
            for _ in range(given.runs):
                start = time.perf_counter()
                subprocess.run(command, cwd=at, env=env, check=True, stdout=subprocess.DEVNULL)
                took.append(time.perf_counter() - start)
            print(f"{name:16} median {statistics.median(took):.3f} s, worst {max(took):.3f} s")


if __name__ == "__main__":
    main()
