"""Patterns compiled on first use behave as compiled ones."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import re

import pytest

import gitmem.gate.detectors
from gitmem.gate.detectors.lazy_patterns import _Lazy, lazy


def test_a_lazy_pattern_is_the_pattern() -> None:
    pattern = lazy("A(b+)", re.IGNORECASE)
    assert pattern.search("xABB").span(1) == (2, 4)  # type: ignore[union-attr]
    assert [m.group() for m in pattern.finditer("ab abb")] == ["ab", "abb"]
    assert (pattern.pattern, pattern.groups) == ("A(b+)", 1)
    assert pickle.loads(pickle.dumps(pattern)).match("ab")


def test_a_wrong_pattern_is_told_when_used() -> None:
    with pytest.raises(re.error):
        lazy("(").search("x")


def test_every_pattern_of_the_detectors_compiles() -> None:
    found = 0
    for module in pkgutil.walk_packages(gitmem.gate.detectors.__path__, "gitmem.gate.detectors."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, _Lazy):
                assert value.search
                found += 1
    assert found > 100
