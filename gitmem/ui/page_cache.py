"""A cache of values that were computed for earlier pages, each with the key that it depends on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

Value = TypeVar("Value")
MAX_ENTRIES = 32  # the least recently used value is dropped first


class PageCache:
    """The MAX_ENTRIES most recently used values. Thread-safe: one thread computes a value while others wait for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._entries: list[tuple[str, Any, Any]] = []
        self._making: dict[str, threading.Lock] = {}

    def get(self, name: str, key: object, make: Callable[[], Value]) -> Value:
        """The cached value of `name` for `key`, else the result of `make`, which is cached. `key`: an immutable value
        with everything that the result depends on. If `make` raises, its error is raised and nothing is cached. Two
        calls with one name wait for each other."""
        with self._lock:
            making = self._making.setdefault(name, threading.Lock())
        with making:
            if (cached := self._cached(name, key)) is not None:
                return cast("Value", cached[0])
            value = make()
            with self._lock:
                self._entries.append((name, key, value))
                del self._entries[:-MAX_ENTRIES]
        return value

    def has(self, name: str, key: object) -> bool:
        """Whether the value of `name` for `key` is cached; if so, it becomes the most recently used one."""
        return self._cached(name, key) is not None

    def _cached(self, name: str, key: object) -> tuple[Any] | None:
        """(value,), which becomes the most recently used entry; None when it is not cached."""
        with self._lock:
            for number, (entry_name, entry_key, value) in enumerate(self._entries):
                if entry_name == name and entry_key == key:
                    self._entries.append(self._entries.pop(number))
                    return (value,)
        return None
