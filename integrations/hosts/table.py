"""The table of docs/agents.md: what each host did in its session, with version and date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from integrations.hosts.session import CELLS, Row

START, END = "<!-- hosts: begin -->", "<!-- hosts: end -->"


def as_markdown(rows: Sequence[Row]) -> str:
    """A row for each host, a column for each cell."""
    lines = ["| host | version | " + " | ".join(CELLS) + " |", "|---" * (len(CELLS) + 2) + "|"]
    for row in rows:
        cells = [row.cells.get(cell, "not run") for cell in CELLS]
        lines.append(f"| `{row.host}` | {row.version or '-'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def into_docs(path: Path, rows: Sequence[Row], day: date) -> None:
    """Replace the table between the marks of the page."""
    text = path.read_text(encoding="utf-8")
    block = f"{START}\nRun on {day.isoformat()}:\n\n{as_markdown(rows)}\n{END}"
    path.write_text(re.sub(f"{START}.*?{END}", lambda _: block, text, flags=re.S), encoding="utf-8")
