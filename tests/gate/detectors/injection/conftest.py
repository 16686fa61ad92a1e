"""The modules of tools/training that make what this detector learned."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType

import pytest

from tests.harness import SOURCE


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """A module of tools/training by its name, imported anew."""
    monkeypatch.syspath_prepend(str(SOURCE))

    def imported(name: str) -> ModuleType:
        whole = f"tools.training.{name}"
        monkeypatch.delitem(sys.modules, whole, raising=False)
        module = import_module(whole)
        monkeypatch.setitem(sys.modules, whole, module)  # its processes find the functions by that name
        return module

    return imported
