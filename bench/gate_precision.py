"""How often a rule is right where it blocks: the table of docs/detectors.md.

    python -m bench gate_precision [--write] -- DOCUMENTS...

DOCUMENTS are folders of Markdown, or JSON lines with `text`, of honest documents on which no rule was made and from
which nothing was learned: whatever blocks there is counted as wrong. Right is what blocks in texts that are known to
hold it: the attacks of `bench/hands/i.tsv`, and where GITMEM_BENCH_DATA names the development sets the secrets of
`security/secrets_dev.jsonl` and the role markers of `injection_dev.jsonl`; what blocks in the harmless rows is wrong.
A text counts once for a rule however much blocks in it, and not at all if the same lines blocked in another. `--write`
writes the rules of at least `FEWEST` texts to `tools/rule_precision.txt`; a test holds those that are right in less
than half to warning.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent
sys.path.insert(0, str(SOURCE))

from bench._sets import table  # noqa: E402
from bench.gate_hands import HERE, rows  # noqa: E402
from gitmem.gate.detectors.finding import Severity  # noqa: E402
from gitmem.gate.examine import decode  # noqa: E402
from gitmem.gate.policy import Policy  # noqa: E402
from gitmem.gate.scan import scan_text  # noqa: E402
from gitmem.paths import MAX_MEMORY_FILE_BYTES  # noqa: E402

FEWEST = 4  # texts below which a share says nothing
TABLE = SOURCE / "tools" / "rule_precision.txt"


def documents(places: list[Path]) -> Iterator[str]:
    """The honest texts."""
    for place in places:
        if place.is_file():
            yield from (json.loads(line)["text"] for line in place.read_text(encoding="utf-8").splitlines())
            continue
        for path in sorted(place.rglob("*.md")):
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_MEMORY_FILE_BYTES:
                text, wrong = decode(path.read_bytes())
                if not wrong:
                    yield text


def known() -> Iterator[tuple[bool, str, str]]:
    """(whether it holds an attack or a secret, text, the one rule it is read for or "") of texts that are known."""
    yield from ((label == "attack", text, "") for label, _, _, text in rows(HERE / "hands" / "i.tsv"))
    data = os.environ.get("GITMEM_BENCH_DATA", "")
    folder = Path(data) / "security"
    if not data or not folder.is_dir():
        return
    for row in map(json.loads, (folder / "secrets_dev.jsonl").read_text(encoding="utf-8").splitlines()):
        yield bool(row["label"]), base64.b64decode(row["text_b64"].replace(" ", "")).decode("utf-8")[::-1], ""
    for row in map(json.loads, (folder / "injection_dev.jsonl").read_text(encoding="utf-8").splitlines()):
        if row["kind"].startswith("transform:role-marker"):  # the scorer has learned from what else they say
            yield bool(row["label"]), row["text"], "injection-role-marker"


def blocked(text: str, policy: Policy) -> Iterator[tuple[str, str]]:
    """(rule, line) of each place at which a note is blocked."""
    lines = text.splitlines()
    for finding in scan_text(text, "memory/note.md", policy):
        if finding.severity is Severity.BLOCK:
            yield finding.rule, lines[finding.line - 1].strip() if finding.line <= len(lines) else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("documents", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if not options.documents:
        print("no documents: name folders or files with real ones")
        return 0
    policy, count = Policy(), 0
    seen: set[tuple[str, str]] = set()
    blocks: Counter[str] = Counter()
    right: Counter[str] = Counter()

    def read(text: str, held: bool, only: str = "") -> None:
        places = {place for place in blocked(text, policy) if not only or place[0] == only}
        for rule in {rule for rule, _ in places - seen}:
            blocks[rule] += 1
            right[rule] += held
        seen.update(places)

    for text in documents(options.documents):
        count += 1
        read(text, held=False)
    for held, text, only in known():
        read(text, held, only)
    print(
        table(
            ("rule", "texts", "right", "precision"), [(r, n, right[r], right[r] / n) for r, n in sorted(blocks.items())]
        )
    )
    if options.write:
        head = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        body = [f"{rule}\t{count}\t{n}\t{right[rule]}" for rule, n in sorted(blocks.items()) if n >= FEWEST]
        TABLE.write_text("\n".join([*head, *body]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
