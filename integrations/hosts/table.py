"""The table of docs/agents.md: what each host did in its session, with version and date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from integrations.hosts.session import CELLS, Row

START, END = "<!-- hosts: begin -->", "<!-- hosts: end -->"


def as_markdown(rows: Sequence[Row], day: date) -> str:
    """A row for each host, a column for each cell."""
    head = ["| host | version | run on | " + " | ".join(CELLS) + " |", "|---" * (len(CELLS) + 3) + "|"]
    return "\n".join([*head, *(_line(row, day) for row in rows)])


def _line(row: Row, day: date) -> str:
    cells = [row.cells.get(cell, "not run") for cell in CELLS]
    when = day.isoformat() if row.cells else "-"
    return f"| `{row.host}` | {row.version or '-'} | {when} | " + " | ".join(cells) + " |"


def into_docs(path: Path, rows: Sequence[Row], day: date) -> None:
    """Put the rows into the table of the page; those of hosts that were not run now stay as they are."""
    text = path.read_text(encoding="utf-8")
    table = re.search(f"{START}\n(.*?){END}", text, re.S)
    kept = dict(re.findall(r"^(\| `(?:[a-z-]+)` )(.*)$", table[1] if table else "", re.M))
    for row in rows:
        if row.cells or f"| `{row.host}` " not in kept:
            start = f"| `{row.host}` "
            kept[start] = _line(row, day).removeprefix(start)
    lines = [as_markdown([], day), *(start + rest for start, rest in kept.items())]
    block = f"{START}\n" + "\n".join(lines) + f"\n{END}"
    path.write_text(re.sub(f"{START}.*?{END}", lambda _: block, text, flags=re.S), encoding="utf-8")
