"""Secrets and personal data in prose: what the gate finds of them, and what it refuses of honest texts beside them.

`bench/hands_secrets.tsv` and `bench/hands_secrets2.tsv`, tab-separated: label (secret, personal, honest), in the second
the half (learn, report), family, language, text. Values in braces are made by `bench/_made_values.py`. In the first
only `\\n` is an escape; the second was written before its rules were read, split by family before it was scored, and
marks each value with ⟦ ⟧. Who reads a row to write a rule reports other rows only: the half `report` was never read for
one. A secret counts as found when it is blocked, personal data with any finding; an honest text counts as refused when
it is blocked. A span is exact when the findings cover the marked value and at most `BESIDE` characters more.

`bench/hands_secrets3.tsv` has the form of the second: a team's notes and chat in Korean and English mixed; its halves
are `learn-notes` and `report-notes`.

    python -m bench gate_secrets [--missed [learn|report|first|learn-notes|report-notes]]
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from bench._made_values import fill  # noqa: E402
from gitmem.gate.detectors.finding import Severity  # noqa: E402
from gitmem.gate.policy import Policy  # noqa: E402
from gitmem.gate.redaction import redact  # noqa: E402
from gitmem.gate.scan import scan_text  # noqa: E402

BESIDE = 2  # quotation marks are of a value or not
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", "\\": "\\"}


class Row(NamedTuple):
    """One text, and where in it the marked values are (characters, half-open)."""

    label: str
    part: str
    family: str
    language: str
    text: str
    values: tuple[tuple[int, int], ...] = ()


def _unmarked(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text without ⟦ and ⟧, and the places between them."""
    plain, values, opened = "", [], 0
    for sign in text:
        if sign == "⟦":
            opened = len(plain)
        elif sign == "⟧":
            values.append((opened, len(plain)))
        else:
            plain += sign
    return plain, tuple(values)


def first() -> list[Row]:
    """The rows of the first set, their values made. Raises ValueError for a line of another form."""
    found = []
    for number, line in enumerate((HERE / "hands_secrets.tsv").read_text(encoding="utf-8").splitlines(), 1):
        try:
            label, family, language, text = line.split("\t")
        except ValueError:
            raise ValueError(f"hands_secrets.tsv:{number}: four columns are needed") from None
        found.append(Row(label, "first", family, language, fill(text.replace("\\n", "\n"), number)))
    return found


def in_halves(name: str, suffix: str = "") -> list[Row]:
    """The rows of a set in halves, their values made; `suffix` goes behind a half's name.

    Raises ValueError for a line of another form.
    """
    found = []
    for number, line in enumerate((HERE / name).read_text(encoding="utf-8").splitlines(), 1):
        try:
            label, half, family, language, text = line.split("\t")
        except ValueError:
            raise ValueError(f"{name}:{number}: five columns are needed") from None
        made = fill(_ESCAPE.sub(lambda m: _ESCAPED.get(m[1], m[0]), text), number)
        found.append(Row(label, half + suffix, family, language, *_unmarked(made)))
    return found


class Tally:
    """Counts of one part's texts, by label and by family or language."""

    def __init__(self) -> None:
        self.texts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.blocked: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.values = self.exact = self.left = 0

    def table(self, part: str) -> None:
        for label, count in self.texts.items():
            counted = self.found[label] if label == "personal" else self.blocked[label]
            shares = ", ".join(f"{key} {counted[key] / count[key]:.3f}" for key in count if key != "all")
            total = count["all"]
            share, any_share = self.blocked[label]["all"] / total, self.found[label]["all"] / total
            print(f"{part:12} {label:9} {total:5} {share:8.3f} {any_share:6.3f}  {shares}")
        if self.values:
            print(f"{part:12} spans exact {self.exact} of {self.values} found values ({self.exact / self.values:.3f})")
        print(f"{part:12} texts in which something is found after redact: {self.left}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--missed", nargs="?", const="learn", choices=["learn", "report", "first", "learn-notes", "report-notes"]
    )
    options = parser.parse_args()
    policy = Policy()
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for row in [*first(), *in_halves("hands_secrets2.tsv"), *in_halves("hands_secrets3.tsv", "-notes")]:
        tally = tallies[row.part]
        findings = scan_text(row.text, "memory/note.md", policy)
        stops = any(finding.severity is Severity.BLOCK for finding in findings)
        for key in ("all", row.family, row.language):
            tally.texts[row.label][key] += 1
            tally.found[row.label][key] += bool(findings)
            tally.blocked[row.label][key] += stops
        inexact = 0
        for start, end in row.values:
            touching = [(f.start, f.end) for f in findings if f.start < end and f.end > start]
            if touching:
                low, high = min(s for s, _ in touching), max(e for _, e in touching)
                inside = [value for value in row.values if value[0] < high and value[1] > low]  # the halves of one
                first_sign, last_sign = inside[0][0], inside[-1][1]
                good = abs(first_sign - low) <= BESIDE and abs(high - last_sign) <= BESIDE
                tally.values += 1
                tally.exact += good
                inexact += not good
        wrong = {"honest": stops, "secret": not stops, "personal": not findings}[row.label]
        if findings and row.label != "honest":
            tally.left += bool(scan_text(redact(row.text, "memory/note.md", policy), "memory/note.md", policy))
        if (wrong or inexact) and options.missed == row.part:
            why = "wrong" if wrong else "span"
            rules = [(finding.rule, row.text[finding.start : finding.end]) for finding in findings]
            print(why, row.label, row.family, row.language, rules, repr(row.text))
    print("part         label     texts  blocked  found  by family and language")
    print("of each: secret and honest blocked, personal found")
    for part, tally in tallies.items():
        tally.table(part)
    return 0


if __name__ == "__main__":
    sys.exit(main())
