"""The table of docs/agents.md: what each host did in its session, with version and date."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from integrations.hosts.session import CELLS, FIGURES, Row

START, END = "<!-- hosts: begin -->", "<!-- hosts: end -->"


def as_markdown(rows: Sequence[Row], day: date) -> str:
    """A row for each host, a column for each cell and figure; below it why a cell does not say yes."""
    lines = [*_head(), *(_line(row, day) for row in rows)]
    return "\n".join([*lines, "", *(said for row in rows for said in _reasons(row))]).rstrip()


def _head() -> list[str]:
    columns = ["host", "version", "run on", *CELLS, *FIGURES]
    return ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]


def _line(row: Row, day: date) -> str:
    when = day.isoformat() if row.cells else "-"
    return f"| `{row.host}` | {row.version or '-'} | {when} | " + " | ".join(row.values()) + " |"


def _reasons(row: Row) -> list[str]:
    return [f"* `{row.host}`, {re.sub(r'<!--.*?--> *', '', note)}" for note in row.notes]


def into_docs(path: Path, rows: Sequence[Row], day: date) -> None:
    """Put the rows into the table of the page; those of hosts that were not run now stay as they are."""
    text = path.read_text(encoding="utf-8")
    block = re.search(f"{START}\n(.*?){END}", text, re.S)
    table = block[1] if block else ""
    lines = {host: _with_all_columns(line) for line in table.split("\n") if (host := _host_of(line, "| `"))}
    reasons = [line for line in table.split("\n") if _host_of(line, "* `")]
    for row in rows:
        if row.cells or row.host not in lines:
            lines[row.host] = _line(row, day)
            reasons = [line for line in reasons if _host_of(line, "* `") != row.host] + _reasons(row)
    order = list(lines)
    reasons.sort(key=lambda line: order.index(_host_of(line, "* `")))
    new = "\n".join([*_head(), *lines.values(), *(["", *reasons] if reasons else [])])
    path.write_text(re.sub(f"{START}.*?{END}", lambda _: f"{START}\n{new}\n{END}", text, flags=re.S), encoding="utf-8")


def _with_all_columns(line: str) -> str:
    """A line of an earlier table, which may have had fewer columns: the last are those that were added since."""
    cells = line.strip("| ").split(" | ")
    missing = len(["host", "version", "run on", *CELLS, *FIGURES]) - len(cells)
    return "| " + " | ".join([*cells, *["not run"] * missing]) + " |"


def _host_of(line: str, start: str) -> str:
    """The host that a line of the block is about, "" for any other line."""
    return line.removeprefix(start).partition("`")[0] if line.startswith(start) else ""
