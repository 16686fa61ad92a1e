"""What was worked out for an earlier page and still holds: each value with the key that it is of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

Value = TypeVar("Value")
ENTRIES = 32  # values that are kept; the one that was asked for longest ago goes first


class Kept:
    """The last values that were asked for. Safe between threads: one makes a value, others wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[tuple[str, Any, Any]] = []
        self._making: dict[str, threading.Lock] = {}

    def of(self, name: str, key: object, make: Callable[[], Value]) -> Value:
        """The value `name` of `key`, an immutable value that says all that it depends on; what `make` gives where that
        is not kept."""
        with self._lock:
            making = self._making.setdefault(name, threading.Lock())
        with making:
            if (found := self._cached(name, key)) is not None:
                return cast("Value", found[0])
            made = make()
            with self._lock:
                self._entries.append((name, key, made))
                del self._entries[:-ENTRIES]
        return made

    def has(self, name: str, key: object) -> bool:
        """Whether the value is kept now."""
        return self._cached(name, key) is not None

    def _cached(self, name: str, key: object) -> tuple[Any] | None:
        with self._lock:
            for at, (known, of, value) in enumerate(self._entries):
                if known == name and of == key:
                    self._entries.append(self._entries.pop(at))
                    return (value,)
        return None
