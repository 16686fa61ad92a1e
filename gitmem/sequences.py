"""Compares sequences. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress, count
from operator import ne


def equal_at_start(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of equal items at the beginning of both, counted without a Python step for each item."""
    return next(compress(count(), map(ne, first, second)), min(len(first), len(second)))


def longest_rising(numbers: Sequence[int]) -> list[int]:
    """The ascending indices of a longest strictly increasing subsequence (patience sorting, n log n). Of several
    longest ones it is one that ends at the lowest number."""
    tails: list[int] = []  # the last number of each pile
    indices: list[int] = [-1]  # before the first pile, then the index of the last number of each pile
    previous: list[int] = []  # for each number, the index of its predecessor in the subsequence, -1 for none
    for index, number in enumerate(numbers):
        pile = bisect_left(tails, number)
        previous.append(indices[pile])
        tails[pile : pile + 1] = [number]
        indices[pile + 1 : pile + 2] = [index]
    indices_descending = []
    index = indices[-1]
    while index >= 0:
        indices_descending.append(index)
        index = previous[index]
    return indices_descending[::-1]
