"""The evidence of the injection detector for `git mem scan --explain`: why a sentence reads as an instruction."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.gate.detectors.injection import scorer
from gitmem.gate.detectors.injection.injection import rule_of, severity_of
from gitmem.gate.detectors.injection.sentence_judge import judge
from gitmem.gate.detectors.text import Evidence, Text


def evidence(text: Text) -> Iterator[Evidence]:
    """For each sentence that `judge` reports: its concepts, its score, the two thresholds and its severity
    (`severity_of`), which in a file of instructions is mostly a warning, even for a score that blocks elsewhere."""
    learned = scorer.load()
    for verdict in judge(text):
        values = (
            ("parts", " + ".join(part.value for part in verdict.parts)),
            ("score", round(verdict.score, 3)),
            ("warns from", round(learned.warn, 3)),
            ("blocks from", round(learned.block, 3)),
            ("severity", severity_of(verdict, text.scope).value),
        )
        yield Evidence(rule_of(verdict), *text.to_raw(verdict.start, verdict.end), values)
