"""The four language modules in a fixed order, and the languages of a text by its scripts."""

from __future__ import annotations

from types import ModuleType

from gitmem.text import chinese, english, japanese, korean

LANGUAGES = (english, korean, japanese, chinese)
# Languages written without spaces, or with particles joined to words: their words are searched as parts of a text.
EASTERN = (korean, japanese, chinese)


def _has(text: str, first: str, last: str) -> bool:
    return any(first <= letter <= last for letter in text)


def languages_in(text: str) -> tuple[ModuleType, ...]:
    """The modules of the languages that a text may contain, judged by its scripts; English is always among them."""
    if text.isascii():
        return (english,)
    hangul = (korean,) if _has(text, "ㄱ", "ㆎ") or _has(text, "가", "힣") else ()
    eastern = (japanese, chinese) if _has(text, "々", "ヿ") or _has(text, "一", "鿿") else ()
    return (english, *hangul, *eastern)


def language_of(text: str) -> str:
    """The language code of a text by its script: ko with a Hangul syllable, else ja with Kana, else zh with Han, else
    en."""
    if text.isascii():
        return "en"
    if _has(text, "가", "힣"):
        return "ko"
    if _has(text, "ぁ", "ヺ"):
        return "ja"
    if _has(text, "一", "鿿"):
        return "zh"
    return "en"
