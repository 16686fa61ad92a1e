"""How long `git mem review` takes: 500 changed lines in a memory repository of 10,000 files (aim: 2 s).

python bench/review.py [--files 10000] [--lines 500] [--runs 3]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).parent.parent
WORDS = "service port queue index review deploy region archive token budget latency replica".split()  # noqa: SIM905


def sentence(number: int) -> str:
    picked = [WORDS[(number * step + step) % len(WORDS)] for step in (1, 5, 7, 11)]
    return f"The {picked[0]} {picked[1]} of unit {number} uses {picked[2]} {number * 13 % 9973} and {picked[3]}."


def stream(files: int, lines: int) -> bytes:
    """A base commit of `files` notes, a log and MEMORY.md, and a branch that changes `lines` lines in ten commits."""
    out: list[bytes] = []

    def commit(ref: str, message: str, texts: dict[str, str], parent: str = "") -> None:
        data = message.encode()
        out.append(b"commit refs/heads/%s\ncommitter A <a@example.com> 1700000000 +0000\n" % ref.encode())
        out.append(b"data %d\n%s\n" % (len(data), data) + (f"from {parent}\n".encode() if parent else b""))
        for name, text in texts.items():
            body = text.encode()
            out.append(b"M 100644 inline %s\ndata %d\n%s\n" % (name.encode(), len(body), body))

    def note(number: int, changed: bool = False) -> str:
        bullets = [f"- {sentence(number * 7 + k)}{' Checked again.' if changed else ''}\n" for k in range(4)]
        return f"# Note {number}\n\n" + "".join(bullets)

    memory = "# Memory\n\n## Facts\n\n" + "".join(f"- {sentence(n)}\n" for n in range(150))
    commit("main", "base", {f"memory/n/{n:05}.md": note(n) for n in range(files)} | {"MEMORY.md": memory})
    per = max(1, (lines - 20) // 40)
    grown = memory + "".join(f"- {sentence(n)}\n" for n in range(900, 920))
    commit("topic", "memory", {"MEMORY.md": grown}, "refs/heads/main")
    for step in range(10):
        numbers = range(step * per, (step + 1) * per)
        commit("topic", f"change {step}", {f"memory/n/{n:05}.md": note(n, True) for n in numbers})
    return b"".join(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--lines", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", "-b", "main", folder], check=True)
        data = stream(given.files, given.lines)
        subprocess.run(["git", "fast-import", "--quiet"], cwd=folder, input=data, check=True)
        env = {**os.environ, "PYTHONPATH": str(SOURCE)}
        command = [sys.executable, "-m", "gitmem", "review", "main..topic", "--json"]
        took, worked = [], []
        for _ in range(given.runs):
            start, before = time.perf_counter(), os.times()
            done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE)
            took.append(time.perf_counter() - start)
            after = os.times()
            worked.append(after.children_user + after.children_system - before.children_user - before.children_system)
            if done.returncode > 1:
                sys.exit(f"review exited {done.returncode}")
        print(f"median {statistics.median(took):.2f} s, worst {max(took):.2f} s, {len(done.stdout)} bytes of JSON")
        print(f"processor time, git's included: median {statistics.median(worked):.2f} s, worst {max(worked):.2f} s")


if __name__ == "__main__":
    main()
