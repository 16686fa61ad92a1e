"""`python integrations/hosts [HOST ...]`: run each host through four sessions, assert what it did, print the table.

The table goes to standard output and, with `--docs`, into docs/agents.md. Ends with 1 where a cell says no.
"""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from integrations.hosts.drivers import DRIVERS
from integrations.hosts.session import CELLS, Row, run_session
from integrations.hosts.table import as_markdown, into_docs

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("hosts", nargs="*", help="Names of docs/agents.md (default: all).")
    parser.add_argument("--programs", type=Path, default=SOURCE / ".hosts/node_modules/.bin")
    parser.add_argument("--keep", type=Path, help="Keep homes, projects, requests and hook calls below this folder.")
    parser.add_argument("--docs", action="store_true", help="Write the table into docs/agents.md.")
    given = parser.parse_args()
    rows: list[Row] = []
    for driver in DRIVERS:
        if not given.hosts or driver.name in given.hosts:
            rows.append(run_session(driver, given.programs, given.keep))
            print(f"{driver.name}: {rows[-1].summary()}", *rows[-1].notes, sep="\n  ", file=sys.stderr, flush=True)
    print(as_markdown(rows, date.today()))
    if given.docs:
        into_docs(SOURCE / "docs/agents.md", rows, date.today())
    return int(any(row.cells.get(cell) == "no" for row in rows for cell in CELLS))


if __name__ == "__main__":
    raise SystemExit(main())
