"""Two confirmations of one fact that met in a merge: of the citations that both sides wrote for the same code, the one
whose lines stand in the merged file is kept. Where both stand, neither does, or the file is not known, both are kept.
"""

from __future__ import annotations

from collections.abc import Callable

from gitmem.claims.citations import KEY, holds_in, parse
from gitmem.memory import facts

Contents = Callable[[str], bytes | None]  # path -> the merged file, None where it is not known


def settled(merged: bytes, base: bytes, ours: bytes, theirs: bytes, contents: Contents) -> bytes:
    """The merged memory file without the rival citations that do not hold."""
    before, mine, yours = (_citations(data) for data in (base, ours, theirs))
    only_mine, only_yours = mine - before - yours, yours - before - mine
    if not (only_mine and only_yours):
        return merged
    memory = facts.parse(merged)
    for at in range(len(memory.entries) - 1, -1, -1):
        entry = memory.entries[at]
        values = [value for key, value in entry.fact.meta if key == KEY]
        lost = {
            rival
            for value in values
            for other in values
            if value in only_mine and other in only_yours
            for rival in _lost(value, other, contents)
        }
        if lost:
            meta = [pair for pair in entry.fact.meta if pair[0] != KEY or pair[1] not in lost]
            memory = facts.with_comment(memory, entry, meta)
    return memory.data()


def _citations(data: bytes) -> frozenset[str]:
    return frozenset(value for fact in facts.parse(data).facts for key, value in fact.meta if key == KEY)


def _lost(value: str, other: str, contents: Contents) -> list[str]:
    """Of two citations of the same lines, the one that the file contradicts, if the file supports the other."""
    a, b = parse(value), parse(other)
    if a is None or b is None or (a.path, a.symbol) != (b.path, b.symbol):
        return []
    data = contents(a.path)
    if data is None:
        return []
    first, second = holds_in(a, data), holds_in(b, data)
    if first == second:
        return []
    if first:
        return [other]
    return [value]
