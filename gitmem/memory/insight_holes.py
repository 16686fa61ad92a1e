"""What is missing in an insight: values that a pipeline had none for, by which `memory/insights` refuses it.

Knows placeholders of templates, words and signs that stand for "no value" in English, Korean, Japanese and Chinese, and
fields without a value. Pure, and bounded by the length of the text. Reads a word such as `unknown` as a hole only where
a value stands: behind a colon or a verb, or at the end of a clause ("an unknown sender" says something).
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_FIELD = 40  # characters of the field's name that a hole is told with
MAX_HOLES = 10  # holes that are told of one insight


class Hole(NamedTuple):
    """A value that is missing. `sign`: what stands in its place, "" for nothing; `field`: the words before it, as far
    as they name a field, "" where there are none; `start`: its place in the text, in characters."""

    sign: str
    field: str
    start: int

    def __str__(self) -> str:
        place = " at the beginning"
        if self.field:
            place = f" behind '{self.field}'"
        return (f"'{self.sign}'" if self.sign else "no value") + place


_END = r"(?=\s*(?:[,;|)/!]|\.(?!\d)|$|(?:in|for|at|on|of|by|since|until|yet|and|or|but)\b))"
_VALUE = r"(?:(?<=[:=(|])|(?<=[:=(|]\s)|(?<=\bis\s)|(?<=\bwas\s)|(?<=\bare\s)|(?<=\bto\s)|(?<=\bat\s))"
_PATTERNS = (
    # Fields of templates that nobody filled in.
    r"\{[{%]?[^{}]*[}%]?\}|\$\{\w*\}?|\$[a-z_]\w*|<[^<>]*>|%\(\w+\)[sdf]|(?<![\w%])%[sdf]\b|_{3,}",
    r"\[\s*\]|(?<!\w)\(\s*\)|(?<!\w)(?:\"\s*\"|'\s*')(?!\w)",
    # Words and signs of programs for a value that is not there.
    r"\b(?:undefined|null|None|NULL|NaN|TODO|TBD|TBA|[Nn]/[Aa])\b|\bnan\b" + _END,
    r"(?<!\w)\?+(?!\w)",
    r"(?<![\d.,])[-+]?0[.,]0{2,}(?![.,]?\d)",
    # Words of people for the same.
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
    """What is missing in `text`, in order, at most MAX_HOLES."""
    found = []
    for match in _HOLE.finditer(text):
        before = _FIELD.search(text[max(0, match.start() - 2 * MAX_FIELD) : match.start()])
        field = ""
        if before:
            field = before.group().strip().rstrip(":=(").strip()[-MAX_FIELD:]
        found.append(Hole(match.group().strip()[:MAX_FIELD], field, match.start()))
        if len(found) == MAX_HOLES:
            break
    return found
