"""Why a sentence reads as an instruction: what `git mem scan --explain` shows of the injection detector."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.gate.detectors.injection import scorer
from gitmem.gate.detectors.injection.injection import judge, rule_of, severity_of
from gitmem.gate.detectors.text import Evidence, Text


def evidence(text: Text) -> Iterator[Evidence]:
    """For each unit above the warning line its parts and its score beside the scores from which it warns and blocks."""
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
