"""How long `git mem promote --model rules` takes over a year of logs (aim: 365 of 100 lines in 5 s, start included).

    python bench/promote.py [--logs 365] [--lines 100] [--runs 3] [--facts FACTS.jsonl ...]

The logs are made of the invented ones in tests/promotion/logs.txt, each line made its own by a number. With --facts,
also the quality on rows of kept lines, as `git mem eval --promote` has it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

SOURCE = Path(__file__).parent.parent


def year(folder: Path, logs: int, lines: int) -> None:
    """A repository with that many committed logs."""
    sample = (SOURCE / "tests/promotion/logs.txt").read_text(encoding="utf-8").splitlines()
    texts = itertools.cycle(line.partition("| ")[2] for line in sample if "| " in line and not line.startswith("#"))
    (folder / "memory").mkdir(parents=True)
    for number in range(logs):
        day = date(2025, 1, 1) + timedelta(days=number)
        rows = [f"# {day}", "", "## 09:00 - day", ""]
        rows += [f"- {next(texts)} (#{number * lines + at})" for at in range(lines)]
        (folder / f"memory/{day}.md").write_text("\n".join(rows) + "\n", encoding="utf-8")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "logs"]):
        subprocess.run(["git", "-c", "user.name=B", "-c", "user.email=b@example.com", *command], cwd=folder, check=True)


def main() -> None:
    """Print the median of a dry run and of the run that commits."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--logs", type=int, default=365)
    parser.add_argument("--lines", type=int, default=100)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--facts", nargs="*", default=[])
    wanted = parser.parse_args()
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "GIT_CONFIG_NOSYSTEM": "1"}
    mem = [sys.executable, "-m", "gitmem"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "repo"
        folder.mkdir()
        year(folder, wanted.logs, wanted.lines)
        times = []
        for _ in range(wanted.runs):
            start = time.perf_counter()
            subprocess.run([*mem, "promote", "--dry-run"], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
            times.append(time.perf_counter() - start)
        print(f"{wanted.logs} logs of {wanted.lines} lines: {statistics.median(times):.2f} s (median of {wanted.runs})")
        for file in wanted.facts:
            subprocess.run([*mem, "eval", "--promote", str(Path(file).resolve())], cwd=folder, env=env, check=True)


if __name__ == "__main__":
    main()
