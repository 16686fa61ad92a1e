"""How long a search takes, from the start of the process and warm, by the number of chunks.

    python bench/search.py 10000 100000

Makes a memory repository of invented notes (Zipf-distributed words of two alphabets), indexes it and searches it.
Prints medians; wall time means little on a busy machine, so processor time stands beside it.
"""

from __future__ import annotations

import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
RUNS = 9
SECTIONS = 10  # chunks a file
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


def build(root: Path, chunks: int) -> list[str]:
    """A repository with about that many chunks; questions to ask it."""
    rng = random.Random(7)
    words = vocabulary(rng, 20_000)
    weights = [1 / (rank + 10) for rank in range(len(words))]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "memory").mkdir()
    for number in range(max(1, chunks // SECTIONS)):
        sections = []
        for part in range(SECTIONS):
            drawn = rng.choices(words, weights, k=110)
            lines = [f"- {' '.join(drawn[at : at + 16])}." for at in range(0, 110, 16)]
            sections.append(f"## {9 + part}:00 - {drawn[0]}\n\n" + "\n".join(lines) + "\n")
        (root / "memory" / f"note-{number:05}.md").write_text(f"# Note {number}\n\n" + "\n".join(sections))
    for command in (["add", "-A"], ["-c", "user.name=b", "-c", "user.email=b@example.com", "commit", "-qm", "notes"]):
        subprocess.run(["git", "-C", str(root), *command], check=True)
    return [" ".join(rng.choices(words[20:4000], k=5)) for _ in range(40)]


def cold(root: Path, questions: list[str]) -> tuple[float, float, float]:
    """Median wall and processor seconds, and the largest resident megabytes, of whole processes."""
    walls, cpus = [], []
    code = "import resource, sys; sys.argv = ['git-mem', *sys.argv[1:]]\nfrom gitmem.cli import main\nmain()"
    for question in questions[:RUNS]:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code, "search", question], cwd=root, check=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
        )  # fmt: skip
        walls.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    probe = (
        "import resource, sys\nsys.argv = ['git-mem', *sys.argv[1:]]\nfrom gitmem.cli import run\nrun()\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe, "search", questions[0]], cwd=root, check=True, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    return statistics.median(walls), statistics.median(cpus), int(done.stderr.split()[-1]) / 1024


def warm(root: Path, questions: list[str]) -> tuple[float, float]:
    """Median wall and processor milliseconds of a search in one process."""
    sys.path.insert(0, str(SOURCE))
    from datetime import UTC, datetime

    from gitmem.config import Config
    from gitmem.git import open_repository
    from gitmem.search import Query, search

    repo = open_repository(root, os.environ)
    walls, cpus = [], []
    for question in questions:
        began, cpu = time.perf_counter(), time.process_time()
        search(repo, Config(), Query(question), datetime(2026, 3, 1, tzinfo=UTC))
        walls.append((time.perf_counter() - began) * 1000)
        cpus.append((time.process_time() - cpu) * 1000)
    repo.close()
    return statistics.median(walls[1:]), statistics.median(cpus[1:])


def main() -> None:
    """A row a size."""
    print(f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    print("  chunks  index s   cold s    cpu s     MB  warm ms   cpu ms  index MB")
    for text in sys.argv[1:] or ["10000"]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "repo"
            questions = build(root, int(text))
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "gitmem", "index"], cwd=root, check=True, capture_output=True,
                env={**os.environ, "PYTHONPATH": str(SOURCE)},
            )  # fmt: skip
            indexed = time.perf_counter() - began
            wall, cpu, memory = cold(root, questions)
            warm_wall, warm_cpu = warm(root, questions)
            size = (root / ".git" / "gitmem" / "index.sqlite").stat().st_size / 1e6
            print(
                f"{text:>8} {indexed:8.1f} {wall:8.3f} {cpu:8.3f} {memory:6.0f} {warm_wall:8.1f} {warm_cpu:8.1f}"
                f" {size:9.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
