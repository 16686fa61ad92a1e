"""How well search answers, on the development sets; fails when a figure falls by more than a point.

    GITMEM_BENCH_DATA=DIR python bench/quality.py

DIR has `locomo-dev/*/` and `korean-dev/`, each a folder `memory/` with a `qrels.jsonl` beside it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import NONE, repository, sets, table

# As shipped. A change of ranking moves these rows in the same commit.
EXPECTED = {
    "english": {"recall@5": 0.76, "share@500": 0.82, "share@1000": 0.865, "share@2000": 0.90},
    "korean": {"hit@1": 0.825, "hit@5": 0.913},
}
POINT = 0.01
LANES = ("lexical", "vector", "both")
NOW = datetime(2026, 10, 1, tzinfo=UTC)


def main() -> int:
    """A row a set, lane and category; 1 when a figure of EXPECTED fell."""
    from gitmem.config import Config
    from gitmem.git.opening import open_repository
    from gitmem.search import evaluation
    from gitmem.search.search import Lane, Query

    if not sets():
        print(NONE)
        return 0
    fell = []
    with tempfile.TemporaryDirectory() as temporary:
        for name, sources in sets().items():
            roots = [(source, repository(source, Path(temporary))) for source in sources]
            rows: list[list[object]] = []
            head: list[str] = []
            for lane in LANES:
                results = []
                for source, root in roots:
                    repo = open_repository(root, os.environ)
                    questions = evaluation.read_questions((source / "qrels.jsonl").read_text(encoding="utf-8"))
                    results += evaluation.run_questions(
                        repo, Config(), questions, Query("", lane=Lane(lane)), NOW, time.perf_counter
                    )
                    repo.close()
                if not results:
                    break
                for category, summary in evaluation.summarise(results).items():
                    head = [name, "n", *summary.figures, "p50 ms"]
                    rows.append(
                        [f"{lane} {category}", summary.questions, *summary.figures.values(), f"{summary.p50:.1f}"]
                    )
                    if lane == "both" and category == "all":
                        fell += [
                            f"{name} {figure} {summary.figures[figure]:.3f}, was {value}"
                            for figure, value in EXPECTED[name].items()
                            if summary.figures[figure] < value - POINT
                        ]
            print(table(head, rows) if rows else f"{name}: not in GITMEM_BENCH_DATA, skipped", "\n", flush=True)
    for line in fell:
        print(f"FELL: {line}")
    return 1 if fell else 0


if __name__ == "__main__":
    sys.exit(main())
