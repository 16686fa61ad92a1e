"""Tiny detectors with known behaviour: the scan flow is tested apart from what real ones find."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from gitmem.gate.detectors import registry
from gitmem.gate.detectors.finding import Severity
from gitmem.gate.detectors.text import Match, Text

TOKEN = re.compile(r"tok_[a-z0-9]{4,}")
PASSWORD = re.compile(r"(?<=password: )\S+")


def tokens(text: Text) -> Iterator[Match]:
    for found in TOKEN.finditer(text.raw):
        yield Match("fake-token", Severity.BLOCK, *found.span(), "a token", secret=True)


def passwords(text: Text) -> Iterator[Match]:
    for found in PASSWORD.finditer(text.raw):
        if not found.group().startswith("[redacted"):
            yield Match("password-note", Severity.BLOCK, *found.span(), "a password", secret=True)


def orders(text: Text) -> Iterator[Match]:
    for found in re.finditer("obey me", text.norm):
        severity = Severity.WARN if text.scope == "instructions" else Severity.BLOCK
        yield Match("fake-order", severity, *text.to_raw(*found.span()), "an order")


def broken(text: Text) -> Iterator[Match]:
    if "boom" in text.raw:
        raise ValueError(text.raw)
    return iter(())


def everything(text: Text) -> Iterator[Match]:
    yield Match("everything", Severity.BLOCK, 0, len(text.raw), "it", secret=True)


def use(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make the named functions of this module the only detectors."""
    table = {}
    for name in names:
        module = ModuleType(f"fake_detector_{name}")
        module.detect = globals()[name]  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, module.__name__, module)
        table[name] = registry.Detector(module.__name__)
    monkeypatch.setattr(registry, "DETECTORS", table)
