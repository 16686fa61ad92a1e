"""Find the holes in an insight: places where a pipeline had no value. `memory/insights` refuses such an insight.

A hole is a placeholder of a template, a word or sign for "no value" (in English, Korean, Japanese and Chinese), or a
field without a value. A word such as `unknown` is a hole only in the place of a value: after a colon or a verb, or at
the end of a clause ("an unknown sender" has none). Pure; the time is linear in the length of the text.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import NamedTuple

MAX_FIELD = 40  # characters of a field's name, and of a sign, that are reported
MAX_HOLES = 10  # holes that are reported for one insight


class Hole(NamedTuple):
    """A missing value. `sign`: the text in its place, "" for no text. `field`: the name of the field before it, ""
    without one. `start`: its offset in the text, in characters."""

    sign: str
    field: str
    start: int

    def __str__(self) -> str:
        sign = f"'{self.sign}'" if self.sign else "no value"
        if self.field:
            return f"{sign} behind '{self.field}'"
        return f"{sign} at the beginning"


_END = r"(?=\s*(?:[,;|)/!]|\.(?!\d)|$|(?:in|for|at|on|of|by|since|until|yet|and|or|but)\b))"
_VALUE = r"(?:(?<=[:=(|])|(?<=[:=(|]\s)|(?<=\bis\s)|(?<=\bwas\s)|(?<=\bare\s)|(?<=\bto\s)|(?<=\bat\s))"
_PATTERNS = (
    # Fields of templates that nobody filled in.
    r"\{[{%]?[^{}]*[}%]?\}|\$\{\w*\}?|\$[a-z_]\w*|<[^<>]*>|%\(\w+\)[sdf]|(?<![\w%])%[sdf]\b|_{3,}",
    r"\[\s*\]|(?<!\w)\(\s*\)|(?<!\w)(?:\"\s*\"|'\s*')(?!\w)",
    # Words and signs of programs for a missing value.
    r"\b(?:undefined|null|None|NULL|NaN|TODO|TBD|TBA|[Nn]/[Aa])\b|\bnan\b" + _END,
    r"(?<!\w)\?+(?!\w)",
    r"(?<![\d.,])[-+]?0[.,]0{2,}(?![.,]?\d)",
    # Words of people for a missing value.
    r"\b(?:[Uu]nknown|UNKNOWN|[Uu]ndetermined|[Pp]ending|[Uu]navailable|#N/A)\b" + _END,
    _VALUE + r"(?:[Uu]nknown|UNKNOWN|[Ff]alse|[Ee]mpty|[Bb]lank)\b" + _END,
    r"(?<![가-힣])(?:미정|미상|미확인|알\s?수\s?없음|값\s?없음|해당\s?없음|확인\s?불가)(?!\s*(?:씨|님|양)(?:[가이은는를의]|(?![가-힣])))"
    r"(?=$|[^가-힣]|이|임|입|인|으로)",
    r"未定|不明(?![瞭確])|未詳|未知(?![数の])|待定|不详|暂无|该当なし|該当なし",
    # A field, a share or an amount of money without its number.
    r"(?<=[:=])(?=\s*(?:[,;|]|$))|(?<=[:=(|,])\s*(?:[-–—]{1,3}|\.{3}|…)(?=\s*(?:[,;|)]|$))|[-–—]{1,3}$",
    r"(?<![\d\s)\]%])\s+%(?!\s*of\b)|(?<![\d\s)\]%\w])%(?![\w(])",
    r"(?<!\d)(?<!\d\s)[$€£₩¥](?!\s?[-+]?[\d.])(?!\w)",
)
_HOLE = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS))
_FIELD = re.compile(r"[^\s,;|:=()\[\]{}<>?]+(?: [^\s,;|:=()\[\]{}<>?]+)?\s*[:=(]?\s*$")


def holes(text: str) -> list[Hole]:
    """The first MAX_HOLES holes of a text (places where a pipeline had no value), in order."""
    all_holes = []
    for match in islice(_HOLE.finditer(text), MAX_HOLES):
        label = _FIELD.search(text[max(0, match.start() - 2 * MAX_FIELD) : match.start()])
        field = label.group().strip().rstrip(":=(").strip()[-MAX_FIELD:] if label else ""
        all_holes.append(Hole(match.group().strip()[:MAX_FIELD], field, match.start()))
    return all_holes
