"""The programs of tools/ that make what this detector learned."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest

from tests.harness import SOURCE


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A program of tools/ by its name, imported anew."""
    monkeypatch.syspath_prepend(str(SOURCE / "tools"))

    def imported(name: str) -> ModuleType:
        monkeypatch.delitem(sys.modules, name, raising=False)
        module = import_module(name)
        monkeypatch.setitem(sys.modules, name, module)  # its processes find the functions by that name
        return module

    return imported
