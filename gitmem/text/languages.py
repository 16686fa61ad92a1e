"""The language modules in one order, for whoever reads a list that each of them has; which of them a text may need."""

from __future__ import annotations

from types import ModuleType

from gitmem.text import chinese, english, japanese, korean

LANGUAGES = (english, korean, japanese, chinese)
# Those whose words are looked for as parts of a text too.
EASTERN = (korean, japanese, chinese)


def _has(text: str, first: str, last: str) -> bool:
    return any(first <= letter <= last for letter in text)


def languages_in(text: str) -> tuple[ModuleType, ...]:
    """The languages whose words can stand in a text, by its scripts; English always."""
    if text.isascii():
        return (english,)
    hangul = (korean,) if _has(text, "ㄱ", "ㆎ") or _has(text, "가", "힣") else ()
    eastern = (japanese, chinese) if _has(text, "々", "ヿ") or _has(text, "一", "鿿") else ()
    return (english, *hangul, *eastern)


def language_of(text: str) -> str:
    """The language of a text by its script, as a code: ko where it has Hangul, ja Kana, zh Han, else en."""
    if text.isascii():
        return "en"
    if _has(text, "가", "힣"):
        return "ko"
    if _has(text, "ぁ", "ヺ"):
        return "ja"
    if _has(text, "一", "鿿"):
        return "zh"
    return "en"
