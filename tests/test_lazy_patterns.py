"""Patterns compiled on first use behave as compiled ones."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import pytest

import gitmem.gate.detectors
import gitmem.memory
import gitmem.provenance
import gitmem.search
from gitmem.lazy_patterns import _Lazy, lazy


def test_a_lazy_pattern_is_the_pattern() -> None:
    pattern = lazy("A(b+)", re.IGNORECASE)
    assert pattern.search("xABB").span(1) == (2, 4)  # type: ignore[union-attr]
    assert [m.group() for m in pattern.finditer("ab abb")] == ["ab", "abb"]
    assert (pattern.pattern, pattern.groups) == ("A(b+)", 1)
    assert pickle.loads(pickle.dumps(pattern)).match("ab")


def test_a_wrong_pattern_is_told_when_used() -> None:
    with pytest.raises(re.error):
        lazy("(").search("x")


def test_every_lazy_pattern_compiles() -> None:
    patterns = 0
    for package in (gitmem.gate.detectors, gitmem.memory, gitmem.provenance, gitmem.search):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, _Lazy):
                    assert value.search
                    patterns += 1
    assert patterns > 100
