"""Finds conflict markers that a merge left behind. A setext heading of seven `=` is none; a complete conflict
inside a fence only warns."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gitmem.gate.detectors.code_fences import fenced
from gitmem.gate.detectors.text import Examples, Match, Severity, Text
from gitmem.lazy_patterns import lazy

_OURS = lazy(r"^<{7}(?: .*)?\r?$", re.M)
_THEIRS = lazy(r"^>{7}(?: .*)?\r?$", re.M)
_BETWEEN = lazy(r"^={7}\r?$", re.M)


def detect(text: Text) -> Iterator[Match]:
    """A match for each line `<<<<<<<` or `>>>>>>>`, alone or with a blank and more behind it; for a line `=======` only
    between them. A whole conflict that a fenced block shows only warns."""
    raw = text.raw
    if "<<<<<<<" not in raw and ">>>>>>>" not in raw:
        return
    ours, theirs = list(_OURS.finditer(raw)), list(_THEIRS.finditer(raw))
    marks = [*ours, *theirs]
    if ours and theirs:
        marks += [m for m in _BETWEEN.finditer(raw) if ours[0].start() < m.start() < theirs[-1].start()]
    shown = [(start, end) for start, end in fenced(raw) if _is_whole(raw, start, end)]
    for match in sorted(marks, key=re.Match.start):
        severity = Severity.of(blocks=not any([start < match.start() < end for start, end in shown]))
        yield Match("conflict-marker", severity, *match.span(), "a conflict marker: finish the merge first")


def _is_whole(raw: str, start: int, end: int) -> bool:
    """Whether start..end holds as many ends of conflicts as beginnings, at least one."""
    begun = len(_OURS.findall(raw, start, end))
    return begun > 0 and begun == len(_THEIRS.findall(raw, start, end))


EXAMPLES: dict[str, Examples] = {
    "conflict-marker": Examples(
        flag=(
            "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> topic",
            "- 결정\n<<<<<<< HEAD\n- 가\n=======\n- 나\n>>>>>>> 가지",
            "<<<<<<< HEAD\n```\none\n=======\ntwo\n>>>>>>> topic\n```",
        ),
        allow=("Title\n=======\n\n<<< quoted", "제목\n=======\n>>>> 인용"),
    ),
}
