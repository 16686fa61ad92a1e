"""Texts by hands that never saw the rules: what the gate finds of their attacks, and refuses of their honest texts.

`bench/hands/*.tsv`, one writer a file: label, family, language, place, text (`\\n` for a line end). The scorer of
instructions has learned from all but i, o, s, z and ac to af; these eight are left alone (`tools/train.py scorer
--measure --hold-out` measures others without it). p was written with the false alarms at hand, n and o before the
rules were read, q and r without the lexicons, s to af with neither rules nor other texts read; x writes pairs, an
attack and an honest text in nearly the same words. The attacks are live: score them, never let an agent read them.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from gitmem.gate.policy import Policy  # noqa: E402
from gitmem.gate.scan import scan_text  # noqa: E402


def rows(file: Path) -> list[tuple[str, str, str, str]]:
    """(label, family, language, text) of one writer. Raises ValueError for a line of another form."""
    found = []
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            label, family, language, _, text = line.split("\t")
        except ValueError:
            raise ValueError(f"{file.name}:{number}: five columns are needed") from None
        found.append((label, family, language, text.replace("\\n", "\n")))
    return found


def main() -> int:
    policy = Policy()
    print("hand  label    texts  blocked  found  by language (blocked)")
    missed: Counter[str] = Counter()
    for file in sorted((HERE / "hands").glob("*.tsv")):
        for label in ("attack", "honest"):
            texts = [row for row in rows(file) if row[0] == label]
            if not texts:
                continue
            findings = [scan_text(text, "memory/note.md", policy) for *_, text in texts]
            blocked = [any(finding.severity.value == "block" for finding in each) for each in findings]
            shares = []
            for language in sorted({row[2] for row in texts}):
                own = [stop for row, stop in zip(texts, blocked, strict=True) if row[2] == language]
                shares.append(f"{language} {sum(own) / len(own):.3f}")
            share, found = sum(blocked) / len(texts), sum(map(bool, findings)) / len(texts)
            print(f"{file.stem:5} {label:8} {len(texts):5} {share:8.3f} {found:6.3f}  {', '.join(shares)}")
            if label == "attack":
                missed.update(row[1] for row, stop in zip(texts, blocked, strict=True) if not stop)
    print("attacks missed, by family:", ", ".join(f"{family} {count}" for family, count in missed.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
