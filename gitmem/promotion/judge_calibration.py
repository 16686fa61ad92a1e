"""What the numbers of a judge mean: labelled statements of the package, judged once by each model, and what follows.

Log-odds of one model say nothing beside another's, and a small model may know one language and not the next. So each
language has its own line from the model's number to the evidence for `keep`, learned by logistic regression from
statements whose answer is known; where a model tells them apart badly, it gives no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp, sqrt

from gitmem.models.judging import Rubric

TRUSTED = 0.85  # area under the curve from which a model is believed in a language
DISCOUNT = 0.6  # of the evidence: real logs are harder than these statements (bench/RESULTS.md, "Judges")
RIDGE = 1.0  # pull of the slope towards none
STEPS = 25  # of Newton's method, which needs about six
MAX_LOG_ODDS = 1.8  # log-odds that one judgement may weigh: 6 to 1


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled statement of the package."""

    language: str
    keep: bool
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """From a model's number to evidence, in one language. `area` is the area under the curve of the examples."""

    area: float
    slope: float
    offset: float

    @property
    def trusted(self) -> bool:
        """Whether the model is believed in this language at all."""
        return self.area >= TRUSTED

    def evidence(self, number: float) -> float:
        """The logarithm of how much likelier the number is of a statement to keep than of another."""
        if not self.trusted:
            return 0.0
        return max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, DISCOUNT * (self.slope * number + self.offset)))


LANGUAGES = {"en": "English", "ko": "Korean", "ja": "Japanese", "zh": "Chinese"}  # that there are examples of


@cache
def rubric(language: str) -> Rubric:
    """What a judge is told of statements in a language: small models judge best after examples in the same one."""
    examples = tuple((one.text, one.keep) for one in _examples("judge-examples.tsv") if one.language == language)
    return Rubric(_packaged("judge.txt").strip(), examples, "lasting", "passing")


@cache
def calibration(language: str) -> tuple[Example, ...]:
    """The statements that a model is calibrated on in a language: none of them is in its rubric."""
    return tuple(one for one in _examples("judge-calibration.tsv") if one.language == language)


def _examples(name: str) -> list[Example]:
    rows = (line.split("\t") for line in _packaged(name).splitlines())
    return [Example(language, label == "yes", text) for language, label, text in rows]


def scale(rows: Sequence[tuple[float, bool]]) -> Scale:
    """The scale of (number, keep) rows, as many to keep as not: logistic regression on standardised numbers (Platt)."""
    mean = sum(n for n, _ in rows) / len(rows)
    spread = sqrt(sum((n - mean) ** 2 for n, _ in rows) / len(rows)) or 1.0
    slope = offset = 0.0
    for _ in range(STEPS):
        gradient = [-RIDGE * slope, 0.0]
        aa, ab, bb = RIDGE, 0.0, 1e-6
        for number, kept in rows:
            x = (number - mean) / spread
            p = 1 / (1 + exp(-(slope * x + offset)))
            gradient[0] += (kept - p) * x
            gradient[1] += kept - p
            weight = p * (1 - p)
            aa, ab, bb = aa + weight * x * x, ab + weight * x, bb + weight
        over = aa * bb - ab * ab
        slope += (bb * gradient[0] - ab * gradient[1]) / over
        offset += (aa * gradient[1] - ab * gradient[0]) / over
    told_apart = area([number for number, kept in rows if kept], [number for number, kept in rows if not kept])
    return Scale(told_apart, slope / spread, offset - slope * mean / spread)


def area(more: Sequence[float], less: Sequence[float]) -> float:
    """The area under the curve: how often a number of `more` is the greater one; .5 is chance."""
    wins = sum((a > b) + 0.5 * (a == b) for a in more for b in less)
    return wins / max(1, len(more) * len(less))


def _packaged(name: str) -> str:
    return resources.files("gitmem.promotion").joinpath(f"prompts/{name}").read_text(encoding="utf-8")
