"""The detectors, by name: each is one module with `detect(text)` and `EXAMPLES`.

A detector is imported only when it is asked for. It is pure: text in, matches out; `gate/examine.py` decides what a
match means for a commit. docs/contributing.md says what else a new detector needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module

from gitmem.gate.detectors.text import Evidence, Examples, Match, Scope, Text

__all__ = [
    "DETECTORS",
    "EVIDENCE",
    "ON_REQUEST",
    "Evidence",
    "Examples",
    "Match",
    "Scope",
    "Text",
    "evidence",
    "examples",
    "load",
    "run",
]

DETECTORS: dict[str, str] = {
    "secrets": "gitmem.gate.detectors.secrets.secrets",
    "passwords": "gitmem.gate.detectors.secrets.passwords",
    "cookies": "gitmem.gate.detectors.secrets.cookies",
    "pii": "gitmem.gate.detectors.personal.pii",
    "injection": "gitmem.gate.detectors.injection.injection",
    "invisible": "gitmem.gate.detectors.injection.invisible_characters",
    "hidden": "gitmem.gate.detectors.injection.hidden_text",
    "encoded": "gitmem.gate.detectors.injection.encoded_text",
    "exfiltration": "gitmem.gate.detectors.injection.exfiltration",
    "terminal": "gitmem.gate.detectors.terminal",
    "conflict": "gitmem.gate.detectors.conflict",
    "frontmatter": "gitmem.gate.detectors.frontmatter",
}

ON_REQUEST: dict[str, str] = {"plugins": "gitmem.gate.detectors.secrets.detect_secrets"}  # never in a hook, see there

# Detectors that can say what they weighed: a module with `evidence(text)`. Of the others the message says it.
EVIDENCE: dict[str, str] = {"injection": "gitmem.gate.detectors.injection.evidence"}


def load(name: str) -> Callable[[Text], Iterator[Match]]:
    """The `detect` function of a detector. KeyError for a name that is not registered."""
    return _detect_of(DETECTORS.get(name) or ON_REQUEST[name])


@cache
def _detect_of(module: str) -> Callable[[Text], Iterator[Match]]:
    detect: Callable[[Text], Iterator[Match]] = import_module(module).detect
    return detect


def examples(name: str) -> dict[str, Examples]:
    """Rule id -> its examples."""
    table: dict[str, Examples] = import_module((DETECTORS | ON_REQUEST)[name]).EXAMPLES
    return table


def evidence(text: Text) -> Iterator[Evidence]:
    """What the detectors weighed in a text, in order of place; an exception of one is not caught here."""
    weighed = [each for module in EVIDENCE.values() for each in import_module(module).evidence(text)]
    yield from sorted(weighed, key=lambda each: (each.start, each.end, each.rule))


def run(text: Text, names: Iterable[str]) -> list[Match]:
    """All matches of the named detectors in order of place, the same find of the same rule once.

    An exception of a detector is not caught here: a gate that cannot look must not say "clean".
    """
    matches = {match for name in names for match in load(name)(text)}
    return sorted(matches, key=lambda match: (match.start, match.end, match.rule, match.message))
