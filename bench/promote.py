"""How long `git mem promote --model rules` takes over a year of logs (aim: 365 of 100 lines in 5 s, start included).

    python bench/promote.py [--logs 365] [--lines 100] [--runs 3] [--facts FACTS.jsonl ...]

The logs are made of the invented ones in tests/promotion/logs.txt, each line made its own by a number. Then the share
of the statements of bench/amendments that `rules` keeps, a line at a time, and of what stands beside them; and how well
it chooses in bench/log_days, four days a hand, where `+` is a line worth keeping and `-` one that is not. The hands of
HELD_OUT were judged before the rules and not looked at for them. With --facts, also the quality on rows of kept lines,
as `git mem eval --promote` has it.
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
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))
DAYS = SOURCE / "bench/log_days"
HELD_OUT = ("en-railway", "en-security", "en-smallfarm", "zh-developer", "zh-logistics")

from bench._sets import table  # noqa: E402
from bench.amendments import SETS, read  # noqa: E402


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


def kept(texts: Sequence[str]) -> float:
    """The share of lines that `rules` keeps, each in a log of its own."""
    from gitmem.promotion.proposal import Log, Op
    from gitmem.promotion.rules_model import RulesModel

    day = date(2026, 3, 2)
    lines = [("## 10:00 - notes", "", f"- {text}") for text in texts]
    logs = [Log(f"memory/{day}.md", "0" * 40, day, each, frozenset((3,))) for each in lines]
    proposed = [RulesModel().propose([log], []).operations for log in logs]
    return statistics.fmean(any(one.op is not Op.SKIP for one in operations) for operations in proposed)


def log_days() -> list[list[object]]:
    """A row a language for the hands the rules were made on and for the others: logs, precision, recall, F1."""
    from gitmem.promotion.evaluation import LogQuality, log_quality, summarise
    from gitmem.promotion.proposal import Log
    from gitmem.promotion.rules_model import RulesModel

    judged: dict[str, list[LogQuality]] = {}
    for path in sorted(DAYS.glob("*.txt")):
        for block in path.read_text(encoding="utf-8").removeprefix("# ").split("\n# "):
            day, *lines = block.strip().split("\n")
            texts = tuple(f"- {line[2:]}" for line in lines)
            log = Log(f"memory/{day}.md", "0" * 40, date.fromisoformat(day), texts, frozenset(range(1, len(texts) + 1)))
            keep = frozenset(at for at, line in enumerate(lines, 1) if line.startswith("+"))
            which = f"{path.stem[:2]}, {'held out' if path.stem in HELD_OUT else 'made on'}"
            judged.setdefault(which, []).append(log_quality(log, keep, {}, RulesModel()))
    totals = {which: summarise(logs) for which, logs in judged.items()}
    return [[which, one.lines, one.precision, one.recall, one.f1] for which, one in sorted(totals.items())]


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
        for path in sorted(SETS.glob("*.txt")):
            hand = read(path)
            said = [one.text for matter in hand.matters for one in (matter.old, matter.new)]
            beside = [one.text for one in hand.others]
            print(
                f"{hand.name}: {kept(said):.2f} of {len(said)} statements, {kept(beside):.2f} of {len(beside)} beside"
            )
        print(table(["log days", "lines", "precision", "recall", "F1"], log_days()))
        for file in wanted.facts:
            subprocess.run([*mem, "eval", "--promote", str(Path(file).resolve())], cwd=folder, env=env, check=True)


if __name__ == "__main__":
    main()
