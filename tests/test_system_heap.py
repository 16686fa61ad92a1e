"""What the C library is asked for is done or not, and is never an error."""

from __future__ import annotations

import ctypes
import sys

import pytest

from gitmem import system


def test_memory_is_given_back_where_the_library_can(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[tuple[str, tuple[int, ...]]] = []

    class Library:
        def __getattr__(self, name: str) -> object:
            return lambda *given: called.append((name, given))

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Library())
    system.use_one_heap_arena()
    system.return_free_heap()
    assert called == [("mallopt", (-8, 1)), ("malloc_trim", (0,))]


@pytest.mark.parametrize("problem", [OSError, TypeError, AttributeError])
def test_another_library_is_left_alone(monkeypatch: pytest.MonkeyPatch, problem: type[Exception]) -> None:
    def refuse(name: None) -> object:
        raise problem

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    system.return_free_heap()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's")
def test_the_library_of_this_machine_is_asked() -> None:
    system.return_free_heap()
