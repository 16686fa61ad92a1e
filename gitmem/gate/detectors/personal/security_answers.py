"""Finds answers to security questions: a mother's maiden name, the first pet, a school.

An answer opens an account as a password does, but has no form of its own: the text before it must name the question,
and the answer must end its clause. A text about forms or about how answers are stored is none.
"""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.gate.detectors.prefilter import places, present
from gitmem.lazy_patterns import lazy

_HINTS = (
    "maiden name",
    "security question",
    "security answer",
    "first pet",
    "질문",
    "秘密の質問",
    "旧姓",
    "密保",
    "安全问题",
)
_SIGN = r"(?:is|was|:|=|->|→|=>)"
_CAPITAL = r"[A-Z][A-Za-z'’-]{1,24}(?: [A-Z][A-Za-z'’-]{1,24}){0,2}"
_END = r"(?=[\"'`”]?[ \t]{0,2}(?:[.,;!)(|\n]|\Z|(?:for|if|when) ))"
_ENGLISH = lazy(
    rf"(?:(?i:mother'?s? maiden name|maiden name of [a-z]{{2,8}} mother|maiden name(?=[ \t]{{0,2}}(?:=|->|→)))[^\n:=>.?]{{0,30}}?[ \t)\"']{{0,3}}{_SIGN}"
    rf"|(?i:(?:security|secret) (?:question )?answers?)(?:[ \t]{{1,2}}(?i:for|to)[^\n:=>]{{1,60}}?|[ \t]?\([^()\n]{{1,60}}\))?[ \t\"']{{0,2}}{_SIGN}"
    rf"|(?i:(?:security|secret) question)[^\n]{{1,80}}?(?:{_SIGN}|[?][ \t]{{1,4}}(?:A(?:nswer)?[:.])?)"
    rf"|(?i:maiden name|first pet|first school|street you grew up|city you grew up|first car)[^\n?:=]{{0,40}}[?][ \t\n]{{1,4}}(?:A|Answer)[:.]"
    rf"|(?i:first pet|first school|first car)(?:'s name)?[ \t]{{0,2}}(?:=|->|→))"
    rf"[ \t]{{0,3}}[\"'`“]?(?!(?:The|This|That|None|Not|No|Yes|Required|Optional|Stored|Unset|Removed|Added|Use|See|It|We|If|What|Which|TBD|TODO|N/A)\b)"
    rf"(?P<answer>{_CAPITAL}){_END}"
)
_WORD = "[가-힣ぁ-ゖァ-ヺー一-龥A-Za-z0-9]"
_ASIAN = lazy(
    r"(?:(?:(?:보안|본인 ?확인|비밀번호 찾기|암호 찾기) ?질문|비(?:밀번호|번) 찾기)[^\n]{0,40}?(?:(?:답변?|정답)(?:은|는|[:：=])|[)）][:：]|[ ]=)"
    r"|秘密の答え(?:は|[:：=])|秘密の質問[^\n]{0,24}?答え?(?:は|[:：=])|母の旧姓」?(?:の答え)?(?:は|[:：=])"
    r"|(?:密保|安全)问题?[^\n]{0,24}?答案(?:是|为|[:：=]))"
    r"[ \u3000]{0,2}[「“\"']?"
    r"(?!저장|암호|해시|변경|삭제|제거|필수|입력|대소문자|두 ?개|없|未|必須|暗号|保存|入力|変更|登録|加密|必填|保存|不)"
    rf"(?P<answer>{_WORD}{{2,16}}?)[」”\"']?(?:[ ]?(?:입니다|이다|임|이에요|예요|です|だ))?[.。]?(?=[ \t]{{0,2}}(?:[,，、)(（|\n]|\Z))"
)


def find(text: str, lowered: str) -> Iterator[tuple[int, int]]:
    """The spans of the answers to security questions; `lowered`: the text in lower case."""
    searched_end = 0
    for offset in places(lowered, present(lowered, _HINTS)):
        first = max(searched_end, offset - 24)
        for pattern in (_ENGLISH, _ASIAN):
            match = None
            if offset >= searched_end:
                match = pattern.search(text, first, offset + 220)
            if match is not None:
                searched_end = match.end()
                yield match.span("answer")
