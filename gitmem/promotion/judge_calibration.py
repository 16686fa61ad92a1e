"""The calibration of a judge: turns its numbers into evidence, by labelled statements that the package contains.

The log-odds of two models cannot be compared, and a small model may know one language and not another. For each model
and language a logistic regression learns the evidence from statements whose answer is known. A model that tells these
apart badly gives no evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp, sqrt

from gitmem.models.judging import Rubric

MIN_AREA = 0.85  # area under the curve from which a model gives evidence in a language
DISCOUNT = 0.6  # factor of the evidence: real logs are harder than these statements (bench/RESULTS.md, "Judges")
RIDGE = 1.0  # penalty of the slope
STEPS = 25  # steps of Newton's method, which needs about six
MAX_LOG_ODDS = 1.8  # evidence of one judgement, at most: 6 to 1


@dataclass(frozen=True, slots=True)
class Example:
    """A statement of the package whose answer is known. `language`: "en", "ko", "ja" or "zh". `keep`: whether it is one
    to keep."""

    language: str
    keep: bool
    text: str


@dataclass(frozen=True, slots=True)
class Scale:
    """Turns the numbers of a model into evidence, in one language.

    `area`: area under the curve of the examples. `slope`, `offset`: the line from a number to log-odds. The evidence is
    at most MAX_LOG_ODDS either way, and 0 if `area` is below MIN_AREA.
    """

    area: float
    slope: float
    offset: float

    @property
    def trusted(self) -> bool:
        """Whether the model tells the examples of this language apart well enough (`area`) to give evidence at all."""
        return self.area >= MIN_AREA

    def evidence(self, number: float) -> float:
        """The log-odds that a statement is one to keep, at most MAX_LOG_ODDS either way; 0 for a model that is not
        trusted. `number`: what the judge gave for the statement."""
        if not self.trusted:
            return 0.0
        return max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, DISCOUNT * (self.slope * number + self.offset)))


LANGUAGES = {"en": "English", "ko": "Korean", "ja": "Japanese", "zh": "Chinese"}  # languages with examples


@cache
def rubric(language: str) -> Rubric:
    """The instructions for a judge, with labelled examples in the language: small models judge best after such
    examples."""
    examples = [example for example in _examples("judge-examples.tsv") if example.language == language]
    rows = tuple((example.text, example.keep) for example in examples)
    return Rubric(_packaged("judge.txt").strip(), rows, "lasting", "passing")


@cache
def calibration(language: str) -> tuple[Example, ...]:
    """The statements by which a model is calibrated in a language. None of them is in the rubric."""
    return tuple(example for example in _examples("judge-calibration.tsv") if example.language == language)


def _examples(name: str) -> list[Example]:
    """The labelled statements of a file of the package."""
    rows = (line.split("\t") for line in _packaged(name).splitlines())
    return [Example(language, label == "yes", text) for language, label, text in rows]


def fit_scale(rows: Sequence[tuple[float, bool]]) -> Scale:
    """Fit the scale to (number of the judge, whether the statement is to be kept) rows, at least one, of which half are
    to keep: logistic regression on standardised numbers (Platt scaling)."""
    mean = sum(number for number, _ in rows) / len(rows)
    spread = sqrt(sum((number - mean) ** 2 for number, _ in rows) / len(rows)) or 1.0
    slope = offset = 0.0
    for _ in range(STEPS):
        gradient = [-RIDGE * slope, 0.0]
        aa, ab, bb = RIDGE, 0.0, 1e-6
        for number, kept in rows:
            standardised = (number - mean) / spread
            probability = 1 / (1 + exp(-(slope * standardised + offset)))
            gradient[0] += (kept - probability) * standardised
            gradient[1] += kept - probability
            weight = probability * (1 - probability)
            aa, ab, bb = aa + weight * standardised * standardised, ab + weight * standardised, bb + weight
        determinant = aa * bb - ab * ab
        slope += (bb * gradient[0] - ab * gradient[1]) / determinant
        offset += (aa * gradient[1] - ab * gradient[0]) / determinant
    separation = area_under_curve(
        [number for number, kept in rows if kept], [number for number, kept in rows if not kept]
    )
    return Scale(separation, slope / spread, offset - slope * mean / spread)


def area_under_curve(more: Sequence[float], less: Sequence[float]) -> float:
    """The area under the curve: the share of pairs in which the number of `more` is greater; equal numbers count half.
    0.5 is chance. 0 when one of them is empty."""
    wins = sum((a > b) + 0.5 * (a == b) for a in more for b in less)
    return wins / max(1, len(more) * len(less))


def _packaged(name: str) -> str:
    return resources.files("gitmem.promotion").joinpath(f"prompts/{name}").read_text(encoding="utf-8")
