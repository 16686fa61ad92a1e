"""How long a search takes, from the start of the process and warm, by the number of chunks.

    python bench/search.py 10000 100000 [--keep FOLDER]

Makes a memory repository of invented notes (Zipf-distributed words of two alphabets), indexes it and searches it. The
chunks are those that `git mem status` counts. Medians over the questions, each the best of three runs; wall time means
little on a busy machine, so processor time (git's processes included) stands beside it. Cold is a whole process with
its bytecode written, as an installed package has it; `python` is what the interpreter alone takes. Warm is a process
that keeps the index open, as the MCP server does. With --keep the repositories stay in FOLDER and are found there
again.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from itertools import accumulate
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
RUNS, BEST_OF = 9, 3
SECTIONS, PARTS = 10, 2  # of a file; chunks of a section, since 110 words are more than a chunk takes
SYLLABLES = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo zu".split()  # noqa: SIM905
HANGUL = "가나다라마바사아자차카타파하고노도로모보소오조초코토포호구누두루무부수우주추쿠투푸후"


def vocabulary(rng: random.Random, count: int) -> list[str]:
    """Invented words, a third of them Korean."""
    words: dict[str, None] = {}
    while len(words) < count:
        if rng.random() < 0.33:
            words["".join(rng.choices(HANGUL, k=rng.randint(2, 4)))] = None
        else:
            words["".join(rng.choices(SYLLABLES, k=rng.randint(2, 4)))] = None
    return list(words)


class Notes:
    """Texts of invented notes, one after another."""

    def __init__(self, seed: int = 7) -> None:
        self.rng = random.Random(seed)
        self.words = vocabulary(self.rng, 20_000)
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(len(self.words))))

    def note(self, number: int) -> str:
        """A note of `SECTIONS * PARTS` chunks."""
        sections = []
        for part in range(SECTIONS):
            drawn = self.rng.choices(self.words, cum_weights=self._weights, k=110)
            lines = [f"- {' '.join(drawn[at : at + 16])}." for at in range(0, 110, 16)]
            sections.append(f"## {9 + part}:00 - {drawn[0]}\n\n" + "\n".join(lines) + "\n")
        return f"# Note {number}\n\n" + "\n".join(sections)


def build(root: Path, chunks: int) -> list[str]:
    """A repository with about that many chunks; questions to ask it."""
    notes = Notes()
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "memory").mkdir()
    for number in range(max(1, chunks // (SECTIONS * PARTS))):
        (root / "memory" / f"note-{number:05}.md").write_text(notes.note(number))
    for command in (["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "notes"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    return [" ".join(notes.rng.choices(notes.words[20:4000], k=5)) for _ in range(40)]


def environment(bytecode: str) -> dict[str, str]:
    """Ours, with a folder for bytecode: what Python compiles at each start would be measured otherwise."""
    env = {**os.environ, "PYTHONPATH": str(SOURCE), "PYTHONPYCACHEPREFIX": bytecode}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    return env


def process(root: Path, words: list[str], env: dict[str, str]) -> tuple[float, float, float]:
    """Wall and processor seconds and resident megabytes of one Python process."""
    began = time.perf_counter()
    started = subprocess.Popen([sys.executable, *words], cwd=root, env=env, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(started.pid, 0)
    wall = time.perf_counter() - began
    started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise SystemExit(f"{words} exited {started.returncode}")
    megabytes = used.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1024)
    return wall, used.ru_utime + used.ru_stime, megabytes


def cold(root: Path, questions: list[str], env: dict[str, str]) -> tuple[float, float, float]:
    """Median wall and processor seconds, and the largest resident megabytes, of whole processes."""
    process(root, ["-m", "gitmem", "search", questions[0]], env)
    rows = [
        [process(root, ["-m", "gitmem", "search", question], env) for _ in range(BEST_OF)]
        for question in questions[:RUNS]
    ]
    wall, cpu = (statistics.median(min(run[at] for run in runs) for runs in rows) for at in (0, 1))
    return wall, cpu, max(run[2] for runs in rows for run in runs)


def warm(root: Path, questions: list[str]) -> tuple[float, float]:
    """Median wall and processor milliseconds of a search in one process, which keeps the index open."""
    sys.path.insert(0, str(SOURCE))
    from datetime import UTC, datetime

    from gitmem.config import Config
    from gitmem.git.opening import open_repository
    from gitmem.index.kept_index import KeptIndex
    from gitmem.search.search import Query, search

    repo, kept, now = open_repository(root, os.environ), KeptIndex(), datetime(2026, 3, 1, tzinfo=UTC)
    for question in questions:
        search(repo, Config(), Query(question), now, kept)
    walls, cpus = [], []
    for question in questions:
        runs = []
        for _ in range(BEST_OF):
            began, cpu = time.perf_counter(), time.process_time()
            search(repo, Config(), Query(question), now, kept)
            runs.append(((time.perf_counter() - began) * 1000, (time.process_time() - cpu) * 1000))
        walls.append(min(wall for wall, _ in runs))
        cpus.append(min(cpu for _, cpu in runs))
    kept.close()
    repo.close()
    return statistics.median(walls), statistics.median(cpus)


def measure(root: Path, chunks: int) -> None:
    """A row of one size."""
    with tempfile.TemporaryDirectory() as bytecode:
        env = environment(bytecode)
        asked = root / ".git" / "questions.json"
        if not asked.exists():
            asked.write_text(json.dumps(build(root, chunks)))
        questions = json.loads(asked.read_text())
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "gitmem", "index"], cwd=root, check=True, capture_output=True, env=env)
        indexed = time.perf_counter() - began
        status = [sys.executable, "-m", "gitmem", "status", "--json"]
        true = json.loads(subprocess.run(status, cwd=root, check=True, capture_output=True, env=env).stdout)["chunks"]
        bare = min(process(root, ["-c", "pass"], env)[1] for _ in range(5))
        wall, cpu, memory = cold(root, questions, env)
    warm_wall, warm_cpu = warm(root, questions)
    size = (root / ".git" / "gitmem" / "index.sqlite").stat().st_size / 1e6
    print(
        f"{true:>8} {indexed:8.1f} {wall:8.3f} {cpu:8.3f} {bare:8.3f} {memory:6.0f} {warm_wall:8.1f} {warm_cpu:8.1f}"
        f" {size:9.1f}",
        flush=True,
    )


def main() -> None:
    """A row a size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("chunks", nargs="*", type=int, default=[10_000])
    parser.add_argument("--keep", default="")
    given = parser.parse_args()
    print(f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print("  chunks  index s   cold s    cpu s   python     MB  warm ms   cpu ms  index MB")
    for chunks in given.chunks:
        with nullcontext(given.keep) if given.keep else tempfile.TemporaryDirectory() as folder:
            measure(Path(folder) / f"{chunks}-chunks", chunks)


if __name__ == "__main__":
    main()
