"""Remove the words of a statement that say that it was decided: `We decided that X` and `Decided: X` become `X`.

Pure. Used only to compare statements; memory files keep the original words.
"""

from __future__ import annotations

import re

from gitmem.lazy_patterns import lazy

_LEAD_IN = lazy(
    r"^(?:\W*(?:decision|decided|agreed|resolved|final|rule|policy|note|fact|remember|결정(?:\s*사항)?|합의|확정|결론|규칙|원칙|정책"
    r"|決定(?:事項)?|合意|結論|ルール|决定|决议|结论|规则)(?:\*\*)?\s*[:：]\s*"
    r"|\W*(?:(?:today|yesterday|finally|so|then)[,\s]+)*(?:we|i|the team|they|it was|it is|everyone)\s+"
    r"(?:have\s+|has\s+|had\s+|all\s+|also\s+)?"
    r"(?:decided|agreed|settled|concluded|resolved)\s+(?:that\s+|to\s+|on\s+|upon\s+)?"
    r"|\W*(?:decided|agreed)\s+(?:that|to|on)\s+)+",
    re.I,
)
_LEAD_OUT = lazy(
    r"(?:(?:하|가|두|쓰|보|지|내|옮기|바꾸|유지하|사용하)?기로\s*(?:최종\s*)?(?:결정|합의|확정)?\s*(?:했다|했음|함|했습니다|했어요|하였다|결정|합의)"
    r"|(?:으로|로)?\s*(?:결정|확정|합의)(?:했다|했음|함|했습니다|하였다|됨|되었다|됐다)?"
    r"|(?:ことに(?:した|する|決(?:めた|定した|まった))|に決定(?:した)?|で合意(?:した)?))[\s.。]*$"
)


def without_deciding_words(text: str) -> str:
    """The text without the words that say that it was decided. A text with no other words is returned as it is."""
    return _LEAD_OUT.sub("", _LEAD_IN.sub("", text, count=1)).strip() or text
