"""The settings of the designs this one came from beside those that ship, each as `git config mem.*` would set it.

    GITMEM_BENCH_DATA=DIR python bench/settings.py [--all]      # about 20 seconds a row, twelve rows with --all

The weights of OpenClaw's hybrid search (.7 vectors, .3 words, floor .35, chunks of 400 with 80 repeated), .6/.4, and
the .7/.2/.1 of similarity, recency and importance with a decay of .002 a day.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import NONE, repository, sets, table
from bench.quality import NOW

HYBRID = {"searchVector": "0.7", "searchLexical": "0.3", "searchFloor": "0.35"}
PRIORS = {"searchSimilarity": "0.7", "searchRecency": "0.2", "searchImportance": "0.1"}
WIDE = {"chunkSize": "400", "chunkOverlap": "80"}
ROWS: dict[str, dict[str, str]] = {
    "as shipped": {},
    ".7 vectors / .3 words": HYBRID | {"searchFloor": "0"},
    "... with floor .35": HYBRID,
    "... and chunks 400/80": HYBRID | WIDE,
    ".6 vectors / .4 words": {"searchVector": "0.6", "searchLexical": "0.4"},
    ".7/.2/.1, decay .002": PRIORS | {"searchDecay": "0.002"},
}
MORE: dict[str, dict[str, str]] = {
    ".3 vectors / .7 words": {"searchVector": "0.3", "searchLexical": "0.7"},
    ".7/.2/.1, decay .01": PRIORS | {"searchDecay": "0.01"},
    "pool of 10": {"searchPool": "10"},
    "pool of 60": {"searchPool": "60"},
    "chunks 400/80": WIDE,
    "chunks 100": {"chunkSize": "100"},
}
FIGURES = {"english": ("recall@5", "share@500", "share@1000", "share@2000"), "korean": ("hit@1", "hit@5", "recall@5")}


def main() -> int:
    from gitmem.config import Config
    from gitmem.config.loading import changed
    from gitmem.git.opening import open_repository
    from gitmem.index import indexer
    from gitmem.search import evaluation
    from gitmem.search.search import Query

    if not sets():
        print(NONE)
        return 0
    head = ["settings"]
    chosen = ROWS | (MORE if "--all" in sys.argv else {})
    rows: list[list[object]] = [[name] for name in chosen]
    with tempfile.TemporaryDirectory() as temporary:
        for name, sources in sets().items():
            asked = [
                (
                    open_repository(repository(source, Path(temporary)), os.environ),
                    evaluation.read_questions((source / "qrels.jsonl").read_text(encoding="utf-8")),
                )
                for source in sources
            ]
            if not asked:
                print(f"{name}: not in GITMEM_BENCH_DATA, skipped")
                continue
            head += [f"{name} {figure}" for figure in FIGURES[name]]
            for row, settings in zip(rows, chosen.values(), strict=True):
                config = Config()
                for key, value in sorted(settings.items(), reverse=True):  # the size before the overlap
                    config = changed(config, key, value)
                results = []
                for repo, questions in asked:
                    indexer.refresh(repo, config)
                    results += evaluation.run_questions(repo, config, questions, Query(""), NOW, time.perf_counter)
                figures = evaluation.summarise(results)["all"].figures
                row += [figures[figure] for figure in FIGURES[name]]
            for repo, _ in asked:
                repo.close()
    print(table(head, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
