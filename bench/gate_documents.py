"""Whole documents: how many honest files the gate refuses, by kind of file, by rule and by length.

    python -m bench gate_documents [--as own|note|rule] [--ending .md --ending .mdc] [--list] -- FOLDER...

Every text below the folders is taken for honest: whatever blocks is counted as wrong, so the folders must hold real
documents without secrets. `--as own` (default) scans each at its path below its FOLDER, `note` as a note of memory,
`rule` as a rule for agents. Figures are for 1,000 documents and for 1,000 lines; a document is refused once however
much blocks in it. `--list` names each refused file with the rules. Without FOLDER nothing is measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

from bench._sets import table  # noqa: E402
from gitmem.gate.detectors.finding import Severity  # noqa: E402
from gitmem.gate.examine import decode  # noqa: E402
from gitmem.gate.policy import Policy  # noqa: E402
from gitmem.gate.scan import scan_text  # noqa: E402
from gitmem.paths import MAX_MEMORY_FILE_BYTES, file_group  # noqa: E402

BANDS = (5, 20, 100, 300)  # lines: a document is in the first band it fits, the rest in one above the last
PLACES = {"own": "", "note": "memory/document.md", "rule": ".claude/rules/document.md"}


class Document(NamedTuple):
    """One file: where it is, its kind, its lines, and the rules that block and that only warn in it."""

    path: Path
    kind: str
    lines: int
    blocking: tuple[str, ...]
    warning: tuple[str, ...]


def documents(folders: Iterable[Path], endings: Sequence[str], place: str) -> Iterator[Document]:
    """Each file below the folders that ends so, scanned; links, what is no UTF-8 text and what is too large is left."""
    policy = Policy()
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink() or not path.is_file() or not path.name.lower().endswith(tuple(endings)):
                continue
            data = path.read_bytes()
            text, wrong = decode(data)
            if wrong or len(data) > MAX_MEMORY_FILE_BYTES or not text.strip():
                continue
            name = path.relative_to(folder).as_posix()
            found = scan_text(text, PLACES[place] or name, policy)
            blocking = tuple(sorted({f.rule for f in found if f.severity is Severity.BLOCK}))
            warning = tuple(sorted({f.rule for f in found if f.severity is Severity.WARN}))
            yield Document(path, file_group(name), len(text.splitlines()), blocking, warning)


def band(lines: int) -> str:
    """The band of a length, as it is printed."""
    lower = 1
    for most in BANDS:
        if lines <= most:
            return f"{lower} to {most} lines"
        lower = most + 1
    return f"{lower} lines and more"


def row(name: str, found: Sequence[Document]) -> tuple[object, ...]:
    """One line of figures for some documents (at least one)."""
    refused = sum(bool(each.blocking) for each in found)
    warned = sum(bool(each.warning) and not each.blocking for each in found)
    lines = sum(each.lines for each in found)
    return name, len(found), lines, refused, 1000 * refused / len(found), 1000 * refused / lines, warned


def by_rule(found: Sequence[Document]) -> list[tuple[str, int, int, float, float]]:
    """For each rule the documents it blocks in, and those that it alone refuses."""
    lines = sum(each.lines for each in found)
    rules = sorted({rule for each in found for rule in each.blocking})
    rows = []
    for rule in rules:
        hit = [each for each in found if rule in each.blocking]
        alone = sum(each.blocking == (rule,) for each in hit)
        rows.append((rule, len(hit), alone, 1000 * len(hit) / len(found), 1000 * len(hit) / lines))
    return sorted(rows, key=lambda each: -each[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--as", dest="place", choices=list(PLACES), default="own")
    parser.add_argument("--ending", action="append", default=[])
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    endings = [ending.lower() for ending in options.ending] or [".md", ".mdc"]
    found = list(documents(options.folders, endings, options.place))
    if not found:
        print("no documents: name folders with real ones")
        return 0
    head = ("documents", "all", "lines", "refused", "of 1,000", "of 1,000 lines", "warned")
    kinds = sorted({each.kind for each in found})
    bands = list(dict.fromkeys(band(each.lines) for each in sorted(found, key=lambda each: each.lines)))
    rows = [row("all", found)]
    rows += [row(kind, [each for each in found if each.kind == kind]) for kind in kinds]
    rows += [row(name, [each for each in found if band(each.lines) == name]) for name in bands]
    print(table(head, rows))
    if any(each.blocking for each in found):
        print()
        print(table(("rule", "refused", "it alone", "of 1,000", "of 1,000 lines"), by_rule(found)))
    if options.list:
        for each in found:
            if each.blocking:
                print(f"{each.path!s}: {', '.join(each.blocking)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
