"""The commit at which a question's answer was lost or won: bisection over snapshots of the index.

Checks nothing out: each commit that is tried is searched as `--at` searches it. Says which commit it was, not why; what
changed in it is for the caller to show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gitmem.search.hits import Hit

SPREAD = 16  # commits at even distances that are tried where no doubled distance met another answer


class Turn(NamedTuple):
    """Where the answer changed: `at` is the commit since which it is as at the newest one, `before` the one before it;
    both "" where every commit that was tried answers alike. `ranks` is commit -> place of the answer, 0 for none."""

    at: str
    before: str
    ranks: dict[str, int]


def last_turn(commits: Sequence[str], rank: Callable[[str], int]) -> Turn:
    """The last change of `rank` between an answer and none in `commits`, newest first, each tried once at most.

    From the newest on distances double until one answers otherwise, then halves are tried: of several changes within
    the last doubling any one may be found, and one that was taken back between two tries is not seen.
    """
    ranks: dict[str, int] = {}

    def answers(at: int) -> bool:
        if commits[at] not in ranks:
            ranks[commits[at]] = rank(commits[at])
        return ranks[commits[at]] > 0

    if not commits:
        return Turn("", "", ranks)
    newest, last = answers(0), len(commits) - 1
    same, other = 0, 0
    while not other and same < last:
        at = min(2 * same + 1, last)
        if answers(at) == newest:
            same = at
        else:
            other = at
    if not other:
        spread = sorted({last * part // SPREAD for part in range(1, SPREAD)})
        other = next((at for at in spread if answers(at) != newest), 0)
        same = max((at for at in spread if at < other), default=0)
    if not other:
        return Turn("", "", ranks)
    while other - same > 1:
        middle = (same + other) // 2
        if answers(middle) == newest:
            same, other = (middle, other)
        else:
            same, other = (same, middle)
    return Turn(commits[same], commits[other], ranks)


def place_of(hits: Sequence[Hit], expected: str) -> int:
    """The place (from 1) of the first hit that has the expected text, whatever its case and spaces; 0 for none."""
    wanted = _plain(expected)
    return next((place for place, hit in enumerate(hits, 1) if wanted in _plain(hit.whole)), 0)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
