"""Settles two code citations of one fact after a merge, when each side confirmed the fact with its own citation of the
same code.

The citation whose lines are in the merged code file is kept, the other is removed. Both are kept when both or neither
of them hold, or when the code file is not known.
"""

from __future__ import annotations

from collections.abc import Callable

from gitmem.claims.citations import KEY, is_unchanged_in, parse
from gitmem.memory import facts
from gitmem.memory.fact import values_of

Contents = Callable[[str], bytes | None]  # path of a code file -> its merged bytes, None when they are not known


def without_rival_citations(merged: bytes, base: bytes, ours: bytes, theirs: bytes, contents: Contents) -> bytes:
    """The memory file `merged` without the citations that lose against the other side's. `base`, `ours`, `theirs`: the
    versions that were merged."""
    base_values, our_values, their_values = (_citations(data) for data in (base, ours, theirs))
    only_ours, only_theirs = our_values - base_values - their_values, their_values - base_values - our_values
    if not (only_ours and only_theirs):
        return merged
    memory = facts.parse(merged)
    for number in reversed(range(len(memory.entries))):
        entry = memory.entries[number]
        values = {value for key, value in entry.fact.meta if key == KEY}
        losers = {
            _loser(ours_value, theirs_value, contents)
            for ours_value in values & only_ours
            for theirs_value in values & only_theirs
        }
        losers.discard("")
        if losers:
            meta = [pair for pair in entry.fact.meta if pair[0] != KEY or pair[1] not in losers]
            memory = facts.with_comment(memory, entry, meta)
    return memory.data()


def _citations(data: bytes) -> frozenset[str]:
    return frozenset(value for fact in facts.parse(data).facts for value in values_of(fact.meta, KEY))


def _loser(mine: str, yours: str, contents: Contents) -> str:
    """The one of two citations of the same code that does not hold in its file; "" when both or neither hold, they cite
    different code, or the file is not known."""
    a, b = parse(mine), parse(yours)
    if a is None or b is None or (a.path, a.symbol) != (b.path, b.symbol):
        return ""
    data = contents(a.path)
    if data is None:
        return ""
    one_holds, other_holds = is_unchanged_in(a, data), is_unchanged_in(b, data)
    if one_holds == other_holds:
        return ""
    if one_holds:
        return yours
    return mine
