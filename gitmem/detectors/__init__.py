"""The detectors, by name: each is one module with `detect(text)` and `EXAMPLES`.

Adding one is a file, a line here, its examples and a heading in docs/detectors.md. A detector is imported
only when it is asked for. It is pure: text in, matches out; what a match means for a commit is the scan
flow's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module

from gitmem.detectors.text import Examples, Match, Scope, Text

__all__ = ["DETECTORS", "ON_REQUEST", "Examples", "Match", "Scope", "Text", "examples", "load", "run"]

DETECTORS: dict[str, str] = {
    "secrets": "gitmem.detectors.secrets",
    "passwords": "gitmem.detectors.passwords",
    "cookies": "gitmem.detectors.cookies",
    "pii": "gitmem.detectors.pii",
    "injection": "gitmem.detectors.injection",
    "invisible": "gitmem.detectors.invisible",
    "hidden": "gitmem.detectors.hidden",
    "encoded": "gitmem.detectors.encoded",
    "exfiltration": "gitmem.detectors.exfiltration",
    "terminal": "gitmem.detectors.terminal",
    "conflict": "gitmem.detectors.conflict",
    "frontmatter": "gitmem.detectors.frontmatter",
}

ON_REQUEST: dict[str, str] = {"plugins": "gitmem.detectors.plugins"}  # never in a hook, see there


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


def run(text: Text, names: Iterable[str]) -> list[Match]:
    """All matches of the named detectors in order of place, the same find of the same rule once.

    An exception of a detector is not caught here: a gate that cannot look must not say "clean".
    """
    found = {match for name in names for match in load(name)(text)}
    return sorted(found, key=lambda match: (match.start, match.end, match.rule, match.message))
