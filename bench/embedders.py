"""A GGUF embedding model against the static table: speed, and whether each finds a line by another way to say it.

GITMEM_BENCH_DATA=DIR python bench/embedders.py     # every models/*.gguf beside or below DIR
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench._sets import SOURCE, models

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
    from gitmem.embedders import open_embedder
    from gitmem.errors import ModelUnavailable

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
            hits += max(range(len(notes)), key=lambda at, v=vector: dot(v, notes[at])) == number  # type: ignore[misc]
    except ModelUnavailable as error:
        print(f"{name:36} {error.message}")
        return
    print(f"{name:36} {len(lines) / spent:10,.0f} lines/s   {embedder.dims:5} dims   {hits}/{len(PAIRS)} first")


def main() -> None:
    lines = []
    for path in sorted((SOURCE / "examples").rglob("*.md")):
        lines += [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    row("static", "static", lines[:200] * 5)
    for model in models():
        row(model.name, f"gguf:{model}", lines[:200])


if __name__ == "__main__":
    main()
