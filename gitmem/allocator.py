"""The memory of the C library in this process, where that is glibc: for processes that live long. Elsewhere nothing is
done."""

from __future__ import annotations

from typing import Any

ARENA_MAX = -8  # M_ARENA_MAX in glibc's malloc.h


def one_arena() -> None:
    """Have threads that are still to come share one arena: of ours one runs at a time."""
    _call("mallopt", ARENA_MAX, 1)


def give_back() -> None:
    """Give back to the system what is free within the heap: it is as large as it ever had to be, else."""
    _call("malloc_trim", 0)


def _call(name: str, *given: Any) -> None:
    import ctypes

    try:
        function = getattr(ctypes.CDLL(None), name)
    except (OSError, TypeError, AttributeError):
        return
    function(*given)
