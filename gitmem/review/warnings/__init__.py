"""The warnings of a review, in the order of their sections: one module each, with `look(range) -> ReviewWarning`."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.review.warnings import changed_checks, file_sizes, gone_files, lost_answers, rival_facts
from gitmem.review.warnings.warning import Range, ReviewWarning

WARNINGS: tuple[Callable[[Range], ReviewWarning], ...] = (
    changed_checks.look,
    gone_files.look,
    rival_facts.look,
    lost_answers.look,
    file_sizes.look,
)
