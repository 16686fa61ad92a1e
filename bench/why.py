"""How long `git mem why` takes (aim: 0.3 s a question), the process start included.

    python bench/why.py [--commits 5000] [--runs 10] [--against FOLDER]

Repositories: a long history, made with `git fast-import` (one commit a log entry, every tenth a promotion with its
trailers, MEMORY.md kept at 150 facts; asked for the newest, whose source blob is nowhere, one whose line moved, the
oldest, one added by hand); and one MEMORY.md each that is hard to read or to blame: 3,000 sections, 10,000 blank lines,
1 MB of equal bullets, with a line at its end that is not committed yet.

Bytecode is written beforehand, as an installed package has it. `--against` names another copy of the source: the two
are asked in turns, in one run, and the last column is the ratio of their medians.
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

SOURCE = Path(__file__).resolve().parent.parent
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


def git(at: Path, *words: str, given: bytes | None = None) -> None:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "-C", str(at), *identity, *words], input=given, check=True, stdout=subprocess.DEVNULL)


def long_history(at: Path, commits: int) -> dict[str, int]:
    """The repository of many commits; which lines of its MEMORY.md to ask for."""
    git(at, "init", "-q", "-b", "main")
    git(at, "fast-import", "--quiet", given=stream(commits))
    git(at, "reset", "-q", "--hard")
    count = len((at / "MEMORY.md").read_text().splitlines())
    return {"newest": 5, "middle": 5 + KEEP // 2, "oldest promoted": count - 1, "by hand": count}


def one_file(at: Path, text: str) -> dict[str, int]:
    """A repository whose MEMORY.md has one commit and, at its end, one line that has none; its last committed line."""
    git(at, "init", "-q", "-b", "main")
    (at / "MEMORY.md").write_text(text)
    git(at, "add", "MEMORY.md")
    git(at, "commit", "-qm", "memory")
    (at / "MEMORY.md").write_text(text + "- A line that is not committed yet.\n")
    return {"": len(text.splitlines())}


def texts() -> dict[str, str]:
    """MEMORY.md texts that are much to read."""
    sections = "".join(f"## Topic {n}\n\n- Service {n} uses port {n}.\n\n" for n in range(3000))
    return {
        "3,000 sections": f"# Memory\n\n{sections}",
        "10,000 blank lines": "# Memory\n" + "\n" * 10_000 + "- The archive is kept for 7 years.\n",
        "1 MB of equal bullets": "# Memory\n\n" + "- a\n" * ((1_000_000 - 10) // 4),
    }


def environment(source: Path, bytecode: str) -> dict[str, str]:
    """Ours, with the source and a folder for its bytecode: compiling at each start would be measured otherwise."""
    env = {**os.environ, "PYTHONPATH": str(source), "PYTHONPYCACHEPREFIX": bytecode}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def seconds(at: Path, line: int, env: dict[str, str]) -> float:
    """Wall time of one question."""
    command = [sys.executable, "-m", "gitmem", "why", f"MEMORY.md:{line}", "--json"]
    start = time.perf_counter()
    subprocess.run(command, cwd=at, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def measure(name: str, at: Path, line: int, envs: list[dict[str, str]], runs: int) -> None:
    """Print one row. The sources take turns, so that what else the machine does falls on both."""
    took: list[list[float]] = [[] for _ in envs]
    for env in envs:
        seconds(at, line, env)
    for _ in range(runs):
        for env, times in zip(envs, took, strict=True):
            times.append(seconds(at, line, env))
    medians = [statistics.median(times) for times in took]
    row = f"{name:32} median {medians[0]:.3f} s, worst {max(took[0]):.3f} s"
    print(row + (f", other {medians[1]:.3f} s, ratio {medians[0] / medians[1]:.2f}" if medians[1:] else ""), flush=True)


def main() -> None:
    """A row a question."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--commits", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--against", default="", help="Another copy of the source to compare with.")
    parser.add_argument("--only", default="", help="Rows whose name holds this.")
    parser.add_argument("--keep", default="", help="Make the repositories here and leave them.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(given.keep or temporary)
        sources = [SOURCE, *([Path(given.against).resolve()] if given.against else [])]
        envs = [environment(source, f"{temporary}/bytecode-{number}") for number, source in enumerate(sources)]
        history = f"{given.commits:,} commits"
        for name in (history, *texts()):
            at = folder / name.replace(" ", "-").replace(",", "")
            if given.only not in name:
                continue
            at.mkdir(parents=True)
            lines = long_history(at, given.commits) if name == history else one_file(at, texts()[name])
            for case, line in lines.items():
                measure(": ".join(filter(None, (name, case))), at, line, envs, given.runs)


if __name__ == "__main__":
    main()
