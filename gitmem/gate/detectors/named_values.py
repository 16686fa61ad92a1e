"""Finds settings with the name and the value in fields of their own: `- name: API_TOKEN` and below it `value: ...`.

Kubernetes, Docker, task definitions in JSON and many lists of properties have this form. Each pair is returned as the
line `API_TOKEN: "..."`, which the detectors of secrets and passwords read like any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from gitmem.gate.detectors.prefilter import places
from gitmem.lazy_patterns import lazy

_PAIR = lazy(
    r"(?<![\w-])[\"']?(?i:name|key|variable)[\"']?[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?P<name>[A-Za-z_][\w.-]{2,60})[\"']?[ \t]{0,3},?[ \t]{0,3}"
    r"(?:\r?\n[ \t]{0,40})?[\"']?(?i:value)[\"']?[ \t]{0,3}[:=][ \t]{0,3}(?P<quote>[\"']?)(?P<value>[!-~]{4,1024})"
)
_ASSIGNS = lazy(r"value[\"']?[ \t]{0,3}[:=]")
_NAMES = lazy(r"(?<![\w-])(?:name|key|variable)[\"']?[ \t]{0,3}[:=]")
_OF_A_FORM = lazy(r"(?i)csrf|xsrf|nonce|authenticity")
_BEFORE = 150  # characters before `value` in which its name is searched
_MAX_SETTINGS = 5_000  # words `value` of one text that are checked


class Setting(NamedTuple):
    """A setting as one line `NAME: "value"`. `inside`: offset of the value in the line. `start`: its offset in the
    text."""

    line: str
    inside: int
    start: int


@lru_cache(maxsize=4)
def settings(text: str, lowered: str) -> tuple[Setting, ...]:
    """The settings of a text whose name and value stand in fields of their own (`name: X`, `value: Y`). `lowered`: the
    text in lower case."""
    if "value" not in lowered:
        return ()
    return tuple(_settings(text, lowered))


def _settings(text: str, lowered: str) -> Iterator[Setting]:
    """The settings of a text in order, from at most _MAX_SETTINGS words `value`; tokens of web forms are left out."""
    searched_end = 0
    for number, offset in enumerate(places(lowered, ("value",))):
        if number == _MAX_SETTINGS:
            return
        start = max(searched_end, offset - _BEFORE)
        if offset < searched_end or not _ASSIGNS.match(lowered, offset) or not _NAMES.search(lowered, start, offset):
            continue
        match = _PAIR.search(text, start, offset + 1_100)
        if match is None or not match.start() < offset < match.start("value"):
            continue
        if _OF_A_FORM.search(match.group("name")):
            continue  # valid for one request only
        value, quote = match.group("value"), match.group("quote")
        if quote:
            if quote in value:
                value = value[: value.find(quote)]
        else:
            value = value.rstrip(",}])\"'")
        searched_end = match.start("value")
        yield Setting(f'{match.group("name")}: "{value}"\n', len(match.group("name")) + 3, match.start("value"))
