"""The words of the interface in the reader's language. The English phrase is the key, used where there is no entry.

Text of memory is never translated.
"""

from __future__ import annotations

from collections.abc import Mapping

ENGLISH, KOREAN = "en", "ko"


def language_of(header: str) -> str:
    """The language of an Accept-Language header that we have, English where it names none of ours."""
    wanted: list[tuple[float, int, str]] = []
    for place, part in enumerate(header.split(",")[:20]):
        tag, _, rest = part.strip().partition(";")
        name = tag.split("-")[0].lower()
        if name in (ENGLISH, KOREAN):
            wanted.append((-_quality(rest), place, name))
    return min(wanted)[2] if wanted and min(wanted)[0] < 0 else ENGLISH


def _quality(text: str) -> float:
    name, _, value = text.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0


def translate(language: str, phrase: str, **values: object) -> str:
    """The phrase in `language`, with each `{name}` replaced; English has other words for a `count` of one."""
    words = _table(language).get(phrase, phrase) if language != ENGLISH else phrase
    if values.get("count") == 1 and language == ENGLISH:
        words = ONE.get(phrase, words)
    for name, value in values.items():
        words = words.replace("{" + name + "}", f"{value:,}" if isinstance(value, int) else str(value))
    return words


def _table(language: str) -> Mapping[str, str]:
    from gitmem.ui.korean_pages import WORDS

    return WORDS if language == KOREAN else {}


ONE = {  # English phrases for one of a thing
    "{count} facts": "1 fact",
    "{count} proposals": "1 proposal",
    "{count} pairs": "1 pair",
    "{count} findings": "1 finding",
    "{count} branches": "1 branch",
    "{count} facts to archive": "1 fact to archive",
    "{count} changes of facts": "1 change of a fact",
    "{count} passages": "1 passage",
    "{count} new facts": "1 new fact",
    "{count} times": "once",
    "in {count} sessions": "in one session",
    "{count} lines": "1 line",
    "holds {count} memory files as they are": "holds 1 memory file as it is",
    "{count} files of the work tree read": "1 file of the work tree read",
    "{count} promoted facts compared with their sources": "1 promoted fact compared with its source",
    "{count} faults": "1 fault",
    "{count} lines in daily logs": "1 line in daily logs",
    "{count} tokens": "1 token",
    "{count} contexts": "1 context",
    "{count} searches": "1 search",
    "{count} lines with a secret are left out of search": "1 line with a secret is left out of search",
    "{count} tokens a day": "1 token a day",
    "{count} questions in {file}": "1 question in {file}",
}
