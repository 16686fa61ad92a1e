"""The development sets that GITMEM_BENCH_DATA names, as repositories of their own; and tables of figures."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SOURCE))
NONE = "GITMEM_BENCH_DATA names no folder: no quality measured"


def sets() -> dict[str, list[Path]]:
    """Name -> folders with `memory/` and `qrels.jsonl`; none without GITMEM_BENCH_DATA."""
    data = os.environ.get("GITMEM_BENCH_DATA", "")
    if not data:
        return {}
    found = {"english": sorted(Path(data).glob("locomo-dev/*/")), "korean": [Path(data) / "korean-dev"]}
    return {name: [place for place in places if place.is_dir()] for name, places in found.items()}


def models() -> list[Path]:
    """GGUF files in a folder `models` in the data's or beside it."""
    data = os.environ.get("GITMEM_BENCH_DATA", "")
    places = (Path(data), Path(data).parent) if data else ()
    return [model for place in places for model in sorted((place / "models").glob("*.gguf"))]


def repository(source: Path, folder: Path) -> Path:
    """A repository with the memory of `source`, committed."""
    root = folder / source.name
    shutil.copytree(source / "memory", root / "memory")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    subprocess.run(["git", "-C", str(root), "add", "-A"], check=True)
    subprocess.run(["git", "-C", str(root), *identity, "commit", "-qm", "memory"], check=True)
    return root


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as wide as they need to be, the first to the left; numbers with three decimals."""
    cells = [list(head), *([f"{c:.3f}" if isinstance(c, float) else str(c) for c in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    return "\n".join(
        "  ".join(
            c.ljust(w) if not at else c.rjust(w) for at, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )
