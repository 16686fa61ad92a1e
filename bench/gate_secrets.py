"""Secrets and personal data in prose: what the gate finds of them, and what it refuses of honest texts beside them.

`bench/hands_secrets.tsv`: label (secret, personal, honest), family, language, text (`\\n` for a line end; values in
braces are made by `bench/_made_values.py`). It was written before the rules of today and without reading those of then;
who reads it to write a rule reports other sets only. A secret counts as found when it is blocked, personal data with
any finding; an honest text counts as refused when it is blocked.

    python -m bench.gate_secrets [--missed]
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from bench._made_values import fill  # noqa: E402
from gitmem.gate.policy import Policy  # noqa: E402
from gitmem.gate.scan import scan_text  # noqa: E402


def rows() -> list[tuple[str, str, str, str]]:
    """(label, family, language, text) of every row, its values made. Raises ValueError for a line of another form."""
    found = []
    for number, line in enumerate((HERE / "hands_secrets.tsv").read_text(encoding="utf-8").splitlines(), 1):
        try:
            label, family, language, text = line.split("\t")
        except ValueError:
            raise ValueError(f"hands_secrets.tsv:{number}: four columns are needed") from None
        found.append((label, family, language, fill(text.replace("\\n", "\n"), number)))
    return found


def main() -> int:
    policy = Policy()
    blocked: defaultdict[str, Counter[str]] = defaultdict(Counter)
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    texts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for label, family, language, text in rows():
        findings = scan_text(text, "memory/note.md", policy)
        stops = any(finding.severity.value == "block" for finding in findings)
        for key in ("all", family, language):
            texts[label][key] += 1
            found[label][key] += bool(findings)
            blocked[label][key] += stops
        wrong = {"honest": stops, "secret": not stops, "personal": not findings}[label]
        if wrong and "--missed" in sys.argv:
            print(label, family, language, [finding.rule for finding in findings], repr(text))
    print("label     texts  blocked  found  by family and language (secret, honest: blocked; personal: found)")
    for label, count in texts.items():
        counted = found[label] if label == "personal" else blocked[label]
        shares = ", ".join(f"{key} {counted[key] / count[key]:.3f}" for key in count if key != "all")
        total = count["all"]
        print(f"{label:9} {total:5} {blocked[label]['all'] / total:8.3f} {found[label]['all'] / total:6.3f}  {shares}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
