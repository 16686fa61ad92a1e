"""How well search answers, on the development sets; fails when a figure falls by more than a point.

    GITMEM_BENCH_DATA=DIR python bench/quality.py

DIR has `locomo-dev/*/` and `korean-dev/`, each a folder `memory/` with a `qrels.jsonl` beside it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))

# As shipped. A change of ranking moves these rows in the same commit.
EXPECTED = {
    "english": {"recall@5": 0.765, "share@500": 0.82, "share@1000": 0.87, "share@2000": 0.915},
    "korean": {"hit@1": 0.79, "hit@5": 0.88},
}
LANES = ("lexical", "vector", "both")


def repository(source: Path, folder: Path) -> Path:
    """A repository of its own with that memory, committed."""
    root = folder / source.name
    shutil.copytree(source / "memory", root / "memory")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(root), *identity, "commit", "-qm", "memory"], check=True)
    return root


def main() -> int:
    """A row a set, lane and category; 1 when a figure of EXPECTED fell."""
    from gitmem import evaluate
    from gitmem.config import Config
    from gitmem.git import open_repository
    from gitmem.search import Lane, Query

    data = os.environ.get("GITMEM_BENCH_DATA", "")
    if not data:
        print("GITMEM_BENCH_DATA names no folder: nothing measured")
        return 0
    sets = {"english": sorted(Path(data).glob("locomo-dev/*/")), "korean": [Path(data) / "korean-dev"]}
    fell = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, sources in sets.items():
            roots = [(source, repository(source, Path(temporary))) for source in sources if source.is_dir()]
            for lane in LANES:
                results = []
                for source, root in roots:
                    repo = open_repository(root, os.environ)
                    questions = evaluate.read((source / "qrels.jsonl").read_text(encoding="utf-8"))
                    query = Query("", lane=Lane(lane))
                    now = datetime(2026, 10, 1, tzinfo=UTC)
                    results += evaluate.run(repo, Config(), questions, query, now, time.perf_counter)
                    repo.close()
                for category, summary in evaluate.summarise(results).items():
                    figures = " ".join(f"{figure} {value:.3f}" for figure, value in summary.figures.items())
                    print(f"{name} {lane} {category} ({summary.questions}): {figures}", flush=True)
                    if lane == "both" and category == "all":
                        fell += [
                            f"{name} {figure} {summary.figures[figure]:.3f}, was {value}"
                            for figure, value in EXPECTED[name].items()
                            if summary.figures[figure] < value - 0.01
                        ]
    for line in fell:
        print(f"FELL: {line}")
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
