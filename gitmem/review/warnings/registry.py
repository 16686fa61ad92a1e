"""The warnings of a review, in the order of their sections: one module each, with `check(range) -> ReviewWarning`."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.review.warnings import (
    broken_claims,
    changed_checks,
    file_sizes,
    gone_files,
    lost_answers,
    rival_facts,
    unfounded_claims,
)
from gitmem.review.warnings.warning import Range, ReviewWarning

WARNINGS: tuple[Callable[[Range], ReviewWarning], ...] = (
    changed_checks.check,
    unfounded_claims.check,
    gone_files.check,
    broken_claims.check,
    rival_facts.check,
    lost_answers.check,
    file_sizes.check,
)
