"""A GGUF embedding model against the static table: speed, and whether each finds a line by another way to say it; then
the whole of search with each, and with each reranking model.

GITMEM_BENCH_DATA=DIR python bench/embedders.py [N]     # every models/*.gguf beside or below DIR; 30 questions
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import NONE, SOURCE, models, repository, sets
from bench.quality import NOW

# (a question, the line that answers it), as in the example workspace.
PAIRS = (
    ("Which day do we release?", "Releases go out every Friday afternoon."),
    ("Where are the database backups kept?", "Nightly dumps are stored in the second region's bucket."),
    ("Why did we choose webhooks?", "Webhooks over polling: easier to debug and no queue to run."),
    ("Who approves spending?", "The finance lead signs off purchases above 500."),
    ("How long do access tokens live?", "Sessions expire after fifteen minutes."),
    ("What language is the API written in?", "The service is implemented in Go."),
    ("When does the contract end?", "The vendor agreement runs out in March 2027."),
    ("How do we roll back a bad deploy?", "To undo a release, redeploy the previous image tag."),
)


def dot(a: bytes, b: bytes) -> float:
    return sum(x * y for x, y in zip(array("f", a), array("f", b), strict=True))


def row(name: str, spec: str, lines: Sequence[str]) -> None:
    from gitmem.config import Config
    from gitmem.errors import ModelUnavailable
    from gitmem.models.embedding import open_embedder

    try:
        embedder = open_embedder(spec, Config())
        embedder.embed_query("warm")
        began = time.perf_counter()
        embedder.embed(lines)
        spent = time.perf_counter() - began
        notes = embedder.embed([line for _, line in PAIRS])
        hits = 0
        for number, (question, _) in enumerate(PAIRS):
            vector = embedder.embed_query(question)
            likeness = [dot(vector, note) for note in notes]
            hits += likeness.index(max(likeness)) == number
    except ModelUnavailable as error:
        print(f"{name:36} {error.message}")
        return
    print(f"{name:36} {len(lines) / spent:10,.0f} lines/s   {embedder.dims:5} dims   {hits}/{len(PAIRS)} first")


def answered(model: Path | None, count: int) -> None:
    """Search with the vectors of a model (None: the static table), or its hits in the order of a reranking model."""
    from gitmem.config import Config
    from gitmem.config.loading import changed
    from gitmem.git.opening import open_repository
    from gitmem.index.indexer import refresh
    from gitmem.models.reranker_child import has_head
    from gitmem.search.evaluation import question_figures, read_questions, run_questions
    from gitmem.search.reranking import rerank_answer
    from gitmem.search.search import Query, search

    ranks = model is not None and has_head(str(model))
    config = Config() if model is None or ranks else changed(Config(), "embedder", f"gguf:{model}")
    for name, sources in sets().items():
        if not sources:
            print(f"{name}: not in GITMEM_BENCH_DATA: skipped")
            continue
        with tempfile.TemporaryDirectory() as folder:
            repo = open_repository(repository(sources[0], Path(folder)), os.environ)
            questions = read_questions((sources[0] / "qrels.jsonl").read_text(encoding="utf-8"))
            questions = questions[:: max(1, len(questions) // count)][:count]
            began, cpu = time.perf_counter(), time.process_time()
            refresh(repo, config)
            indexed = time.perf_counter() - began, time.process_time() - cpu
            if ranks:
                figures, times = [], []
                for asked in questions:
                    began = time.perf_counter()
                    hits = search(repo, config, Query(asked.query, limit=50), NOW)
                    figures.append(
                        question_figures(
                            asked, rerank_answer(hits, f"gguf:{model}", config, os.environ, limit=50, budget=0).hits
                        )
                    )
                    times.append((time.perf_counter() - began) * 1000)
            else:
                results = run_questions(repo, config, questions, Query(""), NOW, time.perf_counter)
                figures, times = [dict(result.figures) for result in results], [r.milliseconds for r in results]
            repo.close()
        mean = {figure: sum(each[figure] for each in figures) / len(figures) for figure in figures[0]}
        shown = "  ".join(f"{figure} {mean[figure]:.3f}" for figure in ("hit@1", "recall@5", "share@500", "share@1000"))
        label = "static" if model is None else f"{'rerank ' if ranks else ''}{model.name}"
        print(
            f"{label:36} {name} {sources[0].name} ({len(questions)}): {shown}  {sorted(times)[len(times) // 2]:.0f} ms"
            f" a question, index {indexed[0]:.1f} s ({indexed[1]:.1f} of processor)",
            flush=True,
        )


def main() -> None:
    from gitmem.models.reranker_child import has_head

    lines = []
    for path in sorted((SOURCE / "examples").rglob("*.md")):
        lines += [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    row("static", "static", lines[:200] * 5)
    heads = [model for model in models() if has_head(str(model))]
    for model in models():
        if model not in heads:
            row(model.name, f"gguf:{model}", lines[:200])
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    if not sets():
        print(NONE)
        return
    for chosen in (None, *models()):
        answered(chosen, count)
    if not heads:
        print("no reranking model in 'models' beside GITMEM_BENCH_DATA: skipped")


if __name__ == "__main__":
    main()
