"""`git mem bisect`: finds the commit at which search began or ceased to find an expected answer.

Each commit that is tried is searched in the index, as `git mem search --at` does; nothing is checked out. The result
names the commit; the caller shows what changed in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitmem.search.hits import Hit

SPREAD = 16  # parts of the history whose borders are tried when no doubled distance finds a change


class AnswerChange(NamedTuple):
    """The change of the answer. `at`: the commit that changed it; `before`: the commit before; both "" when all commits
    that were tried answer alike. `ranks`: commit -> rank of the answer, from 1, 0 when it is not found."""

    at: str
    before: str
    ranks: dict[str, int]


def last_answer_change(commits: Sequence[str], rank: Callable[[str], int]) -> AnswerChange:
    """Find a commit at which search began or ceased to find an answer. `commits`: the newest first. `rank`: returns the
    rank of the answer at a commit, 0 for none; it is called at most once for each commit. `at` and `before` of the
    result are "" if no change is found.

    Goes back from the newest commit at doubled distances until the answer differs, then halves the range. Of several
    changes in that range it finds any one; a change that was reverted between two tries is not seen.
    """
    ranks: dict[str, int] = {}

    def is_answered(index: int) -> bool:
        if commits[index] not in ranks:
            ranks[commits[index]] = rank(commits[index])
        return ranks[commits[index]] > 0

    if not commits:
        return AnswerChange("", "", ranks)
    answered, oldest = is_answered(0), len(commits) - 1
    same, other = 0, 0  # indices: the oldest commit known to answer as the newest does, one that answers otherwise
    while not other and same < oldest:
        index = min(2 * same + 1, oldest)
        if is_answered(index) == answered:
            same = index
        else:
            other = index
    if not other:
        spread = sorted({oldest * part // SPREAD for part in range(1, SPREAD)})
        other = next((index for index in spread if is_answered(index) != answered), 0)
        same = max((index for index in spread if index < other), default=0)
    if not other:
        return AnswerChange("", "", ranks)
    while other - same > 1:
        middle = (same + other) // 2
        if is_answered(middle) == answered:
            same = middle
        else:
            other = middle
    return AnswerChange(commits[same], commits[other], ranks)


def rank_of_text(hits: Sequence[Hit], expected: str) -> int:
    """The rank (from 1) of the first hit whose text and sources contain `expected`; 0 for none. Case and the length of
    white space do not matter."""
    wanted = _folded(expected)
    return next((place for place, hit in enumerate(hits, 1) if wanted in _folded(hit.text_with_sources)), 0)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
